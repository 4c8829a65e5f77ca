import { randomBytes, randomUUID } from 'node:crypto'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { retainInTime } from '../../src/areas/retention/job.ts'
import { createAudit } from '../../src/chat/audit/audit.ts'
import { linkEntries } from '../../src/chat/audit/chain.ts'
import { lastsMs } from '../../src/store/age-clock.ts'
import { openSecrets } from '../../src/store/data-keys.ts'
import { openDatabase } from '../../src/store/database.ts'
import { dataOf, say } from '../support/chat.ts'
import { createOwnServices, type OwnServices } from '../support/own-services.ts'
import { testMasterKey } from '../support/service.ts'
import { soon } from '../support/until.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'

const day = 86_400
const year = 365 * day
const nowSeconds = () => Math.floor(Date.now() / 1000)

let own: OwnServices
beforeEach(async () => {
  own = await createOwnServices()
})
afterEach(() => own.close())

/** To services that start now the clock is a year ahead: when they were last there, it was a year earlier. */
const putAhead = () =>
  own.query(
    `insert into settings (name, value) values ('age_clock', $1) on conflict (name) do update set value = excluded.value`,
    [`${(nowSeconds() - year) * 1000} ${(nowSeconds() - year) * 1000} 0`],
  )
/** The clock was ahead for long enough to be right. */
const letLast = () =>
  own.query(`update settings set value = regexp_replace(value, '\\d+$', $1) where name = 'age_clock'`, [
    String(lastsMs),
  ])

/** What is there for a time of its own, and how many of it are left. */
interface Kept {
  readonly what: string
  /** Seconds. */
  readonly keptFor: number
  /** @param at epoch seconds at which its time began */
  add(world: World, at: number): Promise<unknown>
  left: string
}

const kept: readonly Kept[] = [
  {
    what: 'deliveries to webhooks',
    keptFor: 7 * day,
    add: ({ app }, at) =>
      own.query(
        `insert into webhook_deliveries (app_id, webhook, id, trigger, status, created_at)
        values ($1, 1, (select count(*) from webhook_deliveries), 'message_sent', 'delivered', $2)`,
        [app.appId, at],
      ),
    left: 'select from webhook_deliveries where app_id = $1',
  },
  {
    what: 'events',
    keptFor: 7 * day,
    add: ({ app }, at) =>
      own.query(`insert into events (app_id, trigger, data, created_at) values ($1, 'user_blocked', '{}', $2)`, [
        app.appId,
        at,
      ]),
    left: `select from events where app_id = $1 and trigger = 'user_blocked'`,
  },
  {
    what: 'the log of notifications',
    keptFor: 14 * day,
    add: ({ app }, at) =>
      own.query(
        `insert into notification_deliveries (app_id, day, uid, channel, provider_kind, provider_id, provider, trigger, event, conversation,
          kind, receiver, status, gates, expires_at, created_at)
        values ($1, 1, 'bob', 'push', 'fcm', 'phones', 1, 'message_sent', 1, 1, 1, 'bob', 'delivered', '[]', $2::bigint * 1000, $2::bigint * 1000)`,
        [app.appId, at],
      ),
    left: 'select from notification_deliveries where app_id = $1',
  },
  {
    what: 'devices whose auth token has expired',
    keptFor: 61 * day,
    async add({ app }, at) {
      const [digest, device] = [randomBytes(32), randomBytes(32)]
      await own.query(
        `insert into auth_tokens (app_id, digest, sealed, uid, created_at) values ($1, $2, '\\x00', 'bob', $3)`,
        [app.appId, digest, at],
      )
      await own.query(
        `insert into push_tokens (app_id, provider, digest, sealed, uid, auth_digest, platform, type, created_at, updated_at)
        values ($1, 1, $2, '\\x00', 'bob', $3, 'android', 'fcm', $4, $4)`,
        [app.appId, device, digest, at],
      )
    },
    left: 'select from push_tokens where app_id = $1',
  },
  {
    what: 'entries of the audit log',
    keptFor: 400 * day,
    async add({ app }, at) {
      const database = openDatabase(own.connection)
      const secrets = await openSecrets(database, [testMasterKey])
      const audit = createAudit(secrets, { caller: 'service' }, () => at * 1000)
      // In a chain of its own: entries go from its beginning on.
      await audit.record(database, -app.appId, { action: 'app_created', type: 'app', target: 'planted' })
      await linkEntries(database, secrets)
      await database.close()
    },
    left: `select from audit_log where app_id = -$1::integer and target = 'planted'`,
  },
  {
    what: 'files that nobody has sent',
    keptFor: day,
    add: ({ app }, at) =>
      own.query(
        `insert into media_files (app_id, key, name, mime_type, size, created_at, claim_by)
        values ($1, $2, 'a.png', 'image/png', 1, $3::bigint, $3::bigint + ${day})`,
        [app.appId, randomBytes(16).toString('hex'), at],
      ),
    left: 'select from media_files where app_id = $1 and removed_at is null',
  },
  {
    what: 'exports of personal data',
    keptFor: 0,
    add: ({ app }, at) =>
      own.query(
        `insert into person_exports (app_id, uid, run, status, asked_at, expires_at) values ($1, $2, gen_random_uuid(), 'ready', 1, $3)`,
        [app.appId, randomUUID(), at],
      ),
    left: 'select from person_exports where app_id = $1',
  },
  {
    what: 'API keys that are replaced',
    keptFor: 0,
    add: ({ app }, at) =>
      own.query(
        `insert into api_keys (app_id, digest, sealed, name, scope, created_at, replaced_at, ends_at)
        values ($1, $2, '\\x00', 'planted', 'authOnly', 1, 1, $3)`,
        [app.appId, randomBytes(32), at],
      ),
    left: `select from api_keys where app_id = $1 and name = 'planted'`,
  },
]

/** Starts a service, and has it do at once what it does every minute or less often. */
async function startAndLetWork(): Promise<void> {
  const real = setInterval
  const seldom: Array<() => void> = []
  const spy = vi.spyOn(globalThis, 'setInterval').mockImplementation(((work: () => void, ms: number) => {
    if (ms >= 60_000) seldom.push(work)
    return real(work, ms)
  }) as typeof setInterval)
  await own.start({ AUDIT_RETENTION_DAYS: '400' }).finally(() => spy.mockRestore())
  for (const work of seldom) work()
}

it('nothing is removed for its age while the clock is ahead, and everything once that has lasted', async () => {
  const first = await own.start()
  const world = await createWorld(first)
  dataOf(await world.call('PATCH', `/apps/${world.app.name}/settings`, { tokenLifetime: day }))
  const apps = [await createWorld(first), await createWorld(first)].map(({ app }) => app.appId)
  await own.stop()
  const ahead = nowSeconds()
  const known = ahead - year
  for (const { add, keptFor } of kept) {
    await add(world, known - keptFor - day)
    await add(world, ahead - keptFor - day)
  }
  await own.query('update apps set deletes_at = $2 where app_id = $1', [apps[0], known - day])
  await own.query('update apps set deletes_at = $2 where app_id = $1', [apps[1], ahead - day])
  const left = async () => {
    const counts = kept.map(async ({ what, left }) => [what, (await own.query(left, [world.app.appId])).length])
    const { length } = await own.query('select from apps where app_id = any($1)', [apps])
    return Object.fromEntries([...(await Promise.all(counts)), ['apps', length]])
  }
  const each = (count: number) =>
    Object.fromEntries([...kept.map(({ what }) => what), 'apps'].map((what) => [what, count]))
  expect(await left()).toEqual(each(2))

  await putAhead()
  await startAndLetWork()
  // What would be gone without the jump goes as ever.
  await soon(async () => expect(await left()).toEqual(each(1)))
  await own.stop()

  await letLast()
  await startAndLetWork()
  await soon(async () => expect(await left()).toEqual(each(0)))
}, 120_000)

it('no messages are removed while the clock is ahead', async () => {
  const world = await createWorld(await own.start())
  await createUsers(world, 'alice', 'bob')
  dataOf(await world.call('PATCH', `/apps/${world.app.name}/settings`, { messageRetentionDays: 30 }))
  const ages = [year + 31 * day, 31 * day]
  for (const age of ages) {
    const { id } = await say(world, 'alice', 'bob', 'hello')
    await own.query('update messages set sent_at = $2 where id = $1', [id, nowSeconds() - age])
  }
  await own.stop()
  await putAhead()
  const { context } = (await own.start()).parley
  expect(await retainInTime(context)).toMatchObject({ removed: 1 })
  expect(await retainInTime(context)).toMatchObject({ removed: 0 })
  await letLast()
  expect(await retainInTime(context)).toMatchObject({ removed: 1 })
})
