import { expect } from 'vitest'
import { dataOf } from '../../support/chat.ts'
import { type Endpoint, openEndpoint } from '../../support/endpoint.ts'
import { soon } from '../../support/until.ts'
import type { World as Service } from '../../support/world.ts'

const triggers = [
  ...['message_sent', 'message_edited', 'message_deleted', 'message_reaction_added'],
  ...['group_member_added', 'group_member_joined', 'group_member_left', 'group_member_kicked'],
  ...['group_member_banned', 'group_member_unbanned', 'user_blocked', 'user_unblocked', 'group_member_scope_changed'],
]

/** What a webhook is told, as `trigger what-about`. */
export class Told {
  private readonly endpoint: Endpoint

  private constructor(endpoint: Endpoint) {
    this.endpoint = endpoint
  }

  static async open(service: Service): Promise<Told> {
    const endpoint = await openEndpoint()
    const hook = { id: 'all', name: 'All', webhookURL: endpoint.url, triggers, retryOnFailure: true }
    dataOf(await service.post('/webhooks', hook))
    return new Told(endpoint)
  }

  close(): Promise<void> {
    return this.endpoint.close()
  }

  /** Waits until all has been told, and compares it; the same delivery twice counts once. */
  async compare(expected: readonly string[]): Promise<void> {
    const { received } = this.endpoint
    const told = () => {
      const deliveries = new Map(received.map(({ headers, body }) => [headers['webhook-id'], body]))
      return [...deliveries.values()].map(summaryOf).sort()
    }
    await soon(() => expect(told()).toEqual(expected.toSorted()), { progress: () => received.length })
  }
}

// biome-ignore lint/suspicious/noExplicitAny: tests look at what they are told without types
function summaryOf({ trigger, data }: any): string {
  const names = (users: object) => Object.keys(users).join(' ')
  if (trigger.startsWith('user_')) return `${trigger} ${data.by.uid} ${names(data.users)}`
  if (trigger.startsWith('group_')) return `${trigger} ${data.group.guid} ${names(data.members)}`
  if (data.reaction !== undefined) return `${trigger} ${data.reaction.messageId} ${data.reaction.uid}`
  // Of a message that was removed before it was told there is its id only.
  return `${trigger} ${data.message.data?.entities.on?.entity.id ?? data.message.id}`
}
