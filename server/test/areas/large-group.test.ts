import { describe, expect, it } from 'vitest'
import { findDrift } from '../../src/doctor/drift.ts'
import { createGroup, dataOf, sayInGroup } from '../support/chat.ts'
import { createUsers, createWorld } from '../support/world.ts'

const size = 1000

describe('a group of 1,000 members', () => {
  it('counts unread messages and receipts exactly, to the last reader', async () => {
    const world = await createWorld()
    await createUsers(world, 'owner')
    await createGroup(world, 'crowd', 'owner')
    const uids = Array.from({ length: size - 1 }, (_, i) => `reader-${i}`)
    dataOf(await world.post('/data_import/users', { users: uids.map((uid) => ({ uid, name: uid })) }))
    const members = uids.map((uid) => ({ memberId: `crowd_member_${uid}`, guid: 'crowd', uid, scope: 'participant' }))
    dataOf(await world.post('/data_import/members', { members }))
    expect(dataOf(await world.get('/groups/crowd')).membersCount).toBe(size)

    const first = await sayInGroup(world, 'owner', 'crowd', 'one')
    const second = await sayInGroup(world, 'reader-0', 'crowd', 'two')
    const receipts = async (id: string) => {
      const { deliveredAt, readAt } = dataOf(await world.get(`/messages/${id}`))
      return { delivered: deliveredAt !== undefined, read: readAt !== undefined }
    }
    const unread = async (as: string) =>
      dataOf(await world.get('/groups/crowd/conversation', { as })).unreadMessageCount
    const read = async (readers: readonly string[], body: object) => {
      const answers = await Promise.all(
        readers.map((as) => world.post('/groups/crowd/conversation/read', body, { as })),
      )
      expect(answers.filter((answer) => answer.status !== 200)).toEqual([])
    }
    expect(await unread('reader-1')).toBe('2')
    expect(await unread('reader-0')).toBe('0')
    expect(await unread('owner')).toBe('1')

    // Everybody but one reads the first message, at the same time; then the last one does.
    await read(uids.slice(1, -1), { messageId: first.id })
    expect(await receipts(first.id)).toEqual({ delivered: false, read: false })
    expect(await unread('reader-1')).toBe('1')
    await read(uids.slice(-1), { messageId: first.id })
    expect(await receipts(first.id)).toEqual({ delivered: true, read: true })
    expect(await receipts(second.id)).toEqual({ delivered: false, read: false })

    await read(['owner', ...uids], {})
    expect(await receipts(second.id)).toEqual({ delivered: true, read: true })
    expect(await unread('reader-1')).toBe('0')
    expect(await findDrift(world.context.database, world.app.appId)).toEqual([])
  })
})
