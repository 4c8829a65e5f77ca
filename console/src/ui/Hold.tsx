import { Button, Group, Text } from '@mantine/core'
import type { Result } from '@parley/client'
import { useQuery } from '@tanstack/react-query'
import { useApp, useCan } from '../shell/session.tsx'
import { useAct } from './act.tsx'
import { Facts, Section, Time } from './page.tsx'
import { Loaded } from './states.tsx'

type Held = Result<'GET /retention/holds'>[number]

/** Whether messages of somebody or of a conversation are kept, whatever their age, as for a case at court. */
export function Hold(props: {
  readonly title: string
  /** What is said while there is no hold. */
  readonly none: string
  /** Finds it among the holds of the app. */
  readonly isOf: (held: Held) => boolean
  readonly question: { readonly title: string; readonly text: string }
  readonly done: string
  readonly hold: (note: string) => Promise<unknown>
  readonly lift: () => Promise<unknown>
}) {
  const { title, none, isOf, question, done, hold, lift } = props
  const { appId, client } = useApp()
  const can = useCan()
  const act = useAct()
  const refresh = [['holds', appId]]
  const holds = useQuery({ queryKey: ['holds', appId], queryFn: () => client.retention.holds() })
  const putOn = () =>
    act({
      run: hold,
      done,
      refresh,
      question: { ...question, label: 'Put on hold', asks: { label: 'Why' } },
    })
  const takeOff = () =>
    act({
      run: lift,
      done: 'The hold was lifted',
      refresh,
      question: {
        title: 'Lift the hold?',
        text: 'Messages that are older than retention allows are then removed for good.',
        label: 'Lift the hold',
      },
    })
  return (
    <Section title={title}>
      <Loaded query={holds}>
        {(holds) => {
          const held = holds.find(isOf)
          return (
            <>
              {held === undefined ? (
                <Text size="sm">{none}</Text>
              ) : (
                <Facts facts={{ 'On hold since': <Time at={held.heldAt} />, Note: held.note }} />
              )}
              {can('configure') && (
                <Group>
                  <Button size="xs" variant="default" onClick={() => void (held === undefined ? putOn() : takeOff())}>
                    {held === undefined ? 'Put on hold' : 'Lift the hold'}
                  </Button>
                </Group>
              )}
            </>
          )
        }}
      </Loaded>
    </Section>
  )
}
