import { describe, expect, it } from 'vitest'
import { createGroup, dataOf, refusal, say, sayInGroup } from '../support/chat.ts'
import { pullEvents } from '../support/events.ts'
import { createUsers, createWorld } from '../support/world.ts'

const epoch = expect.any(Number)
const id = expect.any(String)
const user = (uid: string) => ({
  uid,
  name: uid.charAt(0).toUpperCase() + uid.slice(1),
  status: 'offline',
  role: 'default',
  createdAt: epoch,
})
const entity = (uid: string) => ({ entity: user(uid), entityType: 'user' })
const inConversation = (uid: string) => ({
  entity: { ...user(uid), conversationId: 'alice_user_bob' },
  entityType: 'user',
})
/** A message from alice to bob. */
const message = (data: object, extra: object = {}) => ({
  id,
  conversationId: 'alice_user_bob',
  sender: 'alice',
  receiverType: 'user',
  receiver: 'bob',
  category: 'message',
  type: 'text',
  data: { ...data, entities: { sender: entity('alice'), receiver: inConversation('bob') } },
  sentAt: epoch,
  updatedAt: epoch,
  ...extra,
})
/** The action message of an edit or deletion. */
const action = (told: string, on: object, extra: object = {}) => ({
  ...message({}, extra),
  category: 'action',
  type: 'message',
  data: {
    action: told,
    entities: { by: entity('alice'), for: inConversation('bob'), on: { entity: on, entityType: 'message' } },
  },
})

describe('a message', () => {
  it('is told when it is sent, and once more to those whom it mentions', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const puller = await pullEvents(world)
    await say(world, 'alice', 'bob', 'hi', { muid: 'm-1', tags: ['x'] })
    await say(world, 'alice', 'bob', 'hi', { muid: 'm-1' })
    await say(world, 'alice', 'bob', 'hi <@uid:bob>')
    await say(world, 'alice', 'bob', 'hi <@uid:nobody>')
    const blank = { receiver: 'bob', receiverType: 'user', data: { text: '' } }
    expect(refusal(await world.post('/messages', blank, { as: 'alice' }))).toBe('400 ERR_EMPTY_MESSAGE_TEXT')
    const mentioning = message({ text: 'hi <@uid:bob>', mentions: { bob: user('bob') } })
    expect(await puller.told()).toEqual([
      { trigger: 'message_sent', data: { message: message({ text: 'hi' }, { muid: 'm-1' }) } },
      { trigger: 'message_sent', data: { message: mentioning } },
      { trigger: 'user_mentioned', data: { message: mentioning } },
      { trigger: 'message_sent', data: { message: message({ text: 'hi <@uid:nobody>' }) } },
    ])
  })

  it('is told when it is edited, as the action message with what it says now', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol')
    const { id: sent } = await say(world, 'alice', 'bob', 'first')
    const puller = await pullEvents(world)
    dataOf(await world.put(`/messages/${sent}`, { data: { text: 'second' } }, { as: 'alice' }))
    const edited = { editedAt: epoch, editedBy: 'alice' }
    expect(await puller.told()).toEqual([
      {
        trigger: 'message_edited',
        data: { message: action('edited', { ...message({ text: 'second' }, edited), id: sent }) },
      },
    ])
    const refused = await world.put(`/messages/${sent}`, { data: { text: 'third' } }, { as: 'bob' })
    expect(refusal(refused)).toBe('403 ERR_MESSAGE_NOT_A_SENDER')
    expect(await puller.told()).toEqual([])
  })

  it('tells those whom an edit mentions, once', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol')
    const { id: sent } = await say(world, 'alice', 'bob', 'for <@uid:bob>')
    const puller = await pullEvents(world)
    const edit = async (text: string) =>
      dataOf(await world.put(`/messages/${sent}`, { data: { text } }, { as: 'alice' }))
    await edit('for <@uid:bob>, really')
    await edit('for <@uid:bob> and <@uid:nobody>')
    expect((await puller.told()).map(({ trigger }) => trigger)).toEqual(['message_edited', 'message_edited'])
    await edit('for <@uid:bob> and <@uid:carol>')
    const [, mentioned] = await puller.told()
    expect(mentioned).toEqual({
      trigger: 'user_mentioned',
      data: {
        message: message(
          { text: 'for <@uid:bob> and <@uid:carol>', mentions: { bob: user('bob'), carol: user('carol') } },
          { editedAt: epoch, editedBy: 'alice' },
        ),
      },
    })
  })

  it('is told when it is deleted, without what it said, and not again', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const { id: sent } = await say(world, 'alice', 'bob', 'secret')
    const puller = await pullEvents(world)
    dataOf(await world.delete(`/messages/${sent}`, {}, { as: 'alice' }))
    dataOf(await world.delete(`/messages/${sent}`, {}, { as: 'alice' }))
    const deleted = { deletedAt: epoch, deletedBy: 'alice' }
    expect(await puller.told()).toEqual([
      { trigger: 'message_deleted', data: { message: action('deleted', { ...message({}, deleted), id: sent }) } },
    ])
  })

  it('that is removed for good is told by its position, with the own replies that go with it', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const { id: parent } = await say(world, 'alice', 'bob', 'secret')
    const body = { receiver: 'bob', receiverType: 'user', data: { text: 'secret too' } }
    const { id: reply } = dataOf(await world.post(`/messages/${parent}/thread`, body, { as: 'alice' }))
    const puller = await pullEvents(world)
    dataOf(await world.delete(`/messages/${parent}`, { permanent: true }, { as: 'alice' }))
    const left = (messageId: string) => ({
      id: messageId,
      conversationId: 'alice_user_bob',
      sentAt: epoch,
      deletedAt: epoch,
    })
    expect(await puller.told()).toEqual([
      { trigger: 'message_deleted', data: { message: action('deleted', left(parent)) } },
      { trigger: 'message_deleted', data: { message: action('deleted', left(reply)) } },
    ])
  })

  it('that is gone before it is told is told by its position, or by its id alone', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol')
    const puller = await pullEvents(world)
    const { id: purged } = await say(world, 'alice', 'bob', 'secret')
    const { id: removed } = await say(world, 'alice', 'carol', 'secret')
    dataOf(await world.delete(`/messages/${purged}`, { permanent: true }, { as: 'alice' }))
    dataOf(await world.delete('/users/carol', { permanent: true }))
    const [first, second, ...rest] = await puller.told()
    expect(first).toEqual({
      trigger: 'message_sent',
      data: { message: { id: purged, conversationId: 'alice_user_bob', sentAt: epoch } },
    })
    expect(second).toEqual({ trigger: 'message_sent', data: { message: { id: removed } } })
    expect(rest.map(({ trigger }) => trigger)).toEqual(['message_deleted'])
  })

  it('that is imported is not told', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const puller = await pullEvents(world)
    const imported = {
      muid: 'old',
      sender: 'alice',
      receiver: 'bob',
      receiverType: 'user',
      category: 'message',
      type: 'text',
      data: { text: 'long ago <@uid:bob>' },
      sentAt: 1_600_000_000,
      readAt: 1_600_000_001,
      reactions: { '👍': ['bob'] },
    }
    const outcome = dataOf(await world.post('/data_import/messages', { messages: { old: imported } }))
    expect(outcome.old.success).toBe(true)
    expect(await puller.told()).toEqual([])
  })
})

describe('a reaction', () => {
  it('is told when it is given and taken back, once each', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol')
    await createGroup(world, 'team', 'alice', { participants: ['bob'] })
    const { id: sent } = await sayInGroup(world, 'alice', 'team', 'good?')
    const puller = await pullEvents(world)
    const path = `/messages/${sent}/reactions/${encodeURIComponent('👍')}`
    dataOf(await world.post(path, {}, { as: 'bob' }))
    dataOf(await world.post(path, {}, { as: 'bob' }))
    dataOf(await world.delete(path, {}, { as: 'bob' }))
    dataOf(await world.delete(path, {}, { as: 'bob' }))
    expect(refusal(await world.post(path, {}, { as: 'carol' }))).toBe('404 ERR_MESSAGE_ID_NOT_FOUND')
    const reaction = {
      id,
      messageId: sent,
      reaction: '👍',
      uid: 'bob',
      reactedAt: epoch,
      reactedBy: user('bob'),
    }
    const events = await puller.told()
    expect(events).toEqual([
      { trigger: 'message_reaction_added', data: { reaction } },
      { trigger: 'message_reaction_removed', data: { reaction } },
    ])
    expect(events[0]?.data.reaction.id).toBe(events[1]?.data.reaction.id)
  })
})

describe('a block', () => {
  it('is told for each user who is blocked or unblocked anew', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol')
    const puller = await pullEvents(world)
    dataOf(await world.post('/users/alice/blockedusers', { blockedUids: ['bob'] }))
    dataOf(await world.post('/users/alice/blockedusers', { blockedUids: ['bob', 'carol', 'nobody', 'alice'] }))
    dataOf(await world.delete('/blockedusers', { blockedUids: ['carol', 'nobody'] }, { as: 'alice' }))
    dataOf(await world.delete('/blockedusers', { blockedUids: ['carol'] }, { as: 'alice' }))
    const told = (trigger: string, uid: string) => ({
      trigger,
      data: { users: { [uid]: { ...user(uid), conversationId: `alice_user_${uid}` } }, by: user('alice') },
    })
    expect(await puller.told()).toEqual([
      told('user_blocked', 'bob'),
      told('user_blocked', 'carol'),
      told('user_unblocked', 'carol'),
    ])
  })
})
