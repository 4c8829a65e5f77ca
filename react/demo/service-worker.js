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

async function show(told) {
  const { title, body, senderAvatar, tag, sentAt } = told
  const place = placeOf(told)
  const pages = await pagesOf(place.me)
  if (pages.some((page) => page.isVisible && isSame(page.peer, place.peer))) return
  // One with the same tag takes the place of the one that is shown: an edit, a deletion, a repeat.
  const options = { body, icon: senderAvatar, tag, timestamp: Number(sentAt), data: place }
  await self.registration.showNotification(title, options)
}

// Whose conversation it is, and with whom. What is said in a group is for all its members: it does not name the one who is notified.
function placeOf({ sender, receiver, receiverType }) {
  return receiverType === 'group' ? { peer: { guid: receiver } } : { me: receiver, peer: { uid: sender } }
}

function isSame(peer, other) {
  return peer !== undefined && peer.uid === other.uid && peer.guid === other.guid
}

self.addEventListener('notificationclick', (event) => {
  event.notification.close()
  event.waitUntil(lead(event.notification.data))
})

async function lead({ me, peer }) {
  const [page] = await pagesOf(me)
  if (page === undefined) {
    return self.clients.openWindow(me === undefined ? `/demo#group=${peer.guid}` : `/demo#me=${me}&peer=${peer.uid}`)
  }
  page.client.postMessage({ talkWith: peer })
  return page.client.focus()
}

// Asks the open pages who uses them, and gives those of one user, or all; one that does not answer soon is asleep.
async function pagesOf(uid) {
  const clients = await self.clients.matchAll({ type: 'window', includeUncontrolled: true })
  const asked = clients.map((client) => {
    const { port1, port2 } = new MessageChannel()
    client.postMessage({ who: true }, [port2])
    return new Promise((resolve) => {
      port1.onmessage = ({ data }) => resolve({ client, ...data })
      setTimeout(resolve, 300)
    })
  })
  return (await Promise.all(asked)).filter((page) => page !== undefined && (uid === undefined || page.me === uid))
}
