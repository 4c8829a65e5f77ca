import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { replyAddressOf } from '../../src/chat/notifications/reply-address.ts'
import { unsubscribe } from '../../src/chat/notifications/unsubscribing.ts'
import { findDrift } from '../../src/doctor/drift.ts'
import { createGroup, dataOf, refusal, say, sayInGroup } from '../support/chat.ts'
import { contact } from '../support/notifications.ts'
import { tokenOf } from '../support/socket.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'

const path = '/notifications/v1/contact-details'
const unsubscriptions = '/notifications/v1/unsubscriptions'

async function worldOf(...uids: string[]): Promise<World> {
  const world = await createWorld()
  await createUsers(world, ...uids)
  return world
}

const contactsOf = async (world: World, uid: string) => dataOf(await world.get(path, { as: uid }))

describe('contact details', () => {
  it('are set one by one, read and removed, each of their own user and app', async () => {
    const [world, other] = [await worldOf('alice', 'bob'), await worldOf('alice')]
    expect(await contactsOf(world, 'alice')).toEqual({})
    expect(dataOf(await contact(world, 'alice', { email: 'alice@example.com' }))).toEqual({
      email: 'alice@example.com',
    })
    const both = { email: 'alice@example.com', phno: '+15550101' }
    expect(dataOf(await contact(world, 'Alice', { phno: '+15550101' }))).toEqual(both)
    expect(dataOf(await contact(world, 'alice', {}))).toEqual(both)
    expect(await contactsOf(world, 'alice')).toEqual(both)
    expect(await contactsOf(world, 'bob')).toEqual({})
    expect(await contactsOf(other, 'alice')).toEqual({})

    expect(dataOf(await contact(world, 'alice', { email: null }))).toEqual({ phno: '+15550101' })
    for (let time = 0; time < 2; time++) {
      expect(dataOf(await world.delete(path, undefined, { as: 'alice' }))).toEqual({ success: true })
      expect(await contactsOf(world, 'alice')).toEqual({})
    }
  })

  it.each([
    ['email', ''],
    ['email', 'alice'],
    ['email', 'alice@'],
    ['email', '@example.com'],
    ['email', 'alice@example..com'],
    ['email', 'Alice <alice@example.com>'],
    ['email', 'alice@example.com, bob@example.com'],
    ['email', 'alice@example.com\r\nBcc: bob@example.com'],
    ['email', 'alice\n@example.com'],
    ['email', 'alice\u2028@example.com'],
    ['email', `${'a'.repeat(65)}@example.com`],
    ['email', `a@${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(60)}.${'e'.repeat(60)}.${'f'.repeat(20)}.com`],
    ['email', 7],
    ['phno', ''],
    ['phno', '5550101'],
    ['phno', '+0155501012'],
    ['phno', '+1 555 0101'],
    ['phno', '+15550101\n'],
    ['phno', '+1234567890123456'],
    ['phno', 15550101],
  ])('refuse as %s %j', async (name, value) => {
    const world = await worldOf('alice')
    const answer = await contact(world, 'alice', { [name]: value })
    expect(refusal(answer)).toBe('400 ERR_BAD_REQUEST')
    expect(answer.body.error.details[0].path).toBe(`body/${name}`)
    expect(await contactsOf(world, 'alice')).toEqual({})
  })

  it('take addresses and names of domains in any script', async () => {
    const world = await worldOf('alice')
    const email = 'zoë.o’brien+chat@bücher.example'
    expect(dataOf(await contact(world, 'alice', { email }))).toEqual({ email })
  })

  it('want a body to change them, and are for keys only', async () => {
    const world = await worldOf('alice')
    expect(refusal(await world.call('PATCH', path, undefined, { as: 'alice' }))).toBe('400 ERR_BAD_REQUEST')
    expect(refusal(await world.get(path))).toBe('400 ERR_BAD_REQUEST')
    expect(refusal(await world.get(path, { as: 'nobody' }))).toBe('404 ERR_UID_NOT_FOUND')
    const token = await tokenOf(world, 'alice')
    expect(refusal(await world.call('PATCH', path, { email: 'a@b.example' }, { token }))).toBe('403 AUTH_ERR_NO_ACCESS')
  })

  it('keep what several set at the same time', async () => {
    const world = await worldOf('alice')
    const both = { email: 'alice@example.com', phno: '+15550101' }
    await Promise.all([contact(world, 'alice', { email: both.email }), contact(world, 'alice', { phno: both.phno })])
    expect(await contactsOf(world, 'alice')).toEqual(both)
  })

  it('end replies to the mailbox before when the address changes or goes', async () => {
    const world = await worldOf('alice', 'bob')
    await say(world, 'alice', 'bob', 'hi')
    const { database, secrets } = world.context
    const { appId } = world.app
    const [row] = await database.run<{ key: number }>(sql`select key from conversations where app_id = ${appId}`)
    const bob = { appId, uid: 'bob', conversation: Number(row?.key) }
    const open = () =>
      database.run(sql`select from notification_correspondences where app_id = ${appId}`).then((rows) => rows.length)
    const write = () => replyAddressOf(database, secrets, 'reply@example.com', bob, Date.now())

    dataOf(await contact(world, 'bob', { email: 'bob@example.com' }))
    await write()
    dataOf(await contact(world, 'bob', { email: 'bob@example.com', phno: '+15550101' }))
    expect(await open()).toBe(1)
    dataOf(await contact(world, 'bob', { email: 'bob@example.org' }))
    expect(await open()).toBe(0)
    await write()
    dataOf(await world.delete(path, undefined, { as: 'bob' }))
    expect(await open()).toBe(0)
  })

  it('go with whoever is removed for good, and are not those of the next with the uid', async () => {
    const world = await worldOf('alice')
    dataOf(await contact(world, 'alice', { email: 'alice@example.com' }))
    dataOf(await world.delete('/users/alice', { permanent: true }))
    const { database } = world.context
    expect(await database.run(sql`select from notification_contacts where app_id = ${world.app.appId}`)).toEqual([])
    await createUsers(world, 'alice')
    expect(await contactsOf(world, 'alice')).toEqual({})
    expect(await findDrift(database, world.app.appId)).toEqual([])
  })
})

describe('unsubscriptions', () => {
  it('are listed and taken back by the app, by channel', async () => {
    const world = await worldOf('alice', 'bob')
    await createGroup(world, 'team', 'alice', { participants: ['bob'] })
    await sayInGroup(world, 'alice', 'team', 'hi')
    const { database } = world.context
    const { appId } = world.app
    const [row] = await database.run<{ key: number }>(sql`select key from conversations where app_id = ${appId}`)
    const listed = async () => dataOf(await world.get(unsubscriptions, { as: 'bob' })).unsubscriptions
    expect(await listed()).toEqual([])
    await unsubscribe(database, { appId, uid: 'bob', channel: 'email', conversation: Number(row?.key) }, 1000)
    await unsubscribe(database, { appId, uid: 'bob', channel: 'email' }, 2000)
    await unsubscribe(database, { appId, uid: 'bob', channel: 'sms' }, 3000)
    expect(await listed()).toEqual([
      { channel: 'email', conversationId: 'group_team', since: 1000 },
      { channel: 'email', since: 2000 },
      { channel: 'sms', since: 3000 },
    ])
    expect(dataOf(await world.get(unsubscriptions, { as: 'alice' })).unsubscriptions).toEqual([])
    dataOf(await world.delete(`${unsubscriptions}?channel=email`, undefined, { as: 'bob' }))
    expect(await listed()).toEqual([{ channel: 'sms', since: 3000 }])
    dataOf(await world.delete(unsubscriptions, undefined, { as: 'bob' }))
    expect(await listed()).toEqual([])
    expect(refusal(await world.delete(`${unsubscriptions}?channel=push`, undefined, { as: 'bob' }))).toBe(
      '400 ERR_BAD_REQUEST',
    )
  })
})
