import type { Message } from '@parley/contract'
import { dataOf, say } from './chat.ts'
import { type Endpoint, openEndpoint } from './endpoint.ts'
import type { Service } from './own-services.ts'
import { createUsers, createWorld, type World } from './world.ts'

const endpoints: Endpoint[] = []

/** An endpoint that `closeEndpoints` closes. */
export async function open(port?: number): Promise<Endpoint> {
  const endpoint = await openEndpoint(port)
  endpoints.push(endpoint)
  return endpoint
}

export async function closeEndpoints(): Promise<void> {
  await Promise.all(endpoints.map((endpoint) => endpoint.close()))
}

/** An app with alice and bob, and a message from her to him that nobody was told of. */
export async function chatWorld(service: Service): Promise<{ world: World; message: Message }> {
  const world = await createWorld(service)
  await createUsers(world, 'alice', 'bob')
  return { world, message: await say(world, 'alice', 'bob', 'hello') }
}

/** Registers the webhook `hook` for message_sent; answers it as made, with its secret. */
export async function register(world: World, webhookURL: string, settings: object = {}) {
  return dataOf(
    await world.post('/webhooks', {
      ...{ id: 'hook', name: 'Hook', webhookURL, triggers: ['message_sent'], retryOnFailure: true },
      ...settings,
    }),
  )
}

/**
 * Raises message_sent, as a rule does, about a message that is there: `count` events in one transaction.
 * @param conversation key of the conversation that they count as events of
 */
export async function tell(world: World, message: Pick<Message, 'id'>, count = 1, conversation = 1): Promise<void> {
  const { database, events } = world.context
  const place = { conversation, kind: 'user', first: 'alice', second: 'bob' } as const
  const event = { trigger: 'message_sent', place, messageId: Number(message.id) } as const
  await database.transaction((tx) =>
    events.raise(
      tx,
      world.app.appId,
      Array.from({ length: count }, () => event),
    ),
  )
}

/** Deliveries to a webhook, newest first. */
export async function deliveriesOf(world: World, query = '', webhook = 'hook') {
  return dataOf(await world.get(`/webhooks/${webhook}/deliveries${query}`))
}

/** The `webhook-id` of everything received, in order. */
export function idsOf(endpoint: Endpoint): string[] {
  return endpoint.received.map(({ headers }) => headers['webhook-id'] as string)
}
