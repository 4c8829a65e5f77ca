import { legacyTriggerIds, silentCategories } from '@parley/contract/triggers'
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

/** Whether triggers of a category never fire. */
export const isSilent = (category: string) => (silentCategories as readonly string[]).includes(category)

/** Whether a webhook of version 1 may be called for a trigger. */
export const isLegacy = (trigger: string) => (legacyTriggerIds as readonly string[]).includes(trigger)
