import type { ServerResponse } from 'node:http'
import type { FastifyReply } from 'fastify'
import type { AuditActor } from '../chat/audit/audit.ts'
import { type App, type Caller, keyFingerprint } from '../chat/identity.ts'
import type { Reader } from '../store/reader.ts'

/** Made once: that of each abort would carry a stack. */
const gone = new Error('the connection was closed')

/**
 * On whose behalf a request reads. When its connection closes, what it still reads is ended: that is looked for from its
 * first list on, since most requests read none.
 *
 * A class, since a literal with a getter has a shape of its own each time it is made; shapes live long, and this one would
 * keep the whole request until the next full garbage collection.
 */
class RequestReader implements Reader {
  readonly appId: number
  readonly uid: string | undefined
  readonly isPaced: boolean
  readonly #response: ServerResponse
  #closing: AbortController | undefined

  constructor(appId: number, caller: Caller, response: ServerResponse) {
    this.appId = appId
    this.uid = caller.kind === 'user' ? caller.uid : undefined
    this.isPaced = caller.kind === 'user' && caller.via === 'token'
    this.#response = response
  }

  get signal(): AbortSignal {
    this.#closing ??= abortOnClose(this.#response)
    return this.#closing.signal
  }

  get isGone(): boolean {
    return isGone(this.#response)
  }
}

function abortOnClose(response: ServerResponse): AbortController {
  const closing = new AbortController()
  const onClosed = () => {
    if (isGone(response)) closing.abort(gone)
  }
  if (response.closed) onClosed()
  else response.once('close', onClosed)
  return closing
}

/** What is read after the answer, to remember it, is nobody's question any more. */
function isGone({ closed, writableFinished }: ServerResponse): boolean {
  return closed && !writableFinished
}

/** The reader of a request. */
export function readerOf({ appId }: App, caller: Caller, { raw }: FastifyReply): Reader {
  return new RequestReader(appId, caller, raw)
}

/** Who a request writes to the audit log as. */
export function auditActorOf(caller: Caller, address: string | undefined): AuditActor {
  if (caller.kind === 'user' && caller.via === 'token') return { caller: 'token', uid: caller.uid, address }
  return {
    caller: caller.scope ?? 'fullAccess',
    key: caller.keyDigest && keyFingerprint(caller.keyDigest),
    uid: caller.kind === 'user' ? caller.uid : undefined,
    address,
  }
}
