import { Alert, Button, Group, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { admin } from '../api.ts'
import { readingsIn, texts, wholeApp } from '../questions.ts'
import { useApp, useCan } from '../shell/session.tsx'
import { useAct } from './act.tsx'
import { Time } from './page.tsx'

/** Whether the operator may read a conversation at the moment, until when, and how to open it. */
export function useReading(of: string) {
  const { appId } = useApp()
  const can = useCan()
  const act = useAct()
  const mayRead = can('read')
  const readings = useQuery({
    ...readingsIn(appId),
    enabled: mayRead,
    refetchInterval: 60_000,
  })
  const open = readings.data?.find((reading) => reading.of === of || reading.of === wholeApp)
  const begin = () =>
    act({
      run: (reason) => admin('POST /apps/{appId}/readings', { appId, of, reason }),
      done: 'You can read for an hour',
      refresh: [
        ['readings', appId],
        [texts, appId],
      ],
      question: {
        title: of === wholeApp ? 'Read what people wrote in this app?' : 'Read this conversation?',
        text: 'You see texts for an hour. Your reason is recorded in the audit log of the app.',
        label: 'Read',
        asks: { label: 'Your reason, such as the number of a report', minLength: 3 },
      },
    })
  return { mayRead, isLoading: readings.isPending && mayRead, open, begin }
}

/** Says whether texts are shown, and lets the operator read them for a reason. */
export function ReadingBar({ of }: { readonly of: string }) {
  const { mayRead, isLoading, open, begin } = useReading(of)
  if (isLoading) return null
  if (!mayRead) return <Alert color="gray">What people wrote is left out: you do not have the right to read it.</Alert>
  if (open !== undefined) {
    return (
      <Text size="sm" c="dimmed">
        You read until <Time at={open.until} />. Reason: {open.reason}
      </Text>
    )
  }
  return (
    <Alert color="yellow">
      <Group justify="space-between">
        <Text size="sm">What people wrote is left out until you say why you read it.</Text>
        <Button size="xs" onClick={() => void begin()}>
          Read
        </Button>
      </Group>
    </Alert>
  )
}
