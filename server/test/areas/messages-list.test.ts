import type { Message } from '@parley/contract'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { createGroup, dataOf, refusal, say, sayInGroup, texts } from '../support/chat.ts'
import { importWell, text } from '../support/imports.ts'
import { until } from '../support/until.ts'
import { type Answer, createUsers, createWorld, type World } from '../support/world.ts'

/** Ten messages of alice and bob by turns: m0 ... m9. */
async function talk(world: World): Promise<Array<{ id: string; sentAt: number }>> {
  await createUsers(world, 'alice', 'bob')
  const messages = []
  for (let i = 0; i < 10; i++)
    messages.push(await say(world, i % 2 === 0 ? 'alice' : 'bob', i % 2 === 0 ? 'bob' : 'alice', `m${i}`))
  return messages
}

/** A cursor of `meta` as a query. */
function cursorQuery(cursor: Record<string, unknown>): string {
  return new URLSearchParams(cursor as Record<string, string>).toString()
}

const numbered = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => `m${from + i}`)

describe('a history', () => {
  it('starts with the oldest page, and with the newest for affix=prepend; rows always ascend', async () => {
    const world = await createWorld()
    const messages = await talk(world)
    const oldest = await world.get('/users/bob/messages?limit=3', { as: 'alice' })
    expect(texts(oldest)).toEqual(numbered(0, 2))
    const third = messages[2] as { id: string; sentAt: number }
    expect(oldest.body.meta).toEqual({
      current: { limit: 3, count: 3 },
      next: { affix: 'append', sentAt: third.sentAt, id: third.id },
      cursor: { affix: 'append', sentAt: third.sentAt, id: third.id },
      pagination: { count: 3, per_page: 3 },
    })
    const newest = await world.get('/users/bob/messages?limit=3&affix=prepend', { as: 'alice' })
    expect(texts(newest)).toEqual(numbered(7, 9))
    const eighth = messages[7] as { id: string; sentAt: number }
    expect(newest.body.meta).toEqual({
      current: { limit: 3, count: 3 },
      previous: { affix: 'prepend', sentAt: eighth.sentAt, id: eighth.id },
      cursor: { affix: 'prepend', sentAt: eighth.sentAt, id: eighth.id },
      pagination: { count: 3, per_page: 3 },
    })
  })

  it.each(['append', 'prepend'])('is walked from end to end with %s, each message exactly once', async (affix) => {
    const world = await createWorld()
    await talk(world)
    const pages: string[][] = []
    let page: Answer = await world.get(`/users/bob/messages?limit=4&affix=${affix}`, { as: 'alice' })
    for (;;) {
      pages.push(texts(page))
      const onward = affix === 'append' ? page.body.meta.next : page.body.meta.previous
      if (onward === undefined) break
      page = await world.get(`/users/bob/messages?limit=4&${cursorQuery(onward)}`, { as: 'alice' })
    }
    const walked = affix === 'append' ? pages.flat() : pages.reverse().flat()
    expect(walked).toEqual(numbered(0, 9))
  })

  it('goes on from an id alone, from a time alone, and from both', async () => {
    const world = await createWorld()
    const messages = await talk(world)
    const { id, sentAt } = messages[4] as { id: string; sentAt: number }
    const list = async (query: string) =>
      texts(await world.get(`/users/bob/messages?limit=3&${query}`, { as: 'alice' }))
    expect(await list(`affix=append&id=${id}`)).toEqual(numbered(5, 7))
    expect(await list(`affix=prepend&id=${id}`)).toEqual(numbered(1, 3))
    expect(await list(`affix=prepend&id=${id}&sentAt=${sentAt}`)).toEqual(numbered(1, 3))
    expect(await list(`affix=prepend&sentAt=${sentAt + 100}`)).toEqual(numbered(7, 9))
    expect(await list(`affix=append&sentAt=${sentAt + 100}`)).toEqual([])
    expect(await list('affix=append&sentAt=1')).toEqual(numbered(0, 2))
    // The smallest id and the smallest time of a page may belong to two messages: rows may repeat, never vanish.
    expect(await list(`affix=prepend&id=${id}&sentAt=${sentAt - 100}`)).toEqual(numbered(1, 3))
    const unknown = await world.get('/users/bob/messages?id=999999999999', { as: 'alice' })
    expect(refusal(unknown)).toBe('404 ERR_MESSAGE_ID_NOT_FOUND')
  })

  it('has a default limit of 10, and perPage and per_page mean the same', async () => {
    const world = await createWorld()
    await talk(world)
    await say(world, 'alice', 'bob', 'm10')
    const count = async (query: string) => texts(await world.get(`/users/bob/messages${query}`, { as: 'alice' })).length
    expect(await count('')).toBe(10)
    expect(await count('?perPage=5')).toBe(5)
    expect(await count('?per_page=11')).toBe(11)
    expect(refusal(await world.get('/users/bob/messages?limit=0'))).toBe('400 ERR_BAD_REQUEST')
    expect(refusal(await world.get('/users/bob/messages?limit=1001'))).toBe('400 ERR_BAD_REQUEST')
    expect(refusal(await world.get('/users/bob/messages?limit=ten'))).toBe('400 ERR_BAD_REQUEST')
  })

  it('is empty between users who never wrote, and refuses unknown ones', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const empty = await world.get('/users/bob/messages', { as: 'alice' })
    const pagination = { count: 0, per_page: 10 }
    const meta = { current: { limit: 10, count: 0 }, cursor: { affix: 'append' }, pagination }
    expect(empty.body).toEqual({ data: [], meta })
    expect(refusal(await world.get('/users/nobody/messages', { as: 'alice' }))).toBe('404 ERR_UID_NOT_FOUND')
    expect(refusal(await world.get('/users/alice/messages', { as: 'nobody' }))).toBe('404 ERR_UID_NOT_FOUND')
    expect(refusal(await world.get('/groups/nothing/messages', { as: 'alice' }))).toBe('404 ERR_GUID_NOT_FOUND')
  })

  it('of a group is for its members; a private group does not exist for others', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol')
    await createGroup(world, 'open', 'alice', { participants: ['carol'] })
    await createGroup(world, 'secret', 'alice', {}, { type: 'private' })
    await sayInGroup(world, 'alice', 'open', 'hello')
    expect(texts(await world.get('/groups/open/messages?category=message', { as: 'carol' }))).toEqual(['hello'])
    expect(refusal(await world.get('/groups/open/messages', { as: 'bob' }))).toBe('403 ERR_GROUP_NOT_JOINED')
    expect(refusal(await world.get('/groups/secret/messages', { as: 'bob' }))).toBe('404 ERR_GUID_NOT_FOUND')
    dataOf(await world.post('/groups/open/bannedusers/carol'))
    expect(refusal(await world.get('/groups/open/messages', { as: 'carol' }))).toBe('403 ERR_BANNED_GROUPMEMBER')
  })

  it('shows only what the scope may list', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    await createGroup(world, 'team', 'alice')
    await sayInGroup(world, 'alice', 'team', 'before')
    dataOf(await world.post('/groups/team/members', { participants: ['bob'] }))
    await sayInGroup(world, 'alice', 'team', 'after')
    const custom = {
      receiver: 'team',
      receiverType: 'group',
      category: 'custom',
      type: 'poll',
      data: { customData: { q: 1 } },
    }
    dataOf(await world.post('/messages', custom, { as: 'alice' }))
    const kinds = async (path = '/groups/team/messages') =>
      dataOf(await world.get(path, { as: 'bob' })).map(
        (m: { category: string; data: { text?: string } }) => m.data.text ?? m.category,
      )
    expect(await kinds()).toEqual(['before', 'action', 'after', 'custom'])
    const permissions = '/groups/team/scopes/participant/permissions'
    dataOf(await world.put(permissions, { permissions: { 'listMessages.allowedMessageCategories': ['message'] } }))
    expect(await kinds()).toEqual(['before', 'after'])
    expect(await kinds('/messages')).toEqual(['before', 'after'])
    dataOf(await world.delete(`${permissions}/listMessages.allowedMessageCategories`))
    dataOf(await world.put(permissions, { permissions: { 'listMessages.allowedMessageTypes': ['image'] } }))
    expect(await kinds()).toEqual(['action', 'custom'])
    dataOf(await world.delete(`${permissions}/listMessages.allowedMessageTypes`))
    expect(await kinds()).toEqual(['before', 'action', 'after', 'custom'])
  })
})

describe('filters of message lists', () => {
  it('pick by category, type, sender, tags, attachments, links and time', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const to = { receiver: 'bob', receiverType: 'user' }
    const send = async (body: object) => dataOf(await world.post('/messages', { ...to, ...body }, { as: 'alice' }))
    const plain = await send({ data: { text: 'plain' }, tags: ['red', 'blue'] })
    await send({ data: { text: 'see https://example.com now' } })
    const file = (mimeType: string) => ({ url: 'https://example.com/f', name: 'f', extension: 'x', mimeType })
    await send({ type: 'image', data: { text: 'picture', attachments: [file('image/png')] } })
    await send({ type: 'file', data: { text: 'video as file', attachments: [file('video/mp4')] } })
    await send({ category: 'custom', type: 'poll', data: { text: 'poll', customData: { q: 1 } } })
    await say(world, 'bob', 'alice', 'answer')

    const all = ['plain', 'see https://example.com now', 'picture', 'video as file', 'poll', 'answer']
    const expected: Array<[string, string[]]> = [
      ['', all],
      ['category=custom', ['poll']],
      ['categories=custom,action', ['poll']],
      ['category=message', all.filter((text) => text !== 'poll')],
      ['type=image', ['picture']],
      ['types=image,poll', ['picture', 'poll']],
      ['types=image&types=poll', ['picture', 'poll']],
      ['types[]=image&types[]=poll', ['picture', 'poll']],
      ['sender=bob', ['answer']],
      ['tags=red', ['plain']],
      ['tags=green,blue', ['plain']],
      ['tags=,', all],
      ['hasAttachments=1', ['picture', 'video as file']],
      ['hasAttachments=true', ['picture', 'video as file']],
      ['hasAttachments=0', all],
      ['attachmentTypes=video', ['video as file']],
      ['attachmentTypes=image', ['picture']],
      ['hasLinks=true', ['see https://example.com now']],
      [`fromTimestamp=${plain.sentAt + 1000}`, []],
      [`fromTimestamp=1&toTimestamp=${plain.sentAt - 1}`, []],
      [`toTimestamp=${plain.sentAt - 1}`, all],
      ['onlyDeleted=true', []],
      ['hideDeleted=true', all],
      ['unknown=1', all],
    ]
    for (const [query, wanted] of expected) {
      expect([query, texts(await world.get(`/users/bob/messages?${query}`, { as: 'alice' }))]).toEqual([query, wanted])
    }
    expect(refusal(await world.get('/users/bob/messages?hasLinks=maybe', { as: 'alice' }))).toBe('400 ERR_BAD_REQUEST')
    expect(refusal(await world.get('/users/bob/messages?attachmentTypes=poem', { as: 'alice' }))).toBe(
      '400 ERR_BAD_REQUEST',
    )
    const withTags = dataOf(await world.get('/users/bob/messages?withTags=true&limit=1', { as: 'alice' }))
    expect(withTags[0].tags).toEqual(['red', 'blue'])
    expect(dataOf(await world.get('/users/bob/messages?limit=1', { as: 'alice' }))[0].tags).toBeUndefined()
  })

  it('find a file that a message of files names by its URL alone, sent or edited', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const to = { receiver: 'bob', receiverType: 'user' }
    const url = 'https://example.com/f'
    const send = async (body: object) => dataOf(await world.post('/messages', { ...to, ...body }, { as: 'alice' }))
    for (const type of ['image', 'video', 'audio', 'file']) await send({ type, data: { text: type, url } })
    await send({ category: 'custom', type: 'image', data: { text: 'custom', url, customData: { q: 1 } } })
    await send({ data: { text: 'text', url } })
    const attachments = [{ url, name: 'f', extension: 'x', mimeType: 'video/mp4' }]
    const edited = await send({ type: 'image', data: { text: 'clip', attachments } })
    dataOf(await world.delete(`/messages/${(await send({ type: 'image', data: { text: 'gone', url } })).id}`))
    const found = async (query: string) => texts(await world.get(`/users/bob/messages?${query}`, { as: 'alice' }))
    expect(await found('hasAttachments=1')).toEqual(['image', 'video', 'audio', 'file', 'clip'])
    expect(await found('attachmentTypes=image')).toEqual(['image'])
    expect(await found('attachmentTypes=video')).toEqual(['video', 'clip'])
    expect(await found('attachmentTypes=audio,file')).toEqual(['audio', 'file'])
    dataOf(await world.put(`/messages/${edited.id}`, { data: { url, attachments: [] } }, { as: 'alice' }))
    expect(await found('hasAttachments=1&category=message')).toEqual(['image', 'video', 'audio', 'file', 'clip'])
    expect(await found('attachmentTypes=image')).toEqual(['image', 'clip'])
  })
})

describe('a list by time of change', () => {
  const alice = { as: 'alice' }

  /** m0 ... m9, of which m1 to m7 were edited in one second, and m8 in the next. */
  async function edited(world: World) {
    const messages = await talk(world)
    for (const { id } of messages.slice(1, 9)) dataOf(await world.put(`/messages/${id}`, { data: { metadata: {} } }))
    const ids = messages.map(({ id }) => Number(id))
    const at = (messages[9]?.sentAt ?? 0) + 10
    await world.context.database.run(sql`
      update messages
      set updated_at = case when id = ${ids[8]}::bigint then ${at + 1}::bigint else ${at}::bigint end
      where app_id = ${world.app.appId}
      and id = any(${ids.slice(1, 9)}::bigint[])`)
    return { messages, at }
  }
  const path = '/users/bob/messages'

  it('has what was edited or deleted in the second in which it was sent', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    // Until all of it happens within a second.
    await until(async () => {
      const [kept, gone] = [await say(world, 'alice', 'bob', 'kept'), await say(world, 'alice', 'bob', 'gone')]
      dataOf(await world.put(`/messages/${kept.id}`, { data: { text: 'edited' } }, alice))
      dataOf(await world.delete(`/messages/${gone.id}`, undefined, alice))
      const found = async (query: string) => {
        const rows: Message[] = dataOf(await world.get(`${path}?${query}`, { as: 'alice' }))
        return rows.filter(({ category }) => category === 'message').map(({ id }) => id)
      }
      const both = [kept.id, gone.id]
      expect((await found(`onlyUpdates=1&updatedAt=${kept.sentAt}`)).slice(-2)).toEqual(both)
      expect((await found(`updatedAt[from]=${kept.sentAt}`)).slice(-2)).toEqual(both)
      const edited: Message = dataOf(await world.get(`/messages/${kept.id}`, alice))
      const deleted: Message = dataOf(await world.get(`/messages/${gone.id}`, alice))
      return edited.editedAt === edited.sentAt && deleted.deletedAt === deleted.sentAt
    })
  })

  it('goes on with the second of a time alone: a change that came later in it is not lost', async () => {
    const world = await createWorld()
    const { at } = await edited(world)
    const listed = async (query: string) => texts(await world.get(`${path}?${query}`, alice))
    const changes = 'onlyUpdates=1&limit=100'
    expect(await listed(`${changes}&updatedAt=${at}&affix=append`)).toEqual(numbered(1, 8))
    expect(await listed(`${changes}&updatedAt=${at + 1}&affix=append`)).toEqual(['m8'])
    expect(await listed(`${changes}&updatedAt=${at}&affix=prepend`)).toEqual(numbered(1, 7))
    expect(await listed(`${changes}&updatedAt=${at - 1}&affix=prepend`)).toEqual([])
    const { meta } = (await world.get(`${path}?${changes}&updatedAt=${at + 1}&affix=append`, alice)).body
    expect(meta.previous).toMatchObject({ affix: 'prepend', updatedAt: at + 1 })
    expect(meta.next).toBeUndefined()
  })

  it.each([
    ['append', 'next', '&onlyUpdates=1', numbered(1, 8)],
    ['prepend', 'previous', '&onlyUpdates=1', numbered(1, 8)],
    ['append', 'next', '&category=message', numbered(0, 9)],
    ['prepend', 'previous', '&category=message', numbered(0, 9)],
    ['append', 'next', '&searchKey=m', numbered(0, 9)],
  ] as const)(
    'is walked with %s by times alone, however many changes share a second (%s%s)',
    async (affix, onward, filter, all) => {
      const world = await createWorld()
      const { messages, at } = await edited(world)
      const seen = new Set<string>()
      const start = affix === 'append' ? (messages[0]?.sentAt ?? 0) : at + 1
      let query = `limit=2${filter}&affix=${affix}&updatedAt=${start}`
      for (let pages = 0; ; pages++) {
        expect(pages).toBeLessThan(12)
        const page = await world.get(`${path}?${query}`, alice)
        const rows: Array<{ updatedAt: number }> = dataOf(page)
        expect(rows.map(({ updatedAt }) => updatedAt)).toEqual(
          rows.map(({ updatedAt }) => updatedAt).sort((a, b) => a - b),
        )
        for (const text of texts(page)) seen.add(text)
        const cursor = page.body.meta[onward]
        if (cursor === undefined) break
        query = `limit=2${filter}&affix=${affix}&updatedAt=${cursor.updatedAt}`
      }
      expect([...seen].sort()).toEqual(all)
    },
  )

  it.each(['append', 'prepend'] as const)(
    'answers no more than 1,000 of a second, and leads through the rest (%s)',
    async (affix) => {
      const world = await createWorld()
      await createUsers(world, 'alice', 'bob')
      const at = 1_650_000_000
      const all = Array.from({ length: 1_200 }, (_, n) => `m${n}`)
      for (const some of [all.slice(0, 600), all.slice(600)]) {
        await importWell(
          world,
          'messages',
          some.map((muid) => text(muid, 'bob', 'alice', at)),
        )
      }
      const first = await world.get(`${path}?limit=1&affix=${affix}&updatedAt=${at}`, alice)
      expect(dataOf(first)).toHaveLength(1_000)
      const cursor = first.body.meta[affix === 'append' ? 'next' : 'previous']
      expect(cursor).toMatchObject({ updatedAt: at, id: expect.any(String) })
      const rest = await world.get(`${path}?limit=1000&affix=${affix}&updatedAt=${at}&id=${cursor.id}`, alice)
      const pages = affix === 'append' ? [first, rest] : [rest, first]
      expect(pages.flatMap(texts)).toEqual(all)
    },
  )

  it('goes on exactly with an id beside the time', async () => {
    const world = await createWorld()
    const { messages, at } = await edited(world)
    const listed = async (query: string) => texts(await world.get(`${path}?onlyUpdates=1&${query}`, alice))
    const third = messages[3]?.id
    expect(await listed(`updatedAt=${at}&id=${third}&affix=append`)).toEqual(numbered(4, 8))
    expect(await listed(`updatedAt=${at}&id=${third}&affix=prepend`)).toEqual(numbered(1, 2))
    expect(await listed(`updatedAt=${at}&id=${third}&affix=append&limit=2`)).toEqual(numbered(4, 5))
  })
})

describe('the list across conversations', () => {
  async function crowd(world: World): Promise<void> {
    await createUsers(world, 'alice', 'bob', 'carol')
    await createGroup(world, 'team', 'alice', { participants: ['bob'] })
    await say(world, 'alice', 'bob', 'a to b')
    await say(world, 'bob', 'carol', 'b to c')
    await sayInGroup(world, 'bob', 'team', 'b in team')
    await say(world, 'carol', 'alice', 'c to a')
  }

  it('shows the app everything, and a user what he takes part in', async () => {
    const world = await createWorld()
    await crowd(world)
    expect(texts(await world.get('/messages'))).toEqual(['a to b', 'b to c', 'b in team', 'c to a'])
    expect(texts(await world.get('/messages', { as: 'alice' }))).toEqual(['a to b', 'b in team', 'c to a'])
    expect(texts(await world.get('/messages', { as: 'carol' }))).toEqual(['b to c', 'c to a'])
    expect(texts(await world.get('/messages?limit=2&affix=prepend', { as: 'alice' }))).toEqual(['b in team', 'c to a'])
    dataOf(await world.delete('/groups/team/members/bob'))
    expect(texts(await world.get('/messages', { as: 'bob' }))).toEqual(['a to b', 'b to c'])
  })

  it('can be narrowed to a sender, senders, a kind of receiver or a conversation', async () => {
    const world = await createWorld()
    await crowd(world)
    const list = async (query: string, as?: string) =>
      texts(await world.get(`/messages?${query}`, as === undefined ? {} : { as }))
    expect(await list('sender=bob')).toEqual(['b to c', 'b in team'])
    expect(await list('sender=bob', 'alice')).toEqual(['b in team'])
    expect(await list('senders=bob,carol')).toEqual(['b to c', 'b in team', 'c to a'])
    expect(await list('receiverType=group')).toEqual(['b in team'])
    expect(await list('conversationId=alice_user_bob')).toEqual(['a to b'])
    expect(await list('conversationId=group_team', 'bob')).toEqual(['b in team'])
    expect(await list('conversationId=group_team', 'carol')).toEqual([])
    expect(await list('conversationId=bob_user_carol', 'alice')).toEqual([])
    expect(await list('conversationId=nothing')).toEqual([])
  })

  it('without onBehalfOf lists what a user sent or received one-to-one and sent in groups', async () => {
    const world = await createWorld()
    await crowd(world)
    await sayInGroup(world, 'alice', 'team', 'a in team')
    expect(texts(await world.get('/users/bob/messages'))).toEqual(['a to b', 'b to c', 'b in team'])
    expect(texts(await world.get('/users/bob/messages?limit=1&affix=prepend'))).toEqual(['b in team'])
  })

  it('counts messages per conversation, and unread ones for a user', async () => {
    const world = await createWorld()
    await crowd(world)
    await say(world, 'bob', 'alice', 'b to a')
    expect(dataOf(await world.get('/messages?count=true'))).toEqual([
      { conversationId: 'alice_user_bob', count: 2 },
      { conversationId: 'alice_user_carol', count: 1 },
      { conversationId: 'bob_user_carol', count: 1 },
      { conversationId: 'group_team', count: 1 },
    ])
    expect(dataOf(await world.get('/messages?count=1&unread=1', { as: 'alice' }))).toEqual([
      { entityId: 'bob', entityType: 'user', count: 1 },
      { entityId: 'carol', entityType: 'user', count: 1 },
      { entityId: 'team', entityType: 'group', count: 1 },
    ])
    expect(dataOf(await world.get('/users/bob/messages?count=1', { as: 'alice' }))).toEqual([
      { entityId: 'bob', entityType: 'user', count: 2 },
    ])
    expect(dataOf(await world.get('/groups/team/messages?count=true'))).toEqual([
      { conversationId: 'group_team', count: 1 },
    ])
    expect(refusal(await world.get('/messages?unread=1&count=1'))).toBe('400 ERR_BAD_REQUEST')
  })

  it('keeps conversations apart whose names look alike', async () => {
    const world = await createWorld()
    await createUsers(world, 'a', 'b_user_c', 'a_user_b', 'c')
    await say(world, 'a', 'b_user_c', 'one')
    await say(world, 'a_user_b', 'c', 'two')
    expect(texts(await world.get('/messages?conversationId=a_user_b_user_c'))).toEqual(['one', 'two'])
    expect(texts(await world.get('/messages?conversationId=a_user_b_user_c', { as: 'c' }))).toEqual(['two'])
    expect(texts(await world.get('/users/b_user_c/messages', { as: 'a' }))).toEqual(['one'])
  })
})

describe('a single message', () => {
  it('is read by those who take part, and by the app', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol')
    await createGroup(world, 'secret', 'alice', {}, { type: 'private' })
    const direct = await say(world, 'alice', 'bob', 'hi')
    const inGroup = await sayInGroup(world, 'alice', 'secret', 'psst')
    for (const options of [{}, { as: 'alice' }, { as: 'bob' }]) {
      expect(dataOf(await world.get(`/messages/${direct.id}`, options)).data.text).toBe('hi')
    }
    expect(refusal(await world.get(`/messages/${direct.id}`, { as: 'carol' }))).toBe('404 ERR_MESSAGE_ID_NOT_FOUND')
    expect(refusal(await world.get(`/messages/${inGroup.id}`, { as: 'bob' }))).toBe('404 ERR_MESSAGE_ID_NOT_FOUND')
    for (const id of ['999999999999', 'abc', '-1', '1.5', '99999999999999999999']) {
      expect(refusal(await world.get(`/messages/${id}`))).toBe('404 ERR_MESSAGE_ID_NOT_FOUND')
    }
  })
})

describe('replies and quotes', () => {
  it('name their parent and quote, which must be of the same conversation', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol')
    const first = await say(world, 'alice', 'bob', 'first')
    const elsewhere = await say(world, 'alice', 'carol', 'elsewhere')
    const reply = await say(world, 'bob', 'alice', 'reply', { parentId: first.id })
    expect(reply.parentId).toBe(first.id)
    const quote = await say(world, 'bob', 'alice', 'quote', { quotedMessageId: Number(first.id) })
    expect(quote).toMatchObject({ quotedMessageId: first.id, quotedMessage: { id: first.id, data: { text: 'first' } } })
    const send = (extra: object) =>
      world.post('/messages', { receiver: 'bob', receiverType: 'user', data: { text: 'x' }, ...extra }, { as: 'alice' })
    expect(refusal(await send({ parentId: elsewhere.id }))).toBe('400 ERR_WRONG_MESSAGE_THREAD')
    expect(refusal(await send({ parentId: reply.id }))).toBe('400 ERR_MESSAGE_THREAD_NESTING')
    expect(refusal(await send({ parentId: '999999999999' }))).toBe('404 ERR_MESSAGE_ID_NOT_FOUND')
    expect(refusal(await send({ quotedMessageId: elsewhere.id }))).toBe('404 ERR_MESSAGE_ID_NOT_FOUND')
    const listed = await world.get('/users/bob/messages?hideReplies=1', { as: 'alice' })
    expect(texts(listed)).toEqual(['first', 'quote'])
    const bare = dataOf(await world.get('/users/bob/messages?hideQuotedMessages=true', { as: 'alice' }))
    expect(bare.at(-1)).toMatchObject({ quotedMessageId: first.id })
    expect(bare.at(-1).quotedMessage).toBeUndefined()
  })
})
