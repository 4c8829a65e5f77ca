import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { attackerAs } from '../support/attacker.ts'
import { createGroup, dataOf, say, sayInGroup } from '../support/chat.ts'
import { connect, eventually } from '../support/socket.ts'
import { createUsers, createWorld } from '../support/world.ts'

/** Whoever is blocked looks up when the one who blocked them is there. */
it('Whoever has blocked a user looks offline to them, whatever they ask', async () => {
  const world = await createWorld()
  await createUsers(world, 'another', 'victim', 'stalker')
  await say(world, 'victim', 'stalker', 'hello')
  await createGroup(world, 'team', 'victim', { participants: ['stalker'] })
  const { id } = await sayInGroup(world, 'stalker', 'team', 'hello <@uid:victim>')
  dataOf(await world.post(`/messages/${id}/reactions/x`, undefined, { as: 'victim' }))
  await sayInGroup(world, 'victim', 'team', 'a reply', { parentId: id })
  const stalker = await attackerAs(world, 'stalker')
  const victim = await connect(world, 'victim')
  await eventually(
    async () => dataOf(await stalker.get('/users/victim')).status,
    (status) => status === 'available',
  )
  dataOf(await world.post('/users/victim/blockedusers', { blockedUids: ['stalker'] }))
  const watching = await connect(world, 'stalker', { body: { presenceSubscription: 'ALL_USERS' } })
  const answers = [
    await stalker.get('/users/victim'),
    await stalker.get('/users'),
    await stalker.get('/groups/team/members'),
    await stalker.get('/conversations'),
    await stalker.get('/users/victim/conversation'),
    await stalker.get('/users/victim/messages'),
    await stalker.get('/groups/team/messages'),
    await stalker.get('/messages'),
    await stalker.get('/messages?searchKey=hello'),
    await stalker.get(`/messages/${id}`),
    await stalker.get(`/messages/${id}/thread`),
    await stalker.get(`/messages/${id}/reactions`),
    await stalker.get('/threads'),
  ]
  for (const [i, answer] of answers.entries()) {
    const seen = JSON.stringify(dataOf(answer))
    for (const trace of ['available', 'hasBlockedMe', 'lastActiveAt']) {
      // The stalker's own entities are theirs to see.
      const ofVictim = seen.match(/\{[^{}]*"uid":"victim"[^{}]*\}/g) ?? []
      expect(ofVictim.join(), `answer ${i}`).not.toContain(trace)
    }
  }
  // A group of two: how many are there says who is.
  await eventually(
    async () => dataOf(await world.get('/groups/team')).onlineMembersCount,
    (count) => count === 2,
  )
  expect(dataOf(await stalker.get('/groups/team')).onlineMembersCount).toBe(1)
  const uids = async (path: string) => dataOf(await stalker.get(path)).map(({ uid }: { uid: string }) => uid)
  for (const list of ['/users', '/groups/team/members']) {
    expect(await uids(`${list}?status=available`)).not.toContain('victim')
    expect(await uids(`${list}?status=offline`)).toContain('victim')
  }
  const away = (await uids('/users?sortBy=status')).indexOf('victim')
  victim.close()
  await eventually(
    async () => dataOf(await world.get('/users/victim')).status,
    (status) => status === 'offline',
  )
  expect((await uids('/users?sortBy=status')).indexOf('victim')).toBe(away)
  await watching.pong()
  expect(JSON.stringify(watching.frames)).not.toContain('victim')
  watching.close()
})

it('Whoever has blocked a user looks offline in the answers to what that user sends', async () => {
  const world = await createWorld()
  await createUsers(world, 'victim', 'stalker')
  await createGroup(world, 'team', 'victim', { participants: ['stalker'] })
  const quoted = await sayInGroup(world, 'victim', 'team', 'I am here, <@uid:victim>')
  const stalker = await attackerAs(world, 'stalker')
  const victim = await connect(world, 'victim')
  await eventually(
    async () => dataOf(await stalker.get('/users/victim')).status,
    (status) => status === 'available',
  )
  dataOf(await world.post('/users/victim/blockedusers', { blockedUids: ['stalker'] }))
  const naming = { category: 'message', type: 'text', data: { text: 'Is <@uid:victim>?' }, quotedMessageId: quoted.id }
  const answers = [
    await stalker.post('/messages', { ...naming, receiverType: 'group', receiver: 'team' }),
    await stalker.post('/messages', { ...naming, multipleReceivers: { guids: ['team'] } }),
  ]
  for (const answer of answers) {
    const ofVictim = JSON.stringify(dataOf(answer)).match(/\{[^{}]*"uid":"victim"[^{}]*\}/g) ?? []
    expect(ofVictim).toHaveLength(3)
    for (const shown of ofVictim) {
      expect(shown).toContain('"status":"offline"')
      expect(shown).not.toContain('lastActiveAt')
    }
  }
  victim.close()
})

it('Whoever has blocked a user looks offline in what that user’s own groups tell of them', async () => {
  const world = await createWorld()
  await createUsers(world, 'victim', 'stalker')
  dataOf(await world.put('/users/victim', { statusMessage: 'in the garden', metadata: { place: 'the garden' } }))
  await createGroup(world, 'joined', 'stalker', { participants: ['victim'] })
  const stalker = await attackerAs(world, 'stalker')
  const victim = await connect(world, 'victim')
  const watching = await connect(world, 'stalker')
  await eventually(
    async () => dataOf(await stalker.get('/users/victim')),
    ({ status, lastActiveAt }) => status === 'available' && lastActiveAt !== undefined,
  )
  dataOf(await world.post('/users/victim/blockedusers', { blockedUids: ['stalker'] }))
  dataOf(await stalker.post('/groups', { guid: 'mine', name: 'Mine', type: 'public' }))
  const answers = [
    await stalker.post('/groups/mine/bannedusers/victim'),
    await stalker.get('/groups/mine/bannedusers'),
    await stalker.delete('/groups/mine/bannedusers/victim'),
    await stalker.put('/groups/joined/members/victim', { scope: 'moderator' }),
    await stalker.delete('/groups/joined/members/victim'),
    await stalker.get('/groups/mine/messages'),
    await stalker.get('/groups/joined/messages'),
    await stalker.get('/conversations'),
  ]
  const frame = await watching.take(({ body }) => body?.data?.action === 'kicked')
  // As older versions stored it.
  await world.context.database.run(sql`
    update messages
    set data = jsonb_set(
      jsonb_set(data::jsonb, '{entities,on,entity,status}', '"available"'), '{entities,on,entity,lastActiveAt}', '1')::json
    where app_id = ${world.app.appId} and category = 'action'`)
  answers.push(
    await stalker.get('/groups/mine/messages'),
    await stalker.get('/groups/joined/messages'),
    await stalker.get('/conversations'),
  )
  const seen = [...answers.map(dataOf), ...watching.frames, frame].flatMap((shown) => usersIn(shown, 'victim'))
  expect(seen.length).toBeGreaterThan(10)
  for (const user of seen) {
    expect(user).not.toHaveProperty('lastActiveAt')
    expect([undefined, 'offline']).toContain(user.status)
  }
  for (const guid of ['mine', 'joined']) {
    const actions = dataOf(await stalker.get(`/groups/${guid}/messages`))
    expect(usersIn(actions, 'victim')[0]).toMatchObject({ name: 'Victim', status: 'offline', role: 'default' })
    expect(JSON.stringify(actions)).not.toContain('garden')
  }
  victim.close()
  watching.close()
})

/** The objects with a uid that are anywhere in a value. */
function usersIn(value: unknown, uid: string): Array<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return []
  const found = Object.values(value).flatMap((inner) => usersIn(inner, uid))
  return 'name' in value && 'uid' in value && value.uid === uid ? [value as Record<string, unknown>, ...found] : found
}
