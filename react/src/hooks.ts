import type {
  ConnectionState,
  ConversationSummary,
  ConversationsSnapshot,
  Live,
  LiveClient,
  MemberList,
  MembersSnapshot,
  Message,
  MessagesSnapshot,
  OpenConversation,
  OpenThread,
  OutgoingMessage,
  Peer,
  PendingMessage,
  Presence,
  ShownMessage,
  UnreadTotal,
  User,
  View,
} from '@parley/client'
import { useCallback, useEffect, useMemo, useState, useSyncExternalStore } from 'react'
import { useParleyContext } from './context.tsx'
import { subscriber } from './frames.ts'

/** The client of the user who is logged in, for everything that no hook does. */
export function useParley(): LiveClient {
  return useParleyContext().client
}

const never = () => () => {}

/**
 * The value of a view, kept up to date; `fallback` while there is no view. It must be the same object each time.
 * @param restMs milliseconds for which a change is not followed by another one; without it each frame may have one
 */
export function useView<T>(view: View<T> | undefined, fallback: T, restMs = 0): T {
  const subscribe = useMemo(() => (view === undefined ? never : subscriber(view, restMs)), [view, restMs])
  const getSnapshot = view?.getSnapshot ?? (() => fallback)
  return useSyncExternalStore(subscribe, getSnapshot, getSnapshot)
}

const idle: ConnectionState = { status: 'idle' }

/** How the line to the service is. */
export function useConnection(): ConnectionState {
  return useView(useParley().live.connection, idle)
}

/** The user who is logged in; undefined until the first connection. */
export function useMe(): User | undefined {
  return useView(useParley().live.me, undefined)
}

const noConversations: ConversationsSnapshot = { conversations: [], hasMore: false, isLoading: false, isLoaded: false }

/** What stands beside a conversation need not move with each message of a burst. */
const besideMs = 250

/** The conversations of the user, pinned ones first, then by last message. */
export function useConversations(): ConversationsSnapshot & { readonly loadMore: () => Promise<void> } {
  const { conversations } = useParley().live
  const snapshot = useView(conversations, noConversations, besideMs)
  const loadMore = useCallback(() => conversations.loadMore(), [conversations])
  return { ...snapshot, loadMore }
}

const noneUnread: UnreadTotal = { messages: 0, conversations: 0 }

/** Unread messages over all conversations, exact. */
export function useUnread(): UnreadTotal {
  return useView(useParley().live.unread, noneUnread, besideMs)
}

/** One of two conversations is the same as the other. */
export function isSamePeer(a: Peer | undefined, b: Peer | undefined): boolean {
  return a === b || (a !== undefined && b !== undefined && nameOf(a) === nameOf(b))
}

/** The same for all objects that name the same peer. */
export function nameOf(peer: Peer): string {
  return 'uid' in peer ? `user:${peer.uid}` : `group:${peer.guid}`
}

/** Opens something of the store while a component is there, and that of another user's store where there is another client. */
function useOpened<T extends { close(): void }>(open: ((live: Live) => T) | undefined, name: string): T | undefined {
  const { live } = useParley()
  const [opened, setOpened] = useState<{ readonly live: Live; readonly name: string; readonly list: T }>()
  // biome-ignore lint/correctness/useExhaustiveDependencies: the name says what is opened
  useEffect(() => {
    if (open === undefined) return
    const list = open(live)
    setOpened({ live, name, list })
    return () => list.close()
  }, [live, name])
  return opened?.live === live && opened.name === name ? opened.list : undefined
}

/** A conversation, kept up to date while the component is there; undefined at the first render. */
export function useConversation(peer: Peer | undefined): OpenConversation | undefined {
  return useOpened(peer && ((live) => live.openConversation(peer)), peer === undefined ? '' : nameOf(peer))
}

const noMessages: MessagesSnapshot = {
  messages: [],
  pending: [],
  hasOlder: false,
  hasNewer: false,
  isLoadingOlder: false,
  isLoadingNewer: false,
  isLoaded: false,
}

/** The messages of a conversation that is open, with those that are not confirmed yet. */
export function useMessages(conversation: View<MessagesSnapshot> | undefined): MessagesSnapshot {
  return useView(conversation, noMessages)
}

/** A thread, kept up to date while the component is there; undefined at the first render. */
export function useThread(peer: Peer, parentId: string): OpenThread | undefined {
  return useOpened((live) => live.openThread(peer, parentId), `${nameOf(peer)} ${parentId}`)
}

/** The message that a thread belongs to. */
export function useParent(thread: OpenThread | undefined): ShownMessage | undefined {
  return useView(thread?.parent, undefined)
}

const nobody: readonly User[] = []

/** Who is typing in a conversation. */
export function useTyping(conversation: OpenConversation | undefined): readonly User[] {
  return useView(conversation?.typing, nobody)
}

/** What the list of conversations says of one; undefined until there is a message. */
export function useSummary(conversation: OpenConversation | undefined): ConversationSummary | undefined {
  return useView(conversation?.summary, undefined, besideMs)
}

/**
 * A part of that. The component is drawn again when the part is another one, and not with each message.
 * @param select answers a plain value, or the same object for the same part
 */
export function useSummaryPart<T>(
  conversation: OpenConversation | undefined,
  select: (summary: ConversationSummary | undefined) => T,
): T {
  const summary = conversation?.summary
  const subscribe = useMemo(() => (summary === undefined ? never : subscriber(summary, besideMs)), [summary])
  const getPart = () => select(summary?.getSnapshot())
  return useSyncExternalStore(subscribe, getPart, getPart)
}

/** Whether a user is there; undefined while that is not known, and without a user. */
export function usePresence(uid: string | undefined): Presence | undefined {
  const { live } = useParley()
  const [view, setView] = useState<View<Presence | undefined>>()
  useEffect(() => setView(uid === undefined ? undefined : live.presence(uid)), [live, uid])
  return useView(view, undefined)
}

const noMembers: MembersSnapshot = { members: [], hasMore: false, isLoaded: false }

/** The members of a group. */
export function useMembers(guid: string | undefined): MembersSnapshot & { readonly loadMore: () => Promise<void> } {
  const list = useOpened<MemberList>(guid === undefined ? undefined : (live) => live.openMembers(guid), guid ?? '')
  const snapshot = useView(list, noMembers)
  const loadMore = useCallback(async () => list?.loadMore(), [list])
  return { ...snapshot, loadMore }
}

const nothing: readonly PendingMessage[] = []

/** Everything that is not sent yet. */
export function useOutbox(): readonly PendingMessage[] {
  return useView(useParley().live.outbox, nothing)
}

/** Sends to somebody, optimistically: it is shown at once. @returns makes the message, and answers its `muid` */
export function useSend(peer: Peer): (message: OutgoingMessage) => string {
  const { live } = useParley()
  const name = nameOf(peer)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the name says whom it is for
  return useCallback((message: OutgoingMessage) => live.send(peer, message), [live, name])
}

/** Loads something again when what it is made of changes, and forgets what comes too late. */
function useLoaded<T>(load: ((signal: AbortSignal) => Promise<T>) | undefined, name: string, wait: number) {
  const client = useParley()
  const [state, setState] = useState<{
    readonly client: LiveClient
    readonly name: string
    readonly found?: T
    readonly error?: unknown
  }>()
  // biome-ignore lint/correctness/useExhaustiveDependencies: the name says what is loaded
  useEffect(() => {
    if (load === undefined) return
    const controller = new AbortController()
    const timer = setTimeout(async () => {
      try {
        const found = await load(controller.signal)
        setState({ client, name, found })
      } catch (error) {
        if (!controller.signal.aborted) setState({ client, name, error })
      }
    }, wait)
    return () => {
      clearTimeout(timer)
      controller.abort()
    }
  }, [client, name, load === undefined])
  const isCurrent = state?.client === client && state.name === name
  return {
    found: isCurrent ? state.found : undefined,
    error: isCurrent ? state.error : undefined,
    isLoading: load !== undefined && !isCurrent,
  }
}

/** Messages that contain a text, newest first: in one conversation, or in all. */
export function useSearch(text: string, peer?: Peer) {
  const { messages } = useParley()
  const searchKey = text.trim()
  const ask = async (signal: AbortSignal): Promise<readonly Message[]> => {
    const asked = { searchKey, affix: 'prepend', limit: 30, category: 'message', hideDeleted: true } as const
    const page =
      peer === undefined
        ? await messages.list(asked, { signal })
        : 'uid' in peer
          ? await messages.listWithUser({ ...asked, uid: peer.uid }, { signal })
          : await messages.listInGroup({ ...asked, guid: peer.guid }, { signal })
    return [...page.data].reverse()
  }
  const name = `${peer === undefined ? '' : nameOf(peer)} ${searchKey}`
  return useLoaded(searchKey === '' ? undefined : ask, name, 250)
}

/** Users whose name or uid contains a text; everybody for an empty one. */
export function useUsers(text: string, isAsked = true) {
  const { users } = useParley()
  const searchKey = text.trim()
  const ask = async (signal: AbortSignal): Promise<readonly User[]> =>
    (await users.list({ perPage: 30, ...(searchKey !== '' && { searchKey }) }, { signal })).data
  return useLoaded(isAsked ? ask : undefined, `users ${searchKey}`, 150)
}

/** Whether somebody can see the page. */
export function usePageVisible(): boolean {
  return useSyncExternalStore(onVisibility, isPageVisible, () => true)
}

function isPageVisible(): boolean {
  return document.visibilityState === 'visible'
}

function onVisibility(changed: () => void): () => void {
  document.addEventListener('visibilitychange', changed)
  return () => document.removeEventListener('visibilitychange', changed)
}
