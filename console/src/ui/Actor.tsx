import { Text } from '@mantine/core'
import type { AuditEntry } from '@parley/client'
import { useQuery } from '@tanstack/react-query'
import { admin } from '../api.ts'
import { useCan } from '../shell/session.tsx'

/** Who did what an entry of an audit log is about. */
export function Actor({ of: { actor } }: { readonly of: AuditEntry }) {
  const can = useCan()
  const operators = useQuery({
    queryKey: ['operators'],
    queryFn: () => admin('GET /operators'),
    enabled: can('operators') && actor.operator !== undefined,
    staleTime: 60_000,
  })
  const known = operators.data?.find(({ id }) => id === actor.operator)
  const who =
    actor.operator !== undefined
      ? (known?.email ?? `operator ${actor.operator}`)
      : actor.key !== undefined
        ? `key ${actor.key}`
        : (actor.uid ?? actor.caller)
  return (
    <Text span size="sm" title={actor.address}>
      {who}
    </Text>
  )
}
