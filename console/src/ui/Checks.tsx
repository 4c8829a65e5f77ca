import { Anchor, List, Stack, Text } from '@mantine/core'
import type { AdminResult } from '@parley/client'
import { Link } from '@tanstack/react-router'
import { useCan } from '../shell/session.tsx'
import { SmallTable, Status, Time } from './page.tsx'

export type Check = AdminResult<'GET /health'>['checks'][number]
type Concerned = NonNullable<Check['concerned']>[number]

const names: Readonly<Record<string, string>> = {
  database: 'Database',
  redis: 'Redis',
  jobs: 'Jobs',
  events: 'Event log',
  disk: 'Disk',
  clock: 'Clock',
  webhooks: 'Webhooks',
  notifications: 'Notifications',
  queue: 'Moderation queue',
  engines: 'Moderation engines',
  files: 'Files',
  backups: 'Backups',
  restore: 'Held since a restore',
}

/** Pages about what a check looks at, below the address of an app. */
const pages: Readonly<Record<string, string>> = {
  webhooks: '/webhooks',
  notifications: '/notifications?tab=providers',
  queue: '/moderation',
  engines: '/moderation?tab=engines',
  files: '/settings',
}

/** Of these, pages that only they can see who configure. */
const configured: readonly string[] = ['webhooks', 'notifications', 'engines']

/** How something stands, check by check. @param appId the app that they are of; undefined for the deployment */
export function Checks(props: { readonly label: string; readonly checks: readonly Check[]; readonly appId?: string }) {
  const { label, checks, appId } = props
  const can = useCan()
  const hasPage = (check: string) => can('configure') || !configured.includes(check)
  return (
    <SmallTable
      label={label}
      rows={checks}
      idOf={({ check }) => check}
      empty="Nothing is wrong."
      columns={[
        { label: 'State', cell: ({ state }) => <Status of={state} /> },
        { label: 'Of', cell: ({ check }) => <Name check={check} appId={hasPage(check) ? appId : undefined} /> },
        {
          label: 'How it stands',
          cell: ({ check, says, advice, concerned }) => (
            <Stack gap={4}>
              <Text size="sm">{says}</Text>
              {concerned?.map((one) => (
                <Where key={`${one.appId} ${one.id}`} check={check} one={one} hasPage={hasPage(check)} />
              ))}
              {advice !== undefined && (
                <Text size="sm" c="dimmed">
                  {advice}
                </Text>
              )}
            </Stack>
          ),
        },
        { label: 'Since', cell: ({ since }) => since !== undefined && <Time at={since} /> },
      ]}
    />
  )
}

function Name({ check, appId }: { readonly check: string; readonly appId: string | undefined }) {
  const page = pages[check]
  const name = names[check] ?? check
  if (appId === undefined || page === undefined) return name
  return <To address={`/apps/${encodeURIComponent(appId)}${page}`}>{name}</To>
}

function Where(props: { readonly check: string; readonly one: Concerned; readonly hasPage: boolean }) {
  const { check, one, hasPage } = props
  const { appId, id, says, since } = one
  const name = `${appId}: ${id}`
  const below = check === 'webhooks' ? `/webhooks/${encodeURIComponent(id)}` : pages[check]
  return (
    <List size="sm" withPadding>
      <List.Item>
        {hasPage ? <To address={`/apps/${encodeURIComponent(appId)}${below}`}>{name}</To> : name}. {says}
        {since !== undefined && (
          <>
            {' '}
            Since <Time at={since} />.
          </>
        )}
      </List.Item>
    </List>
  )
}

function To({ address, children }: { readonly address: string; readonly children: string }) {
  const [to = '', query = ''] = address.split('?')
  return (
    // It stands among other words: its colour alone does not tell it from them.
    <Anchor
      component={Link}
      to={to}
      search={Object.fromEntries(new URLSearchParams(query)) as never}
      size="sm"
      underline="always"
    >
      {children}
    </Anchor>
  )
}
