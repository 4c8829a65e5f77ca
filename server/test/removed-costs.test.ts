import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { retain } from '../src/areas/retention/job.ts'
import { step } from '../src/areas/retention/step.ts'
import { findDrift } from '../src/doctor/drift.ts'
import { type Service, startParley } from './http/watched.ts'
import { createGroup, dataOf, say, sayInGroup } from './support/chat.ts'
import { createOwnDatabase, type OwnDatabase } from './support/own-database.ts'
import { createExplainer, type Explainer, watchQueries } from './support/plans.ts'
import { until } from './support/until.ts'
import { createUsers, createWorld, type World } from './support/world.ts'

/** So many messages are removed for good, and so many stay. */
const [removed, kept] = [6000, 5]
/** What a page may look at of them: far less than what was removed. */
const mostRows = 500
const day = 86_400

const { routes, seen } = watchQueries()
let service: Service
let database: OwnDatabase
let world: World
let client: pg.Client
let explainer: Explainer
let newest: string

beforeAll(async () => {
  database = await createOwnDatabase()
  service = await startParley({ routes, connection: database.connection })
  world = await createWorld(service)
  await createUsers(world, 'alice', 'bob', 'carol')
  await createGroup(world, 'team', 'alice', { participants: ['bob', 'carol'] })
  await createGroup(world, 'other', 'alice', { participants: ['bob', 'carol'] })
  const [team, other] = [
    await sayInGroup(world, 'alice', 'team', 'a word'),
    await sayInGroup(world, 'alice', 'other', 'a word'),
  ]
  client = service.parley.context.database.createClient('parley test plans')
  await client.connect()
  explainer = createExplainer(client)
  await client.query('alter table messages set (autovacuum_enabled = false)')
  // What was said before: much of it in the team, and some elsewhere.
  await copy(team.id, removed)
  await copy(other.id, removed / 2)
  dataOf(await world.call('PATCH', `/apps/${world.app.name}/settings`, { messageRetentionDays: 30 }))
  for (let i = 1; i < kept; i++) await sayInGroup(world, 'alice', 'team', `a word, ${i} times`)
  newest = (await sayInGroup(world, 'alice', 'team', 'the last word')).id
  const done = await retain(service.parley.context, Math.floor(Date.now() / 1000), { only: world.app.appId })
  expect(done.removed).toBe(removed * 1.5)
  await client.query('vacuum analyze messages')
})

afterAll(async () => {
  await client?.end()
  await service?.parley.close()
  await database?.drop()
})

/** The same message again, so many times, each an hour older and all before the time of retention. */
async function copy(id: string, times: number): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `select quote_ident(attname) as name from pg_attribute where attrelid = 'messages'::regclass and attnum > 0 and not attisdropped`,
  )
  const values = {
    id: `nextval('message_ids')`,
    sent_at: 'sent_at - $2 - g * 3600',
    updated_at: 'sent_at - $2 - g * 3600',
  }
  const names = rows.map(({ name }) => name)
  await client.query(
    `insert into messages (${names.join(', ')})
    select ${names.map((name) => values[name as keyof typeof values] ?? name).join(', ')}
    from messages
    cross join generate_series(1, ${times}) g
    where id = $1`,
    [id, 31 * day],
  )
}

/** How many rows and entries of messages a request looks at. */
async function looksAt(path: string, as?: string): Promise<number> {
  seen.length = 0
  const answer = await world.get(path, as === undefined ? {} : { as })
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  let rows = 0
  for (const query of seen.slice()) {
    for (const read of await explainer.explain(query)) if (/^messages/.test(read.table)) rows += read.rows
  }
  expect(seen.length).toBeGreaterThan(0)
  return rows
}

/** How many entries of the index of conversations were read so far. */
async function entriesRead(): Promise<number> {
  const { rows } = await client.query<{ entries: number }>(
    `select idx_tup_read::int as entries from pg_stat_user_indexes where indexrelname like 'messages%by_conversation'`,
  )
  return rows[0]?.entries ?? 0
}

/** How many rows of sides and pages of their indexes were looked at so far, and how many rows removed. */
async function sidesRead(): Promise<{ rows: number; removed: number }> {
  const { rows } = await client.query<{ rows: number; removed: number }>(
    `select (t.seq_tup_read + t.idx_tup_fetch + i.idx_blks_hit + i.idx_blks_read)::int as rows, t.n_tup_del::int as removed
    from pg_stat_user_tables t
    join pg_statio_user_tables i using (relid)
    where t.relname = 'conversation_states'`,
  )
  return rows[0] ?? { rows: 0, removed: 0 }
}

describe('What was removed for good is in nobody’s way:', () => {
  it.each<[what: string, path: () => string, as?: string]>([
    ['the newest page', () => '/groups/team/messages?affix=prepend', 'bob'],
    ['the first page', () => '/groups/team/messages?affix=append', 'bob'],
    ['a page back from the newest message', () => `/groups/team/messages?affix=prepend&id=${newest}`, 'bob'],
    ['a filtered page', () => '/groups/team/messages?affix=prepend&category=message', 'bob'],
    ['what is unread', () => '/groups/team/messages?unread=true', 'carol'],
    ['how much is unread', () => '/messages?unread=true&count=true', 'carol'],
    ['conversations', () => '/conversations', 'carol'],
  ])('%s', async (_, path, as) => {
    expect(await looksAt(path(), as)).toBeLessThan(mostRows)
  })

  it('nor in that of retention when it begins anew', async () => {
    const { context } = service.parley
    await client.query('delete from retention_progress')
    const pass = { appId: world.app.appId, place: 0, mode: 'delete', days: 30 } as const
    let steps = 0
    let isOver = false
    while (!isOver) {
      const done = await step(context, pass, Math.floor(Date.now() / 1000))
      expect(done).toMatchObject({ removed: 0, stripped: 0 })
      isOver = done?.isOver === true
      steps++
    }
    expect(steps).toBeLessThan(5)
  })

  it('nor in that of the removal itself: a conversation is gone through once', async () => {
    const { id } = await say(world, 'alice', 'bob', 'a word')
    const before = await entriesRead()
    await copy(id, 12_000)
    dataOf(await world.delete('/conversations/alice_user_bob', undefined, { as: 'alice' }))
    const read = await until(async () => {
      const count = (await entriesRead()) - before
      return count > 12_000 && count
    })
    expect(read).toBeLessThan(18_000)
  })

  it('and is gone with its conversation', async () => {
    expect(await findDrift(service.parley.context.database, world.app.appId)).toEqual([])
    dataOf(await world.delete('/groups/other'))
    const left = await client.query(`select count(*)::int as count from messages where receiver = 'other' or purged`)
    expect(left.rows).toEqual([{ count: removed + 12_001 }])
    dataOf(await world.delete('/groups/team'))
    expect((await client.query(`select from messages where kind = 2`)).rowCount).toBe(0)
  })

  it('nor are sides of other conversations, however many there are, when one goes for everybody', async () => {
    await createGroup(world, 'small', 'alice', { participants: ['bob', 'carol'] })
    dataOf(await world.delete('/groups/small/members/carol'))
    await say(world, 'alice', 'carol', 'a word')
    await client.query(
      `insert into conversation_states (app_id, uid, conversation, member)
      select $1, 'somebody' || g, 1000000 + g, g % 2 = 0
      from generate_series(1, 100000) g`,
      [world.app.appId],
    )
    await client.query('vacuum analyze conversation_states')
    const { rows } = await client.query(`select conversation from groups where guid = 'small'`)
    const before = await sidesRead()
    dataOf(await world.delete('/conversations/alice_user_carol', undefined, { as: 'alice' }))
    dataOf(await world.delete('/groups/small'))
    // It is counted once the connection has nothing to do.
    const read = await until(async () => {
      const now = await sidesRead()
      return now.removed >= before.removed + 3 && now.rows - before.rows
    })
    expect(read).toBeLessThan(mostRows)
    const left = await client.query('select from conversation_states where conversation = $1', [rows[0]?.conversation])
    expect(left.rowCount).toBe(0)
    const hidden = await client.query(`select from conversation_states where uid = 'carol' and hidden`)
    expect(hidden.rowCount).toBe(1)
  })
})
