import pg from 'pg'
import { afterAll, describe, expect, it } from 'vitest'
import { doctorCommand } from '../../src/cli/doctor.ts'
import { runCommand } from '../cli/command.ts'
import { createStage } from '../faults/support/stage.ts'
import { until } from '../support/until.ts'
import { send } from '../support/world.ts'
import { type Fixture, fixtureVersions, readFixture, restoreFixture } from './fixtures.ts'
import { startLoad } from './load.ts'

const stage = createStage()
afterAll(() => stage.clean())

/** What says how things are right now, and not what was kept. */
const ofTheMoment: readonly string[] = []

/** Rows that come and go by themselves. */
const fleeting = ['presence_nodes', 'presence', 'notification_days', 'event_horizon']

it('There is a fixture of each version that was released', () => {
  expect(fixtureVersions()).toContain('0.1.0')
})

describe.each(fixtureVersions())('a database that version %s has left', (version) => {
  const fixture = readFixture(version)

  it('is upgraded by two processes that start at once, under load: nothing is refused, and everything is there', async () => {
    const own = await restoreFixture(version)
    stage.onClean(() => own.drop())
    const load = startLoad(fixture)
    const environment = { DATABASE_URL: own.url, PARLEY_MASTER_KEY: fixture.masterKey }
    const services = [0, 1].map(() => stage.launch({ ...environment, DATA_DIR: stage.makeFolder() }))
    for (const service of services) load.backends.push({ url: await service.ready, isIn: true, underWay: 0 })
    const url = load.backends[0]?.url as string
    await until(() => load.sent.length > 50, { progress: () => load.answered })
    await load.stop()
    expect(load.refused).toEqual([])

    const asked = await Promise.all(
      fixture.answers
        .filter(({ operation }) => !ofTheMoment.includes(operation))
        .map(async (one) => ({ one, now: await ask(url, fixture, one) })),
    )
    for (const { one, now } of asked) expect(now, one.operation).toMatchObject(lasting(one.body) as object)

    const client = new pg.Client(own.connection)
    await client.connect()
    const texts = await client.query(`select count(*)::int as count from messages where muid = any($1)`, [load.sent])
    expect(texts.rows).toEqual([{ count: load.sent.length }])
    for (const [table, count] of Object.entries(fixture.counts)) {
      if (fleeting.includes(table)) continue
      const { rows } = await client.query(`select count(*)::int as count from ${table}`)
      expect(rows[0].count, table).toBeGreaterThanOrEqual(count)
    }
    await client.end()
    expect(await runCommand(doctorCommand, [], environment)).toMatchObject({ code: 0 })
  })
})

async function ask(
  url: string,
  { appId, apiKey }: Fixture,
  { path, as, token }: Fixture['answers'][number],
): Promise<unknown> {
  const { status, body } = await send(url, 'GET', path, undefined, {
    appid: appId,
    ...(token === undefined ? { apikey: apiKey } : { authtoken: token }),
    ...(as !== undefined && { onbehalfof: as }),
  })
  return status === 200 ? body : { status, body }
}

/** An answer without what moves on: who is online, when somebody was seen last, what the load has done to conversations. */
function lasting(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(lasting)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => (moving.includes(name) ? [] : [[name, lasting(member)]])),
  )
}

const moving = ['lastActiveAt', 'status', 'lastMessage', 'unreadMessageCount', 'latestMessageId', 'updatedAt']
