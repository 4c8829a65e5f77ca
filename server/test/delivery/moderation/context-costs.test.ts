import type pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { readMessages } from '../../../src/chat/messages/rows.ts'
import { readContextMessages } from '../../../src/delivery/moderation/context-messages.ts'
import { dataOf, say } from '../../support/chat.ts'
import { createExplainer, noting, type SeenQuery } from '../../support/plans.ts'
import { createUsers, createWorld, type World } from '../../support/world.ts'

/** What an engine is told of what was said before, and what may be looked at for it. */
const [most, mostRows] = [50, 1100]
/** Messages that are no context: far more than may be looked at. */
const others = 4000

let world: World
let planner: pg.Client

beforeEach(async () => {
  world = await createWorld()
  await createUsers(world, 'alice', 'bob')
})
beforeAll(async () => {
  const { database } = (await createWorld()).context
  planner = database.createClient('parley test plans')
  await planner.connect()
})
afterAll(() => planner?.end())

const reply = async (parent: string, text: string): Promise<{ id: string }> => {
  const body = { receiver: 'bob', receiverType: 'user', data: { text } }
  return dataOf(await world.post(`/messages/${parent}/thread`, body, { as: 'alice' }))
}

/** The same message again, many times. */
async function copy(id: string): Promise<void> {
  const { rows } = await planner.query<{ name: string }>(
    `select quote_ident(attname) as name from pg_attribute
    where attrelid = 'messages'::regclass and attnum > 0 and not attisdropped and attgenerated = ''`,
  )
  const names = rows.map(({ name }) => name)
  await planner.query(
    `insert into messages (${names.join(', ')})
    select ${names.map((name) => (name === 'id' ? `nextval('message_ids')` : name)).join(', ')}
    from messages
    cross join generate_series(1, ${others})
    where id = $1`,
    [id],
  )
}

/** What an engine is told before a message, and how many rows are looked at for it. */
async function contextOf(id: string): Promise<{ texts: string[]; rows: number }> {
  const { database, policies } = world.context
  const message = (await readMessages(database, world.app.appId, [Number(id)])).get(Number(id))
  if (message === undefined) throw new Error(`there is no message ${id}`)
  const seen: SeenQuery[] = []
  const watched = { database: { ...database, ...noting(database, seen) }, policies }
  const said = await readContextMessages(watched, world.app.appId, message, most)
  const query = seen.find(({ text }) => text.includes("m.data->>'text'"))
  if (query === undefined) throw new Error('nothing was read')
  const reads = await createExplainer(planner).explain(query)
  const ofMessages = reads.filter(({ table }) => table.startsWith('messages'))
  return { texts: said.map(({ text }) => text), rows: ofMessages.reduce((sum, { rows }) => sum + rows, 0) }
}

describe('What was said before', () => {
  it('a reply is read from its thread, however long the conversation is', async () => {
    const { id } = await say(world, 'alice', 'bob', 'the first one')
    await reply(id, 'beside it')
    await copy(id)
    const { texts, rows } = await contextOf((await reply(id, 'and again')).id)
    expect(texts).toEqual(['beside it'])
    expect(rows).toBeLessThan(10)
  })

  it('a message outside of threads is looked for among the newest, however many replies there are', async () => {
    const { id } = await say(world, 'bob', 'alice', 'the first one')
    const { id: answer } = await reply(id, 'beside it')
    await copy(answer)
    await say(world, 'alice', 'bob', 'near')
    await reply(id, 'once more')
    const { texts, rows } = await contextOf((await say(world, 'alice', 'bob', 'the last one')).id)
    expect(texts).toEqual(['near'])
    expect(rows).toBeLessThan(mostRows)
  })
})
