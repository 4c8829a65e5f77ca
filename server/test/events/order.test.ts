import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Pulled } from '../support/events.ts'
import { stillMs, until } from '../support/until.ts'
import { type Ask, type Cluster, createApp, type Service, startCluster, startPulling } from './support.ts'

let cluster: Cluster
beforeAll(async () => {
  cluster = await startCluster(2)
})
afterAll(() => cluster.end())

/** Reads on, from both services in turn, until there are so many events, or nobody would wait any longer. */
async function read(ask: Ask, from: string, count: number, triggers = ''): Promise<Pulled[]> {
  const events: Pulled[] = []
  let cursor = from
  let movedAt = performance.now()
  for (let turn = 0; events.length < count && performance.now() - movedAt < stillMs; turn++) {
    const { body } = await ask(turn, 'GET', `/events?after=${cursor}&limit=50&triggers=${triggers}`)
    events.push(...body.data)
    if (body.meta.cursor !== cursor) movedAt = performance.now()
    cursor = body.meta.cursor
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  return events
}

const watched = 'message_sent,message_edited'

describe('the event log', () => {
  it('skips nothing and keeps the order of each conversation, with 32 writers on two services', async () => {
    const { app, ask } = await createApp(cluster)
    const writers = Array.from({ length: 32 }, (_, i) => `writer-${i}`)
    await Promise.all(writers.map((uid, i) => ask(i, 'POST', '/users', { uid, name: uid })))
    await ask(0, 'POST', '/groups', { guid: 'team', name: 'Team', type: 'public', owner: 'writer-0' })
    await Promise.all(writers.slice(1).map((uid, i) => ask(i, 'POST', '/groups/team/members', {}, uid)))
    const say = async (at: number, uid: string, text: string): Promise<string> => {
      const body = { receiver: 'team', receiverType: 'group', data: { text } }
      return (await ask(at, 'POST', '/messages', body, uid)).body.data.id
    }
    const cursor = await startPulling(cluster, ask, app.appId)

    // Each sends into the one group and edits what he sent, on one service and on the other.
    const rounds = 6
    const done: string[] = []
    const writing = Promise.all(
      writers.map(async (uid, i) => {
        for (let round = 0; round < rounds; round++) {
          const id = await say(i + round, uid, `${uid} ${round}`)
          const data = { text: `${uid} ${round}, better` }
          const edited = await ask(i + round + 1, 'PUT', `/messages/${id}`, { data }, uid)
          done.push(id, edited.body.data.id)
        }
      }),
    )
    const expected = writers.length * rounds * 2
    const [events] = await Promise.all([read(ask, cursor, expected, watched), writing])

    // Messages and action messages draw their ids under the lock of the conversation: in it they order everything.
    const told = events.map(({ data }) => Number(data.message.id))
    expect(told).toEqual(done.map(Number).sort((a, b) => a - b))
    const ids = events.map(({ id }) => Number(id))
    expect(ids).toEqual([...ids].sort((a, b) => a - b))
    const kept = await cluster.services[0]?.parley.context.database.query(
      { name: 'count_kept', text: 'select count(*) as count from events where app_id = $1 and trigger = any($2)' },
      [app.appId, watched.split(',')],
    )
    expect(kept).toEqual([{ count: expected }])
  })

  it('goes on when the database was away, and when the service that moved it on has stopped', async () => {
    const { app, ask } = await createApp(cluster)
    for (const uid of ['alice', 'bob']) await ask(0, 'POST', '/users', { uid, name: uid })
    const cursor = await startPulling(cluster, ask, app.appId)
    const block = (at: number) => ask(at, 'POST', '/users/alice/blockedusers', { blockedUids: ['bob'] })
    const unblock = (at: number) => ask(at, 'DELETE', '/users/alice/blockedusers', { blockedUids: ['bob'] })

    await block(0)
    expect(await read(ask, cursor, 1)).toHaveLength(1)
    for (const { parley } of cluster.services) parley.context.database.suspend()
    await until(async () => {
      const answers = await Promise.allSettled([unblock(0), unblock(1)])
      return answers.every(({ status }) => status === 'fulfilled')
    })
    expect(await read(ask, cursor, 2)).toHaveLength(2)

    // It was the first to ask for the lead.
    await cluster.stop(cluster.services[0] as Service)
    await block(1)
    const askSecond: Ask = (_, ...rest) => ask(1, ...rest)
    const told = await read(askSecond, cursor, 3)
    expect(told.map(({ trigger }) => trigger)).toEqual(['user_blocked', 'user_unblocked', 'user_blocked'])
  })
})
