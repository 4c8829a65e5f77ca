import { describe, expect, it } from 'vitest'
import { findDrift } from '../../src/doctor/drift.ts'
import { statement } from '../../src/store/statement.ts'
import { createGroup, dataOf, refusal, say, sayInGroup, texts } from '../support/chat.ts'
import { createUsers, createWorld } from '../support/world.ts'

describe('pinned messages', () => {
  it('carry who pinned them and when, the first pin stays, and anybody may unpin', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol')
    const message = await say(world, 'alice', 'bob', 'keep')
    await say(world, 'alice', 'bob', 'other')
    const path = `/messages/${message.id}/pin`
    const pinned = dataOf(await world.post(path, undefined, { as: 'bob' }))
    expect(pinned).toMatchObject({
      id: message.id,
      pinnedBy: 'bob',
      pinnedAt: expect.any(Number),
      data: { text: 'keep' },
    })
    expect(dataOf(await world.post(path))).toMatchObject({ pinnedBy: 'bob', pinnedAt: pinned.pinnedAt })
    expect(texts(await world.get('/users/bob/messages?pinned=1', { as: 'alice' }))).toEqual(['keep'])
    expect(texts(await world.get('/users/bob/messages?pinnedBy=app_system', { as: 'alice' }))).toEqual([])
    expect(refusal(await world.post(path, undefined, { as: 'carol' }))).toBe('404 ERR_MESSAGE_ID_NOT_FOUND')
    expect(dataOf(await world.delete(path, undefined, { as: 'alice' })).pinnedBy).toBeUndefined()
    expect(dataOf(await world.delete(path)).pinnedAt).toBeUndefined()
    expect(texts(await world.get('/users/bob/messages?pinned=1', { as: 'alice' }))).toEqual([])
    expect(dataOf(await world.post(path))).toMatchObject({ pinnedBy: 'app_system' })
    expect(refusal(await world.post('/messages/999999999999/pin'))).toBe('404 ERR_MESSAGE_ID_NOT_FOUND')
  })

  it('are 100 in a conversation at most, also when the last two come at the same time', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const messages = await Promise.all(Array.from({ length: 101 }, (_, i) => say(world, 'alice', 'bob', `t${i}`)))
    const pin = (message: { id: string }) => world.post(`/messages/${message.id}/pin`)
    await Promise.all(messages.slice(0, 99).map(pin))
    const last = await Promise.all(messages.slice(99).map(pin))
    expect(last.map(refusal).sort()).toEqual(['200 undefined', '400 ERR_PINNED_MESSAGES_LIMIT_EXCEEDED'])
    expect(texts(await world.get('/users/bob/messages?pinned=1&limit=1000', { as: 'alice' }))).toHaveLength(100)
  })

  it('lose their pin when they are deleted; actions cannot be pinned', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const message = await say(world, 'alice', 'bob', 'x')
    dataOf(await world.post(`/messages/${message.id}/pin`))
    const action = dataOf(await world.delete(`/messages/${message.id}`, undefined, { as: 'alice' }))
    expect(dataOf(await world.get(`/messages/${message.id}`)).pinnedAt).toBeUndefined()
    for (const [id, why] of [
      [action.id, 'is an action message and cannot be pinned, saved or reacted to.'],
      [message.id, 'was deleted.'],
    ]) {
      const answer = await world.post(`/messages/${id}/pin`)
      expect(refusal(answer)).toBe('403 ERR_MESSAGE_ACTION_NOT_ALLOWED')
      expect(answer.body.error.devMessage).toBe(`The message ${id} ${why}`)
    }
  })
})

describe('saved messages', () => {
  it('are seen by the one who saved them only, and keep their first time', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const message = await say(world, 'alice', 'bob', 'keep')
    const path = `/messages/${message.id}/save`
    const saved = dataOf(await world.post(path, undefined, { as: 'bob' }))
    expect(saved).toMatchObject({ id: message.id, savedAt: expect.any(Number) })
    expect(dataOf(await world.post(path, undefined, { as: 'bob' })).savedAt).toBe(saved.savedAt)
    expect(dataOf(await world.get(`/messages/${message.id}`, { as: 'bob' })).savedAt).toBe(saved.savedAt)
    expect(dataOf(await world.get(`/messages/${message.id}`, { as: 'alice' })).savedAt).toBeUndefined()
    expect(dataOf(await world.get(`/messages/${message.id}`)).savedAt).toBeUndefined()
    expect(texts(await world.get('/messages?saved=1', { as: 'bob' }))).toEqual(['keep'])
    expect(texts(await world.get('/messages?saved=1', { as: 'alice' }))).toEqual([])
    expect(refusal(await world.get('/messages?saved=1'))).toBe('400 ERR_BAD_REQUEST')
    expect(dataOf(await world.delete(path, undefined, { as: 'bob' })).savedAt).toBeUndefined()
    expect(dataOf(await world.delete(path, undefined, { as: 'bob' })).savedAt).toBeUndefined()
    expect(refusal(await world.post(path))).toBe('400 ERR_BAD_REQUEST')
  })

  it('leave the list when they are deleted, as pinned ones do', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const [kept, gone] = [await say(world, 'alice', 'bob', 'kept'), await say(world, 'alice', 'bob', 'gone')]
    for (const { id } of [kept, gone]) {
      dataOf(await world.post(`/messages/${id}/save`, undefined, { as: 'bob' }))
      dataOf(await world.post(`/messages/${id}/pin`, undefined, { as: 'alice' }))
    }
    dataOf(await world.delete(`/messages/${gone.id}`, undefined, { as: 'alice' }))
    expect(texts(await world.get('/messages?saved=1', { as: 'bob' }))).toEqual(['kept'])
    expect(texts(await world.get('/messages?pinned=1', { as: 'bob' }))).toEqual(['kept'])
    const shown = dataOf(await world.get(`/messages/${gone.id}`, { as: 'bob' }))
    expect([shown.savedAt, shown.pinnedAt]).toEqual([undefined, undefined])
  })

  it('are 100 for a user at most', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const messages = await Promise.all(Array.from({ length: 101 }, (_, i) => say(world, 'alice', 'bob', `t${i}`)))
    const answers = await Promise.all(
      messages.map((m) => world.post(`/messages/${m.id}/save`, undefined, { as: 'bob' })),
    )
    expect(answers.filter((answer) => answer.status === 200)).toHaveLength(100)
    expect(answers.map(refusal)).toContain('400 ERR_SAVED_MESSAGES_LIMIT_EXCEEDED')
  })
})

describe('interactions', () => {
  it('are noted for elements that an interactive message declares', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const form = { formFields: [{ elementType: 'textInput', elementId: 'e1' }], submitElement: { elementId: 'go' } }
    const message = await say(world, 'alice', 'bob', 'form', {
      category: 'interactive',
      type: 'form',
      data: { interactiveData: form },
    })
    const plain = await say(world, 'alice', 'bob', 'plain')
    const note = (id: string, interactions: unknown, as = 'bob') =>
      world.call('PATCH', `/messages/${id}/interacted`, { interactions }, { as })
    expect((await note(message.id, ['e1'])).body.data).toEqual({
      success: true,
      message: expect.stringContaining('bob'),
    })
    expect((await note(message.id, ['e1', 'go'])).status).toBe(200)
    expect(refusal(await note(message.id, ['nothing']))).toBe('400 ERR_BAD_REQUEST')
    expect(refusal(await note(message.id, []))).toBe('400 ERR_BAD_REQUEST')
    expect(refusal(await note(message.id, undefined))).toBe('400 ERR_BAD_REQUEST')
    expect(refusal(await note(plain.id, ['e1']))).toBe('403 ERR_MESSAGE_ACTION_NOT_ALLOWED')
  })
})

describe('a message that is removed for good', () => {
  it('while it is pinned, saved, used and marked leaves nothing of that behind, and no 500', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const form = { category: 'interactive', type: 'form', data: { interactiveData: { elementId: 'ok' } } }
    for (let round = 0; round < 8; round++) {
      const { id } = await say(world, 'alice', 'bob', '', form)
      const as = { as: 'bob' }
      const answers = await Promise.all([
        world.post(`/messages/${id}/pin`, undefined, as),
        world.post(`/messages/${id}/save`, undefined, as),
        world.call('PATCH', `/messages/${id}/interacted`, { interactions: ['ok'] }, as),
        world.delete(`/messages/${id}`, { permanent: true }),
        world.post('/users/alice/conversation/read', { messageId: id }, as),
        world.delete('/users/alice/conversation/read', { messageId: id }, as),
        world.post(`/messages/${id}/save`, undefined, { as: 'alice' }),
      ])
      const outcomes = new Set(answers.map(refusal))
      for (const outcome of outcomes) expect(['200 undefined', '404 ERR_MESSAGE_ID_NOT_FOUND']).toContain(outcome)
      expect(answers[3]?.status).toBe(200)
    }
    for (const table of ['pinned_messages', 'saved_messages', 'interactions']) {
      const rows = await world.context.database.query(statement(`select from ${table} where app_id = $1`), [
        world.app.appId,
      ])
      expect(rows, table).toEqual([])
    }
    expect(await findDrift(world.context.database, world.app.appId)).toEqual([])
  })
})

describe('bots', () => {
  it('send messages as themselves; other users are no bots', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice')
    const { sql } = await import('kysely')
    await world.context.database.run(sql`
      insert into users (app_id, uid, name, name_key, role, created_at)
      values (${world.app.appId}, 'helper', 'Helper', 'helper', 'bot', 1700000000)`)
    const body = { receiver: 'alice', receiverType: 'user', data: { text: 'beep' } }
    expect(dataOf(await world.post('/bots/Helper/messages', body))).toMatchObject({
      sender: 'helper',
      receiver: 'alice',
    })
    expect(refusal(await world.post('/bots/alice/messages', body))).toBe('404 ERR_BOT_NOT_FOUND')
    expect(refusal(await world.post('/bots/nobody/messages', body))).toBe('404 ERR_BOT_NOT_FOUND')
  })

  it('in groups obey the rules of members', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice')
    const { sql } = await import('kysely')
    await world.context.database.run(sql`
      insert into users (app_id, uid, name, name_key, role, created_at)
      values (${world.app.appId}, 'helper', 'Helper', 'helper', 'bot', 1700000000)`)
    await createGroup(world, 'team', 'alice')
    const body = { receiver: 'team', receiverType: 'group', data: { text: 'beep' } }
    expect(refusal(await world.post('/bots/helper/messages', body))).toBe('403 ERR_GROUP_NOT_JOINED')
    dataOf(await world.post('/groups/team/members', { participants: ['helper'] }))
    dataOf(await world.post('/bots/helper/messages', body))
    await sayInGroup(world, 'alice', 'team', 'thanks')
    expect(texts(await world.get('/groups/team/messages?category=message'))).toEqual(['beep', 'thanks'])
  })
})
