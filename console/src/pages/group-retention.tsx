import { Button, Group, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useApp, useCan } from '../shell/session.tsx'
import { useAct, useSave } from '../ui/act.tsx'
import { type Field, FormButton } from '../ui/Form.tsx'
import { Hold } from '../ui/Hold.tsx'
import { Facts, Section } from '../ui/page.tsx'
import { Loaded } from '../ui/states.tsx'

const fields: readonly Field[] = [
  { name: 'days', label: 'Days that messages are kept', kind: 'number', min: 0, required: true, hint: '0: for ever' },
  {
    ...{ name: 'mode', label: 'What becomes of older ones', kind: 'choice', required: true },
    options: [
      { value: 'delete', label: 'They are removed' },
      { value: 'strip', label: 'They stay as deleted ones, without their content' },
    ],
  },
]

/** How long the messages of a group are kept. */
export function RetentionOfGroup({ guid }: { readonly guid: string }) {
  const { appId, client } = useApp()
  const can = useCan()
  const act = useAct()
  const save = useSave()
  const key = ['retention', appId, guid]
  const conversationId = `group_${guid}`
  const retention = useQuery({ queryKey: key, queryFn: () => client.retention.ofGroup({ guid }) })
  return (
    <Stack>
      <Section title="How long messages are kept">
        <Loaded query={retention}>
          {({ days, mode, isOwn }) => (
            <>
              <Facts
                facts={{
                  'Kept for': days === 0 ? 'ever' : `${days} days`,
                  'Older ones': mode === 'delete' ? 'are removed' : 'stay as deleted ones, without their content',
                  'Set by': isOwn ? 'this group' : 'the app',
                }}
              />
              {can('configure') && (
                <Group>
                  <FormButton
                    button="Change"
                    size="xs"
                    variant="default"
                    title="How long messages of this group are kept"
                    fields={fields}
                    initial={{ days, mode }}
                    onSubmit={(values) =>
                      save({
                        run: () => client.retention.setOfGroup({ guid, ...values } as never),
                        done: 'It was set for this group',
                        refresh: [key],
                      })
                    }
                  />
                  {isOwn && (
                    <Button
                      size="xs"
                      variant="default"
                      onClick={() =>
                        void act({
                          run: () => client.retention.unsetOfGroup({ guid }),
                          done: 'What the app has set holds',
                          refresh: [key],
                          question: {
                            title: 'Keep messages as long as the app has set?',
                            text: 'Where that is for fewer days, older messages of this group are removed for good.',
                            label: 'As the app has set',
                          },
                        })
                      }
                    >
                      As the app has set
                    </Button>
                  )}
                </Group>
              )}
            </>
          )}
        </Loaded>
      </Section>
      <Hold
        title="Hold"
        none="It is not on hold."
        isOf={(held) => held.conversationId === conversationId}
        question={{
          title: 'Put this conversation on hold?',
          text: 'What was written in it is kept, however old, until the hold is lifted.',
        }}
        done="It is on hold"
        hold={(note) => client.retention.holdConversation({ conversationId, note })}
        lift={() => client.retention.liftHoldOfConversation({ conversationId })}
      />
    </Stack>
  )
}
