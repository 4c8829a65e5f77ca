import { describe, expect, it } from 'vitest'
import { createGroup, dataOf, refusal, say, sayInGroup, texts } from '../support/chat.ts'
import { importWell, text } from '../support/imports.ts'
import { type Answer, createUsers, createWorld, type World } from '../support/world.ts'

const createTalk = async () => {
  const world = await createWorld()
  await createUsers(world, 'alice', 'bob', 'carol')
  return world
}

const many = (count: number) => Array.from({ length: count }, (_, i) => `<@uid:user${i}>`).join(' ')

const mentionsOf = (answer: Answer) => dataOf(answer).data.mentions

describe('A message that mentions users', () => {
  it('shows each of them once as he is now, in the answer to the send and wherever it is read', async () => {
    const world = await createTalk()
    const sent = await say(world, 'alice', 'bob', 'Hi <@uid:Bob>, ask <@uid:carol> or <@uid:bob> again')
    const { body } = await world.get('/users/carol')
    expect(sent.data.text).toBe('Hi <@uid:Bob>, ask <@uid:carol> or <@uid:bob> again')
    expect(Object.keys(sent.data.mentions)).toEqual(['bob', 'carol'])
    expect(sent.data.mentions.carol).toEqual(body.data)
    expect(sent.data.entities.sender.entity.uid).toBe('alice')

    dataOf(await world.put('/users/carol', { name: 'Caroline' }))
    const mentions = { bob: { name: 'Bob' }, carol: { uid: 'carol', name: 'Caroline', role: 'default' } }
    expect(mentionsOf(await world.get(`/messages/${sent.id}`))).toMatchObject(mentions)
    const [listed] = dataOf(await world.get('/users/alice/messages', { as: 'bob' }))
    expect(listed.data.mentions).toMatchObject(mentions)
    const conversation = dataOf(await world.get('/users/alice/conversation', { as: 'bob' }))
    expect(conversation.lastMessage.data.mentions).toMatchObject(mentions)
    const quoting = await say(world, 'bob', 'alice', 'yes', { quotedMessageId: sent.id })
    expect(quoting.quotedMessage.data.mentions).toMatchObject(mentions)
    expect(quoting.data).not.toHaveProperty('mentions')
    const [, again] = dataOf(await world.get('/users/alice/messages', { as: 'bob' }))
    expect(again.quotedMessage.data.mentions).toMatchObject(mentions)
  })

  it('may do so in the caption of a file, and in every message to several receivers', async () => {
    const world = await createTalk()
    await createGroup(world, 'team', 'alice', { participants: ['bob'] })
    const body = {
      type: 'image',
      data: { text: 'look, <@uid:bob>', url: 'https://example.com/a.png' },
      multipleReceivers: { uids: ['carol'], guids: ['team'] },
    }
    const { uids, guids } = dataOf(await world.post('/messages', body, { as: 'alice' }))
    expect(uids.carol.data.data.mentions).toMatchObject({ bob: { name: 'Bob' } })
    expect(guids.team.data.data.mentions).toMatchObject({ bob: { name: 'Bob' } })
  })

  it('keeps what names nobody as text: unknown uids, everybody, and what only looks like a mention', async () => {
    const world = await createTalk()
    const words = 'hi <@uid:nobody> <@all:all> <@uid:> <@uid:a b> @bob <@uid:bob'
    const sent = await say(world, 'alice', 'bob', words)
    expect(sent.data.text).toBe(words)
    expect(sent.data).not.toHaveProperty('mentions')
    const both = await say(world, 'alice', 'bob', '<@uid:nobody> <@uid:bob>')
    expect(Object.keys(both.data.mentions)).toEqual(['bob'])
    expect(texts(await world.get('/messages?hasMentions=1'))).toEqual(['<@uid:nobody> <@uid:bob>'])
    await createUsers(world, 'nobody')
    expect(texts(await world.get('/messages?hasMentions=1'))).toHaveLength(2)
  })

  it('cannot say by itself whom it mentions', async () => {
    const world = await createTalk()
    const body = { receiver: 'bob', receiverType: 'user', data: { text: 'hi', mentions: { carol: { uid: 'carol' } } } }
    expect(mentionsOf(await world.post('/messages', body, { as: 'alice' }))).toBeUndefined()
  })

  it('may mention ten; an eleventh is refused, at sending and at editing', async () => {
    const world = await createTalk()
    const ten = await say(world, 'alice', 'bob', `${many(10)} <@uid:USER0>`)
    const body = { receiver: 'bob', receiverType: 'user', data: { text: many(11) } }
    const refused = await world.post('/messages', body, { as: 'alice' })
    expect(refusal(refused)).toBe('400 ERR_BAD_REQUEST')
    expect(refused.body.error.details).toEqual([
      { path: 'body/data/text', message: 'must not mention more than 10 users; it mentions 11' },
    ])
    const edit = await world.put(`/messages/${ten.id}`, { data: { text: many(11) } }, { as: 'alice' })
    expect(refusal(edit)).toBe('400 ERR_BAD_REQUEST')
    expect(dataOf(await world.get(`/messages/${ten.id}`)).editedAt).toBeUndefined()
  })

  it('mentions others once it is edited, and nobody once it is deleted', async () => {
    const world = await createTalk()
    const sent = await say(world, 'alice', 'bob', '<@uid:bob>')
    const edit = await world.put(`/messages/${sent.id}`, { data: { text: '<@uid:carol>' } }, { as: 'alice' })
    const edited = dataOf(edit).data.entities.on.entity
    expect(Object.keys(edited.data.mentions)).toEqual(['carol'])
    expect(Object.keys(mentionsOf(await world.get(`/messages/${sent.id}`)))).toEqual(['carol'])
    expect(dataOf(await world.get('/messages?mentionedUids=bob'))).toEqual([])
    expect(texts(await world.get('/messages?mentionedUids=carol'))).toEqual(['<@uid:carol>'])
    dataOf(await world.put(`/messages/${sent.id}`, { data: { metadata: { k: 1 } } }, { as: 'alice' }))
    expect(Object.keys(mentionsOf(await world.get(`/messages/${sent.id}`)))).toEqual(['carol'])
    dataOf(await world.delete(`/messages/${sent.id}`, undefined, { as: 'alice' }))
    expect(mentionsOf(await world.get(`/messages/${sent.id}`))).toBeUndefined()
    expect(dataOf(await world.get('/messages?mentionedUids=carol'))).toEqual([])
  })

  it('shows a deactivated user still, and one deleted for good no more', async () => {
    const world = await createTalk()
    const sent = await say(world, 'alice', 'bob', '<@uid:carol>')
    dataOf(await world.delete('/users/carol'))
    expect(mentionsOf(await world.get(`/messages/${sent.id}`)).carol).toMatchObject({ name: 'Carol' })
    dataOf(await world.delete('/users/carol', { permanent: true }))
    expect(mentionsOf(await world.get(`/messages/${sent.id}`))).toBeUndefined()
  })

  it('may be imported; of history that mentions more than ten the first ten count', async () => {
    const world = await createTalk()
    await importWell(world, 'messages', [
      text('m1', 'alice', 'bob', 1_600_000_000, { data: { text: 'old <@uid:Carol>' } }),
      text('m2', 'alice', 'bob', 1_600_000_001, { data: { text: `${many(10)} <@uid:carol>` } }),
    ])
    expect(texts(await world.get('/messages?mentionedUids=carol'))).toEqual(['old <@uid:Carol>'])
    expect(texts(await world.get('/messages?mentionedUids=user9'))).toHaveLength(1)
    expect(texts(await world.get('/messages?hasMentions=1'))).toEqual(['old <@uid:Carol>'])
  })
})

describe('Mentions are known, however a message comes about:', () => {
  const bodyTo = (receiver: string, words: string) => ({ receiver, receiverType: 'user', data: { text: words } })

  it('sent by the app, a bot, with a token, as custom text, and with the same muid again', async () => {
    const world = await createTalk()
    dataOf(await world.post('/roles', { role: 'bot', name: 'Bot' }))
    dataOf(await world.post('/users', { uid: 'helper', name: 'Helper', role: 'bot' }))
    const { authToken } = dataOf(await world.post('/users/alice/auth_tokens'))
    const custom = { category: 'custom', type: 'poll', data: { text: '<@uid:carol>?', customData: { a: 1 } } }
    const again = { ...bodyTo('bob', '<@uid:carol>'), muid: 'm' }
    const sent = [
      await world.post('/messages', bodyTo('bob', '<@uid:carol>')),
      await world.post('/bots/helper/messages', bodyTo('bob', '<@uid:carol>')),
      await world.post('/messages', bodyTo('bob', '<@uid:carol>'), { token: authToken }),
      await world.post('/messages', { ...bodyTo('bob', ''), ...custom }, { as: 'alice' }),
      await world.post('/messages', again, { as: 'alice' }),
      await world.post('/messages', again, { as: 'alice' }),
    ]
    for (const answer of sent) expect(mentionsOf(answer).carol).toMatchObject({ uid: 'carol', name: 'Carol' })
    expect(dataOf(await world.get('/messages?mentionedUids=carol'))).toHaveLength(5)
    const mine = await world.get('/messages?mentionedUids=carol&hasMentions=1', { token: authToken })
    expect(dataOf(mine)).toHaveLength(3)
  })

  it('imported with the users that it mentions, who are made where they are missing', async () => {
    const world = await createTalk()
    const mentionedUserDetails = { erin: { uid: 'erin', name: 'Erin' }, carol: { uid: 'carol', name: 'Other' } }
    const data = { text: 'hi <@uid:erin>, <@uid:Carol>' }
    const { m1 } = await importWell(world, 'messages', [
      text('m1', 'alice', 'bob', 1_600_000_000, { data, mentionedUserDetails }),
    ])
    const mentions = { erin: { uid: 'erin', name: 'Erin' }, carol: { name: 'Carol' } }
    expect(mentionsOf(await world.get(`/messages/${m1.id}`))).toMatchObject(mentions)
    const [listed] = dataOf(await world.get('/users/alice/messages?hasMentions=1', { as: 'bob' }))
    expect(listed.data.mentions).toMatchObject(mentions)
    const file = { url: 'https://example.com/a.png', name: 'a.png', mimeType: 'image/png', extension: 'png', size: '1' }
    await importWell(world, 'messages', [
      text('m2', 'alice', 'bob', 1_600_000_001, {
        type: 'image',
        data: { text: 'look <@uid:erin>', attachments: [file] },
      }),
    ])
    expect(dataOf(await world.get('/messages?mentionedUids=erin'))).toHaveLength(2)
  })

  it('as the caption that an edit gives to a file, and gone with the caption', async () => {
    const world = await createTalk()
    const picture = { receiver: 'bob', receiverType: 'user', type: 'image', data: { url: 'https://example.com/a.png' } }
    const { id } = dataOf(await world.post('/messages', picture, { as: 'alice' }))
    const edit = (words: string) => world.put(`/messages/${id}`, { data: { text: words } }, { as: 'alice' })
    dataOf(await edit('see <@uid:carol>'))
    expect(Object.keys(mentionsOf(await world.get(`/messages/${id}`)))).toEqual(['carol'])
    expect(dataOf(await world.get('/messages?hasMentions=1'))).toHaveLength(1)
    dataOf(await edit('see'))
    expect(mentionsOf(await world.get(`/messages/${id}`))).toBeUndefined()
    expect(dataOf(await world.get('/messages?hasMentions=1'))).toEqual([])
  })
})

describe('Mentioned users', () => {
  it('carry their tags, and the blocks between them and the acting user, where that is asked for', async () => {
    const world = await createTalk()
    await createUsers(world, 'dave')
    dataOf(await world.put('/users/carol', { tags: ['vip'], metadata: { '@private': { email: 'c@example.com' } } }))
    await createGroup(world, 'team', 'alice', { participants: ['bob', 'carol', 'dave'] })
    await sayInGroup(world, 'alice', 'team', '<@uid:carol> <@uid:dave>')
    dataOf(await world.post('/users/bob/blockedusers', { blockedUids: ['carol'] }))
    dataOf(await world.post('/users/dave/blockedusers', { blockedUids: ['bob'] }))
    const shown = async (query: string, as?: string) => {
      const answer = await world.get(`/groups/team/messages?hasMentions=1${query}`, as === undefined ? {} : { as })
      return dataOf(answer)[0].data.mentions
    }
    const plain = await shown('', 'bob')
    expect(plain.carol).not.toHaveProperty('tags')
    expect(plain.carol).not.toHaveProperty('blockedByMe')
    expect(JSON.stringify(plain)).not.toContain('c@example.com')
    expect((await shown('&mentionswithTagInfo=true', 'bob')).carol.tags).toEqual(['vip'])
    const blocked = await shown('&mentionsWithBlockedInfo=true', 'bob')
    expect(blocked.carol).toMatchObject({ blockedByMe: true, blockedByMeAt: expect.any(Number), hasBlockedMe: false })
    expect(blocked.dave).toMatchObject({ blockedByMe: false, hasBlockedMe: true })
    expect(blocked.carol).not.toHaveProperty('tags')
    expect((await shown('&mentionsWithBlockedInfo=true')).carol).not.toHaveProperty('blockedByMe')

    const url = '/messages?hasMentions=1&mentionsWithTagInfo=1&mentionsWithBlockedInfo=1'
    const [everywhere] = dataOf(await world.get(url, { as: 'bob' }))
    expect(everywhere.data.mentions.carol).toMatchObject({ tags: ['vip'], blockedByMe: true })
    await say(world, 'alice', 'bob', 'and <@uid:carol>')
    const [direct] = dataOf(await world.get(`/users/alice${url}`, { as: 'bob' }))
    expect(direct.data.mentions.carol).toMatchObject({ tags: ['vip'], blockedByMe: true })
  })
})

describe('Lists of messages', () => {
  it('can be narrowed to mentions, of anybody, of some, of the acting user', async () => {
    const world = await createTalk()
    await createGroup(world, 'team', 'alice', { participants: ['bob', 'carol'] })
    await sayInGroup(world, 'alice', 'team', 'plain')
    await sayInGroup(world, 'alice', 'team', 'to <@uid:bob>')
    await sayInGroup(world, 'bob', 'team', 'to <@uid:carol>')
    await say(world, 'alice', 'bob', 'direct to <@uid:BOB>')
    const find = async (path: string, as?: string) => texts(await world.get(path, as === undefined ? {} : { as }))
    const inTeam = '/groups/team/messages?category=message'
    expect(await find(`${inTeam}&hasMentions=true`)).toEqual(['to <@uid:bob>', 'to <@uid:carol>'])
    expect(await find(`${inTeam}&hasMentions=false`)).toHaveLength(3)
    expect(await find(`${inTeam}&mentionedUids=Carol`)).toEqual(['to <@uid:carol>'])
    expect(await find(`${inTeam}&mentionedUids=carol,bob`)).toEqual(['to <@uid:bob>', 'to <@uid:carol>'])
    expect(await find(`${inTeam}&mentionedUids=nobody`)).toEqual([])
    expect(await find(`${inTeam}&myMentionsOnly=true`, 'bob')).toEqual(['to <@uid:bob>'])
    expect(await find(`${inTeam}&myMentionsOnly=false`, 'bob')).toHaveLength(3)
    expect(await find('/messages?myMentionsOnly=1', 'bob')).toEqual(['to <@uid:bob>', 'direct to <@uid:BOB>'])
    expect(await find('/users/alice/messages?myMentionsOnly=1', 'bob')).toEqual(['direct to <@uid:BOB>'])
    const counts = dataOf(await world.get('/messages?myMentionsOnly=1&count=1', { as: 'bob' }))
    expect(counts).toEqual([
      { entityId: 'alice', entityType: 'user', count: 1 },
      { entityId: 'team', entityType: 'group', count: 1 },
    ])
    for (const path of ['/messages', '/users/alice/messages', '/groups/team/messages']) {
      expect(refusal(await world.get(`${path}?myMentionsOnly=1`))).toBe('400 ERR_BAD_REQUEST')
    }
  })
})

describe('A mention in a thread', () => {
  it('is found in the list of its replies, with what the list is asked to show of whom it mentions', async () => {
    const world = await createTalk()
    dataOf(await world.put('/users/carol', { tags: ['vip'] }))
    const parent = await say(world, 'alice', 'bob', 'parent')
    await replyTo(world, 'bob', parent.id, 'plain')
    await replyTo(world, 'bob', parent.id, 'to <@uid:carol>')
    await replyTo(world, 'bob', parent.id, 'to <@uid:alice>')
    const list = async (query: string, as?: string) =>
      dataOf(await world.get(`/messages/${parent.id}/thread?${query}`, as === undefined ? {} : { as }))
    const said = (replies: Array<{ data: { text: string } }>) => replies.map(({ data }) => data.text)
    expect(said(await list('hasMentions=1'))).toEqual(['to <@uid:carol>', 'to <@uid:alice>'])
    expect(said(await list('mentionedUids=carol', 'alice'))).toEqual(['to <@uid:carol>'])
    expect(said(await list('myMentionsOnly=1', 'alice'))).toEqual(['to <@uid:alice>'])
    expect(await list('myMentionsOnly=1&count=1', 'alice')).toEqual([{ entityId: 'bob', entityType: 'user', count: 1 }])
    const [shown] = await list('mentionedUids=carol&mentionsWithTagInfo=1&mentionsWithBlockedInfo=1', 'alice')
    expect(shown.data.mentions.carol).toMatchObject({ tags: ['vip'], blockedByMe: false, hasBlockedMe: false })
    expect(refusal(await world.get(`/messages/${parent.id}/thread?myMentionsOnly=1`))).toBe('400 ERR_BAD_REQUEST')
  })

  it('counts no more when it was edited away or deleted, and counts when it was edited in', async () => {
    const world = await createTalk()
    const parent = await say(world, 'alice', 'bob', 'parent')
    const first = await replyTo(world, 'bob', parent.id, '<@uid:alice>')
    const second = await replyTo(world, 'bob', parent.id, '<@uid:alice>')
    const third = await replyTo(world, 'bob', parent.id, 'plain')
    const counted = async () => {
      const [thread] = dataOf(await world.get('/users/bob/threads?withMentionCount=1', { as: 'alice' }))
      return thread.mentionCount
    }
    expect(await counted()).toBe(2)
    dataOf(await world.put(`/messages/${first.id}`, { data: { text: 'nobody' } }, { as: 'bob' }))
    expect(await counted()).toBe(1)
    dataOf(await world.put(`/messages/${third.id}`, { data: { text: '<@uid:alice>' } }, { as: 'bob' }))
    expect(await counted()).toBe(2)
    dataOf(await world.delete(`/messages/${second.id}`, undefined, { as: 'bob' }))
    expect(await counted()).toBe(1)
  })

  const replyTo = async (world: World, as: string, id: string, words: string) =>
    dataOf(await world.post(`/messages/${id}/thread`, { data: { text: words } }, { as }))

  it('counts for whom it names until he reads it, and makes him follow the thread', async () => {
    const world = await createTalk()
    await createUsers(world, 'dave', 'stranger')
    await createGroup(world, 'team', 'alice', { participants: ['bob', 'carol', 'dave'] })
    const parent = await sayInGroup(world, 'alice', 'team', 'parent')
    await replyTo(world, 'bob', parent.id, 'see <@uid:carol>, <@uid:stranger>')
    await replyTo(world, 'bob', parent.id, 'again <@uid:carol>')
    await replyTo(world, 'bob', parent.id, 'plain')
    const thread = async (as: string) => {
      const [first] = dataOf(await world.get('/threads?withMentionCount=1&withUnreadReplyCount=1', { as }))
      return { mentions: first.mentionCount, unread: first.unreadReplyCount, subscribed: first.subscribed }
    }
    expect(await thread('carol')).toEqual({ mentions: 2, unread: 3, subscribed: true })
    expect(await thread('dave')).toEqual({ mentions: 0, unread: 3, subscribed: false })
    expect(await thread('bob')).toEqual({ mentions: 0, unread: 0, subscribed: true })
    const [plain] = dataOf(await world.get('/threads', { as: 'carol' }))
    expect(plain).not.toHaveProperty('mentionCount')
    dataOf(await world.post('/groups/team/conversation/read', undefined, { as: 'carol' }))
    expect(await thread('carol')).toEqual({ mentions: 0, unread: 0, subscribed: true })
    dataOf(await world.post('/groups/team/members', { participants: ['stranger'] }))
    expect((await thread('stranger')).subscribed).toBe(false)
    dataOf(await world.delete(`/messages/${parent.id}/thread/subscription`, undefined, { as: 'carol' }))
    await replyTo(world, 'alice', parent.id, 'once more, <@uid:carol>')
    expect(await thread('carol')).toEqual({ mentions: 1, unread: 1, subscribed: true })
  })
})
