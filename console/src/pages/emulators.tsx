import { Alert, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { admin } from '../api.ts'
import { useCan, useMe } from '../shell/session.tsx'
import { SmallTable, Time } from '../ui/page.tsx'
import { Loaded } from '../ui/states.tsx'

/** What came to the emulators of providers, where some run beside the service. */
export function useEmulators() {
  const can = useCan()
  const { apps } = useMe()
  return useQuery({
    queryKey: ['emulators'],
    queryFn: () => admin('GET /emulators/journal'),
    enabled: can('read') && apps === null,
    refetchInterval: ({ state }) => (state.data?.isSet === true ? 3_000 : false),
  })
}

export function Emulators() {
  const journal = useEmulators()
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
