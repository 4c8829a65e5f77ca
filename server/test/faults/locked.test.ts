import pg from 'pg'
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest'
import { createGroup, dataOf, refusal, sayInGroup, say as sayTo, texts } from '../support/chat.ts'
import { codes, groupText, text } from '../support/imports.ts'
import { until } from '../support/until.ts'
import { type Answer, createUsers, createWorld, type World } from '../support/world.ts'

/** Somebody else holds rows for long, as whoever erases a large group does. */
let holder: pg.Client
/** Sees who waits: within a transaction that would be the same picture again and again. */
let watcher: pg.Client

beforeEach(async () => {
  holder = new pg.Client(inject('connection'))
  watcher = new pg.Client(inject('connection'))
  await Promise.all([holder.connect(), watcher.connect()])
  await holder.query('begin')
})
afterEach(async () => {
  await Promise.all([holder.end(), watcher.end()])
})

const release = () => holder.query('rollback')

/** Whom the holder keeps waiting, and who waits behind them, by the names of their connections. */
async function countWaiting(name = 'parley%'): Promise<number> {
  const { rows: held } = await holder.query('select pg_backend_pid() as pid')
  const { rows } = await watcher.query(
    `with recursive waiting as (
       select pid from pg_stat_activity where $2::int = any(pg_blocking_pids(pid))
       union
       select a.pid from pg_stat_activity a join waiting w on w.pid = any(pg_blocking_pids(a.pid))
     )
     select count(*)::int as count from waiting join pg_stat_activity using (pid) where application_name like $1`,
    [name, held[0].pid],
  )
  return rows[0].count
}

/** Requests that are not answered yet. */
function asked(answers: Array<Promise<Answer>>): { readonly unanswered: number; all(): Promise<Answer[]> } {
  let unanswered = answers.length
  for (const answer of answers) answer.finally(() => unanswered--).catch(() => {})
  return {
    get unanswered() {
      return unanswered
    },
    all: () => Promise.all(answers),
  }
}

/** An app with a group of alice, bob and carol, and another app beside it. */
async function scene(): Promise<{ world: World; other: World }> {
  const [world, other] = await Promise.all([createWorld(), createWorld()])
  await createUsers(world, 'alice', 'bob', 'carol')
  await createUsers(other, 'dave', 'erin')
  await createGroup(world, 'g', 'alice', { participants: ['bob', 'carol'] })
  return { world, other }
}

const statuses = (answers: Answer[]) => answers.map(({ status }) => status)
const send = (world: World, sender: string, receiver: string, receiverType: 'user' | 'group', text: string) =>
  world.post('/messages', { receiver, receiverType, data: { text } }, { as: sender })

/** Two that do not go together: the second is sent once the first waits. */
async function inTwoTurns(first: () => Promise<Answer>, second: () => Promise<Answer>) {
  const sent = [first()]
  await until(async () => (await countWaiting()) > 0)
  // Longer than one batch lets another one wait.
  await watcher.query('select pg_sleep(0.1)')
  sent.push(second())
  await watcher.query('select pg_sleep(0.1)')
  return asked(sent)
}

describe('While a conversation is locked for long', () => {
  const lockGroup = async ({ app }: World) => {
    await holder.query(`select from conversations where app_id = $1 and first = 'g' for update`, [app.appId])
  }

  it('sends elsewhere are answered, and those into it once it is free, in their order', async () => {
    const { world, other } = await scene()
    await send(world, 'alice', 'bob', 'user', 'before')
    await lockGroup(world)
    const waiting = await inTwoTurns(
      () => send(world, 'alice', 'g', 'group', 'one'),
      () => send(world, 'bob', 'g', 'group', 'two'),
    )
    // Known conversations and new ones, of the same app and of another, and more than one.
    for (const answer of [
      await send(other, 'dave', 'erin', 'user', 'elsewhere'),
      await send(world, 'alice', 'bob', 'user', 'after'),
      await send(world, 'bob', 'carol', 'user', 'new'),
    ]) {
      expect(answer.status).toBe(200)
    }
    // Both wait apart by now, behind each other.
    await until(async () => (await countWaiting('parley writer _')) === 0)
    expect(waiting.unanswered).toBe(2)
    await release()
    expect(statuses(await waiting.all())).toEqual([200, 200])
    expect((await send(world, 'alice', 'g', 'group', 'three')).status).toBe(200)
    expect(texts(await world.get('/groups/g/messages?category=message', { as: 'carol' }))).toEqual([
      'one',
      'two',
      'three',
    ])
  })

  it('one bad message among those that wait fails alone, and what is said twice is there once', async () => {
    const { world } = await scene()
    await lockGroup(world)
    const said = (sender: string, muid: string) =>
      world.post('/messages', { receiver: 'g', receiverType: 'group', muid, data: { text: muid } }, { as: sender })
    const first = said('alice', 'first')
    await until(async () => (await countWaiting('parley writer apart%')) > 0)
    await createUsers(world, 'zoe')
    const waiting = asked([first, said('bob', 'twice'), said('zoe', 'stranger'), said('bob', 'twice')])
    await release()
    const answers = await waiting.all()
    expect(statuses(answers)).toEqual([200, 200, 403, 200])
    expect(refusal(answers[2] as Answer)).toBe('403 ERR_GROUP_NOT_JOINED')
    expect(dataOf(answers[1] as Answer).id).toBe(dataOf(answers[3] as Answer).id)
  })

  it('marks of other groups are made, and those in it once it is free', async () => {
    const { world, other } = await scene()
    await createGroup(other, 'g', 'dave', { participants: ['erin'] })
    await createGroup(world, 'h', 'alice', { participants: ['bob'] })
    await sayInGroup(world, 'alice', 'g', 'read this')
    await sayInGroup(world, 'alice', 'h', 'and this')
    await sayInGroup(other, 'dave', 'g', 'read that')
    await lockGroup(world)
    const read = (there: World, uid: string, guid: string) =>
      there.post(`/groups/${guid}/conversation/read`, {}, { as: uid })
    const waiting = await inTwoTurns(
      () => read(world, 'bob', 'g'),
      () => read(world, 'carol', 'g'),
    )
    expect((await read(other, 'erin', 'g')).status).toBe(200)
    expect((await read(world, 'bob', 'h')).status).toBe(200)
    expect(waiting.unanswered).toBe(2)
    await release()
    expect(statuses(await waiting.all())).toEqual([200, 200])
    const { unreadMessageCount } = dataOf(await world.get('/groups/g/conversation', { as: 'bob' }))
    expect(unreadMessageCount).toBe('0')
  })

  it('imports elsewhere are answered, also of other apps, and those into it once it is free', async () => {
    const { world, other } = await scene()
    const at = 1_650_000_000
    const toImport = (there: World, ...messages: object[]) => there.post('/data_import/messages', { messages })
    await lockGroup(world)
    // More than there are connections for them, each in a batch of its own.
    const held: Array<Promise<Answer>> = []
    for (const muid of ['one', 'two', 'three', 'four', 'five']) {
      held.push(toImport(world, groupText(muid, 'alice', 'g', at), text(`${muid} beside`, 'alice', 'bob', at)))
      await watcher.query('select pg_sleep(0.05)')
    }
    const waiting = asked(held)
    await until(async () => (await countWaiting('parley importer%')) > 0)
    const elsewhere = [
      await toImport(other, text('elsewhere', 'dave', 'erin', at)),
      await toImport(world, text('not into it', 'alice', 'bob', at)),
      await send(other, 'dave', 'erin', 'user', 'live'),
    ]
    expect(statuses(elsewhere)).toEqual([200, 200, 200])
    await until(async () => (await countWaiting('parley importer _')) === 0)
    expect(waiting.unanswered).toBe(5)
    await release()
    for (const answer of await waiting.all()) expect(Object.values(codes(dataOf(answer)))).toEqual(['stored', 'stored'])
    const stored = await world.get('/groups/g/messages?category=message', { as: 'carol' })
    expect(texts(stored).sort()).toEqual(['five', 'four', 'one', 'three', 'two'])
  })

  it('what an import has stored of a request before the rest of it had to wait is stored once', async () => {
    const { world } = await scene()
    const { appId } = world.app
    const at = 1_650_000_000
    // A bad record divides the request; the part after it does not get a lock at first.
    await watcher.query(`
      create sequence tries;
      create function trouble() returns trigger language plpgsql as $$ begin
        if new.muid = 'bad' then raise exception 'bad' using errcode = '23514'; end if;
        if new.muid = 'held' and nextval('tries') = 1 then raise exception 'held' using errcode = '55P03'; end if;
        return new;
      end $$;
      create trigger trouble before insert on messages for each row when (new.app_id = ${appId}) execute function trouble()`)
    try {
      const messages = ['before', 'bad', 'held'].map((muid) => text(muid, 'alice', 'bob', at))
      const answer = await world.post('/data_import/messages', { messages })
      expect(codes(dataOf(answer))).toEqual({ before: 'stored', bad: 'ERR_EXCEPTION', held: 'stored' })
    } finally {
      await watcher.query('drop trigger trouble on messages; drop function trouble; drop sequence tries')
    }
  })

  it('edits and joins in it, more of them than there are connections, keep no other from what they change', async () => {
    const { world, other } = await scene()
    await createUsers(world, 'zoe')
    await createGroup(other, 'g', 'dave')
    const { id } = await sayInGroup(world, 'alice', 'g', 'first')
    const { id: elsewhere } = await sayTo(world, 'alice', 'bob', 'first')
    await lockGroup(world)
    const edit = (message: string, text: string) =>
      world.put(`/messages/${message}`, { data: { text } }, { as: 'alice' })
    const join = (there: World, uid: string) => there.post('/groups/g/members', {}, { as: uid })
    const edits = Array.from({ length: 12 }, (_, n) => edit(id, `edit ${n}`))
    const waiting = asked([join(world, 'zoe'), ...edits])
    await until(async () => (await countWaiting()) > 1)
    expect((await join(other, 'erin')).status).toBe(200)
    expect((await edit(elsewhere, 'second')).status).toBe(200)
    expect((await world.put('/users/carol', { name: 'Other' })).status).toBe(200)
    expect(waiting.unanswered).toBe(13)
    await release()
    expect(statuses(await waiting.all())).toEqual(Array.from({ length: 13 }, () => 200))
  })
})

describe('While the side of a participant is locked for long', () => {
  it('nobody waits to be let in, and what they mark is marked once it is free', async () => {
    const { world, other } = await scene()
    await sayTo(world, 'alice', 'bob', 'read this')
    await holder.query(`select from conversation_states where app_id = $1 and uid = 'bob' for update`, [
      world.app.appId,
    ])
    const read = () => world.post('/users/alice/conversation/read', {}, { as: 'bob' })
    const waiting = await inTwoTurns(read, read)
    for (let n = 0; n < 4; n++) {
      expect((await other.get('/users/dave', { as: 'erin' })).status).toBe(200)
      expect((await world.get('/users/alice', { as: 'carol' })).status).toBe(200)
    }
    expect(waiting.unanswered).toBe(2)
    await release()
    expect(statuses(await waiting.all())).toEqual([200, 200])
    const { unreadMessageCount } = dataOf(await world.get('/users/alice/conversation', { as: 'bob' }))
    expect(unreadMessageCount).toBe('0')
  })
})

describe('While an app deletes more than there are connections', () => {
  it.each([
    ['its key', {}],
    ['one of its users', { as: 'alice' }],
  ])('all others change what they want: %s', async (_who, as) => {
    const { world, other } = await scene()
    const { id: elsewhere } = await sayTo(other, 'dave', 'erin', 'first')
    const { id } = await sayTo(world, 'bob', 'carol', 'first')
    const guids = Array.from({ length: 9 }, (_, n) => `g${n}`)
    for (const guid of guids) await createGroup(world, guid, 'alice')
    // A deletion comes to this when it has its locks: it waits for as long as it takes.
    await holder.query('select from group_members where app_id = $1 for update', [world.app.appId])
    const deletions = asked(guids.map((guid) => world.delete(`/groups/${guid}`, {}, as)))
    await until(async () => (await countWaiting()) > 0)
    // Each of them has begun, or waits for its turn.
    await until(() => world.context.database.pool.waiting > 0)
    expect((await other.put(`/messages/${elsewhere}`, { data: { text: 'second' } }, { as: 'dave' })).status).toBe(200)
    expect((await world.put(`/messages/${id}`, { data: { text: 'second' } }, { as: 'bob' })).status).toBe(200)
    expect((await world.put('/users/carol', { name: 'Other' })).status).toBe(200)
    expect(deletions.unanswered).toBe(9)
    await release()
    expect(statuses(await deletions.all())).toEqual(guids.map(() => 200))
  })
})
