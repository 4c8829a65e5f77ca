import { beforeAll, describe, expect, it } from 'vitest'
import { type ClientWorld, createClientWorld } from './support.ts'

let world: ClientWorld
beforeAll(async () => {
  world = await createClientWorld()
  for (const uid of ['alice', 'bob']) await world.server.users.create({ uid, name: uid })
})

const hello = { receiver: 'bob', receiverType: 'user', data: { text: 'hello' } } as const

describe('Rows of numbered pages', () => {
  const make = async (prefix: string, count: number) => {
    const uids = Array.from({ length: count }, (_, index) => `${prefix}-${index}`)
    for (const uid of uids) await world.server.users.create({ uid, name: uid })
    return uids
  }

  it('come without a gap where others go meanwhile', async () => {
    const uids = await make('goer', 7)
    const seen: string[] = []
    for await (const { uid } of world.server.users.list({ searchKey: 'goer', perPage: 3 })) {
      seen.push(uid)
      if (seen.length === 2) await world.server.users.delete({ uid: 'goer-0', permanent: true })
    }
    expect(seen.toSorted()).toEqual(uids)
  })

  it('come once and without a gap where many are added and go', async () => {
    const uids = await make('mover', 9)
    const seen: string[] = []
    for await (const { uid } of world.server.users.list({ searchKey: 'mover', perPage: 2 })) {
      seen.push(uid)
      if (seen.length === 2)
        for (const gone of uids.slice(0, 2)) await world.server.users.delete({ uid: gone, permanent: true })
      if (seen.length === 4)
        for (let n = 0; n < 5; n++) await world.server.users.create({ uid: `mover--${n}`, name: `a mover ${n}` })
    }
    expect(new Set(seen).size).toBe(seen.length)
    expect(seen.filter((uid) => !uid.startsWith('mover--')).toSorted()).toEqual(uids)
  })

  it('of conversations come once where one moves to the top', async () => {
    await world.server.users.create({ uid: 'busy', name: 'busy' })
    const uids = await make('peer', 6)
    for (const uid of uids) await world.server.as(uid).messages.send({ ...hello, receiver: 'busy' })
    const seen: string[] = []
    for await (const { conversationId } of world.server.as('busy').conversations.list({ perPage: 2 })) {
      seen.push(conversationId)
      // It stands on the last page, which is not read yet.
      if (seen.length === 1) await world.server.as('peer-0').messages.send({ ...hello, receiver: 'busy' })
    }
    expect(seen.toSorted()).toEqual(uids.map((uid) => `busy_user_${uid}`).toSorted())
  })
})
