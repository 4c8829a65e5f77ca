import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { searchedText } from '../../src/areas/messages/search/fold.ts'
import { vectorOf } from '../../src/areas/messages/search/grams.ts'
import { statement } from '../../src/store/statement.ts'
import { type Service, startParley } from '../http/watched.ts'
import { createGroup, dataOf, say, sayInGroup, texts } from '../support/chat.ts'
import { importAll, text } from '../support/imports.ts'
import { inTurns } from '../support/in-turns.ts'
import { createOwnDatabase, type OwnDatabase } from '../support/own-database.ts'
import { entriesOf, find, indexed } from '../support/search.ts'
import { until } from '../support/until.ts'
import { createUsers, createWorld, send, type World } from '../support/world.ts'

/** Two services on one database, of which one at a time fills the index. */
let database: OwnDatabase
let services: Service[] = []

beforeAll(async () => {
  database = await createOwnDatabase()
  services = [
    await startParley({ connection: database.connection }),
    await startParley({ connection: database.connection }),
  ]
})
afterAll(async () => {
  await Promise.all(services.map(({ parley }) => parley.close()))
  await database.drop()
})

const uids = ['alice', 'bob', 'carol', 'dave']

async function createTalk(): Promise<World> {
  const world = await createWorld(services[0])
  await createUsers(world, ...uids)
  return world
}

/** A call through one of the services. */
const through = (world: World, turn: number, method: string, path: string, body: unknown, as?: string) =>
  send((services[turn % services.length] as Service).url, method, path, body, {
    appid: world.app.name,
    apikey: world.apiKey,
    ...(as !== undefined && { onbehalfof: as }),
  })

interface Row {
  readonly id: number
  readonly conversation: number
  readonly data: Record<string, unknown>
}

const selectSayings = statement(`
  select id, conversation, data
  from messages
  where app_id = $1
  and deleted_at is null
  and not purged
  and category <> 'action'`)

const selectWrong = statement(`
  select e.message_id as id
  from unnest($2::bigint[], $3::bigint[], $4::text[], $5::text[]) as r(id, conversation, body, grams)
  full join search_entries e on e.message_id = r.id
  where e.app_id = $1
  and (r.id is null or e.conversation <> r.conversation or e.body <> r.body or e.grams <> r.grams::tsvector)`)

/** The index holds just what the messages say that are there: each once, its grams and its conversation too. */
async function expectWhole(world: World): Promise<void> {
  // What is empty goes with the next batch.
  const last = await say(world, 'dave', 'dave', 'the last word')
  await indexed(world)
  const { appId } = world.app
  const sayings = (await world.context.database.query<Row>(selectSayings, [appId])).flatMap((row) => {
    const body = searchedText(row.data)
    return body === '' ? [] : [{ ...row, body, grams: vectorOf(appId, row.conversation, body) }]
  })
  const entries = await entriesOf(world)
  expect([...entries.keys()]).toEqual(sayings.map(({ id }) => id).toSorted((a, b) => a - b))
  expect(entries.get(Number(last.id))).toBe('the last word')
  const wrong = await world.context.database.query(selectWrong, [
    appId,
    sayings.map(({ id }) => id),
    sayings.map(({ conversation }) => conversation),
    sayings.map(({ body }) => body),
    sayings.map(({ grams }) => grams),
  ])
  expect(wrong).toEqual([])
}

describe('The search index', () => {
  it('holds every message once, whichever service it was sent through, while both are written to', async () => {
    const world = await createTalk()
    const count = 400
    const sent = await inTurns(
      32,
      Array.from({ length: count }, (_, i) => () => {
        const body = { receiver: uids[(i + 1) % 4], receiverType: 'user', data: { text: `saying ${i} 说 ${i % 7}` } }
        return through(world, i, 'POST', '/messages', body, uids[i % 4])
      }),
    )
    for (const answer of sent) expect(answer.status).toBe(200)
    await importAll(world, 'messages', [
      ...Array.from({ length: 100 }, (_, i) => text(`m${i}`, 'alice', 'bob', 1_600_000_000 + i)),
    ])
    expect(await find(world, 'saying')).toHaveLength(count)
    await expectWhole(world)
    expect(await find(world, 'saying')).toHaveLength(count)
    for (const { url } of services) {
      const answer = await send(url, 'GET', '/messages?searchKey=%E8%AF%B4+3&limit=1000', undefined, {
        appid: world.app.name,
        apikey: world.apiKey,
      })
      expect(texts(answer)).toHaveLength(Array.from({ length: count }, (_, i) => i % 7).filter((k) => k === 3).length)
    }
  })

  it('skips no message that is committed long after later ones', async () => {
    const world = await createTalk()
    const early = await say(world, 'alice', 'bob', 'early bird')
    await indexed(world)
    const { database: store } = world.context
    const copy = sql<{ id: number }>`
      insert into messages
      select (jsonb_populate_record(m, jsonb_build_object('id', nextval('message_ids'), 'data', ${JSON.stringify({
        text: 'late bird',
      })}::jsonb))).*
      from messages m
      where m.app_id = ${world.app.appId}
      and m.id = ${Number(early.id)}
      returning id`
    const lateId = await store.transaction(async (tx) => {
      const [late] = await tx.run(copy)
      for (let i = 0; i < 30; i++) await say(world, 'bob', 'alice', `later bird ${i}`)
      // All that is committed is found; the writer does not go past what is not.
      expect(await find(world, 'bird')).toHaveLength(31)
      const [progress] = await store.run(sql<{ id: number }>`select indexed_id as id from search_progress`)
      expect(progress?.id).toBeLessThan(late?.id as number)
      return late?.id as number
    })
    expect(await find(world, 'late bird')).toEqual(['late bird'])
    await expectWhole(world)
    expect((await entriesOf(world)).get(lateId)).toBe('late bird')
    expect(await find(world, 'bird')).toHaveLength(32)
  })

  it('forgets a late message that never comes, and goes on', async () => {
    const world = await createTalk()
    await world.context.database
      .transaction(async (tx) => {
        await tx.run(sql`select nextval('message_ids'), pg_current_xact_id()`)
        await say(world, 'alice', 'bob', 'after a gap')
        throw new Error('given up')
      })
      .catch((error: Error) => expect(error.message).toBe('given up'))
    await expectWhole(world)
    expect(await find(world, 'after a gap')).toHaveLength(1)
  })

  it('agrees with the messages after they were edited, deleted and purged while it was filled', async () => {
    const world = await createTalk()
    await createGroup(world, 'team', 'alice', { participants: ['bob', 'carol'] })
    await createGroup(world, 'doomed', 'alice', { participants: ['bob'] })
    const random = seeded(20_261_121)
    const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T
    const saying = () => `${pick(['one', 'two', '三', 'τέσσερα'])} ${pick(['word', '词', 'λόγος'])} ${random()}`
    for (let round = 0; round < 6; round++) {
      const messages: Array<{ id: string; sender: string }> = await Promise.all(
        Array.from({ length: 40 }, (_, i) => {
          const from = pick(uids.slice(0, 2))
          if (i % 4 === 0) return sayInGroup(world, from, pick(['team', 'team', 'doomed']), saying())
          return say(world, from, pick(uids), saying())
        }),
      )
      const answers = await inTurns(
        8,
        messages.flatMap(({ id, sender }, i) => {
          const edit = () => through(world, i, 'PUT', `/messages/${id}`, { data: { text: saying() } }, sender)
          const remove = (permanent: boolean) => () => through(world, i + 1, 'DELETE', `/messages/${id}`, { permanent })
          return [
            [],
            [edit],
            [edit, edit],
            [remove(false)],
            [remove(true)],
            [edit, remove(false)],
            [edit, remove(true)],
            [remove(false), remove(true)],
          ][i % 8] as Array<typeof edit>
        }),
      )
      for (const answer of answers) expect([200, 403, 404]).toContain(answer.status)
    }
    dataOf(await through(world, 1, 'DELETE', '/groups/doomed', undefined))
    dataOf(await through(world, 0, 'DELETE', '/users/carol/conversation', { deleteMessagesPermanently: true }, 'alice'))
    await expectWhole(world)
    const [gone] = await Promise.all([
      through(world, 1, 'DELETE', '/users/bob', { permanent: true }),
      ...Array.from({ length: 20 }, (_, i) => through(world, i, 'POST', '/messages', toCarol(i), 'alice')),
    ])
    expect(gone?.status).toBe(200)
    await expectWhole(world)
  })

  it('is filled by another service when the one that did it loses its connection, and by none twice', async () => {
    const world = await createTalk()
    const leaders = async () =>
      world.context.database.run(sql<{ pid: number }>`
        select a.pid
        from pg_stat_activity a
        join pg_locks l on l.pid = a.pid and l.locktype = 'advisory' and l.granted
        where a.datname = current_database()
        and a.application_name = 'parley search writer'`)
    for (let turn = 0; turn < 3; turn++) {
      await say(world, 'alice', 'bob', `turn ${turn}`)
      await indexed(world)
      const [leader, ...others] = await leaders()
      expect(others).toEqual([])
      await world.context.database.run(sql`select pg_terminate_backend(${leader?.pid})`)
      await say(world, 'alice', 'bob', `while nobody writes ${turn}`)
      expect(await find(world, 'while nobody')).toHaveLength(turn + 1)
      await until(async () => (await leaders()).some(({ pid }) => pid !== leader?.pid))
      await expectWhole(world)
    }
    expect(await find(world, 'turn')).toHaveLength(3)
  })

  it('is filled by the other service when one is stopped', async () => {
    const world = await createTalk()
    await say(world, 'alice', 'bob', 'before')
    const [first, second] = services as [Service, Service]
    // The world calls the first one, so the second is the one to stop; whoever leads, the first does thereafter.
    await second.parley.close()
    services = [first]
    await say(world, 'alice', 'bob', 'thereafter')
    await expectWhole(world)
    expect(await find(world, 'thereafter')).toEqual(['thereafter'])
  })
})

const toCarol = (i: number) => ({ receiver: 'carol', receiverType: 'user', data: { text: `meanwhile ${i}` } })

/** Numbers from 0 to 1 that look random and are the same each time. */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
