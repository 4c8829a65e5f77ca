import { describe, expect, it } from 'vitest'
import { createGroup, dataOf, refusal, say, sayInGroup } from '../support/chat.ts'
import { until } from '../support/until.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'
import { hear } from './support.ts'

const place = { conversation: expect.any(Number), kind: 'user', first: 'alice', second: 'bob' }
const team = { conversation: expect.any(Number), kind: 'group', first: 'team', second: '' }
const epoch = expect.any(Number)

async function createPair(): Promise<World> {
  const world = await createWorld()
  await createUsers(world, 'alice', 'bob')
  return world
}

async function createTeam(): Promise<World> {
  const world = await createPair()
  await createUsers(world, 'carol')
  await createGroup(world, 'team', 'alice', { participants: ['bob'] })
  return world
}

const tokenOf = async (world: World, uid: string): Promise<string> =>
  dataOf(await world.post(`/users/${uid}/auth_tokens`, {})).authToken

const digestOf = (world: World, token: string) => world.context.secrets.digest(token).toString('base64')

describe('the bus', () => {
  it('tells of edits and deletions with their action messages as answered, also where no event is kept', async () => {
    const world = await createPair()
    const { id } = await say(world, 'alice', 'bob', 'first')
    const heard = hear(world)
    const edited = dataOf(await world.put(`/messages/${id}`, { data: { text: 'second' } }, { as: 'alice' }))
    const deleted = dataOf(await world.delete(`/messages/${id}`, {}, { as: 'alice' }))
    dataOf(await world.delete(`/messages/${id}`, {}, { as: 'alice' }))
    const messageId = Number(id)
    expect(heard).toEqual([
      { trigger: 'message_edited', place, messageId, actionId: Number(edited.id), message: edited },
      { trigger: 'message_deleted', place, messageId, actionId: Number(deleted.id), message: deleted },
    ])
    const kept = await world.context.database.query(
      { name: 'count_events', text: 'select count(*) as count from events where app_id = $1' },
      [world.app.appId],
    )
    expect(kept).toEqual([{ count: 0 }])
  })

  it('tells of receipts, of one and of all', async () => {
    const world = await createTeam()
    const { id } = await sayInGroup(world, 'alice', 'team', 'one')
    const heard = hear(world)
    dataOf(await world.post('/groups/team/conversation/delivered', { messageId: id }, { as: 'bob' }))
    dataOf(await world.post('/groups/team/conversation/delivered', { messageId: id }, { as: 'bob' }))
    const messageId = Number(id)
    expect(heard).toHaveLength(2)
    expect(heard).toEqual(
      expect.arrayContaining([
        { trigger: 'message_delivery_receipt', place: team, messageId, uid: 'bob', at: epoch },
        { trigger: 'message_delivered_to_all', place: team, messageId, at: epoch },
      ]),
    )
  })

  it('tells of reactions and blocks once', async () => {
    const world = await createPair()
    const { id } = await say(world, 'alice', 'bob', 'good?')
    const heard = hear(world)
    const path = `/messages/${id}/reactions/${encodeURIComponent('👍')}`
    for (let i = 0; i < 2; i++) dataOf(await world.post(path, {}, { as: 'bob' }))
    for (let i = 0; i < 2; i++) dataOf(await world.delete(path, {}, { as: 'bob' }))
    dataOf(await world.post('/users/alice/blockedusers', { blockedUids: ['bob'] }))
    const reaction = {
      place,
      messageId: Number(id),
      reactionId: expect.any(Number),
      reaction: '👍',
      uid: 'bob',
      reactedAt: epoch,
    }
    expect(heard).toEqual([
      { trigger: 'message_reaction_added', ...reaction },
      { trigger: 'message_reaction_removed', ...reaction },
      { trigger: 'user_blocked', by: 'alice', uids: ['bob'] },
    ])
  })

  it('tells of members with the action message first, and of who was in a group that is deleted', async () => {
    const world = await createTeam()
    const heard = hear(world)
    const added = dataOf(await world.post('/groups/team/members', { participants: ['carol'] }, { as: 'alice' }))
    const message = added.participants.carol.data
    const { conversation } = team
    expect(heard).toEqual([
      { trigger: 'message_sent', place: team, messageId: Number(message.id), message },
      {
        trigger: 'group_member_added',
        guid: 'team',
        conversation,
        by: 'alice',
        members: [{ uid: 'carol' }],
        actionId: Number(message.id),
      },
    ])
    heard.length = 0
    dataOf(await world.delete('/groups/team'))
    expect(heard).toEqual([
      {
        trigger: 'group_deleted',
        guid: 'team',
        conversation,
        uids: expect.arrayContaining(['alice', 'bob', 'carol']),
        group: expect.objectContaining({ guid: 'team', membersCount: 3 }),
      },
    ])
  })

  it('tells nothing of what is refused or rolled back', async () => {
    const world = await createTeam()
    const heard = hear(world)
    expect(refusal(await world.delete('/groups/team', {}, { as: 'bob' }))).toBe('403 ERR_PERMISSION_DENIED')
    const failed = world.context.database.transaction(async (tx) => {
      await world.context.events.raise(tx, world.app.appId, [{ trigger: 'user_blocked', by: 'alice', uids: ['bob'] }])
      throw new Error('on purpose')
    })
    await expect(failed).rejects.toThrow('on purpose')
    expect(heard).toEqual([])
  })
})

describe('sessions end', () => {
  it('with their token: removed, flushed, logged out, or the oldest of too many', async () => {
    const world = await createPair()
    const [first, second, other] = [
      await tokenOf(world, 'alice'),
      await tokenOf(world, 'alice'),
      await tokenOf(world, 'bob'),
    ]
    const heard = hear(world)
    dataOf(await world.delete(`/users/alice/auth_tokens/${first}`))
    dataOf(await world.delete('/users/alice/auth_tokens'))
    dataOf(await world.delete('/users/alice/auth_tokens'))
    dataOf(await world.delete('/me', undefined, { token: other }))
    expect(heard).toEqual([
      { control: 'sessions_ended', uid: 'alice', tokens: [digestOf(world, first)] },
      { control: 'sessions_ended', uid: 'alice', tokens: [digestOf(world, second)] },
      { control: 'sessions_ended', uid: 'alice' },
      { control: 'sessions_ended', uid: 'bob', tokens: [digestOf(world, other)] },
    ])
    heard.length = 0
    const oldest = await tokenOf(world, 'bob')
    for (let i = 0; i < 100; i++) await tokenOf(world, 'bob')
    expect(heard).toEqual([{ control: 'sessions_ended', uid: 'bob', tokens: [digestOf(world, oldest)] }])
  })

  it('with the user: deactivated or deleted', async () => {
    const world = await createPair()
    const heard = hear(world)
    dataOf(await world.delete('/users', { uidsToDeactivate: ['alice', 'nobody'] }))
    dataOf(await world.delete('/users', { uidsToDeactivate: ['alice'] }))
    const ended = { control: 'sessions_ended', uid: 'alice' }
    expect(heard).toEqual([ended, ended])
    dataOf(await world.delete('/users/bob', { permanent: true }))
    await until(() => heard.some((event) => 'control' in event && 'uid' in event && event.uid === 'bob'))
  })
})
