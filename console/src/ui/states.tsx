import { Alert, Button, Center, Loader, Stack, Text } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { codeOf, explain, type Right } from '../api.ts'

/** What could not be loaded, and why. */
export function Problem({ error, onRetry }: { readonly error: unknown; readonly onRetry?: () => void }) {
  const isForbidden = codeOf(error) === 'ERR_PERMISSION_DENIED'
  return (
    <Alert
      color={isForbidden ? 'gray' : 'red'}
      title={isForbidden ? 'You may not see this' : 'This could not be loaded'}
      role="alert"
      maw={640}
    >
      <Stack align="flex-start" gap="sm">
        <Text size="sm">{explain(error)}</Text>
        {onRetry !== undefined && !isForbidden && (
          <Button size="xs" variant="light" color="red" onClick={onRetry}>
            Try again
          </Button>
        )}
      </Stack>
    </Alert>
  )
}

/** What is for others. */
export function Forbidden({ right }: { readonly right: Right }) {
  return (
    <Alert color="gray" title="You may not see this" role="alert" maw={640}>
      <Text size="sm">It is for operators with the right “{right}”.</Text>
    </Alert>
  )
}

/** Nothing is there yet, or nothing is found. */
export function Empty({ children }: { readonly children: ReactNode }) {
  return (
    <Center mih={120} p="md">
      <Text c="dimmed" ta="center" component="div">
        {children}
      </Text>
    </Center>
  )
}

export function Loading() {
  return (
    <Center mih={120}>
      <Loader size="sm" role="status" aria-label="Loading" />
    </Center>
  )
}

/** The states of a query before it has data. */
export function Loaded<T>(props: {
  readonly query: UseQueryResult<T>
  readonly children: (data: T) => ReactNode
}): ReactNode {
  const { query, children } = props
  if (query.data !== undefined) return children(query.data)
  if (query.isError) return <Problem error={query.error} onRetry={() => void query.refetch()} />
  return <Loading />
}
