import { Alert, Button, Group, Text } from '@mantine/core'
import { admin } from '../api.ts'
import { useCan } from '../shell/session.tsx'
import { useAct } from './act.tsx'
import type { App } from './apps.ts'
import { Status, Time } from './page.tsx'

/** How an app stands, with the time that matters. */
export function AppState({ app: { pausedAt, deletesAt, removingAt } }: { readonly app: App }) {
  if (removingAt !== undefined) return <Status of="being removed" />
  if (deletesAt !== undefined) {
    return (
      <Group gap={6}>
        <Status of="deleted" />
        <Text size="sm" component="span">
          will be removed on <Time at={deletesAt} />
        </Text>
      </Group>
    )
  }
  if (pausedAt === undefined) return <Status of="active" />
  return (
    <Group gap={6}>
      <Status of="paused" />
      <Text size="sm" component="span">
        since <Time at={pausedAt} />
      </Text>
    </Group>
  )
}

/** What the operator may do with an app as it stands; nothing else is shown. */
export function AppButtons({ app, mayDelete = false }: { readonly app: App; readonly mayDelete?: boolean }) {
  const act = useAct()
  const can = useCan()
  const { appId, isDefault, pausedAt, deletesAt, removingAt } = app
  if (removingAt !== undefined) return null
  const refresh = [['apps'], ['audit-log']]
  const pause = () =>
    act({
      run: () => admin('POST /apps/{appId}/pause', { appId }),
      done: 'The app was paused',
      refresh,
      question: {
        title: `Pause ${appId}?`,
        text: 'Every request gets 503, sockets close, and webhooks, notifications and moderation wait until you resume it.',
        label: 'Pause',
      },
    })
  const resume = () =>
    act({ run: () => admin('POST /apps/{appId}/resume', { appId }), done: 'The app goes on', refresh })
  const remove = () =>
    act({
      run: (name) => admin('DELETE /apps/{appId}', { appId, name }),
      done: 'The app will be removed in seven days',
      refresh,
      question: {
        title: `Delete ${appId}?`,
        text: 'It is paused at once. In seven days everything in it is removed for good: users, groups, messages, files, settings, keys. Until then you can take it back.',
        label: 'Delete',
        typed: appId,
      },
    })
  const takeBack = () =>
    act({
      run: () => admin('POST /apps/{appId}/undelete', { appId }),
      done: 'The app will not be removed. It stays paused until you resume it.',
      refresh,
    })
  return (
    <Group gap={4}>
      {can('configure') && deletesAt === undefined && (
        <Button size="compact-xs" variant="default" onClick={() => void (pausedAt === undefined ? pause() : resume())}>
          {pausedAt === undefined ? 'Pause' : 'Resume'}
        </Button>
      )}
      {can('apps') && deletesAt !== undefined && (
        <Button size="compact-xs" variant="default" onClick={() => void takeBack()}>
          Take back
        </Button>
      )}
      {can('apps') && mayDelete && deletesAt === undefined && !isDefault && (
        <Button size="compact-xs" variant="light" color="red" onClick={() => void remove()}>
          Delete
        </Button>
      )}
    </Group>
  )
}

/** Above each page of an app that serves nobody at the moment. */
export function PausedBanner({ app }: { readonly app: App | undefined }) {
  if (app?.pausedAt === undefined) return null
  const { deletesAt, removingAt, pausedAt } = app
  return (
    <Alert
      color="yellow"
      mb="md"
      role="status"
      title={removingAt === undefined ? 'This app is paused' : 'This app is gone'}
    >
      <Group justify="space-between">
        <Text size="sm" component="div">
          {removingAt !== undefined ? (
            'Everything in it is being removed.'
          ) : deletesAt !== undefined ? (
            <>
              It was deleted: everything in it will be removed on <Time at={deletesAt} />.
            </>
          ) : (
            <>
              Since <Time at={pausedAt} /> every request gets 503, and webhooks, notifications and moderation wait.
              Settings, rules and keys can be changed.
            </>
          )}
        </Text>
        <AppButtons app={app} />
      </Group>
    </Alert>
  )
}
