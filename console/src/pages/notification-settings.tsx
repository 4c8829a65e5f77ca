import { Button, Stack, Tabs, Text } from '@mantine/core'
import type { Result } from '@parley/client'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useApp, useCan } from '../shell/session.tsx'
import { useAct, useSave } from '../ui/act.tsx'
import { useAddress } from '../ui/address.ts'
import { type Field, Form, type Values } from '../ui/Form.tsx'
import { shownValue } from '../ui/figures.ts'
import { Facts, Section } from '../ui/page.tsx'
import { Loaded } from '../ui/states.tsx'
import { type Week, wordsOfWeek } from '../ui/week.ts'

export type NotificationSettings = Result<'GET /notifications/v1/settings'>

export const settingsKey = (appId: string) => ['notification-settings', appId]

export function useNotificationSettings() {
  const { appId, client } = useApp()
  return useQuery({ queryKey: settingsKey(appId), queryFn: () => client.notifications.settings.get() })
}

/** What the levels of a preference mean: the first is 1. */
const levels: Readonly<Record<string, readonly string[]>> = {
  messages: ['never', 'every message', 'only messages that mention the user'],
  replies: ['never', 'every reply', 'only replies that mention the user', 'only in threads they follow'],
  quotedReplies: [
    'never',
    'every quoting message',
    'only those that mention the user',
    'only those that quote the user',
  ],
  reactions: ['never', 'reactions to their own messages', 'all reactions'],
  dndPreference: ['off', 'on: nothing is sent'],
}
const onOff = ['never', 'always']

const parts = [
  { name: 'oneOnOne', label: 'One-to-one' },
  { name: 'group', label: 'Groups' },
  { name: 'mute', label: 'Do not disturb' },
  { name: 'push', label: 'Push' },
  { name: 'email', label: 'E-mail' },
  { name: 'sms', label: 'SMS' },
  { name: 'call', label: 'Calls' },
] as const

const labels: Readonly<Record<string, string>> = {
  dndPreferenceSetting: 'Do not disturb',
  dndPreferenceOverride: 'Do not disturb: users can choose themselves',
  schedulePreferenceSetting: 'When users are notified',
  schedulePreferenceOverride: 'When they are notified: users can choose themselves',
  mutedGroupsOverride: 'Users can mute groups',
  mutedOneOnOnesOverride: 'Users can mute one-to-one conversations',
}

/** `memberLeftSetting` as words. */
function wordsOf(name: string): string {
  const words = name
    .replace(/Setting$/, '')
    .replaceAll(/([A-Z])/g, ' $1')
    .toLowerCase()
  return words.charAt(0).toUpperCase() + words.slice(1)
}

function fieldOf(name: string, value: unknown): Field {
  const known = labels[name]
  if (name === 'schedulePreferenceSetting') {
    const hint = 'In the time zone of each user, else in that of the app. 22:00 and 06:00 go over midnight.'
    return { name, label: known ?? name, kind: 'week', hint }
  }
  if (known !== undefined && name.endsWith('Override')) return { name, label: known, kind: 'yes' }
  if (name.endsWith('Override')) {
    const what = wordsOf(name.replace(/(Preference)?Override$/, ''))
    return { name, label: `${what}: users can choose themselves`, kind: 'yes' }
  }
  const label = known ?? wordsOf(name)
  if (typeof value === 'boolean') return { name, label, kind: 'yes' }
  if (typeof value === 'object') return { name, label, kind: 'json' }
  if (typeof value !== 'number') return { name, label }
  if (!name.endsWith('Setting')) return { name, label, kind: 'number', min: 0, required: true }
  return { name, label, kind: 'choice', required: true, options: optionsOf(name) }
}

function optionsOf(name: string) {
  const words = levels[name.replace(/Setting$/, '')] ?? onOff
  return words.map((label, at) => ({ value: String(at + 1), label }))
}

/** A level as the field of its choice has it, and back. */
const shownOf = (name: string, value: unknown) =>
  typeof value === 'number' && name.endsWith('Setting') ? String(value) : value
const storedOf = (name: string, value: unknown) =>
  typeof value === 'string' && name.endsWith('Setting') ? Number(value) : value
const mapValues = (values: object, change: (name: string, value: unknown) => unknown): Values =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(name, value)]))

/** What users are notified of unless they choose otherwise, in parts. */
export function Preferences() {
  const { appId, client } = useApp()
  const can = useCan()
  const act = useAct()
  const save = useSave()
  const settings = useNotificationSettings()
  const [{ part = 'oneOnOne' }, change] = useAddress()
  const refresh = [settingsKey(appId)]
  const [saves, setSaves] = useState(0)
  const write = async (input: object) => {
    await save({
      run: () => client.notifications.settings.update(input as never),
      done: 'The settings were saved',
      refresh,
    })
    setSaves((before) => before + 1)
  }
  const reset = () =>
    act({
      run: () => client.notifications.settings.reset(),
      done: 'The settings are as by default',
      refresh,
      question: {
        title: 'Reset all settings?',
        text: 'Preferences, templates and sounds are as by default then. What users have chosen stays.',
        label: 'Reset',
      },
    })
  const panel = (name: string, values: object, onSubmit: (values: Values) => Promise<unknown>) => {
    const fields = Object.entries(values).map(([name, value]) => fieldOf(name, value))
    if (!can('configure')) return <Facts facts={factsOf(values, fields)} />
    return (
      <Form
        key={`${name} ${saves}`}
        fields={fields}
        initial={mapValues(values, shownOf)}
        changesOnly
        label="Save"
        onSubmit={(changed) => onSubmit(mapValues(changed, storedOf))}
      />
    )
  }
  return (
    <Section
      title="What users are notified of"
      actions={
        can('configure') && (
          <Button size="xs" variant="default" onClick={() => void reset()}>
            Reset all
          </Button>
        )
      }
    >
      <Loaded query={settings}>
        {({ preferences, sound }) => {
          const { bypassPreferencesForMentions, bypassPreferencesForGroupMentions } = preferences
          const mentions = { bypassPreferencesForMentions, bypassPreferencesForGroupMentions }
          return (
            <Stack maw={720}>
              <Text size="sm" c="dimmed">
                It holds for users who have not chosen otherwise, where they can choose.
              </Text>
              <Tabs value={part} onChange={(next) => change({ part: next ?? undefined })} keepMounted={false}>
                <Tabs.List>
                  {parts.map(({ name, label }) => (
                    <Tabs.Tab key={name} value={name}>
                      {label}
                    </Tabs.Tab>
                  ))}
                  <Tabs.Tab value="mentions">Mentions</Tabs.Tab>
                  <Tabs.Tab value="sound">Sounds</Tabs.Tab>
                </Tabs.List>
                {parts.map(({ name }) => (
                  <Tabs.Panel key={name} value={name} pt="md">
                    {panel(name, preferences[name], (values) => write({ preferences: { [name]: values } }))}
                  </Tabs.Panel>
                ))}
                <Tabs.Panel value="mentions" pt="md">
                  {panel('mentions', mentions, (values) => write({ preferences: values }))}
                </Tabs.Panel>
                <Tabs.Panel value="sound" pt="md">
                  {panel('sound', sound, (values) => write({ sound: values }))}
                </Tabs.Panel>
              </Tabs>
            </Stack>
          )
        }}
      </Loaded>
    </Section>
  )
}

function factsOf(values: object, fields: readonly Field[]): Record<string, string> {
  return Object.fromEntries(
    fields.map(({ name, label, kind, options = [] }) => {
      const value = (values as Values)[name]
      if (kind === 'week') return [label, wordsOfWeek(value as Week)]
      const option = options.find((one) => typeof one !== 'string' && one.value === String(value))
      return [label, typeof option === 'object' ? option.label : shownValue(value)]
    }),
  )
}
