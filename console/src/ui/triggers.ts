import { useQuery } from '@tanstack/react-query'
import { useApp } from '../shell/session.tsx'

/** What can happen in an app, as the service lists it. */
export function useTriggers() {
  const { appId, client } = useApp()
  return useQuery({
    queryKey: ['triggers', appId],
    queryFn: async () => (await client.webhooks.allTriggers({})).data,
    staleTime: Number.POSITIVE_INFINITY,
  })
}

/** Groups of triggers that are accepted and never fire. */
export const silent: readonly string[] = ['call', 'meeting', 'campaign']
