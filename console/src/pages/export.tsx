import { Alert, Button, Group, Paper, Stack, Switch, Text } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { find, type Kept, readFile } from '../exports/keep.ts'
import { carryOn, discard, goOn, onChange, start, stop } from '../exports/run.ts'
import { kinds } from '../import.ts'
import { useApp, useCan, useMe } from '../shell/session.tsx'
import { ask, useAct } from '../ui/act.tsx'
import { saveBlob } from '../ui/files.ts'
import { notifyError } from '../ui/notices.tsx'
import { SmallTable, Time } from '../ui/page.tsx'
import { Loaded } from '../ui/states.tsx'

/** Gives what an app has as files that an import takes. */
export function Export() {
  const kept = useKept()
  return (
    <Stack>
      <Loaded query={kept}>
        {(kept) => (
          <>
            <Paper withBorder p="lg">
              <Stack align="flex-start">
                <Text size="sm">
                  Users, groups, members and messages with their reactions, each as a file that an import takes: one
                  JSON record per line, gzipped. What is changed meanwhile may be in it or not. Marks, settings, rules,
                  files, passwords of groups and all else are in what the command “parley export” writes, which stands
                  at one moment and is also the way for millions of messages.
                </Text>
                {kept === null ? <Beginning /> : <Controls kept={kept} />}
              </Stack>
            </Paper>
            {kept !== null && <Result kept={kept} />}
          </>
        )}
      </Loaded>
    </Stack>
  )
}

/** The export of this app, as it is kept in this browser; null: there is none. */
function useKept() {
  const { appId } = useApp()
  const me = useMe()
  const queries = useQueryClient()
  const query = useQuery({
    queryKey: ['export', appId, me.id],
    queryFn: async () => (await find(me, appId)) ?? null,
    networkMode: 'always',
    // Nobody heard how it went on while it was not shown.
    staleTime: 0,
  })
  useEffect(() => onChange(() => void queries.invalidateQueries({ queryKey: ['export'] })), [queries])
  // Whoever carried it on may have closed their tab.
  const isRunning = query.data?.phase === 'running'
  useEffect(() => {
    if (isRunning) carryOn(me, appId)
  }, [isRunning, me, appId])
  return query
}

function Beginning() {
  const { appId } = useApp()
  const me = useMe()
  const mayRead = useCan()('read')
  const [withMessages, setWithMessages] = useState(false)
  const begin = async () => {
    const reason = withMessages ? await askWhy() : undefined
    if (withMessages && reason === undefined) return
    await start(me, appId, reason).catch(notifyError)
  }
  return (
    <>
      {mayRead ? (
        <Switch
          label="With messages"
          description="You are asked why you read them. The reason, and each conversation, is recorded in the audit log."
          checked={withMessages}
          onChange={(event) => setWithMessages(event.currentTarget.checked)}
        />
      ) : (
        <Text size="sm" c="dimmed">
          Without messages: you do not have the right to read what people wrote.
        </Text>
      )}
      <Button onClick={() => void begin()}>Export</Button>
    </>
  )
}

function askWhy(): Promise<string | undefined> {
  return ask({
    title: 'Export what people wrote in this app?',
    text: 'You read texts for an hour, and for as long as the export goes on. Your reason is recorded in the audit log of the app.',
    label: 'Export',
    asks: { label: 'Your reason, such as the number of a request', minLength: 3 },
  })
}

function Controls({ kept }: { readonly kept: Kept }) {
  const me = useMe()
  const act = useAct()
  const { phase } = kept
  return (
    <Group>
      {phase === 'running' && (
        <Button variant="light" color="red" onClick={() => void stop(kept).catch(notifyError)}>
          Stop
        </Button>
      )}
      {(phase === 'stopped' || phase === 'failed') && (
        <Button onClick={() => void goOn(me, kept).catch(notifyError)}>Go on</Button>
      )}
      {phase !== 'running' && (
        <Button
          variant="light"
          color="red"
          onClick={() =>
            void act({
              run: () => discard(kept),
              done: 'The export was discarded',
              question: {
                title: 'Discard this export?',
                text: 'What was read for it is taken out of this browser. Another can be made.',
                label: 'Discard',
              },
            })
          }
        >
          Discard
        </Button>
      )}
    </Group>
  )
}

const words = {
  running:
    'Exporting. It goes on while the console is open in this browser, on other pages and after this one was loaded again.',
  done: 'Done. The files are kept in this browser for a day, until you discard them or sign out.',
  stopped: 'Stopped. It goes on where it was. What was read is kept in this browser for a day, until you sign out.',
  failed: 'It could not go on.',
}

function Result({ kept }: { readonly kept: Kept }) {
  const { phase, problem, reason, counts, files, changedAt } = kept
  const save = async (kind: Kept['files'][number]) => {
    try {
      saveBlob(`${kind}.ndjson.gz`, await readFile(kept, kind))
    } catch (error) {
      notifyError(error)
    }
  }
  return (
    <Stack>
      <Alert color={phase === 'failed' ? 'red' : phase === 'done' ? 'teal' : 'blue'} role="status">
        {words[phase]} {problem}
      </Alert>
      <Text size="sm" c="dimmed">
        {reason === undefined ? 'Without messages.' : `With messages. Reason: ${reason}.`} Last read{' '}
        <Time at={Math.floor(changedAt / 1000)} />.
      </Text>
      <SmallTable
        label="Exported records"
        rows={kinds.filter((kind) => counts[kind] !== undefined)}
        idOf={(kind) => kind}
        empty="Nothing was read yet."
        columns={[
          { label: 'Records', cell: (kind) => kind },
          { label: 'Read', cell: (kind) => counts[kind] },
          {
            label: 'File',
            cell: (kind) =>
              files.includes(kind) && (
                <Button size="compact-xs" variant="default" onClick={() => void save(kind)}>
                  Download {kind}.ndjson.gz
                </Button>
              ),
          },
        ]}
      />
    </Stack>
  )
}
