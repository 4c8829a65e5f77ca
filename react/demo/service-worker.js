// Shows what comes by Web Push while nobody looks at the conversation, and leads there when it is clicked. It runs without a
// page; what it is given is the payload that docs/notifications.md describes.
self.addEventListener('push', (event) => {
  const told = event.data.json()
  event.waitUntil(told.action === 'read' ? remove(told.tags) : show(told))
})

// What was read elsewhere goes.
async function remove(tags) {
  const shown = await self.registration.getNotifications()
  for (const notification of shown) if (tags.includes(notification.tag)) notification.close()
}

async function show({ title, body, senderAvatar, tag, sender, receiver, sentAt }) {
  const page = await pageOf(receiver)
  if (page?.isVisible && page.peer === sender) return
  // One with the same tag takes the place of the one that is shown: an edit, a deletion, a repeat.
  const options = { body, icon: senderAvatar, tag, timestamp: Number(sentAt), data: { sender, receiver } }
  await self.registration.showNotification(title, options)
}

self.addEventListener('notificationclick', (event) => {
  event.notification.close()
  event.waitUntil(lead(event.notification.data))
})

async function lead({ sender, receiver }) {
  const page = await pageOf(receiver)
  if (page === undefined) return self.clients.openWindow(`/demo#me=${receiver}&peer=${sender}`)
  page.client.postMessage({ talkWith: sender })
  return page.client.focus()
}

// Asks the open pages who uses them; one that does not answer soon is asleep.
async function pageOf(uid) {
  const clients = await self.clients.matchAll({ type: 'window', includeUncontrolled: true })
  const asked = clients.map((client) => {
    const { port1, port2 } = new MessageChannel()
    client.postMessage({ who: true }, [port2])
    return new Promise((resolve) => {
      port1.onmessage = ({ data }) => resolve({ client, ...data })
      setTimeout(resolve, 300)
    })
  })
  return (await Promise.all(asked)).find((page) => page?.me === uid)
}
