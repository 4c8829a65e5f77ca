import { Alert, Anchor, Button, Group, Paper, Progress, Stack, Tabs, Text } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import { explain } from '../api.ts'
import { checkFiles, type ImportState, importFiles, kindOf, kinds, type Refused } from '../import.ts'
import { useApp, useMe } from '../shell/session.tsx'
import { useAddress } from '../ui/address.ts'
import { filesOf, saveFile, useWarning } from '../ui/files.ts'
import { isOfMoveIn, type MoveIn, readMoveIn } from '../ui/move-in.ts'
import { Page, Section, SmallTable } from '../ui/page.tsx'
import { Problem } from '../ui/states.tsx'
import { Export } from './export.tsx'
import { MoveInReport } from './move-in.tsx'

const shownRefused = 100

/** Takes in the history of another chat system, and gives that of the app. */
export function ImportAndExport() {
  const { appId } = useApp()
  const [{ tab = 'import' }, change] = useAddress()
  return (
    <Page
      title="Import and export"
      hint="Users, groups, members and messages, with their original times. An import sends no notifications, webhooks or events."
    >
      <Tabs key={appId} value={tab} onChange={(next) => change({ tab: next ?? undefined })} keepMounted={false}>
        <Tabs.List>
          <Tabs.Tab value="import">Import</Tabs.Tab>
          <Tabs.Tab value="export">Export</Tabs.Tab>
        </Tabs.List>
        {/* An import that is under way goes on in the tab that is not seen; an export does so anywhere. */}
        <Tabs.Panel value="import" pt="md" keepMounted>
          <Import />
        </Tabs.Panel>
        <Tabs.Panel value="export" pt="md">
          <Export />
        </Tabs.Panel>
      </Tabs>
    </Page>
  )
}

/** Files that are dropped or chosen here are sent record by record. */
function Import() {
  const { appId, client } = useApp()
  const { id: operatorId } = useMe()
  const [files, setFiles] = useState<readonly File[]>([])
  const [left, setLeft] = useState(() => readLeft(appId, operatorId))
  const [state, setState] = useState<ImportState | undefined>(left?.state)
  const [isOver, setOver] = useState(false)
  const running = useRef<AbortController>(undefined)
  const isRunning = state?.phase === 'running'
  useWarning(isRunning)
  // Nobody would see how it goes, and whoever comes back could begin a second one.
  useEffect(() => () => running.current?.abort(), [])

  const [move, setMove] = useState<MoveIn>()
  const [problem, setProblem] = useState<unknown>()

  const take = async (list: readonly File[]) => {
    const taken = list.filter(({ name }) => kindOf(name) !== undefined)
    setProblem(undefined)
    try {
      setMove(await readMoveIn(list))
      const isNothing = taken.length === 0 && !list.some(({ name }) => isOfMoveIn(name))
      if (isNothing) setProblem(new Error('None of these files has a name that an import knows.'))
    } catch (error) {
      setProblem(error)
    }
    setFiles(taken)
    setState(left !== undefined && isOf(left, taken) ? left.state : undefined)
  }
  /** What an import of these files left, when the page was left or it was stopped. */
  const before = left !== undefined && isOf(left, files) ? left.state : undefined
  const start = () => {
    running.current = new AbortController()
    const follow = (next: ImportState) => {
      setState(next)
      setLeft(keepLeft(appId, operatorId, files, next))
    }
    void importFiles(client, files, running.current.signal, follow, before)
  }
  const check = () => {
    running.current = new AbortController()
    void checkFiles(appId, files, running.current.signal, setState)
  }

  return (
    <Stack>
      <Paper
        withBorder
        p="lg"
        {...(isOver && { bg: 'var(--mantine-primary-color-light)' })}
        onDragOver={(event) => {
          event.preventDefault()
          setOver(true)
        }}
        onDragLeave={() => setOver(false)}
        onDrop={(event) => {
          event.preventDefault()
          setOver(false)
          if (!isRunning) void filesOf(event.dataTransfer).then(take, setProblem)
        }}
      >
        <Stack align="flex-start">
          <Text size="sm">
            Drop files or their folder here: users.ndjson, groups.ndjson, members.ndjson and messages.ndjson, each plain
            or gzipped, one JSON record per line. Any of them may be missing. A dry run says what would become of each
            record, and stores nothing. For millions of messages use the command “parley import”. Of a move from a
            hosted service, report.json, verify.json and checkpoint.json are shown.
          </Text>
          <Group>
            <Button component="label" variant="default" disabled={isRunning}>
              Choose files
              <input
                type="file"
                multiple
                hidden
                accept=".ndjson,.gz,.json"
                onChange={(event) => void take([...(event.currentTarget.files ?? [])])}
              />
            </Button>
            <Button component="label" variant="default" disabled={isRunning}>
              Choose a folder
              <input
                type="file"
                multiple
                hidden
                ref={(input) => input?.setAttribute('webkitdirectory', '')}
                onChange={(event) => void take([...(event.currentTarget.files ?? [])].filter(isAtTop))}
              />
            </Button>
            <Button variant="default" onClick={check} disabled={files.length === 0 || isRunning}>
              Dry run
            </Button>
            <Button onClick={start} disabled={files.length === 0 || isRunning}>
              {before === undefined ? 'Import' : 'Go on'}
            </Button>
            {isRunning && (
              <Button variant="light" color="red" onClick={() => running.current?.abort()}>
                Stop
              </Button>
            )}
          </Group>
          {files.length > 0 && <Text size="sm">{files.map(({ name }) => name).join(', ')}</Text>}
          {left !== undefined && before === undefined && !isRunning && (
            <Text size="sm">
              An import was interrupted. Choose the same files again to go on where it was:{' '}
              {left.files.map(({ name }) => name).join(', ')}.{' '}
              <Anchor component="button" size="sm" onClick={() => setLeft(forgetLeft(appId))}>
                Forget it
              </Anchor>
            </Text>
          )}
        </Stack>
      </Paper>
      {problem !== undefined && <Problem error={problem} />}
      {state !== undefined && <Result state={state} />}
      {move !== undefined && <MoveInReport of={move} />}
    </Stack>
  )
}

/** Below the folder that was chosen, a move has others with thousands of files. */
const isAtTop = ({ webkitRelativePath }: File) => webkitRelativePath.split('/').length <= 2

/** How far an import came, and of which files. It is kept for this tab, without the records that were refused. */
interface Left {
  /** Whose import it is: nobody else sees it. */
  readonly operatorId: string
  readonly files: ReadonlyArray<{ readonly name: string; readonly size: number; readonly lastModified: number }>
  readonly state: ImportState
}

const keyOf = (appId: string) => `import ${appId}`

function readLeft(appId: string, operatorId: string): Left | undefined {
  const text = sessionStorage.getItem(keyOf(appId))
  if (text === null) return undefined
  const left = JSON.parse(text) as Left
  if (left.operatorId !== operatorId) return forgetLeft(appId)
  return { ...left, state: { ...left.state, phase: 'stopped' } }
}

/** Keeps how far it is while there is something left to do. */
function keepLeft(appId: string, operatorId: string, files: readonly File[], state: ImportState): Left | undefined {
  if (state.phase === 'done') return forgetLeft(appId)
  const refused = state.refused.map((one) => ({ ...one, record: undefined }))
  const named = files.map(({ name, size, lastModified }) => ({ name, size, lastModified }))
  const left: Left = { operatorId, files: named, state: { ...state, refused, error: undefined } }
  sessionStorage.setItem(keyOf(appId), JSON.stringify(left))
  return { ...left, state }
}

function forgetLeft(appId: string): undefined {
  sessionStorage.removeItem(keyOf(appId))
}

/** Whether these are the files that were imported. */
function isOf(left: Left, files: readonly File[]): boolean {
  const nameOf = ({ name, size, lastModified }: Left['files'][number]) => `${name} ${size} ${lastModified}`
  const names = (some: Left['files']) => some.map(nameOf).sort().join('\n')
  return names(left.files) === names(files)
}

const words = {
  running: 'Importing. Stay on this page; if it is left, choose the same files again, and it goes on where it was.',
  done: 'Done.',
  stopped: 'Stopped. It goes on where it was with the same files; what is there already is passed over.',
  failed: 'It could not go on.',
}
const dryWords = {
  running: 'Checking. Nothing is stored.',
  done: 'This is what an import would do. Nothing was stored.',
  stopped: 'The dry run was stopped. Nothing was stored.',
  failed: 'The dry run could not go on. Nothing was stored.',
}

function Result({ state }: { readonly state: ImportState }) {
  const { phase, isDry, counts, refused, moreRefused, share, error } = state
  const rows = kinds.flatMap((kind) => {
    const count = counts[kind]
    return count === undefined ? [] : [{ kind, ...count }]
  })
  return (
    <Stack>
      <Alert color={phase === 'failed' ? 'red' : phase === 'done' ? 'teal' : 'blue'} role="status">
        {(isDry ? dryWords : words)[phase]} {error !== undefined && explain(error)}
      </Alert>
      <Progress value={share * 100} aria-label="Progress of the import" animated={phase === 'running'} />
      <SmallTable
        label="Records"
        rows={rows}
        idOf={({ kind }) => kind}
        empty="Nothing was read yet."
        columns={[
          { label: 'File', cell: ({ kind }) => kind },
          { label: 'Read', cell: ({ read }) => read },
          { label: isDry ? 'Would be stored' : 'Stored', cell: ({ stored }) => stored },
          { label: 'Already there', cell: ({ known }) => known },
          { label: 'Refused', cell: ({ refused }) => refused },
        ]}
      />
      {refused.length > 0 && (
        <Section
          title="Refused records"
          actions={
            <Button size="xs" variant="default" onClick={() => download(refused)}>
              Download
            </Button>
          }
        >
          <SmallTable
            label="Refused records"
            rows={refused.slice(0, shownRefused)}
            idOf={({ kind, line }) => `${kind}-${line}`}
            empty=""
            columns={[
              { label: 'File', cell: ({ kind }) => kind },
              { label: 'Line', cell: ({ line }) => line },
              { label: 'Code', cell: ({ code }) => code },
              { label: 'Why', cell: ({ reason }) => reason },
            ]}
          />
          {refused.length + moreRefused > shownRefused && (
            <Text size="sm" c="dimmed">
              {refused.length + moreRefused - shownRefused} more. The file has the first {refused.length}.
            </Text>
          )}
        </Section>
      )}
    </Stack>
  )
}

/** The refused records as a file, one per line, with why. */
function download(refused: readonly Refused[]): void {
  saveFile(
    'import-refused.ndjson',
    refused.map((one) => `${JSON.stringify(one)}\n`),
    'application/x-ndjson',
  )
}
