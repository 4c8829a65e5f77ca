import { describe, expect, it } from 'vitest'
import { findDrift } from '../../src/doctor/drift.ts'
import { createGroup, dataOf, refusal, say, sayInGroup, texts } from '../support/chat.ts'
import { groupText, importWell } from '../support/imports.ts'
import { type Answer, createUsers, createWorld, type World } from '../support/world.ts'

const replyTo = (world: World, as: string, id: string, text: string, extra: object = {}) =>
  world.post(`/messages/${id}/thread`, { data: { text }, ...extra }, { as })

/** alice and bob, and a message of alice to bob. */
async function createTalk() {
  const world = await createWorld()
  await createUsers(world, 'alice', 'bob', 'carol')
  return { world, parent: await say(world, 'alice', 'bob', 'parent') }
}

/** A group of alice (owner), bob (admin), mike (moderator) and pete, and a message of alice in it. */
async function createTeam() {
  const world = await createWorld()
  await createUsers(world, 'alice', 'bob', 'mike', 'pete', 'zoe')
  await createGroup(world, 'g', 'alice', { admins: ['bob'], moderators: ['mike'], participants: ['pete'] })
  return { world, parent: await sayInGroup(world, 'alice', 'g', 'parent') }
}

/** What `threads` keeps of a message, straight from the table. */
async function kept(world: World, id: string) {
  const [row] = await world.context.database.query<{ count: number; last: number; updatedAt: number }>(
    {
      name: 'test thread',
      text: `select reply_count as count, last_reply_id as last, updated_at as "updatedAt"
        from threads where app_id = $1 and parent_id = $2`,
    },
    [world.app.appId, Number(id)],
  )
  return row
}

const read = async (world: World, id: string, as?: string) =>
  dataOf(await world.get(`/messages/${id}`, as === undefined ? {} : { as }))

const permissions = (scope: string) => `/groups/g/scopes/${scope}/permissions`
const set = async (world: World, scope: string, values: object) =>
  dataOf(await world.put(permissions(scope), { permissions: values }))
const unset = async (world: World, scope: string, key: string) =>
  dataOf(await world.delete(`${permissions(scope)}/${key}`))

describe('Sending into a thread', () => {
  it('answers the reply, which goes to the other side of the parent’s conversation', async () => {
    const { world, parent } = await createTalk()
    const fromBob = dataOf(
      await replyTo(world, 'bob', parent.id, 're hi', { tags: ['t'], data: { text: 're hi', metadata: { k: 'v' } } }),
    )
    const user = { status: 'offline', role: 'default', createdAt: expect.any(Number) }
    expect(fromBob).toEqual({
      id: expect.stringMatching(/^\d+$/),
      conversationId: 'alice_user_bob',
      sender: 'bob',
      receiverType: 'user',
      receiver: 'alice',
      category: 'message',
      type: 'text',
      data: {
        text: 're hi',
        metadata: { k: 'v' },
        entities: {
          sender: { entity: { uid: 'bob', name: 'Bob', ...user }, entityType: 'user' },
          receiver: {
            entity: { uid: 'alice', name: 'Alice', ...user, conversationId: 'alice_user_bob' },
            entityType: 'user',
          },
        },
      },
      parentId: parent.id,
      tags: ['t'],
      sentAt: expect.any(Number),
      updatedAt: expect.any(Number),
    })
    expect(dataOf(await replyTo(world, 'alice', parent.id, 'and back'))).toMatchObject({
      receiver: 'bob',
      parentId: parent.id,
    })
    expect(texts(await world.get(`/messages/${parent.id}/thread`, { as: 'alice' }))).toEqual(['re hi', 'and back'])
    expect(texts(await world.get('/users/bob/messages', { as: 'alice' }))).toEqual(['parent', 're hi', 'and back'])
    expect(texts(await world.get('/users/bob/messages?hideReplies=1', { as: 'alice' }))).toEqual(['parent'])
  })

  it('goes to the group, takes other categories, and answers a repeated muid with the stored reply', async () => {
    const { world, parent } = await createTeam()
    const custom = dataOf(
      await world.post(
        `/messages/${parent.id}/thread`,
        { category: 'custom', type: 'poll', data: { customData: { q: 1 } }, muid: 'm', quotedMessageId: parent.id },
        { as: 'pete' },
      ),
    )
    expect(custom).toMatchObject({
      receiverType: 'group',
      receiver: 'g',
      category: 'custom',
      type: 'poll',
      parentId: parent.id,
      quotedMessage: { id: parent.id },
    })
    const again = dataOf(
      await world.post(
        `/messages/${parent.id}/thread`,
        { category: 'custom', type: 'poll', data: { customData: { q: 1 } }, muid: 'm' },
        { as: 'pete' },
      ),
    )
    expect(again.id).toBe(custom.id)
    expect((await read(world, parent.id)).replyCount).toBe(1)
  })

  it('takes a receiver that is the one of the parent’s conversation, in multipleReceivers too, and no other', async () => {
    const { world, parent } = await createTalk()
    await createGroup(world, 'g', 'alice')
    const to = async (body: object) => refusal(await replyTo(world, 'alice', parent.id, 'x', body))
    expect(await to({ receiver: 'BOB' })).toBe('200 undefined')
    expect(await to({ receiver: 'bob', receiverType: 'user' })).toBe('200 undefined')
    expect(await to({ receiver: 'carol' })).toBe('400 ERR_WRONG_MESSAGE_THREAD')
    expect(await to({ receiver: 'g', receiverType: 'group' })).toBe('400 ERR_WRONG_MESSAGE_THREAD')
    // Whom it names is looked for first.
    await createGroup(world, 'hidden', 'bob', {}, { type: 'private' })
    await createGroup(world, 'open', 'bob')
    await createUsers(world, 'dave')
    dataOf(await world.delete('/users/dave'))
    expect(await to({ receiver: 'nobody' })).toBe('404 ERR_UID_NOT_FOUND')
    expect(await to({ receiver: 'dave' })).toBe('404 ERR_UID_NOT_FOUND')
    expect(await to({ receiver: 'nothing', receiverType: 'group' })).toBe('404 ERR_GUID_NOT_FOUND')
    expect(await to({ receiver: 'hidden', receiverType: 'group' })).toBe('404 ERR_GUID_NOT_FOUND')
    expect(await to({ receiver: 'open', receiverType: 'group' })).toBe('403 ERR_GROUP_NOT_JOINED')
    expect(await to({ receiverType: 'crowd' })).toBe('400 ERR_INVALID_RECEIVER_TYPE')
    expect(await to({ data: { text: '' } })).toBe('400 ERR_EMPTY_MESSAGE_TEXT')
    const outcomes = dataOf(
      await replyTo(world, 'alice', parent.id, 'many', { multipleReceivers: { uids: ['bob', 'carol'], guids: ['g'] } }),
    )
    expect(outcomes.uids.bob).toMatchObject({ success: true, data: { parentId: parent.id } })
    expect(outcomes.uids.carol.error.code).toBe('ERR_WRONG_MESSAGE_THREAD')
    expect(outcomes.guids.g.error.code).toBe('ERR_WRONG_MESSAGE_THREAD')
    expect((await read(world, parent.id)).replyCount).toBe(3)
  })

  it('is refused below a reply, below an action, and to who takes no part', async () => {
    const { world, parent } = await createTalk()
    await createGroup(world, 'secret', 'alice', {}, { type: 'private' })
    const hidden = await sayInGroup(world, 'alice', 'secret', 'x')
    const reply = dataOf(await replyTo(world, 'bob', parent.id, 'x'))
    const action = dataOf(await world.put(`/messages/${parent.id}`, { data: { text: 'y' } }, { as: 'alice' }))
    const refused = async (as: string | undefined, id: string) =>
      refusal(await world.post(`/messages/${id}/thread`, { data: { text: 'x' } }, as === undefined ? {} : { as }))
    expect(await refused('alice', reply.id)).toBe('400 ERR_MESSAGE_THREAD_NESTING')
    expect(await refused('alice', action.id)).toBe('400 ERR_WRONG_MESSAGE_THREAD_CATEGORY')
    expect(await refused('carol', parent.id)).toBe('404 ERR_MESSAGE_ID_NOT_FOUND')
    expect(await refused('carol', hidden.id)).toBe('404 ERR_MESSAGE_ID_NOT_FOUND')
    expect(await refused('alice', '123456789')).toBe('404 ERR_MESSAGE_ID_NOT_FOUND')
    expect(await refused('nobody', parent.id)).toBe('404 ERR_UID_NOT_FOUND')
    expect(await refused(undefined, parent.id)).toBe('400 ERR_BAD_REQUEST')
    dataOf(await world.delete(`/messages/${parent.id}`, { permanent: true }))
    expect(await refused('alice', parent.id)).toBe('404 ERR_MESSAGE_ID_NOT_FOUND')
    expect(
      refusal(
        await world.post(
          '/messages',
          { receiver: 'carol', receiverType: 'user', parentId: hidden.id, data: { text: 'x' } },
          { as: 'alice' },
        ),
      ),
    ).toBe('400 ERR_WRONG_MESSAGE_THREAD')
    const another = await say(world, 'alice', 'bob', 'x')
    dataOf(await world.post('/users/bob/blockedusers', { blockedUids: ['alice'] }))
    expect(await refused('bob', another.id)).toBe('403 ERR_BLOCKED_RECEIVER')
    expect(await refused('alice', another.id)).toBe('403 ERR_BLOCKED_SENDER')
  })
})

describe('A thread counts its replies', () => {
  it('exactly when 40 are sent at the same time, in both ways, into several threads', async () => {
    const { world, parent } = await createTeam()
    const other = await sayInGroup(world, 'bob', 'g', 'other')
    const uids = ['alice', 'bob', 'mike', 'pete']
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, i) => {
        const as = uids[i % 4] as string
        if (i % 3 === 2) return replyTo(world, as, other.id, `o${i}`)
        return i % 3 === 0
          ? replyTo(world, as, parent.id, `t${i}`)
          : world.post(
              '/messages',
              { receiver: 'g', receiverType: 'group', parentId: parent.id, data: { text: `p${i}` } },
              { as },
            )
      }),
    )
    expect(answers.map((answer) => answer.status)).toEqual(Array(60).fill(200))
    expect((await read(world, parent.id)).replyCount).toBe(40)
    expect((await read(world, other.id)).replyCount).toBe(20)
    const replies = dataOf(await world.get(`/messages/${parent.id}/thread?limit=100`))
    expect(replies).toHaveLength(40)
    const last = replies.at(-1)
    expect(await kept(world, parent.id)).toEqual({ count: 40, last: Number(last.id), updatedAt: last.sentAt })
    expect(await findDrift(world.context.database, world.app.appId)).toEqual([])
  })

  it('down again as they are deleted, softly or for good, and is none without', async () => {
    const { world, parent } = await createTalk()
    const ids: string[] = []
    for (let i = 0; i < 4; i++) ids.push(dataOf(await replyTo(world, 'bob', parent.id, `r${i}`)).id)
    const [first, second, third, fourth] = ids as [string, string, string, string]
    const remove = async (id: string, body: object) =>
      dataOf(await world.delete(`/messages/${id}`, body, { as: 'bob' }))
    expect(await kept(world, parent.id)).toMatchObject({ count: 4, last: Number(fourth) })
    await remove(fourth, {})
    expect(await kept(world, parent.id)).toMatchObject({ count: 3, last: Number(third) })
    await remove(fourth, {})
    expect(await kept(world, parent.id)).toMatchObject({ count: 3, last: Number(third) })
    await remove(first, { permanent: true })
    expect(await kept(world, parent.id)).toMatchObject({ count: 2, last: Number(third) })
    await remove(fourth, { permanent: true })
    expect(await kept(world, parent.id)).toMatchObject({ count: 2, last: Number(third) })
    dataOf(await world.put(`/messages/${second}`, { data: { text: 'edited' } }, { as: 'bob' }))
    expect(await kept(world, parent.id)).toMatchObject({ count: 2, last: Number(third) })
    const fifth = dataOf(await replyTo(world, 'alice', parent.id, 'r5')).id
    expect(await kept(world, parent.id)).toMatchObject({ count: 3, last: Number(fifth) })
    for (const id of [second, third]) await remove(id, {})
    dataOf(await world.delete(`/messages/${fifth}`, {}, { as: 'alice' }))
    expect(await kept(world, parent.id)).toBeUndefined()
    const bare = await read(world, parent.id, 'bob')
    expect(bare).not.toHaveProperty('replyCount')
    expect(bare).not.toHaveProperty('unreadRepliesCount')
    dataOf(await replyTo(world, 'bob', parent.id, 'anew'))
    expect((await read(world, parent.id)).replyCount).toBe(1)
  })

  it('exactly when replies are sent and deleted at the same time', async () => {
    const { world, parent } = await createTalk()
    const ids: string[] = []
    for (let i = 0; i < 10; i++) ids.push(dataOf(await replyTo(world, 'bob', parent.id, `r${i}`)).id)
    const answers = await Promise.all([
      ...ids.map((id, i) => world.delete(`/messages/${id}`, { permanent: i % 2 === 0 }, { as: 'bob' })),
      ...ids.map((_, i) => replyTo(world, 'alice', parent.id, `new${i}`)),
    ])
    expect(answers.map((answer) => answer.status)).toEqual(Array(20).fill(200))
    expect((await read(world, parent.id)).replyCount).toBe(10)
    const [newest] = dataOf(
      await world.get(`/messages/${parent.id}/thread?limit=1&affix=prepend&hideDeleted=1&category=message`),
    )
    expect(await kept(world, parent.id)).toMatchObject({ count: 10, last: Number(newest.id) })
    expect(await findDrift(world.context.database, world.app.appId)).toEqual([])
  })

  it('when they are imported, into the past too, and goes on from there', async () => {
    const { world } = await createTeam()
    const imported = await importWell(world, 'messages', [
      groupText('p', 'alice', 'g', 1_600_000_000),
      groupText('r1', 'bob', 'g', 1_600_000_300, { parentMuid: 'p' }),
      groupText('gone', 'mike', 'g', 1_600_000_400, { parentMuid: 'p', deletedAt: 1_600_000_500 }),
    ])
    const { id } = imported.p
    expect(await kept(world, id)).toEqual({ count: 1, last: Number(imported.r1.id), updatedAt: 1_600_000_300 })
    await importWell(world, 'messages', [groupText('r0', 'pete', 'g', 1_600_000_200, { parentMuid: 'p' })])
    expect(await kept(world, id)).toEqual({ count: 2, last: Number(imported.r1.id), updatedAt: 1_600_000_300 })
    const live = dataOf(await replyTo(world, 'bob', id, 'live'))
    expect(await kept(world, id)).toEqual({ count: 3, last: Number(live.id), updatedAt: live.sentAt })
    const subscribed = async (as: string) => dataOf(await world.get('/groups/g/threads', { as }))[0].subscribed
    expect(await subscribed('alice')).toBe(true)
    expect(await subscribed('bob')).toBe(true)
    expect(await subscribed('pete')).toBe(true)
    expect(await subscribed('mike')).toBe(false)
    expect(await findDrift(world.context.database, world.app.appId)).toEqual([])
  })

  it('and is followed by whom an edit of a reply mentions, again after they have unsubscribed', async () => {
    const { world, parent } = await createTeam()
    const reply = dataOf(await replyTo(world, 'bob', parent.id, 'what do you think?'))
    const followers = async () => {
      const rows = dataOf(await world.get('/groups/g/threads?withMentionCount=1', { as: 'mike' }))
      return rows.map((thread: { subscribed: boolean; mentionCount: number }) => [
        thread.subscribed,
        thread.mentionCount,
      ])
    }
    expect(await followers()).toEqual([[false, 0]])
    const edit = (text: string) => world.put(`/messages/${reply.id}`, { data: { text } }, { as: 'bob' })
    dataOf(await edit('what do you think, <@uid:mike>?'))
    expect(await followers()).toEqual([[true, 1]])
    dataOf(await world.delete(`/messages/${parent.id}/thread/subscription`, undefined, { as: 'mike' }))
    dataOf(await edit('what do you all think?'))
    expect(await followers()).toEqual([[false, 0]])
    dataOf(await edit('and you, <@uid:mike>?'))
    expect(await followers()).toEqual([[true, 1]])
  })

  it('and leaves nothing behind when the parent is removed while replies come in', async () => {
    const { world } = await createTalk()
    for (let round = 0; round < 5; round++) {
      const parent = await say(world, 'alice', 'bob', 'x')
      const answers = await Promise.all([
        replyTo(world, 'bob', parent.id, 'a'),
        world.delete(`/messages/${parent.id}`, { permanent: true }),
        replyTo(world, 'bob', parent.id, 'b'),
        world.post(`/messages/${parent.id}/thread/subscription`, undefined, { as: 'alice' }),
      ])
      expect(answers.map(refusal)).toEqual(
        answers.map(() => expect.stringMatching(/^200|^404 ERR_MESSAGE_ID_NOT_FOUND/)),
      )
    }
    const left = await world.context.database.query(
      {
        name: 'test threads left',
        text: `select parent_id from threads where app_id = $1
          union all select parent_id from thread_subscriptions where app_id = $1
          union all select parent_id from messages where app_id = $1 and parent_id is not null`,
      },
      [world.app.appId],
    )
    expect(left).toEqual([])
  })
})

describe('The parent of a thread', () => {
  it.each([
    ['the scope of an admin', { kind: 'scope', deleter: 'bob', replier: 'pete' }],
    ['the role of who deletes their own', { kind: 'role', deleter: 'alice', replier: 'alice' }],
  ] as const)(
    'that is deleted for good leaves replies that %s may not delete',
    async (_, { kind, deleter, replier }) => {
      const { world, parent } = await (kind === 'scope' ? createTeam() : createTalk())
      const reply = dataOf(await replyTo(world, replier, parent.id, 'stays'))
      const permissions = { deleteThreadedMessage: 'deny' }
      if (kind === 'scope') await set(world, 'admin', permissions)
      else dataOf(await world.put('/roles/default/permissions', { permissions }))
      const remove = async (id: string) =>
        refusal(await world.delete(`/messages/${id}`, { permanent: true }, { as: deleter }))
      expect(await remove(reply.id)).toBe('403 ERR_PERMISSION_DENIED')
      expect(await remove(parent.id)).toBe('200 undefined')
      expect(await read(world, reply.id)).toMatchObject({ parentId: parent.id, data: { text: 'stays' } })
      expect(await read(world, parent.id)).toMatchObject({ deletedAt: expect.any(Number), deletedBy: deleter })

      dataOf(await world.delete(`/messages/${reply.id}`, { permanent: true }))
      expect(await remove(parent.id)).toBe('200 undefined')
      expect(refusal(await world.get(`/messages/${parent.id}`))).toBe('404 ERR_MESSAGE_ID_NOT_FOUND')
    },
  )

  it('shows how many replies it has, and how many are unread for the one who looks', async () => {
    const { world, parent } = await createTalk()
    await say(world, 'bob', 'alice', 'no thread')
    for (const text of ['one', 'two']) dataOf(await replyTo(world, 'bob', parent.id, text))
    const counts = async (as?: string) => {
      const url =
        as === undefined ? '/messages?hideReplies=1' : `/users/${as === 'bob' ? 'alice' : 'bob'}/messages?hideReplies=1`
      return dataOf(await world.get(url, as === undefined ? {} : { as })).map(
        ({ replyCount, unreadRepliesCount }: Record<string, number>) => [replyCount, unreadRepliesCount],
      )
    }
    expect(await counts('alice')).toEqual([
      [2, 2],
      [undefined, undefined],
    ])
    expect(await counts('bob')).toEqual([
      [2, 0],
      [undefined, undefined],
    ])
    expect(await counts()).toEqual([
      [2, undefined],
      [undefined, undefined],
    ])
    dataOf(await world.post('/users/bob/conversation/read', undefined, { as: 'alice' }))
    expect(await counts('alice')).toContainEqual([2, 0])
    const three = dataOf(await replyTo(world, 'bob', parent.id, 'three'))
    expect((await read(world, parent.id, 'alice')).unreadRepliesCount).toBe(1)
    dataOf(await world.delete(`/messages/${three.id}`, undefined, { as: 'bob' }))
    expect(await read(world, parent.id, 'alice')).toMatchObject({ replyCount: 2, unreadRepliesCount: 0 })
  })
})

describe('Following a thread', () => {
  const follows = async (world: World, as: string, id: string) => {
    const list = await world.get('/messages?withThreadSubscribed=true&limit=100', { as })
    return dataOf(list).find((message: { id: string }) => message.id === id).threadSubscribed
  }
  const subscription = (id: string) => `/messages/${id}/thread/subscription`

  it('begins by starting it, by replying and by asking, and ends by asking, until the next own reply', async () => {
    const { world, parent } = await createTeam()
    expect(await follows(world, 'alice', parent.id)).toBeUndefined()
    dataOf(await replyTo(world, 'bob', parent.id, 'x'))
    expect(await follows(world, 'alice', parent.id)).toBe(true)
    expect(await follows(world, 'bob', parent.id)).toBe(true)
    expect(await follows(world, 'pete', parent.id)).toBe(false)

    for (let twice = 0; twice < 2; twice++) {
      // Front ends give the text to whoever asked.
      expect(dataOf(await world.post(subscription(parent.id), undefined, { as: 'pete' }))).toEqual({
        success: true,
        message: `pete follows the thread of the message ${parent.id}.`,
      })
    }
    expect(await follows(world, 'pete', parent.id)).toBe(true)

    for (const uid of ['alice', 'bob', 'pete', 'mike']) {
      expect(dataOf(await world.delete(subscription(parent.id), undefined, { as: uid }))).toEqual({
        success: true,
        message: `${uid} no longer follows the thread of the message ${parent.id}.`,
      })
      expect(await follows(world, uid, parent.id)).toBe(false)
    }
    dataOf(await replyTo(world, 'bob', parent.id, 'again'))
    expect(await follows(world, 'bob', parent.id)).toBe(true)
    expect(await follows(world, 'alice', parent.id)).toBe(false)
    const plain = dataOf(await world.get('/messages', { as: 'bob' }))
    expect(plain.every((message: object) => !('threadSubscribed' in message))).toBe(true)
  })

  it('is possible before the first reply, and not for replies, actions and outsiders', async () => {
    const { world, parent } = await createTalk()
    const subscribe = async (id: string, as?: string) =>
      refusal(await world.post(subscription(id), undefined, as === undefined ? {} : { as }))
    const unsubscribe = async (id: string, as?: string) =>
      refusal(await world.delete(subscription(id), undefined, as === undefined ? {} : { as }))
    expect(await subscribe(parent.id, 'bob')).toBe('200 undefined')
    expect(await follows(world, 'bob', parent.id)).toBe(true)
    expect(await follows(world, 'alice', parent.id)).toBe(false)
    const reply = dataOf(await replyTo(world, 'bob', parent.id, 'x'))
    const action = dataOf(await world.put(`/messages/${reply.id}`, { data: { text: 'y' } }, { as: 'bob' }))
    expect(await subscribe(reply.id, 'bob')).toBe('400 ERR_MESSAGE_THREAD_NESTING')
    expect(await subscribe(action.id, 'bob')).toBe('400 ERR_WRONG_MESSAGE_THREAD_CATEGORY')
    for (const call of [subscribe, unsubscribe]) {
      expect(await call(parent.id, 'carol')).toBe('404 ERR_MESSAGE_ID_NOT_FOUND')
      expect(await call(parent.id, 'nobody')).toBe('404 ERR_UID_NOT_FOUND')
      expect(await call('123456789', 'bob')).toBe('404 ERR_MESSAGE_ID_NOT_FOUND')
      expect(await call(parent.id)).toBe('400 ERR_BAD_REQUEST')
    }
  })
})

describe('The messages of a thread', () => {
  it('are walked from end to end in both directions, and filtered', async () => {
    const { world, parent } = await createTalk()
    for (let i = 0; i < 7; i++) dataOf(await replyTo(world, i % 2 === 0 ? 'bob' : 'alice', parent.id, `r${i}`))
    await say(world, 'bob', 'alice', 'elsewhere')
    const url = `/messages/${parent.id}/thread`
    const all = Array.from({ length: 7 }, (_, i) => `r${i}`)
    for (const affix of ['append', 'prepend']) {
      const pages: string[][] = []
      let query = `limit=3&affix=${affix}`
      for (;;) {
        const page = await world.get(`${url}?${query}`, { as: 'alice' })
        pages.push(texts(page))
        const onward = affix === 'append' ? page.body.meta.next : page.body.meta.previous
        if (onward === undefined) break
        query = `limit=3&affix=${affix}&id=${onward.id}&sentAt=${onward.sentAt}`
      }
      expect(affix === 'append' ? pages.flat() : pages.reverse().flat()).toEqual(all)
    }
    expect(texts(await world.get(`${url}?sender=alice`, { as: 'bob' }))).toEqual(['r1', 'r3', 'r5'])
    expect(texts(await world.get(`${url}?perPage=100`))).toEqual(all)
    const unread = await world.get(`${url}?unread=1&count=1`, { as: 'alice' })
    expect(dataOf(unread)).toEqual([{ entityId: 'bob', entityType: 'user', count: 1 }])
    expect(dataOf(await world.get(`/messages/${dataOf(await world.get(url))[0].id}/thread`))).toEqual([])
  })

  it('are for who sees the parent: not for who has reset its history', async () => {
    const { world, parent } = await createTalk()
    dataOf(await replyTo(world, 'bob', parent.id, 'old'))
    const url = `/messages/${parent.id}/thread`
    expect(refusal(await world.get(url, { as: 'carol' }))).toBe('404 ERR_MESSAGE_ID_NOT_FOUND')
    expect(refusal(await world.get(url, { as: 'nobody' }))).toBe('404 ERR_UID_NOT_FOUND')
    expect(refusal(await world.get('/messages/123456789/thread', { as: 'bob' }))).toBe('404 ERR_MESSAGE_ID_NOT_FOUND')
    dataOf(await world.delete('/users/bob/conversation', undefined, { as: 'alice' }))
    dataOf(await replyTo(world, 'bob', parent.id, 'new'))
    expect(refusal(await world.get(url, { as: 'alice' }))).toBe('404 ERR_MESSAGE_ID_NOT_FOUND')
    expect(texts(await world.get('/users/bob/messages', { as: 'alice' }))).toEqual(['new'])
    expect(texts(await world.get(url, { as: 'bob' }))).toEqual(['old', 'new'])
  })
})

describe('Lists of threads', () => {
  const names = (answer: Answer) => dataOf(answer).map(({ data }: { data: { text: string } }) => data.text)

  /** Moves a thread in time, as if its last reply had been sent then. */
  const moveTo = (world: World, id: string, at: number) =>
    world.context.database.query(
      { name: 'test move thread', text: 'update threads set updated_at = $3 where app_id = $1 and parent_id = $2' },
      [world.app.appId, Number(id), at],
    )

  it('show the parent with its last reply and what goes on, the newest reply first', async () => {
    const { world, parent } = await createTalk()
    const second = await say(world, 'bob', 'alice', 'second')
    await say(world, 'bob', 'alice', 'no thread')
    dataOf(await replyTo(world, 'alice', second.id, 'x'))
    const last = dataOf(await replyTo(world, 'bob', parent.id, 'y'))
    await moveTo(world, second.id, last.sentAt - 10)
    const list = await world.get('/threads?withUnreadReplyCount=1&withMentionCount=1', { as: 'alice' })
    expect(dataOf(list)).toEqual([
      {
        ...parent,
        deliveredAt: expect.any(Number),
        readAt: expect.any(Number),
        updatedAt: last.sentAt,
        replyCount: 1,
        unreadRepliesCount: 1,
        unreadReplyCount: 1,
        mentionCount: 0,
        threadSubscribed: true,
        subscribed: true,
        participatedByMe: true,
        lastReply: last,
      },
      expect.objectContaining({ id: second.id, replyCount: 1, unreadReplyCount: 0, updatedAt: last.sentAt - 10 }),
    ])
    const [first] = dataOf(await world.get('/threads'))
    expect(first).toMatchObject({ id: parent.id, replyCount: 1, lastReply: { id: last.id } })
    for (const field of ['subscribed', 'participatedByMe', 'unreadReplyCount', 'unreadRepliesCount']) {
      expect(first).not.toHaveProperty(field)
    }
    expect(list.body.meta).toEqual({
      current: { limit: 100, count: 2 },
      cursor: { affix: 'prepend', updatedAt: last.sentAt - 10, id: second.id },
      pagination: { count: 2, per_page: 100 },
    })
  })

  it('are walked from the newest to the oldest and back, also where replies share a second', async () => {
    const { world } = await createTalk()
    const now = Math.floor(Date.now() / 1000)
    for (let i = 0; i < 7; i++) {
      const parent = await say(world, 'alice', 'bob', `t${i}`)
      dataOf(await replyTo(world, 'bob', parent.id, 'x'))
      await moveTo(world, parent.id, now - 10 + Math.floor(i / 3))
    }
    const walk = async (affix: string, as?: string) => {
      const pages: string[][] = []
      let query = `limit=2&affix=${affix}`
      for (;;) {
        const page = await world.get(`/threads?${query}`, as === undefined ? {} : { as })
        pages.push(names(page))
        const { meta } = page.body
        const onward = affix === 'prepend' ? meta.previous : meta.next
        if (onward === undefined) break
        expect(meta.cursor).toEqual(onward)
        query = `limit=2&affix=${onward.affix}&updatedAt=${onward.updatedAt}&id=${onward.id}`
      }
      return affix === 'prepend' ? pages.flat() : pages.reverse().flat()
    }
    const newestFirst = ['t6', 't5', 't4', 't3', 't2', 't1', 't0']
    for (const as of [undefined, 'alice']) {
      expect(await walk('prepend', as)).toEqual(newestFirst)
      expect(await walk('append', as)).toEqual(newestFirst)
    }
    expect(names(await world.get(`/threads?affix=prepend&updatedAt=${now - 9}`))).toEqual(newestFirst.slice(1))
    expect(names(await world.get(`/threads?affix=append&updatedAt=${now - 9}`))).toEqual(newestFirst.slice(0, 4))
    const [, , fifth] = dataOf(await world.get('/threads'))
    const after = await world.get(`/threads?id=${fifth.id}&limit=1`)
    expect(names(after)).toEqual(['t3'])
    expect(after.body.meta.next).toMatchObject({ affix: 'append', updatedAt: now - 9 })
    expect(refusal(await world.get('/threads?id=1'))).toBe('404 ERR_MESSAGE_ID_NOT_FOUND')
    for (const query of ['limit=0', 'limit=1001', 'affix=up', 'updatedAt=x']) {
      expect(refusal(await world.get(`/threads?${query}`))).toBe('400 ERR_BAD_REQUEST')
    }
  })

  it('are walked by the time of their last reply alone, however many share a second', async () => {
    const { world } = await createTalk()
    const now = Math.floor(Date.now() / 1000)
    for (let i = 0; i < 7; i++) {
      const parent = await say(world, 'alice', 'bob', `t${i}`)
      dataOf(await replyTo(world, 'bob', parent.id, 'x'))
      await moveTo(world, parent.id, now - 10 + Math.floor(i / 4))
    }
    for (const affix of ['prepend', 'append'] as const) {
      const seen = new Set<string>()
      let query = `limit=2&affix=${affix}`
      for (let pages = 0; ; pages++) {
        expect(pages).toBeLessThan(7)
        const page = await world.get(`/threads?${query}`)
        for (const name of names(page)) seen.add(name)
        const onward = affix === 'prepend' ? page.body.meta.previous : page.body.meta.next
        if (onward === undefined) break
        query = `limit=2&affix=${affix}&updatedAt=${onward.updatedAt}`
      }
      expect([...seen].sort(), affix).toEqual(['t0', 't1', 't2', 't3', 't4', 't5', 't6'])
    }
  })

  it('go by conversation, and show only what the acting user may see', async () => {
    const { world, parent } = await createTalk()
    await createGroup(world, 'secret', 'alice', { participants: ['carol'] }, { type: 'private' })
    const inGroup = await sayInGroup(world, 'alice', 'secret', 'in group')
    const withCarol = await say(world, 'alice', 'carol', 'with carol')
    for (const { id } of [parent, inGroup, withCarol]) dataOf(await replyTo(world, 'alice', id, 'x'))
    const listed = async (url: string, as?: string) =>
      names(await world.get(url, as === undefined ? {} : { as })).sort()
    expect(await listed('/threads')).toEqual(['in group', 'parent', 'with carol'])
    expect(await listed('/threads', 'alice')).toEqual(['in group', 'parent', 'with carol'])
    expect(await listed('/threads', 'bob')).toEqual(['parent'])
    expect(await listed('/threads', 'carol')).toEqual(['in group', 'with carol'])
    expect(await listed('/users/carol/threads', 'alice')).toEqual(['with carol'])
    expect(await listed('/users/bob/threads', 'carol')).toEqual([])
    expect(await listed('/groups/secret/threads', 'carol')).toEqual(['in group'])
    expect(await listed('/groups/SECRET/threads')).toEqual(['in group'])
    expect(refusal(await world.get('/groups/secret/threads', { as: 'bob' }))).toBe('404 ERR_GUID_NOT_FOUND')
    expect(refusal(await world.get('/groups/none/threads'))).toBe('404 ERR_GUID_NOT_FOUND')
    expect(refusal(await world.get('/users/none/threads', { as: 'bob' }))).toBe('404 ERR_UID_NOT_FOUND')
    expect(refusal(await world.get('/users/bob/threads'))).toBe('400 ERR_BAD_REQUEST')
    expect(refusal(await world.get('/threads', { as: 'none' }))).toBe('404 ERR_UID_NOT_FOUND')
    await createGroup(world, 'open', 'alice')
    expect(refusal(await world.get('/groups/open/threads', { as: 'bob' }))).toBe('403 ERR_GROUP_NOT_JOINED')
    dataOf(await world.post('/groups/open/bannedusers/bob'))
    expect(refusal(await world.get('/groups/open/threads', { as: 'bob' }))).toBe('403 ERR_BANNED_GROUPMEMBER')

    dataOf(await world.delete('/groups/secret/members/carol'))
    expect(await listed('/threads', 'carol')).toEqual(['with carol'])
    dataOf(await world.delete('/users/alice/conversation', undefined, { as: 'carol' }))
    dataOf(await replyTo(world, 'alice', withCarol.id, 'new'))
    expect(await listed('/threads', 'carol')).toEqual([])
    const fresh = await say(world, 'alice', 'carol', 'fresh')
    dataOf(await replyTo(world, 'alice', fresh.id, 'x'))
    expect(await listed('/threads', 'carol')).toEqual(['fresh'])
  })

  it('narrow to threads in which the acting user wrote the parent or a reply that stands', async () => {
    const { world, parent } = await createTeam()
    const bobs = await sayInGroup(world, 'bob', 'g', 'of bob')
    dataOf(await replyTo(world, 'mike', parent.id, 'x'))
    dataOf(await replyTo(world, 'mike', bobs.id, 'x'))
    const reply = dataOf(await replyTo(world, 'pete', bobs.id, 'y'))
    const mine = async (as: string) => names(await world.get('/threads?participatedByMe=true', { as })).sort()
    expect(await mine('alice')).toEqual(['parent'])
    expect(await mine('bob')).toEqual(['of bob'])
    expect(await mine('mike')).toEqual(['of bob', 'parent'])
    expect(await mine('pete')).toEqual(['of bob'])
    dataOf(await world.delete(`/messages/${reply.id}`, undefined, { as: 'bob' }))
    expect(await mine('pete')).toEqual([])
    const flags = dataOf(await world.get('/groups/g/threads', { as: 'pete' })).map(
      (thread: { participatedByMe: boolean; subscribed: boolean }) => [thread.participatedByMe, thread.subscribed],
    )
    expect(flags).toEqual([
      [false, true],
      [false, false],
    ])
    expect(refusal(await world.get('/threads?participatedByMe=true'))).toBe('400 ERR_BAD_REQUEST')
  })

  it('leave a deleted parent with its replies, and a thread without replies out', async () => {
    const { world, parent } = await createTalk()
    const reply = dataOf(await replyTo(world, 'bob', parent.id, 'x'))
    dataOf(await world.delete(`/messages/${parent.id}`, undefined, { as: 'alice' }))
    const [thread] = dataOf(await world.get('/threads', { as: 'bob' }))
    expect(thread).toMatchObject({ id: parent.id, deletedAt: expect.any(Number), lastReply: { id: reply.id } })
    expect(thread.data).not.toHaveProperty('text')
    dataOf(await world.delete(`/messages/${reply.id}`, undefined, { as: 'bob' }))
    expect(dataOf(await world.get('/threads', { as: 'bob' }))).toEqual([])
  })

  it('obey what a scope may read of messages', async () => {
    const { world, parent } = await createTeam()
    dataOf(await replyTo(world, 'bob', parent.id, 'x'))
    dataOf(
      await replyTo(world, 'bob', parent.id, '', {
        type: 'image',
        data: { attachments: [{ url: 'https://example.com/a.png' }] },
      }),
    )
    const lists = ['/threads', '/groups/g/threads']
    for (const list of lists) expect(dataOf(await world.get(list, { as: 'pete' }))[0].lastReply.type).toBe('image')
    await set(world, 'participant', { 'listMessages.allowedMessageTypes': ['text'] })
    for (const list of lists) {
      const [thread] = dataOf(await world.get(list, { as: 'pete' }))
      expect(thread.id).toBe(parent.id)
      expect(thread).not.toHaveProperty('lastReply')
    }
    expect(texts(await world.get(`/messages/${parent.id}/thread`, { as: 'pete' }))).toEqual(['x'])
    await set(world, 'participant', { 'listMessages.allowedMessageTypes': ['audio'] })
    for (const list of lists) expect(dataOf(await world.get(list, { as: 'pete' }))).toEqual([])
  })
})

describe('The permissions of a scope', () => {
  const actors = { admin: 'bob', moderator: 'mike', participant: 'pete' } as const
  type Act = (world: World, as: string, parentId: string) => Promise<Answer>

  const ownReply = async (world: World, as: string, parentId: string): Promise<string> =>
    dataOf(await replyTo(world, as, parentId, 'mine')).id

  const uses: Array<[key: string, what: string, act: Act]> = [
    ['sendThreadedMessage', 'replying', (world, as, id) => replyTo(world, as, id, 'x')],
    [
      'sendThreadedMessage',
      'sending with parentId',
      (world, as, id) =>
        world.post('/messages', { receiver: 'g', receiverType: 'group', parentId: id, data: { text: 'x' } }, { as }),
    ],
    ['listThreadedMessages', 'listing a thread', (world, as, id) => world.get(`/messages/${id}/thread`, { as })],
    ['listThreadedMessages', 'listing threads', (world, as) => world.get('/groups/g/threads', { as })],
    [
      'listThreadedMessages',
      'subscribing',
      (world, as, id) => world.post(`/messages/${id}/thread/subscription`, undefined, { as }),
    ],
    [
      'editThreadedMessage',
      'editing',
      async (world, as, id) =>
        world.put(`/messages/${await ownReply(world, as, id)}`, { data: { text: 'new' } }, { as }),
    ],
    [
      'deleteThreadedMessage',
      'deleting',
      async (world, as, id) => world.delete(`/messages/${await ownReply(world, as, id)}`, undefined, { as }),
    ],
  ]

  describe.each(uses)('%s (%s)', (key, _, act) => {
    it.each(Object.entries(actors))(
      'allows by default, denies when set and allows again for %s',
      async (scope, uid) => {
        const { world, parent } = await createTeam()
        const attempt = async (as: string) => refusal(await act(world, as, parent.id))
        expect(await attempt(uid)).toBe('200 undefined')
        await set(world, scope, { [key]: 'deny' })
        expect(await attempt(uid)).toBe('403 ERR_PERMISSION_DENIED')
        for (const other of Object.values(actors).filter((actor) => actor !== uid)) {
          expect(await attempt(other)).toBe('200 undefined')
        }
        await set(world, scope, { [key]: 'allow' })
        expect(await attempt(uid)).toBe('200 undefined')
        await set(world, scope, { [key]: 'deny' })
        await unset(world, scope, key)
        expect(await attempt(uid)).toBe('200 undefined')
      },
    )
  })

  const image = (mimeType: string) => ({
    type: 'image',
    data: { attachments: [{ url: 'https://example.com/a', mimeType }] },
  })
  const narrowing: Array<[permissions: object, allowed: object, denied: object]> = [
    [
      { 'sendThreadedMessage.allowedMessageCategories': ['custom'] },
      { category: 'custom', type: 'poll', data: { customData: { a: 1 } } },
      {},
    ],
    [{ 'sendThreadedMessage.allowedMessageTypes': 'text' }, {}, image('image/png')],
    [
      { 'sendThreadedMessage.allowedCustomTypes': ['poll'] },
      { category: 'custom', type: 'poll', data: { customData: { a: 1 } } },
      { category: 'custom', type: 'dice', data: { customData: { a: 1 } } },
    ],
    [{ 'sendThreadedMessage.mimeTypes': ['image/png'] }, image('image/png'), image('image/gif')],
    [
      { 'sendThreadedMessage.mimeTypes': ['image/gif'], 'sendThreadedMessage.mimeTypeAccessControl': 'deny' },
      image('image/png'),
      image('image/gif'),
    ],
  ]

  it.each(narrowing)('%j narrows what is sent into threads, and nothing else', async (narrowed, allowed, denied) => {
    const { world, parent } = await createTeam()
    const body = (extra: object) => ({ data: { text: 'x' }, ...extra })
    const into = async (extra: object) =>
      refusal(await world.post(`/messages/${parent.id}/thread`, body(extra), { as: 'pete' }))
    const beside = async (extra: object) =>
      refusal(await world.post('/messages', { receiver: 'g', receiverType: 'group', ...body(extra) }, { as: 'pete' }))
    expect(await into(denied)).toBe('200 undefined')
    await set(world, 'participant', narrowed)
    expect(await into(denied)).toBe('403 ERR_PERMISSION_DENIED')
    expect(await into(allowed)).toBe('200 undefined')
    expect(await beside(denied)).toBe('200 undefined')
    for (const key of Object.keys(narrowed)) await unset(world, 'participant', key)
    expect(await into(denied)).toBe('200 undefined')
  })

  it('leave a denied group’s threads out of the list of all', async () => {
    const { world, parent } = await createTeam()
    const direct = await say(world, 'alice', 'pete', 'direct')
    for (const { id } of [parent, direct]) dataOf(await replyTo(world, 'pete', id, 'x'))
    const listed = async () => dataOf(await world.get('/threads', { as: 'pete' })).map(({ id }: { id: string }) => id)
    expect((await listed()).sort()).toEqual([parent.id, direct.id].sort())
    await set(world, 'participant', { listThreadedMessages: 'deny' })
    expect(await listed()).toEqual([direct.id])
    await unset(world, 'participant', 'listThreadedMessages')
    expect(await listed()).toHaveLength(2)
  })

  it('of plain messages do not bind replies, nor the other way round', async () => {
    const { world, parent } = await createTeam()
    await set(world, 'participant', { sendMessage: 'deny', editMessage: 'deny', deleteMessage: 'deny' })
    const reply = await ownReply(world, 'pete', parent.id)
    dataOf(await world.put(`/messages/${reply}`, { data: { text: 'new' } }, { as: 'pete' }))
    dataOf(await world.delete(`/messages/${reply}`, undefined, { as: 'pete' }))
    const plain = { receiver: 'g', receiverType: 'group', data: { text: 'x' } }
    expect(refusal(await world.post('/messages', plain, { as: 'pete' }))).toBe('403 ERR_PERMISSION_DENIED')
  })
})

it('A user’s token replies, lists and follows as its user', async () => {
  const { world, parent } = await createTalk()
  const { authToken: token } = dataOf(await world.post('/users/bob/auth_tokens', {}))
  const reply = dataOf(await world.post(`/messages/${parent.id}/thread`, { data: { text: 'x' } }, { token }))
  expect(reply.sender).toBe('bob')
  expect(texts(await world.get(`/messages/${parent.id}/thread`, { token }))).toEqual(['x'])
  for (const list of ['/threads', '/users/alice/threads']) {
    expect(dataOf(await world.get(list, { token }))).toHaveLength(1)
  }
  dataOf(await world.delete(`/messages/${parent.id}/thread/subscription`, undefined, { token }))
  expect(dataOf(await world.get('/threads', { token }))[0].subscribed).toBe(false)
})
