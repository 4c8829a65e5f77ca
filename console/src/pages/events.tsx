import { Anchor, Button, Group, MultiSelect, Text } from '@mantine/core'
import type { Input, PulledEvent } from '@parley/client'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { codeOf } from '../api.ts'
import { texts } from '../questions.ts'
import { useApp } from '../shell/session.tsx'
import { useAddress } from '../ui/address.ts'
import { EventView } from '../ui/EventView.tsx'
import { follow } from '../ui/live.ts'
import { Page, SmallTable, Time } from '../ui/page.tsx'
import { Loaded, Problem } from '../ui/states.tsx'
import { isSilent, useTriggers } from '../ui/triggers.ts'

/** So many are shown: the page does not grow for ever. */
const mostShown = 200
/** An event is there to be read a moment after it happened. */
const againMs = [200, 500, 1_500]

type Trigger = PulledEvent['trigger']

/** The legacy envelope has names of its own for what is listed under others. */
const isPulled = ({ category }: { readonly category: string }) => category !== 'legacy' && !isSilent(category)

/** What happens in an app, as it happens. */
export function Events() {
  const [{ of = '' }, change] = useAddress()
  const [isPaused, setPaused] = useState(false)
  const [open, setOpen] = useState<string>()
  const chosen = of === '' ? [] : (of.split(',') as Trigger[])
  const { events, error } = useTail(chosen, isPaused)
  const triggers = useTriggers().data ?? []
  return (
    <Page
      title="Events"
      hint="What happens from now on. The first request of this page has the service store the events of the app, and as long as somebody asks for them it goes on."
      actions={
        <Button variant="default" onClick={() => setPaused(!isPaused)}>
          {isPaused ? 'Go on' : 'Pause'}
        </Button>
      }
    >
      <MultiSelect
        aria-label="Triggers"
        placeholder={chosen.length === 0 ? 'All triggers' : ''}
        data={triggers.filter(isPulled).map(({ id }) => id)}
        value={chosen}
        onChange={(next) => change({ of: next.join(',') })}
        searchable
        clearable
      />
      {error !== undefined && <Problem error={error} />}
      <SmallTable
        label="Events"
        rows={events}
        idOf={({ id }) => id}
        empty={isPaused ? 'Paused.' : 'Nothing has happened yet.'}
        columns={[
          { label: 'When', cell: ({ createdAt }) => <Time at={createdAt} /> },
          {
            label: 'Trigger',
            cell: ({ id, trigger }) => (
              <Anchor
                component="button"
                type="button"
                size="sm"
                aria-expanded={open === id}
                onClick={() => setOpen(open === id ? undefined : id)}
              >
                {trigger}
              </Anchor>
            ),
          },
          {
            label: 'What',
            cell: (event) =>
              open === event.id ? <Detail id={event.id} event={event} /> : <Text size="sm">{summaryOf(event)}</Text>,
          },
        ]}
      />
      <Group justify="flex-end">
        <Text size="xs" c="dimmed">
          {events.length === mostShown ? `The newest ${mostShown}` : `${events.length} so far`}
        </Text>
      </Group>
    </Page>
  )
}

/** The whole of an event, asked for again once a reading is opened. */
function Detail({ id, event }: { readonly id: string; readonly event: PulledEvent }) {
  const { appId, client } = useApp()
  const query = useQuery({
    queryKey: [texts, appId, 'event', id],
    queryFn: async () => {
      const { data } = await client.events.list({ after: String(BigInt(id) - 1n), limit: 1 })
      return data.find((one) => one.id === id) ?? event
    },
    placeholderData: event,
  })
  return <Loaded query={query}>{(event) => <EventView event={event} />}</Loaded>
}

/** Newest first, from the moment that the page was opened. What happens during a pause comes once it is over. */
function useTail(chosen: readonly Trigger[], isPaused: boolean) {
  const { appId, client } = useApp()
  const [events, setEvents] = useState<readonly PulledEvent[]>([])
  const [error, setError] = useState<unknown>()
  const cursor = useRef<string>(undefined)
  const wanted = chosen.join(',')

  useEffect(() => {
    if (isPaused) return
    const leaving = new AbortController()
    const { signal } = leaving
    /** @returns how many were new, and whether there are more */
    const read = async () => {
      const after = cursor.current
      const input: Input<'GET /events'> = {
        limit: 100,
        ...(after !== undefined && { after }),
        ...(wanted !== '' && { triggers: wanted.split(',') as Trigger[] }),
      }
      const { data, meta } = await client.events.list(input, { signal })
      cursor.current = meta.cursor
      setError(undefined)
      if (data.length > 0) setEvents((before) => [...data.toReversed(), ...before].slice(0, mostShown))
      return { count: data.length, isMore: meta.more }
    }
    const ask = async () => {
      try {
        for (let count = 0; ; ) {
          const found = await read()
          count += found.count
          if (!found.isMore) return count > 0
        }
      } catch (error) {
        if (signal.aborted) return true
        // Where it stood is no longer stored, as after a long pause: it begins with what happens now.
        if (codeOf(error) === 'ERR_BAD_REQUEST') cursor.current = undefined
        setError(error)
        return true
      }
    }
    void follow({ appId, signal, begin: ask, ask, againMs })
    return () => leaving.abort()
  }, [appId, client, wanted, isPaused])

  return { events: wanted === '' ? events : events.filter(({ trigger }) => wanted.split(',').includes(trigger)), error }
}

/** Who, in short. */
function summaryOf({ data }: PulledEvent): string {
  const { message, user, group, sender, receiver } = data as Record<
    string,
    { uid?: string; guid?: string; id?: string } | string | undefined
  >
  const named = [message, user, group, sender, receiver].map((one) =>
    typeof one === 'string' ? one : (one?.uid ?? one?.guid ?? one?.id),
  )
  return named.filter((name) => name !== undefined).join(', ')
}
