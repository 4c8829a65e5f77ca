import type { Message } from '../contract.ts'
import { retryAfterOf } from '../errors.ts'
import type { Signal } from '../platform.ts'
import { attempt } from './cell.ts'
import { type Backoff, backoffOf } from './closes.ts'
import { cancel, createStop, later, type Stop, type Timer } from './here.ts'
import type { LiveOptions, OutgoingMessage, Peer, PeerKey, PendingMessage, StoredSend } from './interface.ts'
import { keyOf } from './peers.ts'
import { mayPass, type Port } from './port.ts'

/**
 * What is sent and not confirmed. A send is queued, sending, and then either confirmed, which takes it out, or failed. It
 * keeps its `muid` through all of this, so that whatever happens to an answer, the service stores it once.
 */
export interface Outbox {
  /** What waits in a conversation, or in a thread of it, in the order of sending. */
  of(key: PeerKey, parentId: string | undefined): readonly PendingMessage[]
  all(): readonly PendingMessage[]
  send(peer: Peer, content: OutgoingMessage): string
  retry(muid: string): void
  discard(muid: string): void
  /** A message that the service has, from wherever it was learned. @returns whether it was waited for */
  confirm(key: PeerKey, message: Message): boolean
  /** Reads what an earlier page or app has left, and queues what is of the user, if it is known who that is. */
  restore(): void
  /** The network is there again, as far as is known. */
  wake(): void
  /** Sends what is of this user, also of what was left. */
  start(uid: string): void
  /** Ends requests and timers. What they were about is queued again. */
  stop(): void
}

export interface OutboxParts {
  readonly port: Pick<Port, 'newMuid'>
  readonly options: Pick<LiveOptions, 'storage'>
  readonly backoff: Backoff
  /** Sends once. @returns the stored message */
  post(
    send: StoredSend & { content: OutgoingMessage },
    onProgress: (part: number) => void,
    signal: Signal,
  ): Promise<Message>
  onSent(key: PeerKey, message: Message, attempts: number): void
  /** One was discarded on its way, and may have arrived. */
  onUnsure(key: PeerKey): void
  onFailed(peer: Peer, muid: string, error: unknown): void
  onChange(key: PeerKey): void
  onError(error: unknown): void
}

interface Entry {
  readonly key: PeerKey
  readonly stored: StoredSend & { content: OutgoingMessage }
  shown: PendingMessage
  abort: Stop | undefined
}

export function createOutbox(parts: OutboxParts): Outbox {
  const { post, onChange, onError } = parts
  const { storage } = parts.options
  const entries = new Map<string, Entry>()
  /** Conversations of which a message is on its way or waits for its next try: one at a time, so that the order is kept. */
  const busy = new Map<PeerKey, { timer?: Timer; tries: number }>()
  let owner: string | undefined
  let order = 0
  let isStarted = false

  const show = (entry: Entry, change: Partial<PendingMessage>) => {
    const { error: _, ...shown } = entry.shown
    entry.shown = { ...shown, ...change }
    onChange(entry.key)
  }
  const save = ({ stored }: Entry, isFailed: boolean) => {
    const { files: _, ...content } = stored.content
    if (storage === undefined || stored.content.files !== undefined) return
    attempt(
      () => storage.save({ ...stored, ...(owner && { uid: owner }), content, ...(isFailed && { isFailed }) }),
      onError,
    )
  }
  const drop = (muid: string) => {
    const entry = entries.get(muid)
    if (entry === undefined) return
    entries.delete(muid)
    if (storage !== undefined) attempt(() => storage.remove(muid), onError)
    onChange(entry.key)
  }
  const add = (stored: Entry['stored'], status: PendingMessage['status']) => {
    const { muid, peer, content } = stored
    const entry: Entry = {
      key: keyOf(peer),
      stored,
      shown: { muid, status, content, attempts: 0, ...(content.files && { progress: 0 }) },
      abort: undefined,
    }
    entries.set(muid, entry)
    order = Math.max(order, stored.order)
    onChange(entry.key)
    return entry
  }

  /** Those that are wanted, in the order of sending. */
  const chosen = (isWanted: (entry: Entry) => boolean) =>
    [...entries.values()].filter(isWanted).sort((a, b) => a.stored.order - b.stored.order)

  const pump = async (key: PeerKey): Promise<void> => {
    if (!isStarted || busy.has(key)) return
    const [entry] = chosen((each) => each.key === key && each.shown.status === 'queued')
    if (entry === undefined) return
    const turn: { timer?: Timer; tries: number } = { tries: 0 }
    busy.set(key, turn)
    await deliver(entry, turn)
  }

  const deliver = async (entry: Entry, turn: { timer?: Timer; tries: number }) => {
    const { key, stored } = entry
    const { muid, peer } = stored
    delete turn.timer
    const next = () => {
      if (busy.get(key) === turn) busy.delete(key)
      void pump(key)
    }
    // Discarded or confirmed while it waited.
    if (entries.get(muid) !== entry || entry.shown.status !== 'queued') return next()
    const abort = createStop()
    entry.abort = abort
    show(entry, { status: 'sending', attempts: entry.shown.attempts + 1 })
    try {
      const message = await post(stored, (progress) => show(entry, { progress }), abort.signal)
      const { attempts } = entry.shown
      drop(muid)
      parts.onSent(key, message, attempts)
    } catch (error) {
      // Discarded, or stopped: then it is queued again, and may be on its way by another try.
      if (entries.get(muid) !== entry || entry.abort !== abort) return next()
      if (mayPass(error)) {
        show(entry, { status: 'queued', error })
        const ms = Math.max(backoffOf(turn.tries++, parts.backoff), retryAfterOf(error))
        turn.timer = later(() => void deliver(entry, turn), ms)
        return
      }
      show(entry, { status: 'failed', error })
      save(entry, true)
      parts.onFailed(peer, muid, error)
    }
    next()
  }

  const pumpAll = () => {
    for (const { key } of [...entries.values()]) void pump(key)
  }
  /** What others have left stays where it is. Where nobody knows whose it is, a user has to say that it be sent. */
  const restore = async () => {
    const own = new Set(entries.keys())
    const left = (await storage?.load()) ?? []
    order = Math.max(order, ...left.map((stored) => stored.order))
    // Until it is known who this is, another tab may take it back.
    if (owner === undefined) return
    for (const { uid, isFailed, ...stored } of left) {
      if (own.has(stored.muid) || entries.has(stored.muid) || (uid ?? owner) !== owner) continue
      add(stored, isFailed === true || uid === undefined ? 'failed' : 'queued')
    }
    pumpAll()
  }

  const hurry = (key: PeerKey) => {
    const turn = busy.get(key)
    if (turn?.timer === undefined) return
    cancel(turn.timer)
    busy.delete(key)
    void pump(key)
  }

  return {
    of: (key, parentId) =>
      chosen((each) => each.key === key && each.stored.content.parentId === parentId).map(({ shown }) => shown),
    all: () => chosen(() => true).map(({ shown }) => shown),
    send(peer, content) {
      const muid = parts.port.newMuid()
      const entry = add({ muid, peer, content, order: order + 1 }, 'queued')
      save(entry, false)
      void pump(entry.key)
      return muid
    },
    retry(muid) {
      const entry = entries.get(muid)
      if (entry === undefined || entry.shown.status === 'sending') return
      if (entry.shown.status === 'failed') {
        show(entry, { status: 'queued' })
        save(entry, false)
      }
      hurry(entry.key)
      void pump(entry.key)
    },
    discard(muid) {
      const entry = entries.get(muid)
      if (entry === undefined) return
      drop(muid)
      entry.abort?.abort()
      if (entry.shown.status === 'sending') parts.onUnsure(entry.key)
      hurry(entry.key)
    },
    confirm(key, { muid }) {
      if (muid === undefined || entries.get(muid)?.key !== key) return false
      drop(muid)
      return true
    },
    restore: () => attempt(restore, onError),
    wake() {
      for (const key of busy.keys()) hurry(key)
    },
    start(uid) {
      isStarted = true
      if (owner !== undefined) return pumpAll()
      owner = uid
      for (const entry of entries.values()) save(entry, false)
      attempt(restore, onError)
    },
    stop() {
      isStarted = false
      for (const { timer } of busy.values()) cancel(timer)
      busy.clear()
      for (const entry of entries.values()) {
        entry.abort?.abort()
        entry.abort = undefined
        if (entry.shown.status === 'sending') show(entry, { status: 'queued' })
      }
    },
  }
}
