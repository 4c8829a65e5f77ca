import type { FastifyReply } from 'fastify'
import type { App, Caller } from '../chat/identity.ts'
import type { Reader } from '../store/reader.ts'

/** Made once: that of each abort would carry a stack. */
const gone = new Error('the connection was closed')

/**
 * On whose behalf a request reads. When its connection closes, what it still reads is ended: that is looked for from its
 * first list on, since most requests read none.
 */
export function readerOf({ appId }: App, caller: Caller, { raw }: FastifyReply): Reader {
  let controller: AbortController | undefined
  return {
    appId,
    uid: caller.kind === 'user' ? caller.uid : undefined,
    get signal() {
      if (controller === undefined) {
        const closing = new AbortController()
        controller = closing
        // What is read after the answer, to remember it, is nobody's question any more.
        const onClosed = () => raw.writableFinished || closing.abort(gone)
        if (raw.closed) onClosed()
        else raw.once('close', onClosed)
      }
      return controller.signal
    },
  }
}
