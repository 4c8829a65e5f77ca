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
