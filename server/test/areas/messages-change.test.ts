import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { createGroup, dataOf, refusal, say, sayInGroup, texts } from '../support/chat.ts'
import { pullEvents } from '../support/events.ts'
import { importWell, text } from '../support/imports.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'

describe('editing a message', () => {
  it('answers the action message with the edited message, and keeps the time it was sent', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const message = await say(world, 'alice', 'bob', 'hi', { tags: ['t1'], muid: 'm' })
    const action = dataOf(
      await world.put(`/messages/${message.id}`, { data: { text: 'hi again' }, tags: ['t6'] }, { as: 'alice' }),
    )
    expect(action).toMatchObject({
      conversationId: 'alice_user_bob',
      sender: 'alice',
      receiverType: 'user',
      receiver: 'bob',
      category: 'action',
      type: 'message',
      data: {
        action: 'edited',
        entities: {
          by: { entity: { uid: 'alice' }, entityType: 'user' },
          for: { entity: { uid: 'bob' }, entityType: 'user' },
          on: {
            entity: {
              id: message.id,
              data: { text: 'hi again' },
              tags: ['t6'],
              sentAt: message.sentAt,
              editedAt: expect.any(Number),
              editedBy: 'alice',
            },
            entityType: 'message',
          },
        },
      },
    })
    expect(Number(action.id)).toBeGreaterThan(Number(message.id))
    const read = dataOf(await world.get(`/messages/${message.id}`))
    expect(read).toMatchObject({ data: { text: 'hi again' }, muid: 'm', sentAt: message.sentAt, editedBy: 'alice' })
  })

  it('is done by the app as app_system, and listed as changed', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const message = await say(world, 'alice', 'bob', 'hi')
    const action = dataOf(await world.put(`/messages/${message.id}`, { data: { metadata: { k: 1 } } }))
    expect(action.data.entities.on.entity).toMatchObject({
      editedBy: 'app_system',
      data: { text: 'hi', metadata: { k: 1 } },
    })
    expect(action.sender).toBe('alice')
    expect(texts(await world.get('/messages?editedAt[from]=1'))).toEqual(['hi'])
  })

  it('is refused to others, for actions, for the deleted, and with content that is wrong', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol')
    const message = await say(world, 'alice', 'bob', 'hi')
    const edit = async (as: string, id: string, body: object = { data: { text: 'x' } }) =>
      refusal(await world.put(`/messages/${id}`, body, { as }))
    expect(await edit('bob', message.id)).toBe('403 ERR_MESSAGE_NOT_A_SENDER')
    expect(await edit('carol', message.id)).toBe('404 ERR_MESSAGE_ID_NOT_FOUND')
    expect(await edit('alice', '999999999999')).toBe('404 ERR_MESSAGE_ID_NOT_FOUND')
    expect(await edit('alice', message.id, { data: { text: '' } })).toBe('400 ERR_EMPTY_MESSAGE_TEXT')
    expect(await edit('alice', message.id, { data: 'x' })).toBe('400 ERR_INVALID_MESSAGE_DATA')
    expect(await edit('alice', message.id, { data: { text: 5 } })).toBe('400 ERR_INVALID_MESSAGE_TEXT')
    const action = dataOf(await world.put(`/messages/${message.id}`, { data: { text: 'y' } }, { as: 'alice' }))
    expect(await edit('alice', action.id)).toBe('403 ERR_MESSAGE_ACTION_NOT_ALLOWED')
    dataOf(await world.delete(`/messages/${message.id}`, undefined, { as: 'alice' }))
    expect(await edit('alice', message.id)).toBe('403 ERR_MESSAGE_ACTION_NOT_ALLOWED')
  })

  it('goes on where older versions stored attachments that are none, until they are sent anew', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const { id } = await say(world, 'alice', 'bob', 'hi')
    await world.context.database.run(
      sql`update messages set data = '{"text":"hi","attachments":"x"}' where app_id = ${world.app.appId} and id = ${id}`,
    )
    const edit = (data: object) => world.put(`/messages/${id}`, { data }, { as: 'alice' })
    dataOf(await edit({ text: 'hello' }))
    expect(dataOf(await world.get(`/messages/${id}`)).data).toMatchObject({ text: 'hello', attachments: 'x' })
    expect(refusal(await edit({ attachments: 'x' }))).toBe('400 ERR_INVALID_MEDIA_MESSAGE')
    dataOf(await edit({ attachments: [] }))
  })

  it('names no file that is none, unless it was stored so', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const file = { url: 'https://example.com/a.png' }
    const sent = { receiver: 'bob', receiverType: 'user', type: 'image', data: { attachments: [file] } }
    const { id } = dataOf(await world.post('/messages', sent, { as: 'alice' }))
    const edit = (data: object) => world.put(`/messages/${id}`, { data }, { as: 'alice' })
    for (const url of ['javascript:x', { a: 1 }]) {
      expect(refusal(await edit({ url }))).toBe('400 ERR_INVALID_MEDIA_MESSAGE')
    }
    expect(dataOf(await world.get(`/messages/${id}`)).data.url).toBe(file.url)
    await world.context.database.run(
      sql`update messages set data = jsonb_set(data::jsonb, '{url}', '{"a":1}') where app_id = ${world.app.appId} and id = ${id}`,
    )
    dataOf(await edit({ text: 'caption' }))
    dataOf(await edit({ url: 'https://example.com/b.png' }))
  })

  it('obeys the permission of the scope', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    await createGroup(world, 'team', 'alice', { participants: ['bob'] })
    const message = await sayInGroup(world, 'bob', 'team', 'hi')
    const edit = () => world.put(`/messages/${message.id}`, { data: { text: 'x' } }, { as: 'bob' })
    const permissions = '/groups/team/scopes/participant/permissions'
    dataOf(await edit())
    dataOf(await world.put(permissions, { permissions: { editMessage: 'deny' } }))
    expect(refusal(await edit())).toBe('403 ERR_PERMISSION_DENIED')
    dataOf(await world.delete(`${permissions}/editMessage`))
    dataOf(await edit())
  })
})

describe('deleting a message', () => {
  it('softly keeps its place and takes its content away everywhere', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    await say(world, 'alice', 'bob', 'first')
    const secret = await say(world, 'alice', 'bob', 'top secret words', { tags: ['x'] })
    dataOf(await world.put(`/messages/${secret.id}`, { data: { text: 'secret words still' } }, { as: 'alice' }))
    await say(world, 'bob', 'alice', 'quoting', { quotedMessageId: secret.id })
    const action = dataOf(await world.delete(`/messages/${secret.id}`, undefined, { as: 'alice' }))
    expect(action.data.action).toBe('deleted')
    expect(action.data.entities.on.entity).toMatchObject({
      id: secret.id,
      deletedBy: 'alice',
      deletedAt: expect.any(Number),
    })
    const list = await world.get('/users/bob/messages', { as: 'alice' })
    expect(JSON.stringify(list.body)).not.toContain('secret')
    expect(texts(list)).toEqual(['first', undefined, 'edited', 'quoting', 'deleted'])
    expect(texts(await world.get('/users/bob/messages?hideDeleted=1&category=message', { as: 'alice' }))).toEqual([
      'first',
      'quoting',
    ])
    expect(texts(await world.get('/users/bob/messages?onlyDeleted=1', { as: 'alice' }))).toHaveLength(1)
    expect(await survivors(world, 'secret')).toEqual([])
  })

  it('no longer counts as unread, and leaves lastMessage out until the next', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    await say(world, 'alice', 'bob', 'one')
    const two = await say(world, 'alice', 'bob', 'two')
    const conversation = async () => dataOf(await world.get('/users/alice/conversation', { as: 'bob' }))
    expect((await conversation()).unreadMessageCount).toBe('2')
    dataOf(await world.delete(`/messages/${two.id}`, undefined, { as: 'alice' }))
    const after = await conversation()
    expect(after.unreadMessageCount).toBe('1')
    expect(after.lastMessage).toBeUndefined()
    expect(after.updatedAt).toBe(two.sentAt)
    await say(world, 'alice', 'bob', 'three')
    expect((await conversation()).lastMessage.data.text).toBe('three')
  })

  it('for good removes it with its replies; only the position stays, as a cursor', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    await say(world, 'alice', 'bob', 'before')
    const parent = await say(world, 'alice', 'bob', 'wicked thing', { muid: 'wicked-1' })
    await say(world, 'bob', 'alice', 'wicked reply', { parentId: parent.id })
    await say(world, 'alice', 'bob', 'after')
    const action = dataOf(await world.delete(`/messages/${parent.id}`, { permanent: true }))
    expect(action.data).toMatchObject({ action: 'deleted', entities: { on: { entity: { id: parent.id } } } })
    expect(texts(await world.get('/users/bob/messages?category=message', { as: 'alice' }))).toEqual(['before', 'after'])
    expect(refusal(await world.get(`/messages/${parent.id}`))).toBe('404 ERR_MESSAGE_ID_NOT_FOUND')
    expect(refusal(await world.delete(`/messages/${parent.id}`, { permanent: true }))).toBe(
      '404 ERR_MESSAGE_ID_NOT_FOUND',
    )
    expect(
      texts(await world.get(`/users/bob/messages?affix=append&id=${parent.id}&category=message`, { as: 'alice' })),
    ).toEqual(['after'])
    expect(texts(await world.get(`/users/bob/messages?affix=prepend&id=${parent.id}`, { as: 'alice' }))).toEqual([
      'before',
    ])
    expect(await survivors(world, 'wicked')).toEqual([])
  })

  it('is for the sender, in groups for admins and moderators, and for the app', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol', 'dave')
    await createGroup(world, 'team', 'alice', { moderators: ['bob'], participants: ['carol', 'dave'] })
    const remove = async (id: string, as?: string) =>
      refusal(await world.delete(`/messages/${id}`, undefined, as === undefined ? {} : { as }))
    const direct = await say(world, 'carol', 'dave', 'x')
    expect(await remove(direct.id, 'dave')).toBe('403 ERR_MESSAGE_NOT_A_SENDER')
    expect(await remove(direct.id, 'alice')).toBe('404 ERR_MESSAGE_ID_NOT_FOUND')
    const inGroup = await sayInGroup(world, 'carol', 'team', 'x')
    expect(await remove(inGroup.id, 'dave')).toBe('403 ERR_MESSAGE_NOT_A_SENDER')
    expect(await remove(inGroup.id, 'bob')).toBe('200 undefined')
    expect(await remove((await sayInGroup(world, 'alice', 'team', 'x')).id, 'bob')).toBe('200 undefined')
    expect(await remove((await sayInGroup(world, 'carol', 'team', 'x')).id)).toBe('200 undefined')
    const permissions = '/groups/team/scopes/participant/permissions'
    dataOf(await world.put(permissions, { permissions: { deleteMessage: 'deny' } }))
    const own = await sayInGroup(world, 'carol', 'team', 'mine')
    expect(await remove(own.id, 'carol')).toBe('403 ERR_PERMISSION_DENIED')
    dataOf(await world.delete(`${permissions}/deleteMessage`))
    expect(await remove(own.id, 'carol')).toBe('200 undefined')
  })

  it('asked twice answers the same action; actions cannot be deleted, but by the app for good', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const message = await say(world, 'alice', 'bob', 'x')
    const first = dataOf(await world.delete(`/messages/${message.id}`, undefined, { as: 'alice' }))
    const again = dataOf(await world.delete(`/messages/${message.id}`, undefined, { as: 'alice' }))
    expect(again.id).toBe(first.id)
    expect(refusal(await world.delete(`/messages/${first.id}`))).toBe('403 ERR_MESSAGE_ACTION_NOT_ALLOWED')
    const permanent = { permanent: true }
    expect(refusal(await world.delete(`/messages/${first.id}`, permanent, { as: 'alice' }))).toBe(
      '403 ERR_MESSAGE_ACTION_NOT_ALLOWED',
    )
    // The app alone can remove one for good, and nothing tells of that.
    expect(dataOf(await world.delete(`/messages/${first.id}`, permanent)).id).toBe(first.id)
    expect(refusal(await world.get(`/messages/${first.id}`))).toBe('404 ERR_MESSAGE_ID_NOT_FOUND')
    expect(dataOf(await world.get('/messages')).map(({ id }: { id: string }) => id)).toEqual([message.id])
  })

  it('asked again where nothing tells of it any more answers when and by whom it was deleted, and tells nobody', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol')
    await createGroup(world, 'team', 'alice', { moderators: ['bob'], participants: ['carol'] })
    const here = await sayInGroup(world, 'carol', 'team', 'x')
    const action = dataOf(await world.delete(`/messages/${here.id}`, undefined, { as: 'carol' }))
    dataOf(await world.delete(`/messages/${action.id}`, { permanent: true }))
    const moved = { receiverType: 'group', receiver: 'team', deletedAt: 1_700_000_005, deletedBy: 'carol' }
    const { old } = await importWell(world, 'messages', [text('old', 'carol', 'team', 1_700_000_000, moved)])
    const puller = await pullEvents(world)

    for (const { id } of [here, old]) {
      const before = dataOf(await world.get(`/messages/${id}`))
      const at = before.deletedAt
      const counted = dataOf(await world.get('/groups/team/messages?limit=100')).length
      for (const as of ['bob', 'carol', undefined]) {
        const again = dataOf(await world.delete(`/messages/${id}`, undefined, as === undefined ? {} : { as }))
        expect(again).toMatchObject({ category: 'action', sender: 'carol', sentAt: at, data: { action: 'deleted' } })
        expect(again.data.entities.by.entity.uid).toBe('carol')
        expect(again.data.entities.on.entity).toMatchObject({ id, deletedAt: at, deletedBy: 'carol' })
        expect(refusal(await world.get(`/messages/${again.id}`))).toBe('404 ERR_MESSAGE_ID_NOT_FOUND')
      }
      expect(dataOf(await world.get(`/messages/${id}`))).toEqual(before)
      expect(dataOf(await world.get('/groups/team/messages?limit=100'))).toHaveLength(counted)
    }
    expect(await puller.told()).toEqual([])
  })

  it('at the same time as an edit, a mark and another deletion leaves a deleted message and no 500', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    for (let round = 0; round < 5; round++) {
      const message = await say(world, 'alice', 'bob', 'x')
      const answers = await Promise.all([
        world.put(`/messages/${message.id}`, { data: { text: 'hidden text' } }, { as: 'alice' }),
        world.delete(`/messages/${message.id}`, undefined, { as: 'alice' }),
        world.delete(`/messages/${message.id}`, undefined, { as: 'alice' }),
        world.post('/users/alice/conversation/read', { messageId: message.id }, { as: 'bob' }),
      ])
      expect(answers.filter((answer) => answer.status >= 500)).toEqual([])
      expect(dataOf(await world.get(`/messages/${message.id}`)).deletedAt).toEqual(expect.any(Number))
    }
    expect(await survivors(world, 'hidden text')).toEqual([])
  })
})

/** Tables of this app in which a text still stands. */
async function survivors(world: World, text: string): Promise<string[]> {
  const { database } = world.context
  const tables = await database.run<{ name: string }>(sql`
    select c.table_name as name
    from information_schema.columns c
    where c.table_schema = 'public' and c.column_name = 'app_id'`)
  const found: string[] = []
  for (const { name } of tables) {
    const rows = await database.run(sql`
      select from ${sql.table(name)} t
      where t.app_id = ${world.app.appId} and strpos(row_to_json(t)::text, ${text}) > 0`)
    if (rows.length > 0) found.push(name)
  }
  return found
}

describe('Deleting the parent of a thread for good', () => {
  it('leaves replies of others to whoever may delete them', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol')
    await createGroup(world, 'team', 'alice', { participants: ['bob', 'carol'] })
    const make = async (replier: string) => {
      const parent = await sayInGroup(world, 'bob', 'team', 'parent')
      return { parent, reply: await sayInGroup(world, replier, 'team', 'reply', { parentId: parent.id }) }
    }
    const remove = async (id: string, as?: string) =>
      dataOf(await world.delete(`/messages/${id}`, { permanent: true }, as === undefined ? {} : { as }))
    const { parent, reply } = await make('carol')
    expect((await remove(parent.id, 'bob')).data.action).toBe('deleted')
    const left = dataOf(await world.get(`/messages/${parent.id}`))
    expect(left).toMatchObject({ deletedBy: 'bob', deletedAt: expect.any(Number) })
    expect(left.data).not.toHaveProperty('text')
    expect(dataOf(await world.get(`/messages/${reply.id}`)).data.text).toBe('reply')
    await remove(parent.id, 'alice')
    expect(refusal(await world.get(`/messages/${reply.id}`))).toBe('404 ERR_MESSAGE_ID_NOT_FOUND')

    const own = await make('bob')
    await remove(own.parent.id, 'bob')
    for (const { id } of [own.parent, own.reply]) {
      expect(refusal(await world.get(`/messages/${id}`))).toBe('404 ERR_MESSAGE_ID_NOT_FOUND')
    }
  })
})
