import { Alert, Anchor, Button, Group, Progress, Stack, Text } from '@mantine/core'
import type { AdminResult } from '@parley/client'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { admin } from '../api.ts'
import { healthOfAll } from '../questions.ts'
import { useCan } from '../shell/session.tsx'
import { useAct } from '../ui/act.tsx'
import { Checks } from '../ui/Checks.tsx'
import { sizeOf } from '../ui/figures.ts'
import { Facts, Page, Section, SmallTable, Status, Time } from '../ui/page.tsx'
import { Loaded } from '../ui/states.tsx'

type Run = NonNullable<AdminResult<'GET /doctor'>['run']>
type Finding = Run['findings'][number]

/** How the deployment does, and what the doctor finds in its database. */
export function Health() {
  const health = useQuery({ ...healthOfAll, refetchInterval: 15_000 })
  return (
    <Page
      title="Health"
      hint="Of the whole deployment, as the process sees it that answers; looked at every quarter of a minute."
      actions={
        <Button variant="default" loading={health.isFetching} onClick={() => void health.refetch()}>
          Look again
        </Button>
      }
    >
      <Loaded query={health}>
        {({ checks, version, startedAt, database, storage, jobs }) => (
          <>
            <Checks label="Checks" checks={checks} />
            <Facts
              facts={{
                Parley: (
                  <>
                    {version}, started <Time at={startedAt} />
                  </>
                ),
                Database: `${sizeOf(database.bytes)}, PostgreSQL ${database.version}, answered in ${database.answersInMs} ms`,
                Connections: `${database.connections} of ${database.mostConnections}`,
                Files: `${sizeOf(storage.bytes)}; ${sizeOf(storage.freeBytes)} are free on the disk`,
                'Jobs that are due': jobs.pending,
                'Oldest job': jobs.oldestAt && <Time at={jobs.oldestAt} />,
                'Jobs given up': jobs.givenUp,
              }}
            />
          </>
        )}
      </Loaded>
      <Doctor />
    </Page>
  )
}

function Doctor() {
  const can = useCan()
  const act = useAct()
  const doctor = useQuery({
    queryKey: ['doctor'],
    queryFn: () => admin('GET /doctor'),
    refetchInterval: ({ state }) => (state.data?.run?.status === 'running' ? 1_000 : 30_000),
  })
  const run = doctor.data?.run
  const refresh = [['doctor']]
  const start = () => act({ run: () => admin('POST /doctor'), done: 'The doctor was started', refresh })
  const stop = () => act({ run: () => admin('DELETE /doctor'), done: 'The doctor was stopped', refresh })
  const action =
    run?.status === 'running' ? (
      <Button variant="light" color="orange" onClick={() => void stop()}>
        Stop
      </Button>
    ) : (
      <Button variant="default" onClick={() => void start()}>
        Run the doctor
      </Button>
    )
  return (
    <Section title="Doctor" actions={can('doctor') && doctor.data !== undefined && action}>
      <Text size="sm" c="dimmed">
        Recomputes every figure that is kept beside what it is derived from, such as counts of members and of unread
        messages, and compares. It only reads, and goes on when you leave this page.
      </Text>
      <Loaded query={doctor}>
        {({ run }) => (run === undefined ? <Text c="dimmed">It has never run.</Text> : <RunOf run={run} />)}
      </Loaded>
    </Section>
  )
}

function RunOf({ run }: { readonly run: Run }) {
  const { status, checked, checks, current, findings, error, startedAt, finishedAt } = run
  const isRunning = status === 'running'
  return (
    <Stack gap="sm">
      <Group gap="xs">
        <Status of={status} />
        <Text size="sm" aria-live="polite">
          {checks === 0 ? 'Waits for its turn' : `${checked} of ${checks} checks`}
          {current !== undefined && `: ${current}`}
        </Text>
        <Text size="sm" c="dimmed">
          Begun <Time at={startedAt} />
          {finishedAt !== undefined && (
            <>
              , ended <Time at={finishedAt} />
            </>
          )}
        </Text>
      </Group>
      {isRunning && <Progress aria-label="Progress" value={checks === 0 ? 0 : (100 * checked) / checks} animated />}
      {error !== undefined && (
        <Alert color="red" role="alert">
          {error}
        </Alert>
      )}
      {findings.length === 0 ? (
        <Text size="sm">{status === 'done' ? 'Nothing has drifted.' : 'Nothing was found so far.'}</Text>
      ) : (
        findings.map((finding) => <Found key={finding.check} finding={finding} />)
      )}
    </Stack>
  )
}

function Found({ finding: { check, meaning, count, examples } }: { readonly finding: Finding }) {
  return (
    <Stack gap={4}>
      <Group gap="xs">
        <Text size="sm" fw={600}>
          {check}
        </Text>
        <Text size="sm">
          {count}: {meaning}
        </Text>
      </Group>
      <SmallTable
        label={`Examples: ${check}`}
        rows={examples}
        idOf={({ appId, subject, stored }) => `${appId} ${subject} ${stored}`}
        empty="Whoever it named has been erased."
        columns={[
          {
            label: 'App',
            cell: ({ appId }) =>
              appId !== undefined && (
                <Anchor component={Link} to={`/apps/${encodeURIComponent(appId)}`} size="sm">
                  {appId}
                </Anchor>
              ),
          },
          { label: 'At', cell: ({ subject }) => subject },
          { label: 'Stored', cell: ({ stored }) => stored },
          { label: 'Expected', cell: ({ expected }) => expected },
        ]}
      />
    </Stack>
  )
}
