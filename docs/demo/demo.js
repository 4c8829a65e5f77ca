// Two tabs that chat: logging in, sending, hearing what happens, catching up after the line was cut. Nothing is hidden in a
// library. In a product, the token comes from its own backend, which holds the key; here the page makes one itself.
import { offerNotifications } from './notify.js'

const $ = (id) => document.getElementById(id)
const device = `DEMO-${crypto.randomUUID()}`
const fields = ['auth-key', 'app-id', 'me', 'peer']
let me, peer, token, socket, listed
let wait = 500

// /demo#key=<auth key>&me=bob&peer=alice fills the form; what is behind the # never leaves the browser.
const given = new URLSearchParams(location.hash.slice(1))
for (const id of fields) {
  const value = given.get(id === 'auth-key' ? 'key' : id) ?? sessionStorage.getItem(id)
  if (value !== null) $(id).value = value
}

async function call(method, path, body, credential = { authtoken: token }) {
  const app = $('app-id').value
  const answer = await fetch(`/v3${path}`, {
    method,
    headers: { ...credential, ...(app && { appid: app }), resource: device, 'content-type': 'application/json' },
    body: body && JSON.stringify(body),
  })
  const { data, error } = await answer.json()
  if (error) throw Object.assign(new Error(error.devMessage), { code: error.code })
  return data
}

$('login').addEventListener('submit', async (event) => {
  event.preventDefault()
  for (const id of fields) sessionStorage.setItem(id, $(id).value)
  me = $('me').value.toLowerCase()
  const first = $('peer').value.toLowerCase()
  const key = { apikey: $('auth-key').value }
  try {
    for (const uid of [me, first]) {
      await call('POST', '/users', { uid, name: uid }, key).catch((error) => {
        if (error.code !== 'ERR_UID_ALREADY_EXISTS') throw error
      })
    }
    token = (await call('POST', `/users/${me}/auth_tokens`, { platform: 'WEB', deviceId: device }, key)).authToken
    $('login').hidden = true
    $('chat').hidden = false
    $('problem').textContent = ''
    await talkWith(first)
    connect()
    offerNotifications(call, () => ({ me, peer }), talkWith)
  } catch (error) {
    $('problem').textContent = error.message
  }
})

// The address says what is shown, and the key no more.
async function talkWith(uid) {
  if (uid === peer) return
  peer = uid
  listed = undefined
  history.replaceState(null, '', `#me=${me}&peer=${peer}`)
  $('peer-name').textContent = peer
  $('typing').textContent = ''
  $('messages').replaceChildren()
  if (socket?.readyState === WebSocket.OPEN) await catchUp()
}

function connect() {
  socket = new WebSocket(`${location.protocol.replace('http', 'ws')}//${location.host}/v3`)
  socket.onopen = () => tell({ type: 'auth', sender: me, body: { auth: token, presenceSubscription: 'ALL_USERS' } })
  socket.onmessage = ({ data }) => hear(JSON.parse(data))
  socket.onclose = ({ code }) => {
    $('state').textContent = `offline (${code})`
    if (code >= 4401 && code <= 4403) $('problem').textContent = 'Please log in again.'
    else setTimeout(connect, wait * (0.5 + Math.random()))
    wait = Math.min(wait * 2, 10_000)
  }
}

function tell(frame) {
  if (socket.readyState !== WebSocket.OPEN) return
  socket.send(JSON.stringify({ appId: $('app-id').value || undefined, deviceId: device, ...frame }))
}

async function hear({ type, sender, body }) {
  if (type === 'auth' && body.code === '200') {
    wait = 500
    $('state').textContent = 'online'
    await catchUp()
  }
  if (type === 'message') show(body)
  if (type === 'presence' && sender === peer) $('peer-status').textContent = body.action
  if (type === 'typing_indicator' && sender === peer) {
    $('typing').textContent = body.action === 'started' ? `${peer} is typing` : ''
  }
  if (type === 'receipts' && sender === peer) {
    for (const line of document.querySelectorAll('#messages li.mine')) {
      if (Number(line.dataset.id) <= Number(body.messageId)) line.querySelector('small').textContent = body.action
    }
  }
}

// The socket tells what happens; the list tells what happened while it was away, from the last message that was listed.
async function catchUp() {
  const [asked, after] = [peer, listed]
  const from = after ? `affix=append&id=${after}` : 'affix=prepend'
  const missed = await call('GET', `/users/${peer}/messages?limit=50&${from}`)
  if (asked !== peer) return
  for (const message of missed) show(message)
  listed = missed.at(-1)?.id ?? after
  $('peer-status').textContent = (await call('GET', `/users/${peer}`)).status === 'available' ? 'online' : 'offline'
  if (after && missed.length === 50) await catchUp()
}

function show({ id, sender, receiver, category, data, readAt, deliveredAt }) {
  const isOurs = (sender === me && receiver === peer) || (sender === peer && receiver === me)
  if (!isOurs || document.querySelector(`#messages li[data-id="${id}"]`)) return
  if (category !== 'message') return
  const line = document.createElement('li')
  line.dataset.id = id
  line.className = sender === me ? 'mine' : 'theirs'
  line.textContent = data.text
  line.append(document.createElement('small'))
  if (sender === me) line.lastChild.textContent = readAt ? 'read' : deliveredAt ? 'delivered' : 'sent'
  else mark(id)
  const next = [...$('messages').children].find((other) => Number(other.dataset.id) > Number(id))
  $('messages').insertBefore(line, next ?? null)
  if (sender === peer) $('typing').textContent = ''
}

// What comes while nobody looks is delivered, and read when somebody does.
function mark(messageId) {
  const action = document.visibilityState === 'visible' ? 'read' : 'delivered'
  tell({ type: 'receipts', receiver: peer, receiverType: 'user', body: { action, messageId } })
}

document.addEventListener('visibilitychange', () => {
  const last = [...document.querySelectorAll('#messages li.theirs')].at(-1)
  if (last && document.visibilityState === 'visible') mark(last.dataset.id)
})

$('text').addEventListener('input', () => type('started'))
function type(action) {
  tell({ type: 'typing_indicator', receiver: peer, receiverType: 'user', body: { action } })
}

$('send').addEventListener('submit', async (event) => {
  event.preventDefault()
  const text = $('text').value
  $('text').value = ''
  type('ended')
  try {
    // A repeated muid is stored once, so whoever gets no answer may send it again.
    const message = { receiver: peer, receiverType: 'user', data: { text }, muid: crypto.randomUUID() }
    show(await call('POST', '/messages', message))
  } catch (error) {
    $('problem').textContent = error.message
  }
})

setInterval(() => tell({ action: 'ping', ack: 'true' }), 20_000)
