import { Alert, Button, Group, Paper, Stack, Switch, Text } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import { explain } from '../api.ts'
import { type ExportState, exportApp } from '../export.ts'
import { kinds } from '../import.ts'
import { useApp, useCan } from '../shell/session.tsx'
import { ask } from '../ui/act.tsx'
import { saveBlob, useWarning } from '../ui/files.ts'
import { SmallTable } from '../ui/page.tsx'

const words = {
  running: 'Exporting. Stay on this page: an export that is left begins anew.',
  done: 'Done. The files are here until you leave the page.',
  stopped: 'Stopped. Files that are whole are here until you leave the page.',
  failed: 'It could not go on.',
}

/** Gives what an app has as files that an import takes. */
export function Export() {
  const app = useApp()
  const mayRead = useCan()('read')
  const [withMessages, setWithMessages] = useState(false)
  const [state, setState] = useState<ExportState>()
  const running = useRef<AbortController>(undefined)
  const isRunning = state?.phase === 'running'
  useWarning(isRunning)
  // Nobody gets what is read for a page that was left.
  useEffect(() => () => running.current?.abort(), [])

  const start = async () => {
    const reason = withMessages ? await askWhy() : undefined
    if (withMessages && reason === undefined) return
    running.current = new AbortController()
    await exportApp(app, reason, running.current.signal, setState)
  }
  return (
    <Stack>
      <Paper withBorder p="lg">
        <Stack align="flex-start">
          <Text size="sm">
            Users, groups, members and messages with their reactions, each as a file that an import takes: one JSON
            record per line, gzipped. What is changed meanwhile may be in it or not. Marks, settings, rules, files,
            passwords of groups and all else are in what the command “parley export” writes, which stands at one moment
            and is also the way for millions of messages.
          </Text>
          {mayRead ? (
            <Switch
              label="With messages"
              description="You are asked why you read them. The reason, and each conversation, is recorded in the audit log."
              checked={withMessages}
              disabled={isRunning}
              onChange={(event) => setWithMessages(event.currentTarget.checked)}
            />
          ) : (
            <Text size="sm" c="dimmed">
              Without messages: you do not have the right to read what people wrote.
            </Text>
          )}
          <Group>
            <Button disabled={isRunning} onClick={() => void start()}>
              Export
            </Button>
            {isRunning && (
              <Button variant="light" color="red" onClick={() => running.current?.abort()}>
                Stop
              </Button>
            )}
          </Group>
        </Stack>
      </Paper>
      {state !== undefined && <Result state={state} />}
    </Stack>
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

function Result({ state: { phase, counts, files, error } }: { readonly state: ExportState }) {
  return (
    <Stack>
      <Alert color={phase === 'failed' ? 'red' : phase === 'done' ? 'teal' : 'blue'} role="status">
        {words[phase]} {error !== undefined && explain(error)}
      </Alert>
      <SmallTable
        label="Exported records"
        rows={kinds.flatMap((kind) => {
          const records = counts[kind]
          return records === undefined ? [] : [{ kind, records, file: files.find((file) => file.kind === kind) }]
        })}
        idOf={({ kind }) => kind}
        empty="Nothing was read yet."
        columns={[
          { label: 'Records', cell: ({ kind }) => kind },
          { label: 'Read', cell: ({ records }) => records },
          {
            label: 'File',
            cell: ({ file }) =>
              file !== undefined && (
                <Button size="compact-xs" variant="default" onClick={() => saveBlob(file.name, file.content)}>
                  Download {file.name}
                </Button>
              ),
          },
        ]}
      />
    </Stack>
  )
}
