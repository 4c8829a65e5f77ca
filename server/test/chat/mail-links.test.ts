import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { readCorrespondent, readReplyToken, replyAddressOf } from '../../src/chat/notifications/reply-address.ts'
import {
  readUnsubscribed,
  readUnsubscribeToken,
  subscribeAgain,
  unsubscribe,
  unsubscribeHeadersOf,
  unsubscribeLinkOf,
} from '../../src/chat/notifications/unsubscribing.ts'
import { findDrift } from '../../src/doctor/drift.ts'
import { dataOf, say } from '../support/chat.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'

const now = Date.UTC(2026, 0, 1)
const dayMs = 86_400_000

/** alice and bob, who have a conversation. */
async function twoWhoTalk() {
  const world = await createWorld()
  await createUsers(world, 'alice', 'bob')
  await say(world, 'alice', 'bob', 'hi')
  const { appId } = world.app
  const { database, secrets } = world.context
  const [row] = await database.run<{ key: number }>(sql`select key from conversations where app_id = ${appId}`)
  const conversation = Number(row?.key)
  const addressFor = (uid: string) =>
    replyAddressOf(database, secrets, 'reply@mail.example.com', { appId, uid, conversation }, now)
  const linkFor = (uid: string) =>
    unsubscribeLinkOf(database, secrets, 'https://chat.example.com', { appId, uid, channel: 'email' })
  return { world, appId, conversation, addressFor, linkFor, database, secrets }
}

const tokenOf = (link: string) => new URL(link).searchParams.get('token') as string
const remove = async (world: World, uid: string) => dataOf(await world.delete(`/users/${uid}`, { permanent: true }))

describe('addresses for replies', () => {
  it('name one person and one conversation, and fit a mailbox', async () => {
    const { world, addressFor, secrets, database } = await twoWhoTalk()
    const address = (await addressFor('bob')) as string
    expect(address).toMatch(/^reply\+[a-z2-7]{39}@mail\.example\.com$/)
    expect(await addressFor('alice')).not.toBe(address)

    const token = readReplyToken(secrets, address.toUpperCase(), now)
    expect(token && (await readCorrespondent(database, token))).toMatchObject({
      ...{ app: { name: world.app.name }, uid: 'bob', kind: 'user', receiver: 'alice' },
    })
  })

  it('are good for 30 days', async () => {
    const { addressFor, secrets } = await twoWhoTalk()
    const address = (await addressFor('bob')) as string
    expect(readReplyToken(secrets, address, now + 30 * dayMs)).toBeDefined()
    expect(readReplyToken(secrets, address, now + 30 * dayMs + 1000)).toBeUndefined()
  })

  it('cannot be altered', async () => {
    const { addressFor, secrets } = await twoWhoTalk()
    const address = (await addressFor('bob')) as string
    const at = address.indexOf('+') + 1
    for (const place of [0, 5, 9, 16, 20, 30, 37]) {
      const letter = address[at + place] === 'b' ? 'c' : 'b'
      const altered = address.slice(0, at + place) + letter + address.slice(at + place + 1)
      expect(readReplyToken(secrets, altered, now), String(place)).toBeUndefined()
    }
    expect(readReplyToken(secrets, 'reply@mail.example.com', now)).toBeUndefined()
    expect(readReplyToken(secrets, 'reply+abc@mail.example.com', now)).toBeUndefined()
  })

  it('end with deactivation, also for who comes back', async () => {
    const { world, addressFor, secrets, database } = await twoWhoTalk()
    const token = readReplyToken(secrets, (await addressFor('bob')) as string, now)
    dataOf(await world.delete('/users', { uidsToDeactivate: ['bob'] }))
    expect(await addressFor('bob')).toBeUndefined()
    dataOf(await world.put('/users', { uidsToActivate: ['bob'] }))
    expect(token && (await readCorrespondent(database, token))).toBeUndefined()
    expect(await addressFor('bob')).toBeDefined()
  })

  it('go with whoever is removed for good', async () => {
    const { world, addressFor, database } = await twoWhoTalk()
    await addressFor('bob')
    await addressFor('alice')
    await remove(world, 'bob')
    expect(await database.run(sql`select from notification_correspondences where app_id = ${world.app.appId}`)).toEqual(
      [],
    )
  })
})

describe('links to unsubscribe', () => {
  it('name one person, a channel and a conversation', async () => {
    const { appId, conversation, linkFor, secrets, database } = await twoWhoTalk()
    const link = await linkFor('bob')
    expect(link).toMatch(/^https:\/\/chat\.example\.com\/unsubscribe\?token=[\w-]+$/)
    expect(await readUnsubscribeToken(database, secrets, tokenOf(link))).toEqual({
      ...{ appId, uid: 'bob', channel: 'email' },
    })
    const ofOne = { appId, uid: 'bob', channel: 'sms', conversation } as const
    const second = await unsubscribeLinkOf(database, secrets, 'https://chat.example.com', ofOne)
    expect(await readUnsubscribeToken(database, secrets, tokenOf(second))).toEqual(ofOne)
    expect(unsubscribeHeadersOf(link)).toEqual({
      'List-Unsubscribe': `<${link}>`,
      'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
    })
  })

  it('cannot be altered or made of something else that is sealed', async () => {
    const { linkFor, secrets, database } = await twoWhoTalk()
    const token = tokenOf(await linkFor('bob'))
    const altered = Buffer.from(token, 'base64url')
    altered[40] = (altered[40] as number) ^ 1
    expect(await readUnsubscribeToken(database, secrets, altered.toString('base64url'))).toBeUndefined()
    expect(await readUnsubscribeToken(database, secrets, '')).toBeUndefined()
    const other = secrets.seal(JSON.stringify({ uid: 'bob' })).toString('base64url')
    expect(await readUnsubscribeToken(database, secrets, other)).toBeUndefined()
  })

  it('are not for somebody new with the uid', async () => {
    const { world, linkFor, secrets, database } = await twoWhoTalk()
    const token = tokenOf(await linkFor('bob'))
    await remove(world, 'bob')
    expect(await readUnsubscribeToken(database, secrets, token)).toBeUndefined()
    await createUsers(world, 'bob')
    expect(await readUnsubscribeToken(database, secrets, token)).toBeUndefined()
    expect(await readUnsubscribeToken(database, secrets, tokenOf(await linkFor('bob')))).toBeDefined()
  })

  it('end a channel or what it says of one conversation, twice without harm, and back', async () => {
    const { appId, conversation, database } = await twoWhoTalk()
    const unwantedBy = (channel: 'email' | 'sms', of = conversation) =>
      readUnsubscribed(database, { appId, channel, conversation: of }, ['alice', 'bob'])
    const ofOne = { appId, uid: 'bob', channel: 'email', conversation } as const
    const ofAll = { appId, uid: 'bob', channel: 'email' } as const

    await Promise.all([unsubscribe(database, ofOne, now), unsubscribe(database, ofOne, now)])
    expect([...(await unwantedBy('email'))]).toEqual(['bob'])
    expect((await unwantedBy('email', conversation + 1)).size).toBe(0)
    expect((await unwantedBy('sms')).size).toBe(0)

    await Promise.all([unsubscribe(database, ofAll, now), unsubscribe(database, ofAll, now)])
    expect([...(await unwantedBy('email', conversation + 1))]).toEqual(['bob'])
    expect(await findDrift(database, appId)).toEqual([])
    await subscribeAgain(database, ofAll)
    expect((await unwantedBy('email')).size).toBe(0)
  })

  it('leave nothing of whoever is removed for good', async () => {
    const { world, appId, conversation, database } = await twoWhoTalk()
    await unsubscribe(database, { appId, uid: 'bob', channel: 'email' }, now)
    await unsubscribe(database, { appId, uid: 'alice', channel: 'email', conversation }, now)
    await remove(world, 'bob')
    expect(await database.run(sql`select from notification_unsubscriptions where app_id = ${appId}`)).toEqual([])
    await unsubscribe(database, { appId, uid: 'bob', channel: 'email' }, now)
    expect(await findDrift(database, appId)).toEqual([])
  })
})
