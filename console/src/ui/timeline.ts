import type { Message } from '@parley/client'
import { useCallback, useEffect, useRef, useState } from 'react'
import { queryClient } from '../api.ts'
import { messagesAtOnce, newestIn } from '../questions.ts'
import { useApp } from '../shell/session.tsx'
import { follow } from './live.ts'

const pageSize = messagesAtOnce
/** What was asked for as the link to the page was followed is taken for as new as that. */
const askedAheadMs = 2_000

export interface Timeline {
  /** Oldest first. */
  readonly messages: readonly Message[]
  /** The message that it began around; undefined for the newest. */
  readonly at: string | undefined
  readonly isLoading: boolean
  readonly isLoadingOlder: boolean
  readonly hasOlder: boolean
  readonly hasNewer: boolean
  /** What is shown could not be loaded again, or not at all. */
  readonly error: unknown
  /** When all that is shown was as it is shown, in epoch milliseconds. */
  readonly since: number
  readonly olderError: unknown
  readonly newerError: unknown
  loadOlder(): void
  loadNewer(): void
  /** Asks for everything that is shown again. */
  reload(): void
}

interface Loaded {
  readonly messages: ReadonlyMap<string, Message>
  readonly isLoading: boolean
  readonly hasOlder: boolean
  readonly hasNewer: boolean
  readonly error: unknown
  readonly since: number
  readonly olderError: unknown
  readonly newerError: unknown
}

const nothing: Loaded = {
  ...{ messages: new Map(), isLoading: true, hasOlder: false, hasNewer: false, since: 0 },
  ...{ error: undefined, olderError: undefined, newerError: undefined },
}

/** What newer ones are added to. */
interface Course {
  take(found: readonly Message[], change?: Partial<Loaded>): void
}

/**
 * The messages of a conversation, from the newest back or around one of them. What is sent, edited or deleted meanwhile comes as it
 * happens, as long as the page is in sight.
 * @param version where it changes, all is asked for again, as when a reading was opened; undefined as long as it is not known
 */
export function useTimeline(conversationId: string, at: string | undefined, version: string | undefined): Timeline {
  const { appId, client } = useApp()
  const [loaded, setLoaded] = useState(nothing)
  const [isLoadingOlder, setLoadingOlder] = useState(false)
  const [reloads, setReloads] = useState(0)

  const page = useCallback(
    async (input: object) => (await client.messages.list({ conversationId, limit: pageSize, ...input })).data,
    [client, conversationId],
  )

  const firstVersion = useRef(version)
  firstVersion.current ??= version
  const isFirstVersion = version === undefined || version === firstVersion.current
  const wasFirstVersion = useRef(true)
  /** Whether the newest are shown, and what comes after them. */
  const follows = useRef(at === undefined)
  const course = useRef<Course>(undefined)

  useEffect(() => {
    const leaving = new AbortController()
    const { signal } = leaving
    let newest: Message | undefined
    let changedAt = Math.floor((Date.now() - askedAheadMs) / 1000)
    // Older ones that are shown would stay without their texts, or with them.
    const isAnew = wasFirstVersion.current !== isFirstVersion
    wasFirstVersion.current = isFirstVersion

    const take = (found: readonly Message[], change: Partial<Loaded> = {}) => {
      if (signal.aborted) return
      for (const message of found) {
        if (newest === undefined || placeOrder(newest, message) < 0) newest = message
        changedAt = Math.max(changedAt, message.updatedAt)
      }
      setLoaded((before) => ({
        ...before,
        isLoading: false,
        messages: found.length === 0 ? before.messages : merge(before.messages, found),
        ...change,
      }))
    }
    course.current = { take }
    const begin = async () => {
      if (at === undefined) {
        const staleTime = reloads === 0 && !isAnew ? askedAheadMs : 0
        const found = await queryClient.fetchQuery({ ...newestIn(appId, conversationId), staleTime })
        return take(found, {
          hasOlder: found.length === pageSize,
          ...(isAnew && { messages: merge(new Map(), found) }),
        })
      }
      const [before, itself, after] = await Promise.all([
        page({ affix: 'prepend', id: at }),
        client.messages.get({ messageId: at }),
        page({ affix: 'append', id: at }),
      ])
      if (after.length < pageSize) follows.current = true
      const found = [...before, itself as Message, ...after]
      take(found, { hasOlder: before.length === pageSize, hasNewer: !follows.current })
    }
    const goOn = async () => {
      // More may have changed in the second that was seen last, also what was sent in it.
      const changes = page({ affix: 'append', updatedAt: changedAt - 1 })
      for (let isMore = follows.current; isMore && !signal.aborted; ) {
        const found = await page({ affix: 'append', ...(newest && { id: newest.id }) })
        take(found)
        isMore = found.length === pageSize
      }
      // Only of what is shown: a change of an older message does not bring it in.
      const changed = await changes
      setLoaded((before) => {
        const known = changed.filter(({ id }) => before.messages.has(id))
        return known.length === 0 ? before : { ...before, messages: merge(before.messages, known) }
      })
      for (const { updatedAt } of changed) changedAt = Math.max(changedAt, updatedAt)
    }
    const run = async (step: () => Promise<void>) => {
      try {
        await step()
        if (!signal.aborted) setLoaded((before) => ({ ...before, error: undefined, since: Date.now() }))
      } catch (error) {
        if (!signal.aborted) setLoaded((before) => ({ ...before, isLoading: false, error }))
      }
      return true
    }
    const ask = () => run(goOn)
    void follow({ appId, conversationId, signal, begin: () => run(begin), ask })
    return () => leaving.abort()
  }, [appId, conversationId, client, page, at, isFirstVersion, reloads])

  const messages = inOrder([...loaded.messages.values()])
  const add = (found: readonly Message[], change: Partial<Loaded>) =>
    setLoaded((before) => ({ ...before, messages: merge(before.messages, found), ...change }))
  const change = (changed: Partial<Loaded>) => setLoaded((before) => ({ ...before, ...changed }))

  return {
    ...loaded,
    messages,
    at,
    isLoadingOlder,
    loadOlder() {
      setLoadingOlder(true)
      page({ affix: 'prepend', id: messages[0]?.id })
        .then(
          (found) => add(found, { hasOlder: found.length === pageSize, olderError: undefined }),
          (olderError) => change({ olderError }),
        )
        .finally(() => setLoadingOlder(false))
    },
    loadNewer() {
      const { current } = course
      page({ affix: 'append', id: messages.at(-1)?.id }).then(
        (found) => {
          if (found.length < pageSize) follows.current = true
          current?.take(found, { hasNewer: !follows.current, newerError: undefined })
        },
        (newerError) => change({ newerError }),
      )
    },
    reload: () => setReloads(reloads + 1),
  }
}

/** Messages as they stand in a conversation: by time, then by ID. What was imported is old, and has a new ID. */
export function inOrder(messages: readonly Message[]): Message[] {
  return messages.toSorted(placeOrder)
}

function placeOrder(a: Message, b: Message): number {
  if (a.sentAt !== b.sentAt) return a.sentAt - b.sentAt
  return BigInt(a.id) < BigInt(b.id) ? -1 : 1
}

function merge(before: ReadonlyMap<string, Message>, found: readonly Message[]): ReadonlyMap<string, Message> {
  return new Map([...before, ...found.map((message) => [message.id, message] as const)])
}
