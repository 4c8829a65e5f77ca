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

/** What says how things are right now, or of the last days, and what is kept for some days only. */
const ofTheMoment: readonly string[] = [
  ...['get-settings', 'get-moderation-queue', 'get-moderation-stats', 'get-smtp-provider'],
  ...['message-receipt-metrics', 'usage-metrics', 'list-daily-stats'],
  ...['list-events', 'list-my-events', 'list-deliveries', 'get-delivery', 'notifications-logs', 'explain-notification'],
  ...['get-user-export', 'get-dry-run', 'list-audit-log'],
]

/** Tables whose rows are kept for some time only. */
const fleeting =
  /^(presence|events$|event_|webhook_deliveries|webhook_states|notification_(days|deliveries|plans)|person_export|audit_log|usage|active_user|moderation_dry|push_tokens|media|upload|operator_(sessions|links|sign))/

it('There is a fixture of each version that was released', () => {
  expect(fixtureVersions()).toContain('0.1.0')
})

describe.each(fixtureVersions())('a database that version %s has left', (version) => {
  const fixture = readFixture(version)

  it('is upgraded by two processes that start at once, under load: nothing is refused, and everything is there', async () => {
    const own = await restoreFixture(version)
    stage.onClean(() => own.drop())
    const load = startLoad()
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
    const differences = asked.flatMap(({ one, now }) =>
      differencesIn(lasting(one.body), now).map((place) => `${one.operation}${place}`),
    )
    expect(differences).toEqual([])

    const client = new pg.Client(own.connection)
    await client.connect()
    const texts = await client.query(`select count(*)::int as count from messages where muid = any($1)`, [load.sent])
    expect(texts.rows).toEqual([{ count: load.sent.length }])
    for (const [table, count] of Object.entries(fixture.counts)) {
      if (fleeting.test(table)) continue
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

/** Where an answer lacks something, or says something else; what is new in it is no difference. */
function differencesIn(before: unknown, now: unknown, place = ''): string[] {
  if (typeof before !== 'object' || before === null) {
    return before === now ? [] : [`${place}: ${JSON.stringify(before)} is ${JSON.stringify(now)}`]
  }
  if (typeof now !== 'object' || now === null) return [`${place}: is gone`]
  if (Array.isArray(before) && (now as unknown[]).length !== before.length) return [`${place}: has another length`]
  return Object.entries(before).flatMap(([name, member]) =>
    differencesIn(member, (now as Record<string, unknown>)[name], `${place}/${name}`),
  )
}

/** An answer without what moves on: who is online, when somebody was seen last, what the load has done to conversations. */
function lasting(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(lasting)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => (moving.includes(name) ? [] : [[name, lasting(member)]])),
  )
}

const moving = ['cursor', 'lastActiveAt', 'status', 'lastMessage', 'unreadMessageCount', 'latestMessageId', 'updatedAt']
