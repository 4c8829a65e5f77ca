import { Alert, Button, Group, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { admin } from '../api.ts'
import { useCan, useMe } from '../shell/session.tsx'
import { ask } from '../ui/act.tsx'
import { SmallTable, Time } from '../ui/page.tsx'
import { Empty, Forbidden, Loaded } from '../ui/states.tsx'

/** What came to the emulators of providers, where some run beside the service. */
export function useEmulators(reason = '') {
  const can = useCan()
  const { apps } = useMe()
  return useQuery({
    queryKey: ['emulators', reason],
    queryFn: () => admin('GET /emulators/journal', reason === '' ? {} : { reason }),
    enabled: can('read') && apps === null,
    refetchInterval: ({ state }) => (state.data?.isSet === true && reason !== '' ? 3_000 : false),
  })
}

export function Emulators() {
  const can = useCan()
  const { apps } = useMe()
  const [reason, setReason] = useState('')
  const journal = useEmulators(reason)
  const begin = async () => {
    const said = await ask({
      title: 'Read what came to the emulators?',
      text: 'You see texts of all apps. Your reason is recorded in the audit log of operators.',
      label: 'Read',
      asks: { label: 'Your reason, such as what you try out', minLength: 3 },
    })
    if (said !== undefined) setReason(said)
  }
  if (!can('read')) return <Forbidden right="read" />
  if (apps !== null) return <Empty>They show what came of all apps: it is for operators of all apps.</Empty>
  if (journal.data?.isSet === false)
    return <Empty>No emulators run beside this service: EMULATORS_URL names them.</Empty>
  if (reason === '') {
    return (
      <Alert color="yellow">
        <Group justify="space-between">
          <Text size="sm">What came to the emulators is left out until you say why you read it.</Text>
          <Button size="xs" onClick={() => void begin()}>
            Read
          </Button>
        </Group>
      </Alert>
    )
  }
  return (
    <Loaded query={journal}>
      {({ problem, lines }) => (
        <>
          <Text size="sm" c="dimmed">
            What came to the emulators, of all apps, newest first. It is asked for every three seconds.
          </Text>
          {problem !== undefined && (
            <Alert color="red" role="alert">
              {problem}
            </Alert>
          )}
          <SmallTable
            label="Journal of the emulators"
            rows={lines}
            idOf={({ number }) => String(number)}
            empty="Nothing has come yet."
            columns={[
              { label: 'When', cell: ({ at }) => <Time at={at} /> },
              { label: 'What', cell: ({ text }) => text },
            ]}
          />
        </>
      )}
    </Loaded>
  )
}
