import { Text } from '@mantine/core'
import type { AuditEntry } from '@parley/client'
import { useQuery } from '@tanstack/react-query'
import { admin } from '../api.ts'
import { useCan } from '../shell/session.tsx'

/** The operators, for those who may see them. */
export function useOperators(isWanted = true) {
  const can = useCan()
  return useQuery({
    queryKey: ['operators'],
    queryFn: () => admin('GET /operators'),
    enabled: can('operators') && isWanted,
    staleTime: 60_000,
  })
}

/** Who did what an entry of an audit log is about. */
export function Actor({ of: { actor } }: { readonly of: AuditEntry }) {
  const operators = useOperators(actor.operator !== undefined)
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
