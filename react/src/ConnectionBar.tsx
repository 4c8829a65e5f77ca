import { useParleyContext } from './context.tsx'
import { useConnection } from './hooks.ts'

/** Says when there is no line to the service, and what can be done about it. */
export function ConnectionBar() {
  const { client, texts } = useParleyContext()
  const connection = useConnection()
  if (connection.status === 'live' || connection.status === 'syncing' || connection.status === 'idle') return null
  if (connection.status !== 'stopped') {
    return (
      <p className="parley-bar" role="status">
        {connection.status === 'waiting' ? texts.waiting : texts.connecting}
      </p>
    )
  }
  const said = { loggedOut: texts.loggedOut, replaced: texts.replaced, refused: texts.problem }[connection.reason]
  return (
    <p className="parley-bar" role="status">
      {said}{' '}
      <button type="button" onClick={() => client.live.connect()}>
        {texts.reconnect}
      </button>
    </p>
  )
}
