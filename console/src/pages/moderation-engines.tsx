import { Button, Group, Paper, SimpleGrid, Stack, Text } from '@mantine/core'
import type { Result } from '@parley/client'
import { useQuery } from '@tanstack/react-query'
import { useApp, useCan } from '../shell/session.tsx'
import { useAct, useSave } from '../ui/act.tsx'
import { type Field, FormButton, type Values } from '../ui/Form.tsx'
import { Facts, Section, Status } from '../ui/page.tsx'
import { Forbidden, Loaded } from '../ui/states.tsx'

type All = Result<'GET /moderation/engines'>

const failures = [
  { value: 'approve-message', label: 'The condition counts as not met' },
  { value: 'drop-message', label: 'The rule does what it does when it is met' },
]
const onError: Field = {
  name: 'onError',
  label: 'When the engine fails',
  kind: 'choice',
  options: failures,
  required: true,
}
const contextMessages: Field = {
  name: 'contextMessages',
  label: 'Messages of the conversation that are sent along',
  kind: 'number',
  min: 0,
}

/** An engine as a form has it. What is left out is set to its default; a key that is left out stays. */
interface Engine {
  readonly name: keyof All
  readonly title: string
  readonly hint: string
  readonly fields: readonly Field[]
}

const key: Field = {
  name: 'apiKey',
  label: 'API key',
  kind: 'password',
  hint: 'Left empty, the present one stays, as long as the address names the same host',
}

const kinds: readonly Engine[] = [
  {
    name: 'llm',
    title: 'Language model',
    hint: 'Answers conditions of the category prompt.',
    fields: [
      {
        name: 'url',
        label: 'Address',
        required: true,
        hint: 'Of an API that is compatible with that of OpenAI, such as https://api.openai.com/v1',
      },
      { name: 'model', label: 'Model', required: true },
      key,
      onError,
      contextMessages,
    ],
  },
  {
    name: 'labels',
    title: 'Labels of pictures and videos',
    hint: 'Answers conditions on pictures and videos.',
    fields: [{ name: 'url', label: 'Address', required: true }, key, onError],
  },
  {
    name: 'customApi',
    title: 'Engines of your own',
    hint: 'Answer conditions of the category custom-api. Their addresses and passwords are in the lists.',
    fields: [onError, contextMessages],
  },
]

/** Engines outside that conditions ask: addresses and keys, so only for those who configure the app. */
export function Engines() {
  const { appId, client } = useApp()
  const can = useCan()
  const engines = useQuery({
    queryKey: ['engines', appId],
    queryFn: () => client.moderation.engines.get(),
    enabled: can('configure'),
  })
  if (!can('configure')) return <Forbidden right="configure" />
  return (
    <Loaded query={engines}>
      {(engines) => (
        <SimpleGrid cols={{ base: 1, md: 2 }}>
          {kinds.map((engine) => (
            <EngineView key={engine.name} engine={engine} now={engines[engine.name]} />
          ))}
        </SimpleGrid>
      )}
    </Loaded>
  )
}

function EngineView({ engine, now }: { readonly engine: Engine; readonly now: All[keyof All] }) {
  const { appId, client } = useApp()
  const act = useAct()
  const save = useSave()
  const { engines } = client.moderation
  const refresh = [['engines', appId]]
  const { name, title, hint, fields } = engine
  const { url, model, hasApiKey } = now as All['llm']
  const isSet = name === 'customApi' || url !== undefined
  const set = { llm: engines.setLlm, labels: engines.setLabels, customApi: engines.setCustomApi }[name]
  const submit = (values: Values) =>
    save<unknown>({ run: () => set(values as never), done: `${title}: saved`, refresh })
  const forget = () =>
    act({
      run: () => (name === 'llm' ? engines.removeLlm() : engines.removeLabels()),
      done: `${title}: removed`,
      refresh,
      question: {
        title: 'Remove this engine?',
        text: 'Its address and key are forgotten. Conditions that ask it then fail, which by default means that they are not met.',
        label: 'Remove',
      },
    })
  return (
    <Paper withBorder p="sm">
      <Section
        title={title}
        actions={
          <Group gap="xs">
            <FormButton
              button={isSet ? 'Change' : 'Set up'}
              size="xs"
              variant="default"
              title={title}
              fields={fields}
              initial={{ ...now }}
              onSubmit={submit}
            />
            {name !== 'customApi' && isSet && (
              <Button size="xs" variant="light" color="red" onClick={() => void forget()}>
                Remove
              </Button>
            )}
          </Group>
        }
      >
        <Stack gap="xs">
          <Text size="sm" c="dimmed">
            {hint}
          </Text>
          {isSet ? (
            <Facts
              facts={{
                Address: url,
                Model: model,
                'API key': name === 'customApi' ? undefined : hasApiKey ? 'set' : 'none',
                'When it fails': failures.find(({ value }) => value === now.onError)?.label,
                'Messages sent along': 'contextMessages' in now ? now.contextMessages : undefined,
              }}
            />
          ) : (
            <Status of="not set up" />
          )}
        </Stack>
      </Section>
    </Paper>
  )
}
