import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { createGroup, dataOf } from '../support/chat.ts'
import { createUsers, createWorld } from '../support/world.ts'

it('first messages race a deletion', async () => {
  const world = await createWorld()
  const crowd = Array.from({ length: 40 }, (_, i) => `u${i}`)
  await createUsers(world, ...crowd)
  let leftovers = 0
  for (let round = 0; round < 30; round++) {
    await createUsers(world, 'alice')
    const send = (from: string) =>
      world.post('/messages', { receiver: 'alice', receiverType: 'user', data: { text: 'x' } }, { as: from })
    const work = crowd.map((uid, i) => new Promise((r) => setTimeout(r, i / 2)).then(() => send(uid)))
    await new Promise((r) => setTimeout(r, 10))
    const answer = await world.delete('/users/alice', { permanent: true })
    expect(answer.status).toBe(200)
    const statuses = (await Promise.all(work)).map((a) => a.status)
    for (const s of statuses) expect([200, 404]).toContain(s)
    const left = await world.context.database.run(sql`
      select 'c' from conversations where app_id = ${world.app.appId} and kind = 1
      union all select 's' from conversation_states where app_id = ${world.app.appId}
      union all select 'm' from messages where app_id = ${world.app.appId}`)
    leftovers += left.length
    if (left.length) console.log(round, left.length, statuses.filter((s) => s === 200).length)
    await world.context.database.run(sql`delete from conversations where app_id = ${world.app.appId}`)
    await world.context.database.run(sql`delete from conversation_states where app_id = ${world.app.appId}`)
    await world.context.database.run(sql`delete from messages where app_id = ${world.app.appId}`)
  }
  console.log({ leftovers })
}, 120000)

it('joins race a deactivation', async () => {
  const world = await createWorld()
  const crowd = Array.from({ length: 20 }, (_, i) => `u${i}`)
  await createUsers(world, 'alice', ...crowd)
  let wrong = 0
  for (let round = 0; round < 30; round++) {
    await createGroup(world, `g${round}`, 'alice')
    await Promise.all(
      crowd.flatMap((uid) => [
        world.post(`/groups/g${round}/members`, undefined, { as: uid }),
        world.delete('/users', { uidsToDeactivate: [uid] }),
      ]),
    )
    await Promise.all(crowd.map((uid) => world.put('/users', { uidsToActivate: [uid] })))
    const count = dataOf(await world.get(`/groups/g${round}`)).membersCount
    const listed = dataOf(await world.get(`/groups/g${round}/members`)).length
    if (count !== listed) {
      wrong++
      console.log(round, count, listed)
    }
  }
  console.log({ wrong })
}, 120000)
