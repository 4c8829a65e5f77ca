import { limits } from '@parley/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { dataOf, say, sayInGroup } from '../support/chat.ts'
import { indexed } from '../support/search.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'

const most = 3
const lowered = limits as { countedHits: number }
const { countedHits } = limits

beforeAll(() => {
  lowered.countedHits = most
})

// Other files run in the same process.
afterAll(() => {
  lowered.countedHits = countedHits
})

const people = ['ann', 'ana', 'anton', 'anke']

/** alice has something to do with each of four people and four groups, whose names all begin with `an`. */
async function createAround(): Promise<World> {
  const world = await createWorld()
  await createUsers(world, 'alice', ...people)
  dataOf(await world.post('/users/alice/friends', { accepted: people, addToConversations: true }))
  for (const uid of people) {
    dataOf(await world.post('/groups', { guid: `${uid}-s`, name: uid, type: 'public', owner: uid }))
  }
  dataOf(await world.post('/groups', { guid: 'team', name: 'team', type: 'public', owner: 'alice' }))
  dataOf(await world.post('/groups/team/members', { participants: people }))
  return world
}

/** What each list tells of a search for `key`. */
const lists = {
  users: (key: string) => `/users?searchKey=${key}`,
  groups: (key: string) => `/groups?searchKey=${key}`,
  'groups, as a user': (key: string) => `/groups?searchKey=${key}`,
  members: (key: string) => `/groups/team/members?searchKey=${key}`,
  friends: (key: string) => `/users/alice/friends?searchKey=${key}`,
  'conversations of a user': (key: string) => `/conversations?searchKey=${key}`,
  'conversations of the app': (key: string) => `/conversations?unique=1&searchKey=${key}`,
  'blocked users': (key: string) => `/users/alice/blockedusers?searchKey=${key}`,
}

describe('The total of a search', () => {
  it('is exact up to a bound, and says so beyond it', async () => {
    const world = await createAround()
    for (const [name, pathOf] of Object.entries(lists)) {
      if (name === 'blocked users') dataOf(await world.post('/users/alice/blockedusers', { blockedUids: people }))
      const as = name.endsWith('a user') ? { as: 'alice' } : {}
      // Lists of friends and of blocked users have their cursor there, too.
      const read = async (key: string) => {
        const { cursor: _, ...meta } = (await world.get(`${pathOf(key)}&perPage=2`, as)).body.meta
        return meta
      }
      expect(await read('an'), name).toEqual({
        countAtLeast: true,
        pagination: { total: most, count: 2, per_page: 2, current_page: 1, total_pages: 2 },
      })
      expect(await read('ann'), name).toEqual({
        pagination: { total: 1, count: 1, per_page: 2, current_page: 1, total_pages: 1 },
      })
    }
  })

  it('is exact at the bound', async () => {
    const world = await createWorld()
    await createUsers(world, 'ann', 'ana', 'anton')
    const { meta } = (await world.get('/users?searchKey=an&perPage=1')).body
    expect(meta).toEqual({ pagination: { total: 3, count: 1, per_page: 1, current_page: 1, total_pages: 3 } })
  })

  it('is not bounded without a search word', async () => {
    const world = await createAround()
    const { meta } = (await world.get('/users?perPage=1')).body
    expect(meta).not.toHaveProperty('countAtLeast')
    expect(meta.pagination.total).toBe(5)
  })
})

describe('The counts of a search in messages', () => {
  const sumOf = (rows: Array<{ count: number }>) => rows.reduce((sum, { count }) => sum + count, 0)

  /** Two that hold much of what is sought, then many that do not, so that what is near does not show it. */
  const createTalk = async () => {
    const world = await createAround()
    for (const text of ['hay one', 'hay two']) await say(world, 'alice', 'ann', text)
    for (const text of ['hay three', 'hay four', 'straw']) await sayInGroup(world, 'alice', 'team', text)
    for (let i = 0; i < 12; i++) await say(world, 'ann', 'alice', `nothing ${i}`)
    await indexed(world)
    return world
  }

  it('are exact up to a bound, and say so beyond it, nearby and by the index', async () => {
    const world = await createTalk()
    for (const as of [undefined, 'alice', 'ann']) {
      const options = as === undefined ? {} : { as }
      for (const key of ['h', 'hay', 'nothing', 'n']) {
        const { body } = await world.get(`/messages?count=1&searchKey=${key}`, options)
        expect(body.meta, `${key} as ${as}`).toEqual({ countAtLeast: true })
        expect(sumOf(body.data), `${key} as ${as}`).toBe(most)
      }
      for (const [key, count] of [
        ['hay t', 2],
        ['straw', 1],
        ['hay one', 1],
      ] as const) {
        const { body } = await world.get(`/messages?count=1&searchKey=${key}`, options)
        expect(body, `${key} as ${as}`).not.toHaveProperty('meta')
        expect(sumOf(body.data), `${key} as ${as}`).toBe(count)
      }
    }
    const inGroup = await world.get('/groups/team/messages?count=1&searchKey=hay', { as: 'ann' })
    expect(inGroup.body).toEqual({ data: [{ entityId: 'team', entityType: 'group', count: 2 }] })
    const ofBoth = await world.get('/users/ann/messages?count=1&searchKey=n', { as: 'alice' })
    expect(ofBoth.body).toEqual({
      data: [{ entityId: 'ann', entityType: 'user', count: most }],
      meta: { countAtLeast: true },
    })
  })

  /** Among much that others say, alice hears `hay` twice from ann; what is near does not show it. */
  const createNeedle = async (sayMuch: (world: World) => Promise<void>) => {
    const world = await createAround()
    await sayMuch(world)
    for (let i = 0; i < 2; i++) await say(world, 'ann', 'alice', 'hay')
    for (let i = 0; i < 12; i++) await say(world, 'ana', 'anton', `nothing ${i}`)
    await indexed(world)
    return world
  }

  const crowds: Record<string, (world: World) => Promise<void>> = {
    'some of which': async (world) => {
      for (let i = 0; i < 20; i++) await say(world, 'ana', 'anton', 'hay')
    },
    'very much of which': async (world) => {
      const hay = { sender: 'ana', receiver: 'anton', receiverType: 'user', category: 'message', type: 'text' }
      for (let from = 0; from < 5000; from += 1000) {
        const messages = Array.from({ length: 1000 }, (_, i) => ({
          ...{ ...hay, muid: `m${from + i}`, data: { text: 'hay' }, sentAt: 1_700_000_000 + from + i },
        }))
        dataOf(await world.post('/data_import/messages', { messages }))
      }
    },
  }

  it.each(Object.keys(crowds))('are those of the list, whatever else the app says: %s is found', async (crowd) => {
    const world = await createNeedle(crowds[crowd] as (world: World) => Promise<void>)
    const one = { data: [{ conversationId: 'alice_user_ann', count: 2 }] }
    expect((await world.get('/users/ann/messages?count=1&searchKey=hay')).body).toEqual(one)
    expect((await world.get('/messages?count=1&searchKey=hay&sender=ann')).body).toEqual(one)
    expect((await world.get('/messages?count=1&searchKey=hay&sender=anke')).body).toEqual({ data: [] })
    expect((await world.get('/messages?count=1&searchKey=hay&sender=ana')).body).toEqual({
      data: [{ conversationId: 'ana_user_anton', count: most }],
      meta: { countAtLeast: true },
    })
  })
})
