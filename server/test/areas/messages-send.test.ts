import { describe, expect, it } from 'vitest'
import { createGroup, dataOf, refusal, say, sayInGroup, texts } from '../support/chat.ts'
import { createUsers, createWorld } from '../support/world.ts'

describe('sending a message', () => {
  it('answers the message with the entities of sender and receiver', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const answer = await world.post(
      '/messages',
      {
        receiver: 'Bob',
        receiverType: 'user',
        data: { text: 'hi there', metadata: { k: 'v' }, resource: 'tab-1' },
        muid: 'm-1',
        tags: ['red'],
      },
      { as: 'alice' },
    )
    expect(answer.status).toBe(200)
    const user = { status: 'offline', role: 'default', createdAt: expect.any(Number) }
    expect(answer.body).toEqual({
      data: {
        id: expect.stringMatching(/^[0-9]+$/),
        muid: 'm-1',
        conversationId: 'alice_user_bob',
        sender: 'alice',
        receiverType: 'user',
        receiver: 'bob',
        category: 'message',
        type: 'text',
        data: {
          text: 'hi there',
          metadata: { k: 'v' },
          resource: 'tab-1',
          entities: {
            sender: { entity: { uid: 'alice', name: 'Alice', ...user }, entityType: 'user' },
            receiver: {
              entity: { uid: 'bob', name: 'Bob', ...user, conversationId: 'alice_user_bob' },
              entityType: 'user',
            },
          },
        },
        tags: ['red'],
        sentAt: expect.any(Number),
        updatedAt: answer.body.data.sentAt,
      },
    })
    const read = await world.get(`/messages/${answer.body.data.id}`)
    expect(read.body).toEqual(answer.body)
  })

  it('goes into groups, with the group as receiver', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    await createGroup(world, 'team', 'alice', { participants: ['bob'] })
    const message = await sayInGroup(world, 'bob', 'team', 'hello team')
    expect(message).toMatchObject({
      conversationId: 'group_team',
      receiverType: 'group',
      receiver: 'team',
      sender: 'bob',
    })
    expect(message.data.entities.receiver).toMatchObject({
      entity: { guid: 'team', name: 'team', type: 'public', membersCount: 2 },
      entityType: 'group',
    })
  })

  it('shows names as they are now, in the answer and in the history', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    await say(world, 'alice', 'bob', 'one')
    dataOf(await world.put('/users/alice', { name: 'Alice B' }))
    const second = await say(world, 'alice', 'bob', 'two')
    expect(second.data.entities.sender.entity.name).toBe('Alice B')
    const history = dataOf(await world.get('/users/bob/messages', { as: 'alice' }))
    expect(history.map((m: typeof second) => m.data.entities.sender.entity.name)).toEqual(['Alice B', 'Alice B'])
  })

  it('is done by app_system when nobody acts, and no rule applies then', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    await createGroup(world, 'team', 'alice')
    const direct = dataOf(
      await world.post('/messages', { receiver: 'bob', receiverType: 'user', data: { text: 'news' } }),
    )
    expect(direct.sender).toBe('app_system')
    expect(direct.data.entities.sender.entity).toMatchObject({ uid: 'app_system', name: 'System', role: 'default' })
    const inGroup = dataOf(
      await world.post('/messages', { receiver: 'team', receiverType: 'group', data: { text: 'n' } }),
    )
    expect(inGroup.sender).toBe('app_system')
  })

  it('keeps data as it was sent, in every script, and repairs broken surrogates', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const text = '早上好 "quotes" \\ back\\slash \u{1F600} {a,b} \t\n end'
    const message = await say(world, 'alice', 'bob', text)
    expect(message.data.text).toBe(text)
    const broken = dataOf(
      await world.post('/messages', '{"receiver":"bob","receiverType":"user","data":{"text":"half \\ud800 pair"}}', {
        as: 'alice',
      }),
    )
    expect(broken.data.text).toBe('half \ufffd pair')
    expect(texts(await world.get('/users/bob/messages', { as: 'alice' }))).toEqual([text, 'half \ufffd pair'])
  })

  it('is refused with the code for what is missing or wrong', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const to = { receiver: 'bob', receiverType: 'user' }
    const cases: Array<[object, string]> = [
      [{ receiverType: 'user', data: { text: 'x' } }, '400 ERR_EMPTY_RECEIVER'],
      [{ receiver: 'bob', receiverType: 'room', data: { text: 'x' } }, '400 ERR_INVALID_RECEIVER_TYPE'],
      [{ receiver: 'bob', data: { text: 'x' } }, '400 ERR_INVALID_RECEIVER_TYPE'],
      [{ ...to }, '400 ERR_EMPTY_MESSAGE_TEXT'],
      [{ ...to, data: {} }, '400 ERR_EMPTY_MESSAGE_TEXT'],
      [{ ...to, data: { text: '' } }, '400 ERR_EMPTY_MESSAGE_TEXT'],
      [{ ...to, data: { text: 5 } }, '400 ERR_INVALID_MESSAGE_TEXT'],
      [{ ...to, data: { text: { $ne: 1 } } }, '400 ERR_INVALID_MESSAGE_TEXT'],
      [{ ...to, receiver: '', data: { text: 'x' } }, '400 ERR_EMPTY_RECEIVER'],
      [{ ...to, receiver: 5, data: { text: 'x' } }, '400 ERR_BAD_REQUEST'],
      [{ ...to, receiver: 'b b', data: { text: 'x' } }, '400 ERR_BAD_REQUEST'],
      [{ ...to, data: 'x' }, '400 ERR_INVALID_MESSAGE_DATA'],
      [{ ...to, data: null }, '400 ERR_INVALID_MESSAGE_DATA'],
      [{ ...to, data: ['x'] }, '400 ERR_INVALID_MESSAGE_DATA'],
      [{ ...to, category: 'action', type: 'x', data: { text: 'x' } }, '400 ERR_INVALID_MESSAGE_CATEGORY'],
      [{ ...to, category: '', data: { text: 'x' } }, '400 ERR_EMPTY_MESSAGE_CATEGORY'],
      [{ ...to, type: '', data: { text: 'x' } }, '400 ERR_EMPTY_MESSAGE_TYPE'],
      [{ ...to, type: 'poem', data: { text: 'x' } }, '400 ERR_INVALID_MESSAGE_TYPE'],
      [{ ...to, type: 'image', data: {} }, '400 ERR_EMPTY_MESSAGE_FILE'],
      [{ ...to, type: 'image', data: { attachments: [] } }, '400 ERR_EMPTY_MESSAGE_FILE'],
      [{ ...to, type: 'image', data: { attachments: 'a.png' } }, '400 ERR_INVALID_MEDIA_MESSAGE'],
      [{ ...to, type: 'image', data: { attachments: [{ name: 'a' }] } }, '400 ERR_INVALID_MEDIA_MESSAGE'],
      [{ ...to, type: 'image', data: { attachments: [{ url: 'javascript:x' }] } }, '400 ERR_INVALID_MEDIA_MESSAGE'],
      [{ ...to, category: 'custom', type: 'x', data: {} }, '400 ERR_EMPTY_CUSTOM_DATA'],
      [{ ...to, category: 'custom', type: 'x', data: { customData: 'text' } }, '400 ERR_INVALID_CUSTOM_DATA'],
      [{ ...to, category: 'custom', data: { customData: {} } }, '400 ERR_EMPTY_MESSAGE_TYPE'],
      [{ ...to, data: { text: 'x', metadata: 'no' } }, '400 ERR_INVALID_METADATA'],
      [{ ...to, data: { text: 'x', metadata: { big: 'x'.repeat(5200) } } }, '400 ERR_BAD_REQUEST'],
      [{ ...to, data: { text: 'x'.repeat(11_000) } }, '400 ERR_BAD_REQUEST'],
      [{ ...to, data: { text: 'x' }, tags: Array(26).fill('t') }, '400 ERR_BAD_REQUEST'],
      [{ ...to, data: { text: 'x' }, muid: 7 }, '400 ERR_BAD_REQUEST'],
      [{ receiver: 'nobody', receiverType: 'user', data: { text: 'x' } }, '404 ERR_UID_NOT_FOUND'],
      [{ receiver: 'nothing', receiverType: 'group', data: { text: 'x' } }, '404 ERR_GUID_NOT_FOUND'],
    ]
    for (const [body, expected] of cases) {
      expect([body, refusal(await world.post('/messages', body, { as: 'alice' }))]).toEqual([body, expected])
    }
    expect(dataOf(await world.get('/messages'))).toEqual([])
  })

  it.each([
    ['a text', { data: { text: 'x' } }],
    ['a custom message', { category: 'custom', type: 'x', data: { customData: {} } }],
    ['an interactive message', { category: 'interactive', data: { interactiveData: {} } }],
  ])('is refused where what stands in it for everybody is of another kind: in %s', async (_, body) => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const to = { receiver: 'bob', receiverType: 'user' }
    const first = dataOf(await world.post('/messages', { ...to, ...body }, { as: 'alice' }))
    const told = async (data: object) => {
      const sent = { ...to, ...body, data: { ...body.data, ...data } }
      const answers = [
        await world.post('/messages', sent, { as: 'alice' }),
        await world.post(`/messages/${first.id}/thread`, sent, { as: 'alice' }),
        await world.put(`/messages/${first.id}`, { data }, { as: 'alice' }),
      ]
      return [...new Set(answers.map(refusal))]
    }
    const script = 'javascript:alert(1)'
    for (const attachments of ['x', null, 5, { a: 1 }, [null], ['x'], [{}], [{ url: 5 }], [{ url: script }]]) {
      expect([attachments, await told({ attachments })]).toEqual([attachments, ['400 ERR_INVALID_MEDIA_MESSAGE']])
    }
    for (const text of [5, null, { a: 1 }, ['x']]) {
      expect([text, await told({ text })]).toEqual([text, ['400 ERR_INVALID_MESSAGE_TEXT']])
    }
    const data = { ...body.data, text: 'look', attachments: [{ url: 'https://example.com/a.png', other: 5 }] }
    expect(dataOf(await world.post('/messages', { ...to, ...body, data }, { as: 'alice' })).data).toMatchObject(data)
  })

  it('takes media by URL, custom and interactive messages', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const to = { receiver: 'bob', receiverType: 'user' }
    const attachment = {
      url: 'https://example.com/a.png',
      name: 'a.png',
      mimeType: 'image/png',
      extension: 'png',
      size: '12',
    }
    const send = async (body: object) => dataOf(await world.post('/messages', { ...to, ...body }, { as: 'alice' }))
    const image = await send({ type: 'image', data: { text: 'caption', attachments: [attachment] } })
    expect(image.data).toMatchObject({ text: 'caption', attachments: [attachment], url: attachment.url })
    const custom = await send({ category: 'custom', type: 'location', data: { customData: { lat: 1 } } })
    expect(custom).toMatchObject({ category: 'custom', type: 'location', data: { customData: { lat: 1 } } })
    const card = await send({ category: 'interactive', data: { interactiveData: { text: 'pick' } } })
    expect(card).toMatchObject({ category: 'interactive', type: 'card' })
  })

  it('refuses senders and receivers who are unknown or deactivated', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const body = (receiver: string) => ({ receiver, receiverType: 'user', data: { text: 'x' } })
    expect(refusal(await world.post('/messages', body('bob'), { as: 'nobody' }))).toBe('404 ERR_UID_NOT_FOUND')
    await world.delete('/users', { uidsToDeactivate: ['bob'] })
    expect(refusal(await world.post('/messages', body('bob'), { as: 'alice' }))).toBe('404 ERR_UID_NOT_FOUND')
    expect(refusal(await world.post('/messages', body('alice'), { as: 'bob' }))).toBe('404 ERR_UID_NOT_FOUND')
  })

  it('refuses who is no member, who is banned, and hides private groups', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol')
    await createGroup(world, 'open', 'alice')
    await createGroup(world, 'secret', 'alice', {}, { type: 'private' })
    const body = (receiver: string) => ({ receiver, receiverType: 'group', data: { text: 'x' } })
    expect(refusal(await world.post('/messages', body('open'), { as: 'bob' }))).toBe('403 ERR_GROUP_NOT_JOINED')
    expect(refusal(await world.post('/messages', body('secret'), { as: 'bob' }))).toBe('404 ERR_GUID_NOT_FOUND')
    dataOf(await world.post('/groups/open/members', { participants: ['carol'] }))
    dataOf(await world.post('/groups/open/bannedusers/carol'))
    expect(refusal(await world.post('/messages', body('open'), { as: 'carol' }))).toBe('403 ERR_BANNED_GROUPMEMBER')
  })

  it('to several receivers answers for each, and one that fails does not stop the others', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol')
    await createGroup(world, 'team', 'alice')
    const answer = dataOf(
      await world.post(
        '/messages',
        { data: { text: 'all' }, multipleReceivers: { uids: ['bob', 'nobody', 'carol'], guids: ['team'] } },
        { as: 'alice' },
      ),
    )
    expect(Object.keys(answer.uids).sort()).toEqual(['bob', 'carol', 'nobody'])
    expect(answer.uids.bob).toMatchObject({ success: true, data: { receiver: 'bob', data: { text: 'all' } } })
    expect(answer.uids.nobody).toMatchObject({ success: false, error: { code: 'ERR_UID_NOT_FOUND' } })
    expect(answer.guids.team).toMatchObject({ success: true, data: { conversationId: 'group_team' } })
    expect(texts(await world.get('/users/carol/messages', { as: 'alice' }))).toEqual(['all'])
    const nobody = await world.post('/messages', { data: { text: 'x' }, multipleReceivers: {} }, { as: 'alice' })
    expect(refusal(nobody)).toBe('400 ERR_EMPTY_RECEIVER')
  })
})

describe('a muid that is sent again', () => {
  it('answers the message already stored, and stores no second one', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol')
    const first = await say(world, 'alice', 'bob', 'hi', { muid: 'same' })
    const again = await say(world, 'alice', 'bob', 'other text', { muid: 'same' })
    expect(again).toEqual(first)
    expect(texts(await world.get('/users/bob/messages', { as: 'alice' }))).toEqual(['hi'])
    // Another sender, and another conversation, have muids of their own.
    expect((await say(world, 'bob', 'alice', 'back', { muid: 'same' })).id).not.toBe(first.id)
    expect((await say(world, 'alice', 'carol', 'hi', { muid: 'same' })).id).not.toBe(first.id)
  })

  it('stores one message of 64 sent at the same time', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const sent = await Promise.all(
      Array.from({ length: 64 }, () => say(world, 'alice', 'bob', 'once', { muid: 'one' })),
    )
    expect(new Set(sent.map((message) => message.id)).size).toBe(1)
    expect(texts(await world.get('/users/bob/messages', { as: 'alice' }))).toEqual(['once'])
  })
})

describe('many senders at once', () => {
  it('store every message, once, in the order of their ids', async () => {
    const world = await createWorld()
    const uids = Array.from({ length: 8 }, (_, i) => `user${i}`)
    await createUsers(world, ...uids)
    await createGroup(world, 'team', 'user0', { participants: uids.slice(1) })
    const sent = await Promise.all(
      Array.from({ length: 200 }, (_, i) => sayInGroup(world, uids[i % 8] as string, 'team', `t${i}`)),
    )
    const listed = dataOf(await world.get('/groups/team/messages?limit=1000&category=message'))
    const ids = listed.map((message: { id: string }) => Number(message.id))
    expect(ids).toEqual([...ids].sort((a, b) => a - b))
    expect(new Set(ids)).toEqual(new Set(sent.map((message) => Number(message.id))))
  })

  it('get a refusal of their own when one of them is wrong', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, i) =>
        world.post(
          '/messages',
          { receiver: i % 4 === 0 ? 'nobody' : 'bob', receiverType: 'user', data: { text: `t${i}` } },
          { as: 'alice' },
        ),
      ),
    )
    expect(answers.filter((answer) => answer.status === 200)).toHaveLength(30)
    expect(answers.filter((answer) => refusal(answer) === '404 ERR_UID_NOT_FOUND')).toHaveLength(10)
  })
})
