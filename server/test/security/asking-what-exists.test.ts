import { beforeAll, describe, expect, it } from 'vitest'
import { type Attacker, attackerAs } from '../support/attacker.ts'
import { createGroup, dataOf, say, sayInGroup } from '../support/chat.ts'
import { connect } from '../support/socket.ts'
import { type Answer, createUsers, createWorld, type World } from '../support/world.ts'

let world: World
let mallory: Attacker
let secretId: string
let privateId: string

const toBob = { receiver: 'bob', receiverType: 'user', data: { text: 'x' } }

beforeAll(async () => {
  world = await createWorld()
  await createUsers(world, 'alice', 'bob', 'carol', 'mallory')
  privateId = (await say(world, 'alice', 'bob', 'between us')).id
  await createGroup(world, 'Secret1', 'alice', { participants: ['bob'] }, { type: 'private' })
  secretId = (await sayInGroup(world, 'alice', 'secret1', 'among us')).id
  for (const parentId of [privateId, secretId]) {
    dataOf(await world.post(`/messages/${parentId}/thread`, { data: { text: 'a reply' } }, { as: 'alice' }))
  }
  await say(world, 'carol', 'mallory', 'hello')
  mallory = await attackerAs(world, 'mallory')
})

/** Everything that is said, with the name that was asked for taken out, and its case kept. */
const said = ({ status, body }: Answer, name: string) => ({
  status,
  body: JSON.stringify(body).replaceAll(name, '<as asked>').replaceAll(name.toLowerCase(), '<in lower case>'),
})

/** Asks for what is there and for what is not, in the same way, and compares every word. */
async function expectAlike(ask: (name: string) => Promise<Answer>, there: string, absent: string): Promise<void> {
  const [found, missed] = [await ask(there), await ask(absent)]
  expect(found.status).toBe(404)
  expect(said(found, there)).toEqual(said(missed, absent))
}

/** An ordinary user asks for names, and learns from the answers what there is. */
describe('What there is and is not theirs is answered to a user, word for word, as what is not', () => {
  it.each<[string, (name: string) => Promise<Answer>]>([
    ['read', (id) => mallory.get(`/conversations/${id}`)],
    ['messages of it', (id) => mallory.get(`/conversations/${id}/messages`)],
    ['change', (id) => mallory.put(`/conversations/${id}`, { tags: ['a'] })],
  ])('a conversation of others: %s', async (_, ask) => {
    await expectAlike(ask, 'alice_user_bob', 'alice_user_carol')
    await expectAlike(ask, 'group_secret1', 'group_secret2')
  })

  it.each<[string, (guid: string) => Promise<Answer>]>([
    ['read', (guid) => mallory.get(`/groups/${guid}`)],
    ['join', (guid) => mallory.post(`/groups/${guid}/members`, {})],
    ['join with a password', (guid) => mallory.post(`/groups/${guid}/members`, { password: 'x' })],
    ['leave', (guid) => mallory.delete(`/groups/${guid}/members`)],
    ['members', (guid) => mallory.get(`/groups/${guid}/members`)],
    ['messages', (guid) => mallory.get(`/groups/${guid}/messages`)],
    ['send', (guid) => mallory.post('/messages', { receiver: guid, receiverType: 'group', data: { text: 'x' } })],
    ['mark', (guid) => mallory.post(`/groups/${guid}/conversation/read`)],
    ['pin', (guid) => mallory.post(`/groups/${guid}/conversation/pin`)],
    ['conversation', (guid) => mallory.get(`/groups/${guid}/conversation`)],
    ['change', (guid) => mallory.put(`/groups/${guid}`, { name: 'mine' })],
  ])('a private group: %s', async (_, ask) => {
    await expectAlike(ask, 'secret1', 'secret2')
    // In the spelling of whoever asks, whatever the spelling of whoever made it.
    await expectAlike(ask, 'SECRET1', 'SECRET2')
  })

  it.each<[string, (id: string) => Promise<Answer>]>([
    ['read', (id) => mallory.get(`/messages/${id}`)],
    ['thread', (id) => mallory.get(`/messages/${id}/thread`)],
    ['edit', (id) => mallory.put(`/messages/${id}`, { data: { text: 'x' } })],
    ['delete', (id) => mallory.delete(`/messages/${id}`)],
    ['react', (id) => mallory.post(`/messages/${id}/reactions/x`)],
    ['pin', (id) => mallory.post(`/messages/${id}/pin`)],
    ['save', (id) => mallory.post(`/messages/${id}/save`)],
    ['reply', (id) => mallory.post(`/messages/${id}/thread`, { data: { text: 'x' } })],
    ['reply from elsewhere', (id) => mallory.post('/messages', { ...toBob, parentId: id })],
    ['quote', (id) => mallory.post('/messages', { ...toBob, quotedMessageId: id })],
    ['quote to nobody', (id) => mallory.post('/messages', { ...toBob, receiver: 'nobody', quotedMessageId: id })],
    ['mark', (id) => mallory.post('/users/carol/conversation/read', { messageId: Number(id) })],
    ['mark unread', (id) => mallory.delete('/users/carol/conversation/read', { messageId: Number(id) })],
    ['receipts', (id) => mallory.get(`/messages/${id}/users`)],
    ['a page from there', (id) => mallory.get(`/messages?id=${id}`)],
    ['a page of changes from there', (id) => mallory.get(`/messages?id=${id}&affix=prepend`)],
    ['a page of a conversation from there', (id) => mallory.get(`/users/carol/messages?id=${id}`)],
    ['a filtered page from there', (id) => mallory.get(`/users/carol/messages?id=${id}&category=message`)],
    ['threads from there', (id) => mallory.get(`/threads?id=${id}`)],
  ])('a message of others: %s', async (_, ask) => {
    const absent = '9007199254740990'
    await expectAlike(ask, privateId, absent)
    await expectAlike(ask, secretId, absent)
  })

  it('by where a page goes on: the time of a message of others moves nothing', async () => {
    const [mine] = dataOf(await mallory.get('/users/carol/messages'))
    const pages = async (id: string, time: string) => {
      const answers = []
      for (const affix of ['append', 'prepend']) {
        for (const path of ['/messages', '/users/carol/messages', '/users/carol/messages?category=message']) {
          const query = `${path.includes('?') ? '&' : '?'}id=${id}&${time}&affix=${affix}`
          answers.push(dataOf(await mallory.get(`${path}${query}`)).length)
        }
      }
      return answers
    }
    for (const time of ['sentAt=1', `sentAt=${mine.sentAt + 1000}`, 'updatedAt=1']) {
      expect(await pages(privateId, time), time).toEqual(await pages('9007199254740990', time))
    }
  })

  it('over sockets', async () => {
    const socket = await connect(world, 'mallory')
    const answers = []
    for (const receiver of ['secret1', 'secret2']) {
      const frame = { receiver, receiverType: 'group' }
      for (const sent of [
        { type: 'typing_indicator', ...frame, body: { action: 'started' } },
        { type: 'transient_message', ...frame, body: { data: 1 } },
        { type: 'receipts', ...frame, body: { action: 'read', messageId: secretId } },
      ]) {
        socket.send(sent)
        const { body } = await socket.takeType('error')
        answers.push(JSON.stringify(body).replaceAll(receiver, 'NAME'))
      }
    }
    expect(answers.slice(0, 3)).toEqual(answers.slice(3))
  })
})
