// Web Push: the browser subscribes with the key of the app, and the service is told where to reach it. A browser has one
// subscription, so in two tabs the one that asks last is notified.
const button = document.getElementById('notify')

// Shows the button. `call` makes requests of whoever has logged in, `who` says who that is and with whom they talk; `talkWith`
// is called when a notification was clicked.
export function offerNotifications(call, who, talkWith) {
  if (!('PushManager' in window && 'serviceWorker' in navigator)) return
  navigator.serviceWorker.onmessage = ({ data, ports: [port] }) => {
    if (data.who) port.postMessage({ ...who(), isVisible: document.visibilityState === 'visible' })
    else talkWith(data.talkWith)
  }
  button.onclick = () => turnOn(call)
  button.hidden = false
  // Whoever has allowed it before is notified as the one who has logged in now.
  if (Notification.permission === 'granted') turnOn(call)
}

async function turnOn(call) {
  try {
    if ((await Notification.requestPermission()) !== 'granted')
      throw new Error('This browser blocks notifications here.')
    const { publicKey } = await call('GET', '/notifications/push/v1/vapid-key')
    const subscription = await subscribe(publicKey)
    await call('POST', '/notifications/push/v1/tokens', { platform: 'web_push', subscription })
    button.textContent = 'You are notified'
    button.disabled = true
  } catch (error) {
    document.getElementById('problem').textContent = error.message
  }
}

async function subscribe(publicKey) {
  await navigator.serviceWorker.register('/demo/service-worker.js', { scope: '/demo' })
  const { pushManager } = await navigator.serviceWorker.ready
  const present = await pushManager.getSubscription()
  // One that was made with another key, such as that of another app, is of no use here.
  if (present !== null && keyOf(present) !== publicKey) await present.unsubscribe()
  return pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: publicKey })
}

function keyOf({ options }) {
  const text = btoa(String.fromCharCode(...new Uint8Array(options.applicationServerKey)))
  return text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}
