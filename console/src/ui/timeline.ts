import type { Message } from '@parley/client'
import { useCallback, useEffect, useState } from 'react'
import { useApp } from '../shell/session.tsx'

const pageSize = 50
const pauseMs = 3_000

export interface Timeline {
  /** Oldest first. */
  readonly messages: readonly Message[]
  /** The message that it began around; undefined for the newest. */
  readonly at: string | undefined
  readonly isLoading: boolean
  readonly isLoadingOlder: boolean
  readonly hasOlder: boolean
  readonly hasNewer: boolean
  readonly error: unknown
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
}

const nothing: Loaded = { messages: new Map(), isLoading: true, hasOlder: false, hasNewer: false, error: undefined }

/**
 * The messages of a conversation, from the newest back or around one of them. What is sent, edited or deleted meanwhile comes every
 * few seconds, as long as the page is in sight.
 * @param version where it changes, all is asked for again, as when a reading was opened
 */
export function useTimeline(conversationId: string, at: string | undefined, version: string): Timeline {
  const { client } = useApp()
  const [loaded, setLoaded] = useState(nothing)
  const [isLoadingOlder, setLoadingOlder] = useState(false)
  const [reloads, setReloads] = useState(0)

  const page = useCallback(
    async (input: object) => (await client.messages.list({ conversationId, limit: pageSize, ...input })).data,
    [client, conversationId],
  )

  // biome-ignore lint/correctness/useExhaustiveDependencies: a reading that was opened, and a deletion, make it ask again
  useEffect(() => {
    let isOver = false
    let timer: ReturnType<typeof setTimeout> | undefined
    let newest = '0'
    let changedAt = Math.floor(Date.now() / 1000)
    let follows = at === undefined

    const take = (found: readonly Message[], change: Partial<Loaded> = {}) => {
      if (isOver) return
      for (const { id, updatedAt } of found) {
        if (BigInt(id) > BigInt(newest)) newest = id
        changedAt = Math.max(changedAt, updatedAt)
      }
      setLoaded((before) => ({
        ...before,
        ...{ isLoading: false, error: undefined },
        messages: found.length === 0 ? before.messages : merge(before.messages, found),
        ...change,
      }))
    }
    const begin = async () => {
      if (at === undefined) {
        const found = await page({ affix: 'prepend' })
        return take(found, { hasOlder: found.length === pageSize })
      }
      const [before, itself, after] = await Promise.all([
        page({ affix: 'prepend', id: at }),
        client.messages.get({ messageId: at }),
        page({ affix: 'append', id: at }),
      ])
      follows = after.length < pageSize
      take([...before, itself as Message, ...after], { hasOlder: before.length === pageSize, hasNewer: !follows })
    }
    const goOn = async () => {
      const changes = page({ affix: 'append', updatedAt: changedAt, onlyUpdates: true })
      for (let isMore = follows; isMore && !isOver; ) {
        const found = await page({ affix: 'append', id: newest })
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
        if (step === begin || document.visibilityState === 'visible') await step()
      } catch (error) {
        if (!isOver) setLoaded((before) => ({ ...before, isLoading: false, error }))
      }
      if (!isOver) timer = setTimeout(() => void run(goOn), pauseMs)
    }
    void run(begin)
    return () => {
      isOver = true
      clearTimeout(timer)
    }
  }, [client, page, at, version, reloads])

  const messages = [...loaded.messages.values()].sort((a, b) => (BigInt(a.id) < BigInt(b.id) ? -1 : 1))
  const add = (found: readonly Message[], change: Partial<Loaded>) =>
    setLoaded((before) => ({ ...before, messages: merge(before.messages, found), ...change }))
  const fail = (error: unknown) => setLoaded((before) => ({ ...before, error }))

  return {
    ...loaded,
    messages,
    at,
    isLoadingOlder,
    loadOlder() {
      setLoadingOlder(true)
      page({ affix: 'prepend', id: messages[0]?.id })
        .then((found) => add(found, { hasOlder: found.length === pageSize }), fail)
        .finally(() => setLoadingOlder(false))
    },
    loadNewer() {
      page({ affix: 'append', id: messages.at(-1)?.id }).then(
        (found) => add(found, { hasNewer: found.length === pageSize }),
        fail,
      )
    },
    reload: () => setReloads(reloads + 1),
  }
}

function merge(before: ReadonlyMap<string, Message>, found: readonly Message[]): ReadonlyMap<string, Message> {
  return new Map([...before, ...found.map((message) => [message.id, message] as const)])
}
