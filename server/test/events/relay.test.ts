import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import type { ChatEvent } from '../../src/events/types.ts'
import { statement } from '../../src/store/statement.ts'
import { until } from '../support/until.ts'
import { type Cluster, createApp, type Service, startCluster, startPulling } from './support.ts'

let cluster: Cluster
beforeAll(async () => {
  cluster = await startCluster(2)
})
afterAll(() => cluster.end())

const event: ChatEvent = { trigger: 'user_blocked', by: 'alice', uids: ['bob'] }

const selectLastId = statement('select last_value as id from event_ids')

describe('the relay', () => {
  it('waits for a transaction that drew its id earlier and commits later', async () => {
    const { app, ask } = await createApp(cluster)
    const { context } = (cluster.services[1] as Service).parley
    const { cursor } = (await ask(1, 'GET', '/events')).body.meta
    const lastId = async () => (await context.database.query<{ id: number }>(selectLastId))[0]?.id ?? 0
    let commit = () => {}
    const slow = context.database.transaction(async (tx) => {
      await context.events.raise(tx, app.appId, [{ ...event, by: 'slow' }])
      await new Promise<void>((resolve) => {
        commit = resolve
      })
    })
    await until(async () => (await lastId()) > Number(cursor))
    await context.database.transaction((tx) => context.events.raise(tx, app.appId, [{ ...event, by: 'quick' }]))
    const pull = async () => (await ask(1, 'GET', `/events?after=${cursor}`)).body.data
    const drawn = await lastId()
    for (let i = 0; i < 5; i++) expect(await pull()).toEqual([])
    commit()
    await slow
    await until(async () => (await pull()).length === 2)
    const told = (await pull()).map(({ id, data }: { id: string; data: { by: { uid: string } } }) => [id, data.by.uid])
    expect(told).toEqual([
      [String(drawn - 1), 'slow'],
      [String(drawn), 'quick'],
    ])
  })

  it.each([
    ['of another database of the server', () => inject('connection'), 'select pg_current_xact_id()'],
    ['of its own that has nothing to do with events', () => cluster.connection, 'create temp table apart (id bigint)'],
  ])('waits for no transaction %s', async (_, connection, work) => {
    const { app, ask } = await createApp(cluster)
    await startPulling(cluster, ask, app.appId)
    const other = new pg.Client(connection())
    await other.connect()
    try {
      await other.query('begin')
      await other.query(work)
      const { context } = (cluster.services[1] as Service).parley
      await context.database.transaction((tx) => context.events.raise(tx, app.appId, [event]))
      await until(async () => (await ask(1, 'GET', '/events?after=0')).body.data.length === 1)
    } finally {
      await other.end()
    }
  })

  it('hands over each stretch of the log once, by one service at a time', async () => {
    const { app, ask } = await createApp(cluster)
    await startPulling(cluster, ask, app.appId)
    const [first, second] = cluster.services as [Service, Service]
    const stretches: Array<{ by: string; from: number; to: number }> = []
    const take = (by: string, { parley }: Service) =>
      parley.context.events.onAdvance(async (tx, from, to) => {
        tx.afterCommit(() => stretches.push({ by, from, to }))
      })
    take('first', first)
    take('second', second)
    let fails = 2
    first.parley.context.events.onAdvance(async () => {
      if (fails-- > 0) throw new Error('on purpose')
    })
    const raise = ({ parley: { context } }: Service) =>
      context.database.transaction((tx) => context.events.raise(tx, app.appId, [event]))
    const pulled = async () => (await ask(1, 'GET', '/events?after=0&limit=1000')).body.data
    const isHandedOver = async (count: number) => {
      const events = await pulled()
      return events.length === count && stretches.some(({ to }) => to >= Number(events.at(-1).id))
    }

    for (let i = 0; i < 20; i++) await raise(i % 2 === 0 ? first : second)
    await until(() => isHandedOver(20))
    // It was the first to ask for the lead.
    expect(new Set(stretches.map(({ by }) => by))).toEqual(new Set(['first']))
    expect(fails).toBeLessThan(0)

    await cluster.stop(first)
    for (let i = 0; i < 5; i++) await raise(second)
    await until(() => isHandedOver(25))
    expect(stretches.at(-1)?.by).toBe('second')
    for (const [i, { from, to }] of stretches.entries()) {
      expect(to).toBeGreaterThan(from)
      if (i > 0) expect(from).toBe(stretches[i - 1]?.to)
    }
  })
})

describe('events that are old', () => {
  const countOld = 'select count(*)::int as left from events where created_at < 1000000000'
  /** Notes how many old events there were whenever the horizon moved. */
  const watch = `
    create table moves (id bigint, old bigint);
    create function note_move() returns trigger language plpgsql as $$
    begin
      insert into moves select new.id, (select count(*) from events where created_at < 1000000000);
      return null;
    end $$;
    create trigger note_move after update on event_horizon for each row execute function note_move()`

  const insertOld = `
    insert into events (app_id, trigger, data, created_at)
    select $1, 'user_blocked', '{}', 999999999
    from generate_series(1, $2::int)`
  const insertNew = `
    insert into events (app_id, trigger, data, created_at)
    values ($1, 'user_blocked', '{"by": "alice", "uids": ["bob"]}', $2)`

  it('keep nothing new waiting while they are deleted', async () => {
    const own = await startCluster(1)
    const client = new pg.Client(own.connection)
    await client.connect()
    try {
      const { app } = await createApp(own)
      await own.stop(own.services[0] as Service)
      await client.query(watch)
      await client.query(insertOld, [app.appId, 3_500])
      await client.query(insertNew, [app.appId, Math.floor(Date.now() / 1000)])
      await own.start()
      await until(async () => (await client.query(countOld)).rows[0].left === 0)
      const { rows } = await client.query('select old::int from moves order by id limit 1')
      expect(rows).toEqual([{ old: 3_500 }])
      expect((await client.query('select count(*)::int as kept from events')).rows).toEqual([{ kept: 1 }])
    } finally {
      await client.end()
      await own.end()
    }
  })
})
