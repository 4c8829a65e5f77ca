import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { createGroup, dataOf } from '../support/chat.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'

const found = async (world: World, path: string, id: 'uid' | 'guid' = 'uid') =>
  dataOf(await world.get(path)).map((one: Record<string, string>) => one[id])

const search = (key: string) => `searchKey=${encodeURIComponent(key)}`

describe('A search for a part of a name', () => {
  it('finds people in every list of them', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'malik', 'bob')
    dataOf(await world.put('/users/bob', { name: "Bob O'Mali\\n 马丽 🦊🦊" }))
    await createGroup(world, 'team', 'alice', { participants: ['malik', 'bob'] })
    dataOf(await world.post('/users/alice/friends', { accepted: ['malik', 'bob'] }))
    dataOf(await world.post('/users/alice/blockedusers', { blockedUids: ['malik', 'bob'] }))
    for (const list of ['/users', '/groups/team/members', '/users/alice/friends', '/users/alice/blockedusers']) {
      for (const key of ['ali', 'ALI', 'ma', 'a']) {
        const uids = await found(world, `${list}?${search(key)}`)
        const alice = (list === '/users' || list.startsWith('/groups')) && key !== 'ma' ? ['alice'] : []
        expect(uids.sort(), `${list} ${key}`).toEqual([...alice, 'bob', 'malik'].sort())
      }
      for (const key of ["o'm", 'i\\n', '丽', '马丽', '🦊', '丽 🦊🦊', ' 马']) {
        expect(await found(world, `${list}?${search(key)}`), `${list} ${key}`).toEqual(['bob'])
      }
      for (const key of ['alicf', '丽马', "o'mali 马", '%', '*', ':', '&']) {
        expect(await found(world, `${list}?${search(key)}`), `${list} ${key}`).toEqual([])
      }
    }
  })

  it('follows changes of names, deletions, and imports', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice')
    dataOf(await world.post('/data_import/users', { users: { zed: { uid: 'zed', name: 'Inès Moreau' } } }))
    dataOf(
      await world.post('/data_import/groups', { groups: { g1: { guid: 'g1', name: 'Old hands', type: 'public' } } }),
    )
    await createGroup(world, 'g2', 'alice', {}, { name: 'New hands' })
    expect(await found(world, `/users?${search('MORE')}`)).toEqual(['zed'])
    expect(await found(world, `/groups?${search('d hand')}`, 'guid')).toEqual(['g1'])
    expect(await found(world, `/groups?${search('hands')}`, 'guid')).toEqual(['g2', 'g1'])

    dataOf(await world.put('/users/zed', { name: 'Inès Dubois' }))
    dataOf(await world.put('/groups/g1', { name: 'Elders' }))
    expect(await found(world, `/users?${search('more')}`)).toEqual([])
    expect(await found(world, `/users?${search('bois')}`)).toEqual(['zed'])
    expect(await found(world, `/groups?${search('hands')}`, 'guid')).toEqual(['g2'])
    expect(await found(world, `/groups?${search('lder')}`, 'guid')).toEqual(['g1'])

    dataOf(await world.delete('/users/zed', { permanent: true }))
    dataOf(await world.delete('/groups/g1'))
    const { database } = world.context
    const left = await database.run<{ id: string }>(
      sql`select id from searched_names where app_id = ${world.app.appId} order by kind, id`,
    )
    expect(left.map(({ id }) => id)).toEqual(['alice', 'app_system', 'g2'])
  })

  it('has exact totals, for few hits by the index and for many without', async () => {
    const world = await createWorld()
    await world.context.database.run(sql`
      insert into users (app_id, uid, name, name_key, created_at)
      select ${world.app.appId}, 'u' || i, 'Person ' || i || case when i % 7 = 0 then ' rare' else '' end,
        'person ' || i || case when i % 7 = 0 then ' rare' else '' end, 1
      from generate_series(1, 2100) i`)
    const total = async (query: string) => (await world.get(`/users?perPage=3&${query}`)).body.meta.pagination.total
    expect(await total(search('erso'))).toBe(2100)
    expect(await total(search('p'))).toBe(2100)
    expect(await total(search('rar'))).toBe(300)
    expect(await total(search('n 207'))).toBe(11)
    expect(await total(`${search('n 207')}&searchIn=uid`)).toBe(0)
    const page = await found(world, `/users?perPage=2&page=150&${search('rare')}`)
    expect(page).toHaveLength(2)
  })

  it('finds nobody of another app', async () => {
    const [world, other] = [await createWorld(), await createWorld()]
    await createUsers(world, 'quentin')
    expect(await found(other, `/users?${search('uenti')}`)).toEqual([])
    expect(await found(world, `/users?${search('uenti')}`)).toEqual(['quentin'])
  })
})
