import type { Conversation, Group, Message, User } from '../contract.ts'
import type { Signal } from '../platform.ts'
import { createAsker } from './asker.ts'
import { type CreateCell, createViews } from './cell.ts'
import { now } from './here.ts'
import type {
  ConversationList,
  ConversationSummary,
  ConversationsSnapshot,
  PeerKey,
  ShownMessage,
  View,
} from './interface.ts'
import { compare, type Position, pathOf, peerOf } from './peers.ts'
import { type Answered, isOutOfSight, type Listed, type Port, totalOf } from './port.ts'
import type { Insist } from './retries.ts'
import type { Unread } from './unread.ts'

export interface Conversations extends ConversationList {
  summary(key: PeerKey): View<ConversationSummary | undefined>
  /** A message that has come: it moves its conversation up. */
  add(key: PeerKey, message: Message): void
  /** An edit or the like of what may be a last message. */
  change(key: PeerKey, id: string, change: (message: Message) => Message): void
  /** A reaction to what may be a last message: applied where it is known not to be in there already. */
  react(key: PeerKey, id: string, isMissed: boolean, change: (message: Message) => Message): void
  /** Something happened of which only the service knows what it means here. */
  ask(key: PeerKey): void
  /** Asks for it where it is not known. */
  learn(key: PeerKey): void
  /** Asks now what would be asked in a moment. */
  hurry(): Promise<void>
  /** The user has read there: what is being read at the moment may not count that yet. */
  outdate(key: PeerKey): void
  /** Reads the list and all counts again. */
  reload(signal: Signal): Promise<void>
  /** What is shown of a conversation has changed, or of all of them. */
  changed(key?: PeerKey): void
}

export interface ConversationsParts {
  readonly port: Port
  readonly cell: CreateCell
  readonly unread: Unread
  readonly pageSize: number
  countChanged(key?: PeerKey): void
  /** A confirmed message with changes of this client. */
  shown(message: Message): ShownMessage
  readonly insist: Insist
  onRow(row: Conversation): void
}

interface Row {
  readonly conversation: Conversation
  /** When the service answered it. */
  readonly readAt: number
  /** Where it stands among those that are not pinned; kept when its last message is removed for good. */
  readonly place: Position
  /** Where it stood in the list of the service: decides between those pinned for everyone, and where nothing else does. */
  readonly rank: number
  summary?: ConversationSummary
}

interface Total {
  readonly entityId: string
  readonly entityType: 'user' | 'group'
  readonly count: number
}

const appPins = 'app_system'
/** A frame is not later than this after the answer to a request that saw what it says. */
export const freshMs = 5000

export function keyOfConversation({ conversationType, conversationWith }: Conversation): PeerKey {
  const { uid, guid } = (conversationWith ?? {}) as { uid?: string; guid?: string }
  return `${conversationType}:${uid ?? guid}`
}

export function createConversations(parts: ConversationsParts): Conversations {
  const { port, cell, unread, pageSize, insist, onRow, countChanged } = parts
  const rows = new Map<PeerKey, Row>()
  /** The newest message that came in each conversation while something is being read. */
  const newest = new Map<PeerKey, Message>()
  /** Conversations whose last message may have changed while something was being read. */
  const touched = new Set<PeerKey>()
  /** The last row of the service's list that is here; what was heard of below it is not shown yet. */
  let bottom: Row | undefined
  let hasMore = true
  let isLoading = false
  let isLoaded = false
  let readings = 0
  let error: unknown

  const before = (a: Row, b: Row): number => {
    const order = pinOf(a) - pinOf(b)
    if (order !== 0) return order
    if (pinOf(a) === 0 && a.rank !== b.rank) return a.rank - b.rank
    const pinned = (b.conversation.pinnedAt ?? 0) - (a.conversation.pinnedAt ?? 0)
    return (pinOf(a) === 1 ? pinned : 0) || compare(b.place, a.place) || a.rank - b.rank
  }
  const summarise = (key: PeerKey): ConversationSummary | undefined => {
    const row = rows.get(key)
    if (row === undefined) return undefined
    const { conversation } = row
    const count = unread.of(key)
    const last = conversation.lastMessage && parts.shown(conversation.lastMessage)
    const { summary } = row
    if (summary?.unread === count && summary.lastMessage === last) return summary
    row.summary = {
      key,
      peer: peerOf(key),
      conversation,
      with: conversation.conversationWith as unknown as User | Group,
      unread: count,
      isPinned: conversation.pinnedAt !== undefined,
      ...(last && { lastMessage: last }),
    }
    return row.summary
  }
  const summaries = createViews(cell, summarise)
  const list = cell<ConversationsSnapshot>(() => {
    const keys = [...rows].sort(([, a], [, b]) => before(a, b))
    const within = hasMore ? keys.filter(([, row]) => bottom === undefined || before(row, bottom) <= 0) : keys
    const conversations = within.map(([key]) => summarise(key) as ConversationSummary)
    return { conversations, hasMore, isLoading, isLoaded, error }
  })
  const changed = (key?: PeerKey) => {
    list.changed()
    summaries.changed(key)
  }

  /** @param beside where it stands if nothing is known but its neighbours: its last message was removed for good */
  const set = (
    conversation: Conversation,
    rank = 0,
    beside = rows.get(keyOfConversation(conversation))?.place,
  ): Row => {
    const key = keyOfConversation(conversation)
    const { lastMessage } = conversation
    const heard = readings > 0 ? newest.get(key) : undefined
    const isLate = heard !== undefined && (lastMessage === undefined || compare(heard, lastMessage) > 0)
    const kept = isLate ? { ...conversation, lastMessage: heard } : conversation
    const place = kept.lastMessage ?? beside ?? { sentAt: 0, id: '0' }
    const row = { conversation: kept, place, rank, readAt: now() }
    rows.set(key, row)
    unread.base(key, Number(conversation.unreadMessageCount ?? 0), lastMessage && Number(lastMessage.id))
    onRow(conversation)
    return row
  }

  /** While something is read, what is heard of meanwhile is newer than what is read. */
  const reading = async <T>(work: () => Promise<T>): Promise<T> => {
    readings++
    try {
      return await work()
    } finally {
      readings--
      if (readings === 0) {
        newest.clear()
        touched.clear()
      }
    }
  }

  const readPage = (page: number, perPage: number, signal: Signal | undefined) =>
    port.call<Listed<Conversation>>('GET', '/conversations', { query: { page, perPage }, signal })

  const remove = (key: PeerKey) => {
    unread.forget(key)
    rows.delete(key)
    countChanged(key)
  }

  const { ask, touch, due, drop, hurry } = createAsker((key, isCurrent) =>
    reading(async () => {
      const found = await insist(async (signal) => {
        try {
          return await port.call<Answered<Conversation>>('GET', `${pathOf(key)}/conversation`, { signal })
        } catch (failure) {
          if (!isOutOfSight(failure)) throw failure
          return { data: undefined }
        }
      })
      if (found === undefined || !isCurrent()) return
      if (found.data === undefined) remove(key)
      else if (found.data.lastMessage === undefined && !rows.has(key)) {
        // Its last message was removed for good before it was known here: only the list says where it stands.
        await insist(reload)
      } else {
        set(found.data, rows.get(key)?.rank)
        countChanged(key)
      }
    }),
  )

  const fill = (data: readonly Conversation[], from: number) => {
    const places = data.map(({ lastMessage }) => lastMessage)
    for (const [index, row] of data.entries()) {
      const beside = places.slice(index).find((place) => place !== undefined) ?? places.findLast((place) => place)
      bottom = set(row, from + index, beside)
    }
    for (const key of touched) ask(key)
    touched.clear()
  }

  const outdate = (key: PeerKey) => {
    touch(key)
    if (readings > 0) touched.add(key)
  }

  const change = (key: PeerKey, id: string, apply: (message: Message) => Message) => {
    // What is being read may not know of it.
    outdate(key)
    const heard = newest.get(key)
    if (heard?.id === id) newest.set(key, apply(heard))
    const row = rows.get(key)
    const last = row?.conversation.lastMessage
    if (row === undefined || last?.id !== id) return
    const { summary: _, ...kept } = row
    rows.set(key, { ...kept, conversation: { ...row.conversation, lastMessage: apply(last) } })
    changed(key)
  }

  /** Reads rows, and says that it does. */
  const load = async (work: () => Promise<void>) => {
    isLoading = true
    list.changed()
    try {
      await reading(async () => {
        await work()
        isLoaded = true
        error = undefined
      })
    } catch (failure) {
      error = failure
      throw failure
    } finally {
      isLoading = false
      countChanged()
    }
  }

  const reload = (signal: Signal) =>
    load(async () => {
      for (const key of due()) drop(key)
      const perPage = Math.min(1000, Math.max(pageSize, Math.ceil(rows.size / pageSize) * pageSize))
      const query = { unread: 1, count: 1 }
      const [answer, totals] = await Promise.all([
        readPage(1, perPage, signal),
        port.call<Listed<Total>>('GET', '/messages', { query, signal }),
      ])
      const heard = [...newest.keys()]
      rows.clear()
      bottom = undefined
      const listed = new Set(answer.data.map(keyOfConversation))
      for (const key of [...unread.keys()]) if (!listed.has(key)) unread.forget(key)
      for (const { entityId, entityType, count } of totals.data) {
        const key = `${entityType}:${entityId}`
        if (!listed.has(key)) unread.base(key, count, 0)
      }
      fill(answer.data, 0)
      hasMore = perPage < totalOf(answer)
      // What a count of all saw of what came meanwhile is not known.
      for (const key of heard) if (!listed.has(key)) ask(key)
    })

  return {
    ...list,
    summary: summaries.of,
    add(key, message) {
      if (readings > 0) newest.set(key, message)
      const row = rows.get(key)
      if (row === undefined) ask(key)
      else if (compare(message, row.place) > 0) {
        const conversation = { ...row.conversation, lastMessage: message }
        rows.set(key, { conversation, place: message, rank: row.rank, readAt: -freshMs })
      }
      changed(key)
    },
    change,
    react(key, id, isMissed, changed) {
      const row = rows.get(key)
      if (row?.conversation.lastMessage?.id !== id) return
      if (isMissed || readings > 0 || now() - row.readAt < freshMs) ask(key)
      else change(key, id, changed)
    },
    ask,
    learn(key) {
      if (!rows.has(key)) ask(key)
    },
    hurry,
    outdate,
    async loadMore(signal) {
      if (isLoading || !hasMore) return
      await load(async () => {
        const page = Math.floor(list.getSnapshot().conversations.length / pageSize) + 1
        const answer = await readPage(page, pageSize, signal)
        fill(answer.data, (page - 1) * pageSize)
        hasMore = page * pageSize < totalOf(answer)
      })
    },
    reload,
    changed,
  }
}

/** Pinned for everyone, by the user, or not. */
function pinOf({ conversation: { pinnedAt, pinnedBy } }: Row): number {
  if (pinnedAt === undefined && pinnedBy === undefined) return 2
  return pinnedBy === appPins ? 0 : 1
}
