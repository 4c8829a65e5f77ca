import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { DatabaseAwayError } from '../../src/store/connection.ts'
import { ReadsFullError } from '../../src/store/reader.ts'
import { createGroup, dataOf, refusal, say, sayInGroup, texts } from '../support/chat.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'

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
    const file = { url: 'https://example.com/a.png' }
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
      [{ ...to, type: 'image', data: { url: 'javascript:x' } }, '400 ERR_EMPTY_MESSAGE_FILE'],
      [{ ...to, type: 'image', data: { attachments: [file], url: 'javascript:x' } }, '400 ERR_INVALID_MEDIA_MESSAGE'],
      [{ ...to, type: 'image', data: { attachments: [file], url: { a: 1 } } }, '400 ERR_INVALID_MEDIA_MESSAGE'],
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
    const blank = await send({ type: 'image', data: { attachments: [attachment], url: '' } })
    expect(blank.data.url).toBe(attachment.url)
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

describe('a send to several receivers of whom some cannot be written to now', () => {
  const toAll = (world: World) =>
    world.post(
      '/messages',
      { data: { text: 'all' }, multipleReceivers: { uids: ['bob', 'carol'], guids: ['team'] } },
      { as: 'alice' },
    )
  const createScene = async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol')
    await createGroup(world, 'team', 'alice')
    return world
  }
  const refuse = ({ context }: World, failures: Readonly<Record<string, Error>>) => {
    const write = context.messages.write.bind(context.messages)
    const spy = vi.spyOn(context.messages, 'write').mockImplementation(async (row) => {
      const failure = failures[row.receiver]
      if (failure !== undefined) throw failure
      return write(row)
    })
    onTestFinished(() => spy.mockRestore())
  }

  it('answers for each, whatever went wrong with them', async () => {
    const world = await createScene()
    refuse(world, { carol: new DatabaseAwayError(), team: new ReadsFullError('all') })
    const { uids, guids } = dataOf(await toAll(world))
    expect(uids.bob).toMatchObject({ success: true, data: { receiver: 'bob' } })
    for (const failed of [uids.carol, guids.team]) {
      expect(failed).toMatchObject({ success: false, error: { code: 'ERR_MISSION_FAILED' } })
    }
    expect(texts(await world.get('/users/bob/messages', { as: 'alice' }))).toEqual(['all'])
  })

  it('fails where none of them was written to', async () => {
    const world = await createScene()
    const away = new DatabaseAwayError()
    refuse(world, { bob: away, carol: away, team: away })
    expect(refusal(await toAll(world))).toBe('503 ERR_MISSION_FAILED')
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

describe('a muid that is sent again where sending is forbidden by now', () => {
  const toBob = (text: string, muid: string) => ({ receiver: 'bob', receiverType: 'user', data: { text }, muid })
  const toTeam = (text: string, muid: string) => ({ receiver: 'team', receiverType: 'group', data: { text }, muid })
  const alice = { as: 'alice' }

  async function scene() {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol')
    await createGroup(world, 'team', 'bob', { participants: ['alice', 'carol'] })
    const stored = dataOf(await world.post('/messages', toBob('hi', 'same'), alice))
    const storedInTeam = dataOf(await world.post('/messages', toTeam('hi', 'same'), alice))
    return { world, stored, storedInTeam }
  }

  it('answers the message stored to whom the receiver has blocked, and refuses what is new', async () => {
    const { world, stored } = await scene()
    dataOf(await world.post('/users/bob/blockedusers', { blockedUids: ['alice'] }))
    expect(dataOf(await world.post('/messages', toBob('hi', 'same'), alice)).id).toBe(stored.id)
    expect(refusal(await world.post('/messages', toBob('hi', 'other'), alice))).toBe('403 ERR_BLOCKED_SENDER')
    // A muid is its sender's own, in one conversation.
    dataOf(await world.post('/users/carol/blockedusers', { blockedUids: ['alice'] }))
    const toCarol = await world.post('/messages', { ...toBob('hi', 'same'), receiver: 'carol' }, alice)
    expect(refusal(toCarol)).toBe('403 ERR_BLOCKED_SENDER')
    expect(refusal(await world.post('/messages', toBob('hi', 'same'), { as: 'nobody' }))).toBe('404 ERR_UID_NOT_FOUND')
    expect(texts(await world.get('/users/bob/messages', alice))).toEqual(['hi'])
  })

  it('answers it to each of several receivers on its own', async () => {
    const { world, stored, storedInTeam } = await scene()
    dataOf(await world.post('/users/bob/blockedusers', { blockedUids: ['alice'] }))
    dataOf(await world.post('/users/carol/blockedusers', { blockedUids: ['alice'] }))
    const multipleReceivers = { uids: ['bob', 'carol'], guids: ['team'] }
    const again = await world.post('/messages', { multipleReceivers, data: { text: 'hi' }, muid: 'same' }, alice)
    expect(dataOf(again)).toMatchObject({
      uids: {
        bob: { success: true, data: { id: stored.id } },
        carol: { success: false, error: { code: 'ERR_BLOCKED_SENDER' } },
      },
      guids: { team: { success: true, data: { id: storedInTeam.id } } },
    })
  })

  it('answers whoever was kicked their own message, and nothing that was said around it since', async () => {
    const { world, storedInTeam } = await scene()
    const quoting = {
      ...toTeam('as bob said', 'quoting'),
      quotedMessageId: (await sayInGroup(world, 'bob', 'team', 'x')).id,
    }
    const quoted = dataOf(await world.post('/messages', quoting, alice))
    expect(quoted.quotedMessage.data.text).toBe('x')
    dataOf(await world.delete('/groups/team/members/alice'))
    dataOf(await world.post(`/messages/${storedInTeam.id}/reactions/heart`, {}, { as: 'bob' }))
    const again = dataOf(await world.post('/messages', toTeam('hi', 'same'), alice))
    expect(again).toMatchObject({ id: storedInTeam.id, muid: 'same', data: { text: 'hi' } })
    expect(again.data.reactions).toBeUndefined()
    const quotedAgain = dataOf(await world.post('/messages', quoting, alice))
    expect(quotedAgain).toMatchObject({ id: quoted.id, data: { text: 'as bob said' } })
    expect(quotedAgain.quotedMessage).toBeUndefined()
    expect(refusal(await world.post('/messages', toTeam('hi', 'other'), alice))).toBe('403 ERR_GROUP_NOT_JOINED')
  })

  it('answers it to those whose role or scope may not send any more', async () => {
    const { world, stored, storedInTeam } = await scene()
    const denied = { permissions: { sendMessage: 'deny' } }
    dataOf(await world.put('/groups/team/scopes/participant/permissions', denied))
    expect(dataOf(await world.post('/messages', toTeam('hi', 'same'), alice)).id).toBe(storedInTeam.id)
    expect(refusal(await world.post('/messages', toTeam('hi', 'other'), alice))).toBe('403 ERR_PERMISSION_DENIED')
    dataOf(await world.put('/roles/default/permissions', denied))
    expect(dataOf(await world.post('/messages', toBob('hi', 'same'), alice)).id).toBe(stored.id)
    expect(refusal(await world.post('/messages', toBob('hi', 'other'), alice))).toBe('403 ERR_PERMISSION_DENIED')
  })

  it('answers it where the message that it quotes is gone for good', async () => {
    const { world } = await scene()
    const quoted = await say(world, 'bob', 'alice', 'quote me')
    const quoting = { ...toBob('so he said', 'quoting'), quotedMessageId: quoted.id }
    const first = dataOf(await world.post('/messages', quoting, alice))
    dataOf(await world.delete(`/messages/${quoted.id}`, { permanent: true }))
    expect(dataOf(await world.post('/messages', quoting, alice)).id).toBe(first.id)
    const other = await world.post('/messages', { ...quoting, muid: 'other' }, alice)
    expect(refusal(other)).toBe('404 ERR_MESSAGE_ID_NOT_FOUND')
  })

  it('answers a reply in a thread that its sender does not see any more, and tells nobody else of it', async () => {
    const { world } = await scene()
    const parent = await sayInGroup(world, 'bob', 'team', 'parent')
    const reply = { data: { text: 're' }, muid: 'reply' }
    const path = `/messages/${parent.id}/thread`
    const first = dataOf(await world.post(path, reply, alice))
    dataOf(await world.delete('/groups/team/members/alice'))
    expect(dataOf(await world.post(path, reply, alice))).toMatchObject({ id: first.id, parentId: parent.id })
    const several = { data: { text: 're' }, muid: 'reply', multipleReceivers: { guids: ['team'] } }
    expect(dataOf(await world.post(path, several, alice)).guids.team).toMatchObject({ data: { id: first.id } })
    expect(refusal(await world.post(path, { ...reply, muid: 'other' }, alice))).toBe('404 ERR_MESSAGE_ID_NOT_FOUND')
    expect(refusal(await world.post(path, reply, { as: 'nobody' }))).toBe('404 ERR_UID_NOT_FOUND')
    dataOf(await world.delete('/groups/team/members/carol'))
    expect(refusal(await world.post(path, reply, { as: 'carol' }))).toBe('404 ERR_MESSAGE_ID_NOT_FOUND')
  })

  it('answers what a bot has sent', async () => {
    const { world } = await scene()
    dataOf(await world.post('/roles', { role: 'bot', name: 'Bot' }))
    dataOf(await world.post('/users', { uid: 'helper', name: 'Helper', role: 'bot' }))
    const first = dataOf(await world.post('/bots/helper/messages', toBob('beep', 'same')))
    dataOf(await world.post('/users/bob/blockedusers', { blockedUids: ['helper'] }))
    expect(dataOf(await world.post('/bots/helper/messages', toBob('beep', 'same'))).id).toBe(first.id)
    const other = await world.post('/bots/helper/messages', toBob('beep', 'other'))
    expect(refusal(other)).toBe('403 ERR_BLOCKED_SENDER')
  })
})

describe('many senders at the same time', () => {
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
