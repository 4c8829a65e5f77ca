import { Anchor, Button, Group, Stack, Text } from '@mantine/core'
import type { AdminResult, Result } from '@parley/client'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { admin } from '../api.ts'
import { useApp, useCan } from '../shell/session.tsx'
import { useAct, useSave } from '../ui/act.tsx'
import { type Field, FormButton, type Values } from '../ui/Form.tsx'
import { Facts, Section, SmallTable, Time } from '../ui/page.tsx'
import { Loaded } from '../ui/states.tsx'
import { wordsOfWeek } from '../ui/week.ts'

type Session = AdminResult<'GET /apps/{appId}/users/{uid}/sessions'>[number]

/** Where a user is logged in, and the devices that pushes go to. */
export function SessionsOf({ uid }: { readonly uid: string }) {
  const { appId, client } = useApp()
  const can = useCan()
  const act = useAct()
  const sessions = useQuery({
    queryKey: ['sessions-of', appId, uid],
    queryFn: () => admin('GET /apps/{appId}/users/{uid}/sessions', { appId, uid }),
  })
  const refresh = [['sessions-of', appId, uid]]
  const end = ({ id }: Session) =>
    act({
      run: () => admin('DELETE /apps/{appId}/users/{uid}/sessions/{id}', { appId, uid, id }),
      done: 'The session was ended',
      of: id,
      refresh,
    })
  const endAll = () =>
    act({
      run: () => client.users.tokens.deleteAll({ uid }),
      done: 'They are logged out everywhere',
      refresh,
      question: {
        title: 'Log them out everywhere?',
        text: 'All their sessions end, their sockets are closed, and nothing is pushed to their devices until they log in again.',
        label: 'Log out',
      },
    })
  return (
    <Section
      title="Sessions, one for each login"
      actions={
        can('moderate') && (
          <Button size="xs" color="orange" variant="light" onClick={() => void endAll()}>
            Log out everywhere
          </Button>
        )
      }
    >
      <Loaded query={sessions}>
        {(sessions) => (
          <SmallTable
            label="Sessions"
            rows={sessions}
            idOf={({ id }) => id}
            empty="They are logged in nowhere."
            columns={[
              { label: 'Platform', cell: ({ platform }) => platform },
              { label: 'Client', cell: ({ agent }) => agent },
              { label: 'Since', cell: ({ createdAt }) => <Time at={createdAt} /> },
              { label: 'Last used', cell: ({ usedAt }) => usedAt !== undefined && <Time at={usedAt} /> },
              {
                label: 'Pushed to',
                cell: ({ devices }) =>
                  devices.map(({ platform, type, provider, updatedAt }) => (
                    <Text size="sm" key={`${platform} ${type} ${provider} ${updatedAt}`}>
                      {platform}
                      {type === 'voip' && ' (calls)'} by {provider}, <Time at={updatedAt} />
                    </Text>
                  )),
              },
              {
                label: 'Action',
                isShown: can('moderate'),
                cell: (session) => (
                  <Button size="compact-xs" variant="default" onClick={() => void end(session)}>
                    End
                  </Button>
                ),
              },
            ]}
          />
        )}
      </Loaded>
    </Section>
  )
}

type Muted = Result<'GET /notifications/v1/preferences/mute'>['mutedConversations'][number]

const muteFields: readonly Field[] = [
  {
    name: 'type',
    label: 'What',
    kind: 'choice',
    required: true,
    options: [
      { value: 'oneOnOne', label: 'A conversation with a user' },
      { value: 'group', label: 'A group' },
    ],
  },
  { name: 'id', label: 'User ID or group ID', required: true },
  { name: 'until', label: 'Until', kind: 'datetime-local', hint: 'Empty: until it is taken back' },
]

const scheduleFields: readonly Field[] = [
  {
    name: 'schedule',
    label: 'They are notified',
    kind: 'week',
    hint: 'In their time zone, else in that of the app. 22:00 and 06:00 go over midnight.',
  },
]

type Mute = Result<'GET /notifications/v1/preferences'>['preferences']['mute']

/** What of it the app lets users choose. */
function chosenByThem({ dndPreferenceOverride, schedulePreferenceOverride }: Mute): string {
  if (dndPreferenceOverride && schedulePreferenceOverride) return 'both'
  if (dndPreferenceOverride) return 'whether they are disturbed; the app has set when'
  return schedulePreferenceOverride ? 'when they are notified' : 'nothing: the app has set it for everybody'
}

/** What a user is not notified of: conversations that are muted, and when they do not want to be disturbed. */
export function NotificationsOf({ uid }: { readonly uid: string }) {
  const { appId, client } = useApp()
  const can = useCan()
  const act = useAct()
  const save = useSave()
  const muted = useQuery({
    queryKey: ['muted-of', appId, uid],
    queryFn: async () => (await client.notifications.mutesOf.list({ uid })).mutedConversations,
  })
  const preferences = useQuery({
    queryKey: ['preferences-of', appId, uid],
    queryFn: () => client.notifications.preferencesOf.get({ uid }),
  })
  const refresh = [
    ['muted-of', appId, uid],
    ['preferences-of', appId, uid],
  ]
  const mute = ({ until, ...named }: Values) =>
    save({
      run: () => {
        const time = until === undefined ? {} : { until: new Date(String(until)).getTime() }
        return client.notifications.mutesOf.add({ uid, conversations: [{ ...named, ...time }] } as never)
      },
      done: 'It is muted',
      refresh,
    })
  const unmute = ({ id, type }: Muted) =>
    act({
      run: () => client.notifications.mutesOf.remove({ uid, conversations: [{ id, type }] }),
      done: 'They are notified of it again',
      of: `${type} ${id}`,
      refresh,
    })
  const setDnd = (dnd: 1 | 2) =>
    act({
      run: () => client.notifications.preferencesOf.update({ uid, mutePreferences: { dnd } }),
      done: dnd === 2 ? 'They are sent nothing' : 'They are notified again',
      refresh,
    })
  const setSchedule = ({ schedule }: Values) =>
    save({
      run: () => client.notifications.preferencesOf.update({ uid, mutePreferences: { schedule } } as never),
      done: 'It is set when they are notified',
      refresh,
    })
  const log = `/apps/${encodeURIComponent(appId)}/notifications`
  return (
    <Stack>
      <Section
        title="Muted conversations"
        actions={
          can('configure') && (
            <FormButton
              button="Mute a conversation"
              size="xs"
              variant="default"
              title="Mute a conversation for them"
              verb="Mute"
              fields={muteFields}
              initial={{ type: 'oneOnOne' }}
              onSubmit={mute}
            />
          )
        }
      >
        <Loaded query={muted}>
          {(muted) => (
            <SmallTable
              label="Muted conversations"
              rows={muted}
              idOf={({ type, id }) => `${type} ${id}`}
              empty="They have muted nothing."
              columns={[
                { label: 'Of', cell: ({ type }) => (type === 'group' ? 'Group' : 'User') },
                {
                  label: 'ID',
                  cell: ({ type, id }) => (
                    <Anchor
                      component={Link}
                      size="sm"
                      to={`/apps/${encodeURIComponent(appId)}/${type === 'group' ? 'groups' : 'users'}/${encodeURIComponent(id)}`}
                    >
                      {id}
                    </Anchor>
                  ),
                },
                {
                  label: 'Until',
                  cell: ({ until }) => (until === undefined ? 'it is taken back' : <Time at={until / 1000} />),
                },
                {
                  label: 'Action',
                  isShown: can('configure'),
                  cell: (one) => (
                    <Button size="compact-xs" variant="default" onClick={() => void unmute(one)}>
                      Unmute
                    </Button>
                  ),
                },
              ]}
            />
          )}
        </Loaded>
      </Section>
      <Section title="Do not disturb">
        <Loaded query={preferences}>
          {({ preferences: { mute }, usePrivacyTemplate }) => (
            <>
              <Facts
                facts={{
                  'Do not disturb': mute.dndPreferenceSetting === 2 ? 'on: nothing is sent' : 'off',
                  'When they are notified': wordsOfWeek(mute.schedulePreferenceSetting),
                  'They can choose': chosenByThem(mute),
                  'Texts in notifications': usePrivacyTemplate ? 'left out' : 'shown',
                }}
              />
              <Group>
                {can('configure') && mute.dndPreferenceOverride && (
                  <Button
                    size="xs"
                    variant="default"
                    onClick={() => void setDnd(mute.dndPreferenceSetting === 2 ? 1 : 2)}
                  >
                    {mute.dndPreferenceSetting === 2 ? 'Notify again' : 'Do not disturb'}
                  </Button>
                )}
                {can('configure') && mute.schedulePreferenceOverride && (
                  <FormButton
                    button="Change when"
                    size="xs"
                    variant="default"
                    title="When they are notified"
                    fields={scheduleFields}
                    initial={{ schedule: mute.schedulePreferenceSetting }}
                    onSubmit={setSchedule}
                  />
                )}
                <Anchor component={Link} to={log} search={{ receiver: uid } as never} size="sm">
                  What was sent to them
                </Anchor>
              </Group>
            </>
          )}
        </Loaded>
      </Section>
    </Stack>
  )
}
