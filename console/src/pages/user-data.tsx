import { Button, Group, Stack, Text } from '@mantine/core'
import type { Result } from '@parley/client'
import { useQuery } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { codeOf } from '../api.ts'
import { texts, wholeApp } from '../questions.ts'
import { useApp, useCan } from '../shell/session.tsx'
import { useAct } from '../ui/act.tsx'
import { countOf } from '../ui/figures.ts'
import { saveFile } from '../ui/files.ts'
import { Hold } from '../ui/Hold.tsx'
import { notifyError } from '../ui/notices.tsx'
import { Facts, Page, Section, SmallTable, Status, Time } from '../ui/page.tsx'
import { ReadingBar } from '../ui/Reading.tsx'
import { Loaded } from '../ui/states.tsx'

type Erasure = Result<'GET /users/{uid}/erasures'>[number]

/** What becomes of the data of a user: what they have asked for, what keeps it, and erasures. */
export function DataOf({ uid }: { readonly uid: string }) {
  const { client } = useApp()
  return (
    <Stack>
      <Requests uid={uid} />
      <Hold
        title="Retention"
        none="What they wrote is kept as long as the app and its groups have set."
        isOf={(held) => held.uid === uid}
        question={{
          title: 'Put them on hold?',
          text: 'What they wrote and their one-to-one conversations are kept, however old, until the hold is lifted.',
        }}
        done="They are on hold"
        hold={(note) => client.retention.holdUser({ uid, note })}
        lift={() => client.retention.liftHoldOfUser({ uid })}
      />
      <Section title="Erasures of earlier users with this ID">
        <Erasures uid={uid} />
      </Section>
    </Stack>
  )
}

/** The page of a user who is not there: whether somebody with this ID was erased. */
export function ErasedUser({ uid }: { readonly uid: string }) {
  return (
    <Page title={uid} hint="There is no user with this ID.">
      <Section title="Certificates of erasures">
        <Erasures uid={uid} />
      </Section>
    </Page>
  )
}

function Requests({ uid }: { readonly uid: string }) {
  const { appId, client } = useApp()
  const can = useCan()
  const act = useAct()
  const key = [texts, appId, 'export-of', uid]
  const asked = useQuery({
    queryKey: key,
    queryFn: () => client.users.export({ uid, limit: 0 }).then(({ data }) => data.export, nothingWhereNotAsked),
    enabled: can('manage'),
    refetchInterval: ({ state }) => (state.data?.status === 'making' ? 2_000 : false),
  })
  return (
    <Section title="Their data">
      <Text size="sm">
        Users ask for all that there is of them, once a day. Once it is released it is put together, and the app fetches
        it for seven days.
      </Text>
      {can('manage') && (
        <Group>
          <Button
            size="xs"
            variant="default"
            onClick={() =>
              void act({
                run: () => client.users.releaseExport({ uid }),
                done: 'What they have asked for is released',
                refresh: [key],
              })
            }
          >
            Release what they have asked for
          </Button>
        </Group>
      )}
      {!can('manage') && (
        <Text size="sm" c="dimmed">
          Whether they have, see operators with the right “manage”.
        </Text>
      )}
      {can('manage') && (
        <Loaded query={asked}>
          {(asked) =>
            asked === null ? (
              <Text size="sm" c="dimmed">
                They have asked for nothing.
              </Text>
            ) : (
              <>
                <Facts
                  facts={{
                    State: <Status of={asked.status} />,
                    Asked: <Time at={asked.askedAt} />,
                    Released: asked.releasedAt && <Time at={asked.releasedAt} />,
                    Made: asked.madeAt && <Time at={asked.madeAt} />,
                    'Can be fetched until': asked.expiresAt && <Time at={asked.expiresAt} />,
                    Records: asked.records,
                  }}
                />
                {asked.status === 'ready' && <Archive uid={uid} />}
              </>
            )
          }
        </Loaded>
      )}
    </Section>
  )
}

function nothingWhereNotAsked(error: unknown): null {
  if (codeOf(error) === 'ERR_EXPORT_NOT_FOUND') return null
  throw error
}

/** What was put together, as a file of one JSON object a line. Messages are in it as far as the operator may read them. */
function Archive({ uid }: { readonly uid: string }) {
  const { client } = useApp()
  const [count, setCount] = useState<number>()
  const stopping = useRef<AbortController>(undefined)
  const run = async () => {
    const stop = new AbortController()
    stopping.current = stop
    const lines: string[] = []
    setCount(0)
    try {
      for (let after: { readonly after?: string } | undefined = {}; after !== undefined; ) {
        const { data, meta } = await client.users.export({ uid, limit: 1000, ...after })
        if (stop.signal.aborted) return
        for (const record of data.records) lines.push(`${JSON.stringify(record)}\n`)
        setCount(lines.length)
        after = meta.next
      }
      saveFile(`data-of-${uid}.ndjson`, lines, 'application/x-ndjson')
    } catch (error) {
      notifyError(error)
    } finally {
      setCount(undefined)
    }
  }
  return (
    <Stack gap="xs">
      <ReadingBar of={wholeApp} />
      <Group>
        <Button size="xs" variant="default" loading={count !== undefined} onClick={() => void run()}>
          Download the archive
        </Button>
        {count !== undefined && (
          <>
            <Text size="sm" role="status">
              {countOf(count, 'record')}
            </Text>
            <Button size="xs" variant="light" color="red" onClick={() => stopping.current?.abort()}>
              Stop
            </Button>
          </>
        )}
      </Group>
    </Stack>
  )
}

function Erasures({ uid }: { readonly uid: string }) {
  const { appId, client } = useApp()
  const erasures = useQuery({
    queryKey: ['erasures-of', appId, uid],
    queryFn: () => client.users.erasures({ uid }).catch(noneWhereUnknown),
  })
  return (
    <Loaded query={erasures}>
      {(erasures) =>
        erasures.length === 0 ? (
          <Text c="dimmed" size="sm">
            Nobody with this ID was erased.
          </Text>
        ) : (
          erasures.map((erasure, place) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: two can be of the same second
            <Certificate key={`${erasure.erasedAt} ${place}`} erasure={erasure} />
          ))
        )
      }
    </Loaded>
  )
}

function noneWhereUnknown(error: unknown): Erasure[] {
  if (codeOf(error) === 'ERR_ERASURE_NOT_FOUND') return []
  throw error
}

function Certificate({ erasure }: { readonly erasure: Erasure }) {
  const { erasedAt, isClean, messages, kept, digests, places } = erasure
  const touched = places.filter(({ removed = 0, changed = 0, left = 0 }) => removed + changed + left > 0)
  return (
    <Stack gap="xs">
      <Group justify="flex-end">
        <Button
          size="compact-xs"
          variant="default"
          onClick={() => saveFile(`erasure-${erasedAt}.json`, [JSON.stringify(erasure, null, 2)], 'application/json')}
        >
          Download the certificate
        </Button>
      </Group>
      <Facts
        facts={{
          Erased: <Time at={erasedAt} />,
          'Read back': isClean ? 'nothing is left' : 'something is left',
          'Tables looked at': String(places.length),
          'Messages removed': String(messages),
          'Messages in groups that stay': String(kept.groupMessages),
          'Digests that imports refuse': String(digests.uids + digests.muids),
        }}
      />
      <SmallTable
        label="What was removed"
        rows={touched}
        idOf={({ table }) => table}
        empty="There was nothing to remove."
        columns={[
          { label: 'Table', cell: ({ table }) => table },
          { label: 'Removed', cell: ({ removed }) => removed },
          { label: 'Changed', cell: ({ changed }) => changed },
          { label: 'Left', cell: ({ left }) => left },
        ]}
      />
    </Stack>
  )
}
