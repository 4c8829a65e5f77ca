import { sql } from 'kysely'
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

  it('that are all of one user, such as tokens, are told apart', async () => {
    await world.server.users.create({ uid: 'tokens', name: 'tokens' })
    for (let n = 0; n < 5; n++) await world.server.users.tokens.create({ uid: 'tokens' })
    const seen = new Set<string>()
    for await (const { authToken } of world.server.users.tokens.list({ uid: 'tokens', perPage: 2 })) seen.add(authToken)
    expect(seen.size).toBe(5)
  })

  it('begin with the page that was asked for', async () => {
    const uids = await make('later', 7)
    const seen: string[] = []
    for await (const { uid } of world.server.users.list({ searchKey: 'later', perPage: 3, page: 2 })) seen.push(uid)
    expect(seen).toEqual(uids.slice(3))
  })
})

describe('The log of notifications', () => {
  it('is read from its newest entry back, or on from the one that is named', async () => {
    const own = await createClientWorld()
    const auth = { useBasicAuth: true, basicAuthUsername: 'hook', basicAuthPassword: 'a-secret-word' }
    const provider = { isEnabled: false, webhookURL: 'http://127.0.0.1:9/', ...auth }
    await own.server.notifications.customPush.create(provider)
    const logged = await own.context.database.run<{ id: string }>(sql`
      insert into notification_deliveries (app_id, uid, channel, provider_kind, provider_id, provider, trigger, event, kind,
        receiver, status, reason, gates, expires_at, created_at, ended_at)
      select p.app_id, 'bob', 'push', p.kind, p.id, p.key, 'after_message', n, 1, 'bob', 'stopped', 'DND_PREFERENCE', '[]', 1,
        ${Date.now()}, ${Date.now()}
      from notification_providers p, generate_series(1, 5) n
      where p.app_id = ${own.app.appId}
      returning id`)
    const ids = logged.map(({ id }) => String(id)).toSorted()
    expect(ids).toHaveLength(5)
    const read = async (query: { logId?: string; affix?: 'append' }) => {
      const seen: unknown[] = []
      for await (const { _id } of own.server.notifications.log.list({ limit: 2, ...query })) seen.push(_id)
      return seen
    }
    expect(await read({})).toEqual(ids.toReversed())
    expect(await read({ logId: ids[4]! })).toEqual(ids.slice(0, 4).toReversed())
    expect(await read({ logId: ids[0]!, affix: 'append' })).toEqual(ids.slice(1))
  })
})
