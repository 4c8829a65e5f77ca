import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { type Channel, createChannel, type Query } from '../../src/store/channel.ts'
import { isRetryable } from '../../src/store/connection.ts'
import { type Statement, statement } from '../../src/store/statement.ts'

const table = `channel_${randomBytes(6).toString('hex')}`
const open: Channel[] = []

function newChannel(setup?: string): Channel {
  const channel = createChannel(inject('connection'), 'parley test channel', setup)
  open.push(channel)
  return channel
}

const insert = statement(`insert into ${table} (id, said) select unnest($1::int[]), $2 returning id`)
const read = statement(`select id, said from ${table} where id = any($1) order by id`)
const bump = statement(`update ${table} set said = said || $2 where id = $1 returning said`)
const lock = statement(`select id from ${table} where id = $1 for update`)
const count = statement(`select count(*)::int as count from ${table} where id = any($1)`)

const query = (asked: Statement, ...values: unknown[]): Query => ({ ...asked, values })
let lastId = 0
const newId = () => ++lastId

beforeAll(async () => {
  await newChannel().query({ text: `create table ${table} (id bigint primary key, said text not null)` })
})
describe('Statements that the connection has run before', () => {
  it('go out as one unit, without begin and commit', async () => {
    const channel = newChannel()
    await rehearse(channel)
    // Only what was begun by name can have savepoints.
    const savepoint = query(statement('savepoint here'))
    await channel.transaction([savepoint])
    await expect(channel.transaction([savepoint])).rejects.toMatchObject({ code: '25P01' })
  })

  it('are not stored in part when a value cannot be sent', async () => {
    const channel = newChannel()
    await rehearse(channel)
    const [a, b] = [newId(), newId()]
    const unsendable = {
      toPostgres() {
        throw new Error('no such value')
      },
    }
    const failing = channel.transaction([query(insert, [a], 'x'), query(bump, a, unsendable), query(insert, [b], 'x')])
    await expect(failing).rejects.toThrow()
    const [counted] = await newChannel().transaction([query(count, [a, b])])
    expect(counted?.rows).toEqual([{ count: 0 }])
  })
})

afterAll(async () => {
  await open[0]?.query({ text: `drop table ${table}` })
  await Promise.all(open.map((channel) => channel.close()))
})

/** Statements that a connection has run go out as one unit; before that each goes by itself. Both must do the same. */
async function rehearse(channel: Channel): Promise<void> {
  const id = newId()
  await channel.transaction([query(insert, [id], 'x'), query(bump, id, 'y'), query(read, [id]), query(lock, id)])
  await channel.transaction([query(count, [id])])
}

describe.each([
  ['statements that the connection has not run yet', async () => {}],
  ['statements that it has run before', rehearse],
])('A transaction of %s', (_name, prepare) => {
  const prepared = async () => {
    const channel = newChannel()
    await prepare(channel)
    return channel
  }

  it('gives the result of each, in their order', async () => {
    const channel = await prepared()
    const [a, b] = [newId(), newId()]
    const results = await channel.transaction([
      query(insert, [a, b], 'hé "quoted" \\ 火锅'),
      query(bump, b, '!'),
      query(read, [a, b]),
    ])
    expect(results.map(({ rows }) => rows)).toEqual([
      [{ id: a }, { id: b }],
      [{ said: 'hé "quoted" \\ 火锅!' }],
      [
        { id: a, said: 'hé "quoted" \\ 火锅' },
        { id: b, said: 'hé "quoted" \\ 火锅!' },
      ],
    ])
    expect(results.map(({ rowCount, command }) => [command, rowCount])).toEqual([
      ['INSERT', 2],
      ['UPDATE', 1],
      ['SELECT', 2],
    ])
  })

  it('stores all or nothing, says what was wrong, and leaves the connection of use', async () => {
    const channel = await prepared()
    const [a, taken] = [newId(), newId()]
    await channel.query(query(insert, [taken], 'taken'))
    const failing = channel.transaction([
      query(insert, [a], 'first'),
      query(insert, [taken], 'twice'),
      query(bump, a, 'never reached'),
    ])
    await expect(failing).rejects.toMatchObject({ code: '23505' })
    const results = await channel.transaction([query(read, [a, taken])])
    expect(results[0]?.rows).toEqual([{ id: taken, said: 'taken' }])
    const [again] = await channel.transaction([query(insert, [a], 'now')])
    expect(again?.rows).toEqual([{ id: a }])
  })

  it('fails when the database ends the connection, and the next one opens another', async () => {
    const [channel, other] = [await prepared(), newChannel()]
    for (let i = 0; i < 5; i++) {
      const [id, held] = [newId(), newId()]
      await rehearse(channel)
      await other.query(query(insert, [held], 'held'))
      await other.query({ text: 'begin' })
      await other.query(query(lock, held))
      const waiting = channel.transaction([query(insert, [id], 'x'), query(lock, held)])
      waiting.catch(() => {})
      await whenSomebodyWaits()
      await other.query({
        text: `select pg_terminate_backend(pid) from pg_stat_activity
          where application_name = 'parley test channel' and wait_event_type = 'Lock'`,
      })
      await expect(waiting).rejects.toThrow()
      const [counted] = await channel.transaction([query(count, [id])])
      expect(counted?.rows).toEqual([{ count: 0 }])
      await other.query({ text: 'commit' })
    }
  })

  it('is prepared anew when the tables have changed meanwhile', async () => {
    const channel = await prepared()
    const own = `changed_${randomBytes(6).toString('hex')}`
    const everything = query(statement(`select * from ${own}`))
    await channel.query({ text: `create table ${own} (a int)` })
    await channel.transaction([everything])
    await channel.query(everything)
    await newChannel().query({ text: `alter table ${own} add column b int` })
    await expect(channel.transaction([everything])).rejects.toSatisfy(isRetryable)
    const [again] = await channel.transaction([everything])
    expect(again?.fields.map(({ name }) => name)).toEqual(['a', 'b'])
    await newChannel().query({ text: `alter table ${own} add column c int` })
    expect((await channel.query(everything)).fields.map(({ name }) => name)).toEqual(['a', 'b', 'c'])
    await newChannel().query({ text: `drop table ${own}` })
  })

  it('lets a statement that comes after a wait see what was waited for', async () => {
    const [channel, other] = [await prepared(), newChannel()]
    const id = newId()
    await other.query(query(insert, [id], 'a'))
    await other.query({ text: 'begin' })
    await other.query(query(bump, id, 'b'))
    const waiting = channel.transaction([query(lock, id), query(read, [id])])
    await whenSomebodyWaits()
    await other.query({ text: 'commit' })
    const [, seen] = await waiting
    expect(seen?.rows).toEqual([{ id, said: 'ab' }])
  })

  it('fails when the connection is cut, is then stored as a whole or not at all, and the next one opens another', async () => {
    const [channel, other] = [await prepared(), newChannel()]
    const [first, second, held] = [newId(), newId(), newId()]
    await other.query(query(insert, [held], 'held'))
    await other.query({ text: 'begin' })
    await other.query(query(lock, held))
    const waiting = channel.transaction([query(insert, [first], 'x'), query(lock, held), query(insert, [second], 'x')])
    waiting.catch(() => {})
    await whenSomebodyWaits()
    channel.reset()
    await expect(waiting).rejects.toThrow()
    await other.query({ text: 'commit' })
    const [counted] = await channel.transaction([query(count, [first, second])])
    expect([0, 2]).toContain(counted?.rows[0].count)
  })

  it('is not mixed up with what is asked at the same time', async () => {
    const channel = await prepared()
    const ids = Array.from({ length: 20 }, newId)
    const asked = ids.flatMap((id) => [
      channel.transaction([query(insert, [id], `${id}`), query(read, [id])]).then((results) => results[1]?.rows),
      channel.query({ text: 'select $1::int as n', values: [id] }).then(({ rows }) => rows),
    ])
    expect(await Promise.all(asked)).toEqual(ids.flatMap((id) => [[{ id, said: `${id}` }], [{ n: id }]]))
  })
})

/** Waits until one of the channels stands before a lock. */
async function whenSomebodyWaits(): Promise<void> {
  const watcher = newChannel()
  await expect
    .poll(async () => {
      const { rows } = await watcher.query({
        text: `select count(*)::int as waiting from pg_stat_activity
            where application_name = 'parley test channel' and wait_event_type = 'Lock'`,
      })
      return rows[0].waiting
    })
    .toBe(1)
}
