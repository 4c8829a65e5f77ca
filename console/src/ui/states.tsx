import { Alert, Button, Center, Loader, Stack, Text } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { codeOf, explain, type Right } from '../api.ts'
import { Time } from './page.tsx'

/**
 * What could not be loaded, and why.
 * @param since epoch milliseconds, when what is shown beside it was loaded
 */
export function Problem(props: { readonly error: unknown; readonly onRetry?: () => void; readonly since?: number }) {
  const { error, onRetry, since } = props
  const isForbidden = isRefusal(error)
  return (
    <Alert
      color={isForbidden ? 'gray' : 'red'}
      title={isForbidden ? 'You may not see this' : 'This could not be loaded'}
      role="alert"
      maw={640}
    >
      <Stack align="flex-start" gap="sm">
        <Text size="sm">{explain(error)}</Text>
        {since !== undefined && !isForbidden && (
          <Text size="sm">
            What is shown here is of <Time at={since / 1_000} />.
          </Text>
        )}
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

/** Whether somebody may not see it, or no longer: what was loaded goes, too. */
export const isRefusal = (error: unknown) => codeOf(error) === 'ERR_PERMISSION_DENIED'

type Asked = Pick<UseQueryResult, 'data' | 'error' | 'isRefetchError' | 'dataUpdatedAt' | 'refetch'>

/** Above what was loaded once, where it could not be loaded again; undefined where it is as it is now. */
export function staleness({ error, isRefetchError, dataUpdatedAt, refetch }: Omit<Asked, 'data'>): ReactNode {
  if (!isRefetchError) return undefined
  return <Problem error={error} since={dataUpdatedAt} onRetry={() => void refetch()} />
}

/** Whether something was loaded that may still be shown: not to those who may no longer see it. */
export function isShown({ data, error }: Pick<Asked, 'data' | 'error'>): boolean {
  return data !== undefined && !isRefusal(error)
}

/** The states of a query: before it has data, and where that could not be loaded again. */
export function Loaded<T>(props: {
  readonly query: UseQueryResult<T>
  readonly children: (data: T) => ReactNode
}): ReactNode {
  const { query, children } = props
  if (query.data !== undefined && isShown(query)) {
    return (
      <>
        {staleness(query)}
        {children(query.data)}
      </>
    )
  }
  if (query.isError) return <Problem error={query.error} onRetry={() => void query.refetch()} />
  return <Loading />
}
