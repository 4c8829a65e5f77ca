import { beforeAll, describe, expect, it } from 'vitest'
import { createGroup, dataOf, refusal, say } from '../../support/chat.ts'
import { picture, sendForm, toBob } from '../../support/forms.ts'
import { type Answer, createUsers, createWorld, type World } from '../../support/world.ts'

/** A way in which something comes into a conversation of bob's, from alice or from the bot. */
interface Way {
  readonly send: (text: string) => Promise<Answer>
  /** The message in its answer; by default the answer is the message. */
  readonly sent?: (answer: Answer) => { id: string; data: { moderation?: object } }
  readonly sender?: string
  readonly receiverType?: 'group'
}

const judged = { receiver: 'bob', receiverType: 'user' }
const file = { url: 'https://example.com/a.png', name: 'a', mimeType: 'image/png', extension: 'png', size: 1 }
const toTeam = { receiver: 'team', receiverType: 'group' }

let world: World
let parent: string
let token: string

beforeAll(async () => {
  world = await createWorld()
  await createUsers(world, 'alice', 'bob')
  dataOf(await world.post('/roles', { role: 'bot', name: 'Bots' }))
  dataOf(await world.post('/users', { uid: 'helper', name: 'Helper', role: 'bot' }))
  await createGroup(world, 'team', 'alice', { participants: ['bob'] })
  parent = (await say(world, 'bob', 'alice', 'what do you say?')).id
  token = dataOf(await world.post('/users/alice/auth_tokens', {})).authToken
  const conditions = ['text', 'custom'].map((operand) => ({ operand, category: 'word', value: ['darn'] }))
  dataOf(await world.post('/moderation/rules', { id: 'no-darn', name: 'No darn', conditions }))
})

const send = (body: object) => world.post('/messages', { ...judged, ...body }, { as: 'alice' })
const ofForm = (text: string, fields: object) => sendForm(world, { ...toBob, ...fields, caption: text }, [picture])

const ways: Record<string, Way> = {
  'a text': { send: (text) => send({ data: { text } }) },
  'a text with a muid, tags and a quote': {
    send: (text) => send({ data: { text }, muid: `m-${text}`, tags: ['a'], quotedMessageId: parent }),
  },
  'a text of a front end': { send: (text) => world.post('/messages', { ...judged, data: { text } }, { token }) },
  'a text to a group': { send: (text) => send({ ...toTeam, data: { text } }), receiverType: 'group' },
  'a text to several': {
    send: (text) => world.post('/messages', { multipleReceivers: { uids: ['bob'] }, data: { text } }, { as: 'alice' }),
    sent: (answer) => dataOf(answer).uids.bob.data,
  },
  'a text to several, among them a group': {
    send: (text) =>
      world.post('/messages', { multipleReceivers: { guids: ['team'] }, data: { text } }, { as: 'alice' }),
    sent: (answer) => dataOf(answer).guids.team.data,
    receiverType: 'group',
  },
  'a reply in a thread': {
    send: (text) => world.post(`/messages/${parent}/thread`, { ...judged, data: { text } }, { as: 'alice' }),
  },
  'a reply by parentId': { send: (text) => send({ parentId: parent, data: { text } }) },
  'the caption of a picture': { send: (caption) => send({ type: 'image', data: { caption, attachments: [file] } }) },
  'the text of a picture': { send: (text) => send({ type: 'image', data: { text, attachments: [file] } }) },
  'the caption of an upload': { send: (text) => ofForm(text, {}) },
  'the metadata of an upload': { send: (text) => ofForm('', { metadata: JSON.stringify({ text }) }) },
  'custom data': {
    send: (text) => send({ category: 'custom', type: 'offer', data: { customData: { notes: [text] } } }),
  },
  metadata: { send: (text) => send({ data: { text: 'hello', metadata: { notes: text } } }) },
  'a card': {
    send: (text) => send({ category: 'interactive', type: 'card', data: { interactiveData: { text } } }),
  },
  'a message of a bot': {
    send: (text) => world.post('/bots/helper/messages', { ...judged, data: { text } }),
    sender: 'helper',
  },
  'a picture of a bot': {
    send: (text) =>
      sendForm(world, { ...toBob, caption: text }, [picture], { path: '/bots/helper/messages', as: null }),
    sender: 'helper',
  },
  'a message that is handed in': {
    send: (text) => world.post('/moderation/messages', { ...judged, sender: 'alice', data: { text } }),
  },
}

const found = { status: 'disapproved', rule: { id: 'no-darn', name: 'No darn' } }

describe.each(Object.entries(ways))('%s', (_, { send, sent = dataOf, sender = 'alice', receiverType }) => {
  const place = receiverType === 'group' ? '/groups/team/messages' : `/users/${sender}/messages`
  const idsSeenBy = async (path: string): Promise<string[]> =>
    dataOf(await world.get(path, { as: 'bob' })).map(({ id }: { id: string }) => id)

  it('with a blocked word is answered as disapproved, and is there for its sender alone', async () => {
    const message = sent(await send('well, d@rn it'))
    expect(message.data.moderation).toEqual(found)
    const { id } = message
    expect(refusal(await world.get(`/messages/${id}`, { as: 'bob' }))).toBe('404 ERR_MESSAGE_ID_NOT_FOUND')
    for (const path of [`${place}?limit=100`, '/messages?limit=100', `/messages/${parent}/thread?limit=100`])
      expect(await idsSeenBy(path), path).not.toContain(id)
    const conversations = dataOf(await world.get('/conversations', { as: 'bob' }))
    expect(conversations.map(({ lastMessage }: { lastMessage: { id: string } }) => lastMessage?.id)).not.toContain(id)
    expect(dataOf(await world.get(`/messages/${id}`, { as: sender })).data.moderation).toEqual(found)
  })

  it('with none is approved, and seen', async () => {
    const { id, data } = sent(await send('well, well'))
    expect(data.moderation).toEqual({ status: 'approved' })
    expect(await idsSeenBy(`${place}?limit=100`)).toContain(id)
  })
})

describe.each<[string, (id: string, data: object) => Promise<Answer>]>([
  ['an edit', (id, data) => world.put(`/messages/${id}`, { data }, { as: 'alice' })],
  ['an edit of a front end', (id, data) => world.put(`/messages/${id}`, { data }, { token })],
  ['an edit of what was handed in', (id, data) => world.put(`/moderation/messages/${id}`, { data })],
])('%s', (_, edit) => {
  it.each<[string, object]>([
    ['its text', { text: 'well, d@rn it' }],
    ['its metadata', { metadata: { notes: 'well, d@rn it' } }],
    ['a caption', { caption: 'well, d@rn it' }],
  ])('that puts a blocked word into %s is refused, and the message stays as it was', async (_, data) => {
    const { id } = await say(world, 'alice', 'bob', 'as it was')
    expect(refusal(await edit(id, data))).toBe('403 ERR_MESSAGE_ACTION_NOT_ALLOWED')
    const seen = dataOf(await world.get(`/messages/${id}`, { as: 'bob' }))
    expect(seen.data).toMatchObject({ text: 'as it was', moderation: { status: 'approved' } })
    expect(JSON.stringify(seen)).not.toContain('d@rn')
    expect(seen.editedAt).toBeUndefined()
    dataOf(await edit(id, { text: 'well, well' }))
    expect(dataOf(await world.get(`/messages/${id}`, { as: 'bob' })).data.text).toBe('well, well')
  })
})
