import { type Endpoint, openEndpoint } from '../../support/endpoint.ts'
import { until } from '../../support/until.ts'
import { expectSuccess, openLine } from './line.ts'

/** A webhook that is told whenever alice blocks bob or lets him be: one event for each call. */
export interface Blocks {
  readonly endpoint: Endpoint
  /** Makes users and webhook. */
  prepare(): Promise<void>
  /** Raises one event, and remembers it. */
  raise(): Promise<void>
  /** Every event that was raised has arrived. */
  expectAll(): Promise<void>
  close(): Promise<void>
}

/** @param address where the service listens now, without the path */
export async function watchBlocks(address: () => string): Promise<Blocks> {
  const endpoint = await openEndpoint()
  const line = openLine(address)
  let raised = 0
  const arrived = () => new Set(endpoint.received.map(({ headers }) => headers['webhook-id'])).size
  return {
    endpoint,
    async prepare() {
      for (const uid of ['alice', 'bob']) await expectSuccess(line.call('POST', '/users', { uid, name: uid }))
      const triggers = ['user_blocked', 'user_unblocked']
      const webhook = { id: 'hook', name: 'Hook', webhookURL: endpoint.url, retryOnFailure: true, triggers }
      await expectSuccess(line.call('POST', '/webhooks', webhook))
    },
    async raise() {
      const method = raised % 2 === 0 ? 'POST' : 'DELETE'
      await expectSuccess(line.call(method, '/users/alice/blockedusers', { blockedUids: ['bob'] }))
      raised++
    },
    async expectAll() {
      await until(() => arrived() >= raised, { progress: arrived })
    },
    async close() {
      await line.close()
      await endpoint.close()
    },
  }
}
