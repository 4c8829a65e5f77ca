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

/** What a webhook of version 1 may be called for. */
export const legacy: readonly string[] = [
  ...['before_message', 'after_message', 'message_delivery_receipt', 'message_read_receipt'],
  'user_connection_status_change',
  ...['moderation_engine_approved', 'moderation_engine_blocked', 'moderation_engine_failed'],
  'moderation_manual_approved',
]
