import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Cluster, createApp, type Service, startCluster } from '../events/support.ts'
import { until } from '../support/until.ts'

let cluster: Cluster
beforeAll(async () => {
  cluster = await startCluster(1)
})
afterAll(() => cluster.end())

const countWaiting = `
  select count(*)::int as waiting
  from pg_stat_activity
  where datname = current_database()
  and wait_event_type = 'Lock'
  and query like '%as pending%'`

describe('the figure of what is pending', () => {
  it('holds up no look-up while it is counted, and is counted once for all who ask', async () => {
    const { ask } = await createApp(cluster)
    await ask(0, 'POST', '/users', { uid: 'alice', name: 'Alice' })
    const { url } = cluster.services[0] as Service
    const client = new pg.Client(cluster.connection)
    // A transaction sees the same activity until it ends.
    const watcher = new pg.Client(cluster.connection)
    await Promise.all([client.connect(), watcher.connect()])
    const isCounted = () => until(async () => (await watcher.query(countWaiting)).rows[0].waiting === 1)
    let scrapes: Promise<string[]>
    try {
      await client.query('begin')
      await client.query('lock table webhook_deliveries in access exclusive mode')
      scrapes = Promise.all([1, 2, 3].map(async () => (await fetch(`${url}/metrics`)).text()))
      await isCounted()
      for (let i = 0; i < 8; i++) await ask(0, 'GET', '/users/alice')
      // It still waits: what was answered did not wait behind it.
      await isCounted()
      await client.query('rollback')
    } finally {
      await Promise.all([client.end(), watcher.end()])
    }
    for (const text of await scrapes) expect(text).toMatch(/^parley_webhook_deliveries_pending 0$/m)
  })
})
