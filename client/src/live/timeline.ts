import type { Message } from '../contract.ts'
import type { Signal } from '../platform.ts'
import { freshMs } from './conversations.ts'
import { now } from './here.ts'
import type { MessageList, MessagesSnapshot } from './interface.ts'
import { compare, type Position } from './peers.ts'
import type { Listed } from './port.ts'
import { createTurns } from './turns.ts'

export interface PageQuery {
  readonly affix: 'append' | 'prepend'
  readonly limit: number
  readonly sentAt?: number
  readonly id?: string
}

export interface TimelineParts {
  readonly pageSize: number
  list(query: PageQuery, signal: Signal | undefined): Promise<Listed<Message>>
  /** Something that is shown has changed. */
  onChange(): void
  /** Every row that a list has answered. */
  onRows(rows: readonly Message[]): void
  /** Whether a receipt of this message may still come. */
  isAwaited(message: Message): boolean
}

/** What is read: a page further, or all that is shown. */
type Reading = 'older' | 'newer' | 'newest'

/** Confirmed messages of one conversation or thread: a part of its history without gaps, in the order of the service. */
export interface Timeline {
  readonly messages: readonly Message[]
  /** A list is being read. */
  readonly isLoading: boolean
  /** How far it is loaded. Nothing has failed where the user sees nothing of it any more. */
  progress(): Omit<MessagesSnapshot, 'messages' | 'pending'>
  /** A list is being read, or was a moment ago: what a frame says now may be in its rows already. */
  readonly isFresh: boolean
  find(id: string): Message | undefined
  /** The messages of which a receipt may still come, in no order: found without looking at all others. */
  awaited(): readonly Message[]
  /** A message that may be new. It is left out where the part that is loaded does not reach it. */
  put(message: Message): void
  /** Changes a message where it is loaded. Applied again to what a list answers that is being read now. */
  change(id: string, change: (message: Message) => Message): void
  remove(id: string): void
  /** Applies now what a frame says, and once more to the rows of a list that is being read. */
  twice(apply: () => void): void
  /** What those who show it may load. */
  readonly loads: Pick<MessageList, 'loadOlder' | 'loadNewer' | 'loadNewest' | 'loadAround' | 'loadAgain'>
  /** Reads again what is loaded, after a gap. */
  reload(signal?: Signal): Promise<void>
  /** The user sees nothing of it any more. */
  shut(error: unknown): void
}

type Work = (signal: Signal | undefined) => Promise<void>

/** Rows that one request for a reload asks for at most. */
const mostRows = 1000
/** A list that reaches the newest message drops the oldest beyond this. */
const mostKept = 20_000

/** An edit or a deletion: it is applied to its message, and not shown by itself. */
export function isAboutMessage({ category, type }: Message): boolean {
  return category === 'action' && type === 'message'
}

/** An own message that moderation keeps from others: nobody has read up to it. */
export function isHeld({ data }: Message): boolean {
  const { status = 'approved' } = (data.moderation ?? {}) as { status?: string }
  return status !== 'approved'
}

export function createTimeline({ pageSize, list, onChange, onRows, isAwaited }: TimelineParts): Timeline {
  let messages: readonly Message[] = []
  /** The array is in a snapshot, and must not change any more. */
  let isShown = false
  const byId = new Map<string, Message>()
  const awaited = new Map<string, Message>()
  let isLoaded = false
  let hasOlder = false
  let hasNewer = false
  let loading: Reading | undefined
  /** Why there is nothing any more. */
  let end: unknown
  const failures = new Map<Reading, { readonly error: unknown; readonly again: Work }>()
  /** Ends of the part that is loaded: rows that are not shown count. */
  let first: Position | undefined
  let last: Position | undefined
  const turns = createTurns()
  let loadedAt = -freshMs
  /** What was heard of while a list was being read. */
  let meanwhile: Array<() => void> | undefined

  const own = (): Message[] => {
    if (isShown) {
      messages = messages.slice()
      isShown = false
    }
    return messages as Message[]
  }

  /** Where a message is, or belongs. */
  const placeOf = (at: Position): number => {
    let low = 0
    let high = messages.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (compare(messages[middle] as Message, at) < 0) low = middle + 1
      else high = middle
    }
    return low
  }

  const insert = (message: Message) => {
    const known = byId.get(message.id)
    byId.set(message.id, message)
    if (isAwaited(message)) awaited.set(message.id, message)
    else awaited.delete(message.id)
    // What moderation releases gets another place.
    if (known !== undefined) own().splice(placeOf(known), 1)
    own().splice(placeOf(message), 0, message)
  }

  const insertAll = (rows: readonly Message[]) => {
    for (const row of rows) if (!isAboutMessage(row)) insert(row)
  }

  /** Whether the part that is loaded goes on to this message: one that is newer than all others is its new end. */
  const extendsTo = (message: Message) => {
    if (last !== undefined && compare(message, last) <= 0) return true
    if (!hasNewer) last = message
    return !hasNewer
  }

  const put = (message: Message) => {
    // What is known already has changes in it that came since.
    if (!isLoaded || byId.has(message.id)) return
    if (first !== undefined && hasOlder && compare(message, first) < 0) return
    if (!extendsTo(message)) return
    first ??= message
    if (isAboutMessage(message)) return
    insert(message)
    if (messages.length > mostKept && !hasNewer) trim()
    onChange()
  }

  const forget = (id: string) => {
    byId.delete(id)
    awaited.delete(id)
  }

  const trim = () => {
    for (const { id } of own().splice(0, mostKept / 4)) forget(id)
    first = messages[0]
    hasOlder = true
  }

  const change = (id: string, changed: (message: Message) => Message) => {
    const known = byId.get(id)
    if (known === undefined) return
    const message = changed(known)
    if (!extendsTo(message)) return remove(id)
    insert(message)
    onChange()
  }

  const remove = (id: string) => {
    const known = byId.get(id)
    if (known === undefined) return
    forget(id)
    own().splice(placeOf(known), 1)
    onChange()
  }

  /** Applies a change now, and once more to rows that were read before it. */
  const both = (apply: () => void) => {
    apply()
    meanwhile?.push(apply)
  }

  /** What a list says of what is loaded: all rows between `from` and `to`, and nothing else. */
  const replace = (rows: readonly Message[], from: Position | undefined) => {
    messages = []
    isShown = false
    byId.clear()
    awaited.clear()
    insertAll(from === undefined ? rows : rows.filter((row) => compare(row, from) >= 0))
  }

  // One after the other: each begins where the one before has ended.
  const load = (kind: Reading, work: Work, signal: Signal | undefined): Promise<void> =>
    turns.take('', async () => {
      loading = kind
      meanwhile = []
      onChange()
      try {
        await work(signal)
        if (kind === 'newest') {
          failures.clear()
          end = undefined
        } else failures.delete(kind)
        loadedAt = now()
        const heard = meanwhile
        meanwhile = undefined
        for (const apply of heard) apply()
      } catch (error) {
        failures.set(kind, { error, again: (signal) => once(kind, work, signal) })
        throw error
      } finally {
        meanwhile = undefined
        loading = undefined
        onChange()
      }
    })

  const read = async (query: PageQuery, signal: Signal | undefined) => {
    const { data, meta = {} } = await list(query, signal)
    onRows(data)
    return { data, hasPrevious: meta.previous !== undefined, hasNext: meta.next !== undefined }
  }
  const ends = (data: readonly Message[]) => {
    first = data[0]
    last = data.at(-1)
  }
  const at = ({ sentAt, id }: Position) => ({ sentAt, id })

  /** @param isAgain whether what is loaded stays, where the page reaches it */
  const readNewest = async (limit: number, isAgain: boolean, signal: Signal | undefined) => {
    const oldest = first
    const { data, hasPrevious } = await read({ affix: 'prepend', limit }, signal)
    const [from] = data
    const reaches = isAgain && oldest !== undefined && from !== undefined && compare(from, oldest) <= 0
    const keeps = reaches && hasOlder && hasPrevious
    replace(data, keeps ? oldest : undefined)
    ends(data)
    if (keeps) first = oldest
    hasOlder = hasPrevious
    hasNewer = false
    isLoaded = true
  }

  const readOlder: Work = async (signal) => {
    if (!isLoaded || !hasOlder || first === undefined) return
    const { data, hasPrevious } = await read({ affix: 'prepend', limit: pageSize, ...at(first) }, signal)
    insertAll(data)
    first = data[0] ?? first
    hasOlder = hasPrevious
  }
  const readNewer: Work = async (signal) => {
    if (!isLoaded || !hasNewer || last === undefined) return
    const { data, hasNext } = await read({ affix: 'append', limit: pageSize, ...at(last) }, signal)
    insertAll(data)
    last = data.at(-1) ?? last
    hasNewer = hasNext
  }
  const readAround = async (id: string, signal: Signal | undefined) => {
    const limit = Math.ceil(pageSize / 2)
    const before = await read({ affix: 'prepend', limit, id }, signal)
    const from = before.data.at(-1)
    const after = await read({ affix: 'append', limit, ...(from === undefined ? {} : at(from)) }, signal)
    const rows = [...before.data, ...after.data]
    replace(rows, undefined)
    ends(rows)
    hasOlder = before.hasPrevious
    hasNewer = after.hasNext
    isLoaded = true
  }
  const readAgain: Work = async (signal) => {
    if (!isLoaded || !hasNewer || first === undefined) {
      await readNewest(Math.min(mostRows, Math.max(pageSize, byId.size + pageSize)), isLoaded, signal)
      return
    }
    const from = { sentAt: first.sentAt, id: String(Number(first.id) - 1) }
    const limit = Math.min(mostRows, Math.max(pageSize, byId.size))
    const { data, hasNext } = await read({ affix: 'append', limit, ...from }, signal)
    replace(data, undefined)
    last = data.at(-1) ?? last
    hasNewer = hasNext
  }

  /** Joins calls that ask for the same. */
  const once = (kind: Reading, work: Work, signal: Signal | undefined): Promise<void> => {
    const running = pendingLoads.get(kind)
    if (running !== undefined) return running
    const made = load(kind, work, signal).finally(() => pendingLoads.delete(kind))
    pendingLoads.set(kind, made)
    return made
  }
  const pendingLoads = new Map<Reading, Promise<void>>()

  return {
    get messages() {
      isShown = true
      return messages
    },
    get isLoading() {
      return loading !== undefined
    },
    progress() {
      const [[failed, failure] = []] = failures
      const error = end ?? failure?.error
      return {
        hasOlder,
        hasNewer,
        isLoadingOlder: loading === 'older',
        isLoadingNewer: loading === 'newer',
        isLoaded,
        ...(failed !== undefined && { failed }),
        ...(error !== undefined && { error }),
      }
    },
    get isFresh() {
      return meanwhile !== undefined || now() - loadedAt < freshMs
    },
    find: (id) => byId.get(id),
    awaited: () => [...awaited.values()],
    twice: both,
    put: (message) => both(() => put(message)),
    change: (id, changed) => both(() => change(id, changed)),
    remove: (id) => both(() => remove(id)),
    loads: {
      loadOlder: (signal) => once('older', readOlder, signal),
      loadNewer: (signal) => once('newer', readNewer, signal),
      loadNewest: (signal) => once('newest', (signal) => readNewest(pageSize, false, signal), signal),
      loadAround: (id, signal) => load('newest', (signal) => readAround(id, signal), signal),
      async loadAgain(signal) {
        await Promise.all([...failures.values()].map(({ again }) => again(signal)))
      },
    },
    reload: (signal) => load('newest', readAgain, signal),
    shut(error) {
      replace([], undefined)
      first = last = undefined
      isLoaded = true
      hasOlder = hasNewer = false
      failures.clear()
      end = error
      onChange()
    },
  }
}
