import { Alert, Button, Group, Select, SimpleGrid, Stack, Text, Textarea } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import type { Result } from '@parley/client'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { explain } from '../api.ts'
import { useApp, useCan } from '../shell/session.tsx'
import { AddressInput } from '../ui/AddressInput.tsx'
import { useAct } from '../ui/act.tsx'
import { useAddress } from '../ui/address.ts'
import { Facts, Section } from '../ui/page.tsx'
import { Loaded } from '../ui/states.tsx'
import { Gates } from './notification-log.tsx'
import { settingsKey, useNotificationSettings } from './notification-settings.tsx'

type Templates = Readonly<Record<string, Readonly<Record<string, string>>>>

const privacy = [
  { value: '1', label: 'Those that show what was written' },
  { value: '2', label: 'Those that do not' },
  { value: '3', label: 'As each user chooses' },
]

/** What the message of a preview is, for templates of something else than a text. */
const kinds: Readonly<Record<string, { readonly category?: string; readonly type: string; readonly data?: object }>> = {
  text: { type: 'text' },
  image: { type: 'image', data: { attachments: [] } },
  audio: { type: 'audio', data: { attachments: [] } },
  video: { type: 'video', data: { attachments: [] } },
  file: { type: 'file', data: { attachments: [] } },
  poll: { category: 'custom', type: 'extension_poll', data: { sendNotification: true } },
  reminder: { category: 'custom', type: 'extension_reminders', data: { sendNotification: true } },
  custom: { category: 'custom', type: 'custom', data: { sendNotification: true } },
  form: { category: 'interactive', type: 'form', data: { interactiveData: { title: 'A form' } } },
  card: { category: 'interactive', type: 'card', data: { interactiveData: { text: 'A card' } } },
  scheduler: { category: 'interactive', type: 'scheduler', data: { interactiveData: {} } },
}

/** `textMessageTemplateDefault` as words. */
function wordsOf(name: string): string {
  const words = name
    .replace(/Template(Default|Privacy)$/, (_, version) => (version === 'Privacy' ? ', without what was written' : ''))
    .replaceAll(/([A-Z])/g, ' $1')
    .toLowerCase()
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** What notifications say, with what a change would say before it is saved. */
export function TemplatesTab() {
  const settings = useNotificationSettings()
  return (
    <Loaded query={settings}>{({ templates }) => <Editor key={JSON.stringify(templates)} saved={templates} />}</Loaded>
  )
}

function Editor({ saved }: { readonly saved: object }) {
  const { appId, client } = useApp()
  const can = useCan()
  const act = useAct()
  const { usePrivacyTemplate, ...texts } = saved as Templates & { readonly usePrivacyTemplate: unknown }
  const [{ template = 'textMessageTemplateDefault' }, change] = useAddress()
  const [drafts, setDrafts] = useState<Templates>({})
  const [version, setVersion] = useState(String(usePrivacyTemplate))
  const isConfiguring = can('configure')
  const members = { ...(texts as Templates)[template], ...drafts[template] }
  const changed = { ...drafts, ...(version !== String(usePrivacyTemplate) && { usePrivacyTemplate: Number(version) }) }
  const isChanged = Object.keys(changed).length > 0
  const write = (member: string, text: string) =>
    setDrafts((before) => ({ ...before, [template]: { ...before[template], [member]: text } }))
  const save = () =>
    act({
      run: () => client.notifications.settings.update({ templates: changed } as never),
      done: 'The templates were saved',
      refresh: [settingsKey(appId)],
    })
  return (
    <SimpleGrid cols={{ base: 1, md: isConfiguring ? 2 : 1 }} spacing="xl">
      <Section title="Templates">
        {isConfiguring ? (
          <Select
            label="Which templates hold"
            data={privacy}
            value={version}
            onChange={(next) => next !== null && setVersion(next)}
            allowDeselect={false}
          />
        ) : (
          <Facts facts={{ 'Which templates hold': privacy.find(({ value }) => value === version)?.label }} />
        )}
        <Select
          label="Template"
          data={Object.keys(texts).map((name) => ({ value: name, label: wordsOf(name) }))}
          value={template}
          onChange={(next) => change({ template: next ?? undefined })}
          searchable
          allowDeselect={false}
        />
        {isConfiguring ? (
          Object.entries(members).map(([member, text]) => (
            <Textarea
              key={member}
              label={wordsOf(member.replace('_', ' '))}
              autosize
              value={text}
              onChange={(event) => write(member, event.currentTarget.value)}
            />
          ))
        ) : (
          <Facts
            facts={Object.fromEntries(
              Object.entries(members).map(([member, text]) => [
                wordsOf(member.replace('_', ' ')),
                <Text key={member} size="sm" className="bubble">
                  {text === '' ? 'empty' : text}
                </Text>,
              ]),
            )}
          />
        )}
        <Text size="sm" c="dimmed">
          {'{{message.data.text}}'} stands for the text of the message, other names for its other fields.
        </Text>
        {isConfiguring && (
          <Group justify="flex-end">
            <Button
              variant="default"
              disabled={!isChanged}
              onClick={() => {
                setDrafts({})
                setVersion(String(usePrivacyTemplate))
              }}
            >
              Discard
            </Button>
            <Button disabled={!isChanged} onClick={() => void save()}>
              Save
            </Button>
          </Group>
        )}
      </Section>
      {isConfiguring && <Preview templates={changed} />}
    </SimpleGrid>
  )
}

type Previewed = Result<'POST /notifications/v1/preview'>['notifications'][number]

/** What a message would say by the templates as they stand in the form. Nothing is sent. */
function Preview({ templates }: { readonly templates: object }) {
  const { appId, client } = useApp()
  const [{ from = '', to = '', of = 'user', kind = 'text' }, change] = useAddress()
  const [text, setText] = useState('See you at six!')
  const { data, ...what } = kinds[kind] ?? kinds.text ?? { type: 'text' }
  const [input] = useDebouncedValue(
    {
      ...{ sender: from, receiver: to, receiverType: of, ...what },
      ...{ data: { text, ...data }, ...(Object.keys(templates).length > 0 && { templates }) },
    },
    300,
  )
  const preview = useQuery({
    queryKey: ['notification-preview', appId, input],
    queryFn: () => client.notifications.preview(input as never),
    enabled: input.sender !== '' && input.receiver !== '',
    placeholderData: keepPreviousData,
  })
  return (
    <Section title="Preview">
      <Group grow align="flex-start">
        <AddressInput label="Sender" placeholder="User ID" name="from" />
        <AddressInput label="Receiver" placeholder="User ID or group ID" name="to" />
      </Group>
      <Group grow>
        <Select
          label="The receiver is"
          data={[
            { value: 'user', label: 'a user' },
            { value: 'group', label: 'a group' },
          ]}
          value={of}
          onChange={(next) => change({ of: next ?? undefined })}
          allowDeselect={false}
        />
        <Select
          label="Kind of message"
          data={Object.keys(kinds)}
          value={kind}
          onChange={(next) => change({ kind: next ?? undefined })}
          allowDeselect={false}
        />
      </Group>
      <Textarea label="Text" autosize value={text} onChange={(event) => setText(event.currentTarget.value)} />
      {preview.isError ? (
        <Alert color="red" role="alert">
          {explain(preview.error)}
        </Alert>
      ) : preview.data === undefined ? (
        <Text size="sm" c="dimmed">
          Name a sender and a receiver to see who would be notified, and how. Nothing is sent.
        </Text>
      ) : (
        <Shown notifications={preview.data.notifications} />
      )}
    </Section>
  )
}

function Shown({ notifications }: { readonly notifications: readonly Previewed[] }) {
  if (notifications.length === 0) {
    return <Text size="sm">Nobody would be notified: no provider is set up, or nobody has a device or an address.</Text>
  }
  return (
    <Stack aria-live="polite">
      {notifications.map((one) => (
        <Section
          key={`${one.uid} ${one.channel} ${one.providerId} ${one.tokenType}`}
          title={`${one.uid}: ${one.channel} by ${one.provider}`}
        >
          <Facts
            facts={{
              'Would be sent': one.notificationTriggered ? 'yes' : `no: ${one.reason}`,
              Title: one.title,
              Body: one.body,
            }}
          />
          <Gates label={`Gates of ${one.uid}, ${one.channel} by ${one.provider}`} gates={one.gates} />
        </Section>
      ))}
    </Stack>
  )
}
