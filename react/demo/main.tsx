// A whole chat of the parts of @parley/react. In a product, the token comes from its own back end, which holds the key; here the page
// makes one itself, with the auth key of the app.
import { createLiveClient, type LiveClient, type Peer } from '@parley/client'
import { Chat, NotificationsButton, ParleyProvider, useConnection, useMe, useUnread } from '@parley/react'
import { type FormEvent, useEffect, useState } from 'react'
import { createRoot } from 'react-dom/client'

const fields = ['key', 'app-id', 'me', 'peer'] as const
type Field = (typeof fields)[number]
type Fields = Readonly<Record<Field, string>>

/**
 * What is behind the # never leaves the browser: `/demo#key=<auth key>&me=bob&peer=alice` fills the form, `group=<guid>` in
 * place of `peer` leads to a group.
 */
const readHash = () => new URLSearchParams(location.hash.slice(1))

function givenFields(): Fields {
  const given = readHash()
  const byDefault: Fields = { key: '', 'app-id': '', me: 'alice', peer: 'bob' }
  const filled = fields.map((name) => [name, given.get(name) ?? sessionStorage.getItem(name) ?? byDefault[name]])
  return Object.fromEntries(filled) as Record<Field, string>
}

/** Makes both users where they are not there yet, and a token for the first. */
async function logIn({ key, 'app-id': appId, me, peer }: Fields): Promise<LiveClient> {
  const headers = { apikey: key, 'content-type': 'application/json', ...(appId !== '' && { appId }) }
  const post = async (path: string, body: object) => {
    const answer = await fetch(`/v3${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    return (await answer.json()) as { data: { authToken: string }; error?: { code: string; devMessage: string } }
  }
  for (const uid of new Set([me, peer].filter((one) => one !== ''))) {
    const { error } = await post('/users', { uid, name: uid })
    if (error !== undefined && error.code !== 'ERR_UID_ALREADY_EXISTS') throw new Error(error.devMessage)
  }
  const { data, error } = await post(`/users/${me}/auth_tokens`, {})
  if (error !== undefined) throw new Error(error.devMessage)
  return createLiveClient({ url: location.origin, authToken: data.authToken, ...(appId !== '' && { appId }) })
}

function Demo() {
  const [values, setValues] = useState(givenFields)
  const [guid] = useState(() => readHash().get('group'))
  const [client, setClient] = useState<LiveClient>()
  const [problem, setProblem] = useState('')
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    for (const name of fields) sessionStorage.setItem(name, values[name])
    try {
      setClient(await logIn({ ...values, me: values.me.toLowerCase(), peer: values.peer.toLowerCase() }))
    } catch (error) {
      setProblem((error as Error).message)
    }
  }
  if (client !== undefined) {
    const uid = values.peer.toLowerCase()
    const firstPeer = guid !== null ? { guid } : uid !== '' ? { uid } : undefined
    return (
      <ParleyProvider client={client}>
        <LoggedIn me={values.me.toLowerCase()} firstPeer={firstPeer} />
      </ParleyProvider>
    )
  }
  const field = (name: Field, label: string, more: object = {}) => (
    <label>
      {label}
      <input
        id={name}
        value={values[name]}
        onChange={(event) => setValues({ ...values, [name]: event.target.value })}
        {...more}
      />
    </label>
  )
  const uid = { pattern: '[A-Za-z0-9_\\-]{1,100}' }
  return (
    <main className="login">
      <h1>Parley demo</h1>
      <p>
        Open this page in two tabs. In one, log in as <b>alice</b> to talk with <b>bob</b>, in the other as bob. The
        auth key is the second one in <code>keys.env</code>; the page keeps it in this tab only.
      </p>
      <form onSubmit={submit}>
        {field('key', 'Auth key', { type: 'password', autoComplete: 'off', required: true })}
        {field('app-id', 'App', { placeholder: 'the default app' })}
        {field('me', 'I am', { ...uid, required: true })}
        {guid === null ? field('peer', 'I talk with', uid) : <p>I talk in the group {guid}</p>}
        <button type="submit" id="log-in">
          Log in
        </button>
      </form>
      <p role="alert" id="problem">
        {problem}
      </p>
    </main>
  )
}

function LoggedIn({ me, firstPeer }: { readonly me: string; readonly firstPeer: Peer | undefined }) {
  const { status } = useConnection()
  const user = useMe()
  const [peer, setPeer] = useState(firstPeer)
  useEffect(() => {
    const place = peer !== undefined && 'guid' in peer ? `group=${peer.guid}` : `peer=${peer?.uid ?? ''}`
    // The address says what is shown, and the key no more.
    history.replaceState(null, '', `#me=${me}&${place}`)
    return hearServiceWorker(me, peer, setPeer)
  }, [me, peer])
  return (
    <>
      <Title />
      <header className="me">
        <span>
          {user?.name ?? me}: <b id="state">{status}</b>
        </span>
        <NotificationsButton serviceWorker="/demo/service-worker.js" scope="/demo" />
      </header>
      <Chat initialPeer={peer} onPeerChange={setPeer} />
    </>
  )
}

/** A component of its own: what it counts changes with each message. */
function Title() {
  const { messages } = useUnread()
  useEffect(() => {
    // What is read at once is no news.
    const timer = setTimeout(() => {
      document.title = messages > 0 ? `(${messages}) Parley demo` : 'Parley demo'
    }, 500)
    return () => clearTimeout(timer)
  }, [messages])
  return null
}

/** The service worker asks who uses the page, and leads to a conversation when a notification was clicked. */
function hearServiceWorker(me: string, peer: Peer | undefined, talkWith: (peer: Peer) => void): () => void {
  if (!('serviceWorker' in navigator)) return () => {}
  const hear = ({ data, ports: [port] }: MessageEvent) => {
    if (data.who) port?.postMessage({ me, peer, isVisible: document.visibilityState === 'visible' })
    else talkWith(data.talkWith)
  }
  navigator.serviceWorker.addEventListener('message', hear)
  navigator.serviceWorker.startMessages()
  return () => navigator.serviceWorker.removeEventListener('message', hear)
}

createRoot(document.getElementById('app') as HTMLElement).render(<Demo />)
