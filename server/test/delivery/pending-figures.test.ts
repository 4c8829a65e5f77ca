import { sql } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createPendingCount } from '../../src/delivery/pending.ts'
import { dataOf, say } from '../support/chat.ts'
import { createOwnServices, type OwnServices } from '../support/own-services.ts'
import { soon, until } from '../support/until.ts'
import { closeEndpoints, open, register } from '../support/webhooks.ts'
import { createUsers, createWorld } from '../support/world.ts'

let own: OwnServices
beforeAll(async () => {
  own = await createOwnServices()
})
afterAll(async () => {
  await own.close()
  await closeEndpoints()
})

const countWaiting = `
  select count(*)::int as waiting
  from pg_stat_activity
  where datname = current_database()
  and wait_event_type = 'Lock'
  and query like '%as pending%'`

const waitsToBeSentAgain = 'select from webhook_deliveries where due_at is not null and attempts > 0'

describe('the figure of what is pending', () => {
  it('holds up no look-up while it is counted, is counted once for all who ask, and may take longer than a list', async () => {
    const service = await own.start({ LIST_TIMEOUT_SECONDS: '2' })
    const world = await createWorld(service)
    const endpoint = await open()
    endpoint.behave({ status: 500 })
    await createUsers(world, 'alice', 'bob')
    await register(world, endpoint.url)
    await say(world, 'alice', 'bob', 'hello')
    await until(async () => (await own.query(waitsToBeSentAgain)).length === 1)
    const scrape = async () => (await fetch(`${service.url}/metrics`)).text()
    // A transaction sees the same activity until it ends.
    const watcher = new pg.Client(own.connection as pg.ClientConfig)
    await watcher.connect()
    const counts = async () => (await watcher.query(countWaiting)).rows[0].waiting
    try {
      const unlock = await own.lock('lock table webhook_deliveries in access exclusive mode')
      const scrapes = Promise.all([scrape(), scrape(), scrape()])
      await until(async () => (await counts()) === 1)
      for (let i = 0; i < 8; i++) dataOf(await world.get('/users/alice'))
      // It still waits: what was answered did not wait behind it.
      expect(await counts()).toBe(1)
      // Nor do figures, beyond what whoever scrapes has patience for.
      await scrapes
      await scrape()
      expect(await counts()).toBe(1)
      await unlock()
      await soon(async () => expect(await scrape()).toMatch(/^parley_webhook_deliveries_pending 1$/m))
    } finally {
      await watcher.end()
    }
  })

  it('that could not be counted is not counted again at once', async () => {
    let asked = 0
    const run = async () => {
      asked++
      throw new Error('it took too long')
    }
    const count = createPendingCount({ run }, sql<{ pending: number }>`select 1 as pending`)
    expect([await count(), await count(), await count()]).toEqual([undefined, undefined, undefined])
    expect(asked).toBe(1)
  })
})
