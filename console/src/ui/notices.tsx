import { CloseButton, Group, Paper, Stack, Text } from '@mantine/core'
import { useSyncExternalStore } from 'react'
import { explain } from '../api.ts'

interface Notice {
  readonly id: number
  readonly text: string
  readonly isError: boolean
}

let notices: readonly Notice[] = []
let count = 0
const listeners = new Set<() => void>()

function change(to: readonly Notice[]): void {
  notices = to
  for (const listener of listeners) listener()
}

function add(text: string, isError: boolean): void {
  const id = ++count
  change([...notices.slice(-3), { id, text, isError }])
  setTimeout(() => dismiss(id), isError ? 12_000 : 4_000)
}

const dismiss = (id: number) => change(notices.filter((notice) => notice.id !== id))

/** Says what was done, in a corner of the page. */
export const notify = (text: string) => add(text, false)
/** Says what went wrong. */
export const notifyError = (error: unknown) => add(explain(error), true)

export function Notices() {
  const shown = useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => notices,
  )
  return (
    <Stack className="notices" gap="xs" role="status" aria-live="polite">
      {shown.map(({ id, text, isError }) => (
        <Paper key={id} withBorder shadow="md" p="sm" className={isError ? 'notice notice-error' : 'notice'}>
          <Group wrap="nowrap" gap="xs" justify="space-between">
            <Text size="sm">{text}</Text>
            <CloseButton size="sm" aria-label="Dismiss" onClick={() => dismiss(id)} />
          </Group>
        </Paper>
      ))}
    </Stack>
  )
}
