import { describe, expect, it } from 'vitest'
import { findDrift } from '../../src/doctor/drift.ts'
import { createGroup, dataOf, say, sayInGroup } from '../support/chat.ts'
import { groupText, importWell, text } from '../support/imports.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'

const queries = [
  '',
  'unique=1',
  'conversationType=user',
  'conversationType=group',
  'unique=1&conversationType=user',
].concat('unique=1&conversationType=group')

interface Listed {
  readonly total: number
  readonly ids: string[]
}

async function list(world: World, query: string): Promise<Listed> {
  const { body } = await world.get(`/conversations?perPage=1000&${query}`)
  return {
    total: body.meta.pagination.total,
    ids: body.data.map((row: { conversationId: string }) => row.conversationId),
  }
}

/** The totals of all lists of the app, each of which must be the number of its rows. */
async function totalsOf(world: World): Promise<number[]> {
  const all = await list(world, '')
  const totals = []
  for (const query of queries) {
    const { total, ids } = await list(world, query)
    expect(total, query).toBe(ids.length)
    if (query.includes('unique')) {
      const kept = query.includes('=user') ? '_user_' : query.includes('=group') ? 'group_' : ''
      expect(ids.toSorted(), query).toEqual([...new Set(all.ids.filter((id) => id.includes(kept)))].toSorted())
    }
    totals.push(total)
  }
  expect(await findDrift(world.context.database, world.app.appId)).toEqual([])
  return totals
}

async function createScene(): Promise<World> {
  const world = await createWorld()
  await createUsers(world, 'alice', 'bob', 'carol', 'dave')
  await createGroup(world, 'team', 'alice', { participants: ['bob', 'carol'] })
  await say(world, 'alice', 'bob', '1')
  await say(world, 'carol', 'bob', '2')
  await sayInGroup(world, 'alice', 'team', '3')
  return world
}

/** What is done to the scene, and the totals that it leads to, in the order of `queries`. */
const steps: Record<string, readonly [(world: World) => Promise<unknown>, number[]]> = {
  'nothing more': [async () => {}, [7, 3, 4, 3, 2, 1]],
  'a group in which nothing was said': [(world) => createGroup(world, 'silent', 'bob'), [7, 3, 4, 3, 2, 1]],
  'a conversation with oneself': [(world) => say(world, 'dave', 'dave', 'note'), [8, 4, 5, 3, 3, 1]],
  'friends who have not talked': [
    async (world) => dataOf(await world.post('/users/dave/friends', { accepted: ['carol'], addToConversations: true })),
    [9, 4, 6, 3, 3, 1],
  ],
  'an import': [
    async (world) => {
      await importWell(world, 'messages', [text('a', 'dave', 'alice', 1_600_000_000)])
      await importWell(world, 'messages', [groupText('b', 'bob', 'team', 1_600_000_000)])
    },
    [9, 4, 6, 3, 3, 1],
  ],
  'a reset by one side': [
    async (world) => dataOf(await world.delete('/users/bob/conversation', {}, { as: 'alice' })),
    [6, 3, 3, 3, 2, 1],
  ],
  'a reset by one side that keeps the place': [
    async (world) => dataOf(await world.delete('/users/bob/conversation', { preserveOrder: true }, { as: 'alice' })),
    [7, 3, 4, 3, 2, 1],
  ],
  'a reset by one side, and a message since': [
    async (world) => {
      dataOf(await world.delete('/users/bob/conversation', {}, { as: 'alice' }))
      await say(world, 'bob', 'alice', 'again')
    },
    [7, 3, 4, 3, 2, 1],
  ],
  'a reset by both sides': [
    async (world) => {
      dataOf(await world.delete('/users/bob/conversation', {}, { as: 'alice' }))
      dataOf(await world.delete('/users/alice/conversation', {}, { as: 'bob' }))
    },
    [5, 2, 2, 3, 1, 1],
  ],
  'a reset by the first side of a group, then by all of it': [
    async (world) => {
      dataOf(await world.delete('/groups/team/conversation', {}, { as: 'alice' }))
      expect(await totalsOf(world)).toEqual([6, 3, 4, 2, 2, 1])
      for (const as of ['bob', 'carol']) dataOf(await world.delete('/groups/team/conversation', {}, { as }))
    },
    [4, 2, 4, 0, 2, 0],
  ],
  'a reset with oneself': [
    async (world) => {
      await say(world, 'dave', 'dave', 'note')
      dataOf(await world.delete('/users/dave/conversation', {}, { as: 'dave' }))
    },
    [7, 3, 4, 3, 2, 1],
  ],
  'a reset by a member who left since': [
    async (world) => {
      dataOf(await world.delete('/groups/team/conversation', {}, { as: 'bob' }))
      dataOf(await world.delete('/groups/team/members/bob'))
    },
    [6, 3, 4, 2, 2, 1],
  ],
  'a conversation removed for everyone': [
    async (world) => dataOf(await world.delete('/conversations/alice_user_bob', {}, { as: 'alice' })),
    [5, 2, 2, 3, 1, 1],
  ],
  'a member who is banned': [
    async (world) => dataOf(await world.post('/groups/team/bannedusers/carol', {})),
    [6, 3, 4, 2, 2, 1],
  ],
  'a user who is deactivated': [
    async (world) => dataOf(await world.delete('/users', { uidsToDeactivate: ['bob'] })),
    [6, 3, 4, 2, 2, 1],
  ],
  'a user who is deactivated and comes back': [
    async (world) => {
      dataOf(await world.delete('/users', { uidsToDeactivate: ['bob'] }))
      dataOf(await world.put('/users', { uidsToActivate: ['bob'] }))
    },
    [7, 3, 4, 3, 2, 1],
  ],
  'a user who is deleted': [
    async (world) => dataOf(await world.delete('/users/bob', { permanent: true })),
    [2, 1, 0, 2, 0, 1],
  ],
  'a group that is deleted': [async (world) => dataOf(await world.delete('/groups/team')), [4, 2, 4, 0, 2, 0]],
  'a block': [
    async (world) => dataOf(await world.post('/users/alice/blockedusers', { blockedUids: ['bob'] })),
    [7, 3, 4, 3, 2, 1],
  ],
  'a role that may not list messages': [
    async (world) => {
      dataOf(await world.put('/roles/default/permissions', { permissions: { listMessages: 'deny' } }))
    },
    [7, 3, 4, 3, 2, 1],
  ],
}

describe('the list of all conversations of an app has as many rows as its total says, after', () => {
  it.each(Object.keys(steps))('%s', async (name) => {
    const world = await createScene()
    const [act, totals] = steps[name] as (typeof steps)[string]
    await act(world)
    expect(await totalsOf(world)).toEqual(totals)
  })

  it('what other apps do', async () => {
    const [world, other] = [await createScene(), await createScene()]
    await say(other, 'dave', 'alice', 'more')
    expect(await totalsOf(world)).toEqual([7, 3, 4, 3, 2, 1])
    expect(await totalsOf(other)).toEqual([9, 4, 6, 3, 3, 1])
  })

  it('pages', async () => {
    const world = await createScene()
    for (const query of ['', '&unique=1']) {
      const whole = await list(world, query)
      const paged: string[] = []
      for (let page = 1; page <= 4; page++) {
        const { data, meta } = (await world.get(`/conversations?perPage=2&page=${page}${query}`)).body
        expect(meta.pagination.total).toBe(whole.total)
        paged.push(...data.map((row: { conversationId: string }) => row.conversationId))
      }
      expect(paged).toEqual(whole.ids)
    }
  })
})
