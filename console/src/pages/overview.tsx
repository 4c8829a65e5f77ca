import { Anchor, Card, SimpleGrid, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { countOfUsers, daysOf, daysShown, healthOf, healthOfAll, onlineIn } from '../questions.ts'
import { useApp, useCan } from '../shell/session.tsx'
import { Checks } from '../ui/Checks.tsx'
import { Days } from '../ui/Days.tsx'
import { sizeOf } from '../ui/figures.ts'
import { Page, Section } from '../ui/page.tsx'
import { Loaded, Problem } from '../ui/states.tsx'

/** How the app does: what happens in it, over the last month and now. */
export function Overview() {
  const { appId } = useApp()
  const can = useCan()
  const days = useQuery({ ...daysOf(appId), refetchInterval: 60_000 })
  const online = useQuery({ ...onlineIn(appId), refetchInterval: 30_000 })
  const users = useQuery({ ...countOfUsers(appId), refetchInterval: 60_000 })
  const deployment = useQuery({ ...healthOfAll, refetchInterval: 30_000, enabled: can('health') })
  const health = useQuery({ ...healthOf(appId), refetchInterval: 30_000 })
  const base = `/apps/${encodeURIComponent(appId)}`
  const { messages, webhooks, notifications, reviews, storage } = health.data ?? {}
  // What the app has checks of its own for is of all apps there.
  const own = new Set(health.data?.checks.map(({ check }) => check))
  const ofDeployment = deployment.data?.checks.filter(({ check }) => !own.has(check)) ?? []
  const today = days.data?.at(-1)
  const unknown = [online, users].find(({ isError }) => isError)
  return (
    <Page title="Overview" hint={appId}>
      <SimpleGrid cols={{ base: 2, sm: 3, lg: 4, xl: 6 }}>
        <Figure label="Users online" value={online.data} to={`${base}/users?show=online`} />
        <Figure label="Users" value={users.data} to={`${base}/users`} />
        <Figure label="Active today" value={today?.active_users} />
        <Figure label="Messages in the last minute" value={messages?.lastMinute} />
        <Figure label="Messages today" value={today?.messages_sent} to={`${base}/messages`} />
        <Figure label="Sockets at once today" value={today?.concurrent_users} />
        <Figure label="Waiting for review" value={reviews && waitingFor(reviews)} to={`${base}/moderation`} />
        <Figure
          label="Deliveries to webhooks waiting"
          value={webhooks?.pending}
          to={can('configure') ? `${base}/webhooks` : undefined}
        />
        <Figure label="Notifications waiting" value={notifications?.pending} to={`${base}/notifications`} />
        <Figure label="Files" value={storage && sizeOf(storage.bytes)} />
        {can('health') && (
          <Figure label="Database" value={deployment.data && sizeOf(deployment.data.database.bytes)} to="/health" />
        )}
      </SimpleGrid>
      {unknown !== undefined && <Problem error={unknown.error} onRetry={() => void unknown.refetch()} />}
      <Section title="What is wrong right now">
        <Loaded query={health}>
          {({ checks }) => (
            <Checks
              label="What is wrong right now"
              appId={appId}
              checks={[...checks, ...ofDeployment].filter(({ state }) => state !== 'ok')}
            />
          )}
        </Loaded>
        {deployment.isError && <Problem error={deployment.error} />}
      </Section>
      <Section title={`Last ${daysShown} days (UTC)`}>
        <Loaded query={days}>{(days) => <Days days={days} />}</Loaded>
      </Section>
    </Page>
  )
}

const figure = new Intl.NumberFormat()
/** Of each list so many are counted. */
const counted = 10_000

function waitingFor({ flagged, blocked }: { readonly flagged: number; readonly blocked: number }): string {
  return figure.format(flagged + blocked) + (Math.max(flagged, blocked) < counted ? '' : ' or more')
}

function Figure({
  label,
  value,
  to,
}: {
  readonly label: string
  readonly value: number | string | undefined
  readonly to?: string | undefined
}): ReactNode {
  return (
    <Card withBorder padding="sm">
      <Text size="xs" c="dimmed">
        {to === undefined ? (
          label
        ) : (
          <Anchor component={Link} to={to} c="inherit" size="xs">
            {label}
          </Anchor>
        )}
      </Text>
      <Text size="xl" fw={600}>
        {value === undefined ? '–' : typeof value === 'string' ? value : figure.format(value)}
      </Text>
    </Card>
  )
}
