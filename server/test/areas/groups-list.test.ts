import { describe, expect, it } from 'vitest'
import { statement } from '../../src/store/statement.ts'
import { dataOf, refusal } from '../support/chat.ts'
import { type Answer, createUsers, createWorld, type World } from '../support/world.ts'

const guids = (answer: Answer) => dataOf(answer).map(({ guid }: { guid: string }) => guid)

/** Lists groups and gives their guids in the order answered. */
async function listed(world: World, query: string, as?: string): Promise<string[]> {
  return guids(await world.get(`/groups?${query}`, as === undefined ? {} : { as }))
}

const setTimes = statement(`
  update groups
  set created_at = $3,
    updated_at = $4
  where app_id = $1
  and guid = $2`)

/** Makes a group as if at another time; `updatedAt` null for one that never changed. */
async function createAt(world: World, guid: string, createdAt: number, updatedAt: number | null) {
  dataOf(await world.post('/groups', { guid, name: guid, type: 'public' }))
  await world.context.database.query(setTimes, [world.app.appId, guid, createdAt, updatedAt])
}

/** Three groups of each type, whose names order otherwise than their guids. */
async function createSome(world: World) {
  await createUsers(world, 'alice', 'bob', 'carol')
  const make = async (guid: string, name: string, type: string, fields: object = {}) =>
    dataOf(await world.post('/groups', { guid, name, type, password: 'x', owner: 'alice', ...fields }))
  await make('b-open', 'apple', 'public', { tags: ['red', 'round'] })
  await make('a-open', 'Banana', 'public', { tags: ['yellow'], members: { participants: ['bob'] } })
  await make('c-lock', 'cherry', 'password', { tags: ['red'], members: { participants: ['bob', 'carol'] } })
  await make('d-hide', 'date', 'private', { members: { moderators: ['bob'], usersToBan: ['carol'] } })
}

describe('The list of groups', () => {
  it('is ordered by name without regard to case, and tells the true total', async () => {
    const world = await createWorld()
    await createSome(world)
    const answer = await world.get('/groups')
    expect(guids(answer)).toEqual(['b-open', 'a-open', 'c-lock', 'd-hide'])
    expect(answer.body.meta).toEqual({
      pagination: { total: 4, count: 4, per_page: 100, current_page: 1, total_pages: 1 },
      cursor: { updatedAt: expect.any(Number), affix: 'prepend' },
    })
    expect(answer.body.data[0]).toMatchObject({ name: 'apple', owner: 'alice', membersCount: 1, type: 'public' })
    expect(answer.body.data[0]).not.toHaveProperty('tags')
    expect(answer.body.data[0]).not.toHaveProperty('hasJoined')
  })

  it('comes in pages', async () => {
    const world = await createWorld()
    await createSome(world)
    const second = await world.get('/groups?perPage=3&page=2')
    expect(guids(second)).toEqual(['d-hide'])
    expect(second.body.meta.pagination).toEqual({
      total: 4,
      count: 1,
      per_page: 3,
      current_page: 2,
      total_pages: 2,
    })
    const beyond = await world.get('/groups?per_page=3&page=9')
    expect(beyond.body).toEqual({
      data: [],
      meta: { pagination: { total: 4, count: 0, per_page: 3, current_page: 9, total_pages: 2 } },
    })
  })

  it('can be sorted by name, guid and time of creation, both ways', async () => {
    const world = await createWorld()
    for (const [i, guid] of ['m', 'z', 'a'].entries()) await createAt(world, guid, 1_600_000_000 + i, null)
    expect(await listed(world, 'sortBy=name&sortOrder=desc')).toEqual(['z', 'm', 'a'])
    expect(await listed(world, 'sortBy=guid')).toEqual(['a', 'm', 'z'])
    expect(await listed(world, 'sortBy=createdAt')).toEqual(['m', 'z', 'a'])
    expect(await listed(world, 'sortBy=createdAt&sortOrder=desc')).toEqual(['a', 'z', 'm'])
  })

  it('filters by text in guid or name, tags, types and guids', async () => {
    const world = await createWorld()
    await createSome(world)
    const expected: Array<[string, string[]]> = [
      ['searchKey=AN', ['a-open']],
      ['searchKey=open', ['b-open', 'a-open']],
      ['searchKey=open&searchIn=name', []],
      ['searchKey=an&searchIn=guid', []],
      ['searchKey=open&searchIn=name,guid', ['b-open', 'a-open']],
      ['searchKey=%25', []],
      ['tags=red', ['b-open', 'c-lock']],
      ['tags=yellow,round', ['b-open', 'a-open']],
      ['tags=,', ['b-open', 'a-open', 'c-lock', 'd-hide']],
      ['type=public', ['b-open', 'a-open']],
      ['type=private', ['d-hide']],
      ['type=protected', ['c-lock']],
      ['types=password,private', ['c-lock', 'd-hide']],
      ['types=protected,public', ['b-open', 'a-open', 'c-lock']],
      ['guid=A-OPEN', ['a-open']],
      ['guids=a-open,D-hide,nowhere', ['a-open', 'd-hide']],
      ['type=public&tags=red', ['b-open']],
      ['membersCount[gt]=1', ['a-open', 'c-lock', 'd-hide']],
      ['membersCount[gte]=2&membersCount[lt]=3', ['a-open', 'd-hide']],
      ['membersCount[lte]=1', ['b-open']],
      ['membersCount[eq]=3', ['c-lock']],
    ]
    for (const [query, result] of expected) expect(await listed(world, query), query).toEqual(result)
    const total = async (query: string) => (await world.get(`/groups?${query}`)).body.meta.pagination.total
    expect(await total('type=public&perPage=1')).toBe(2)
  })

  it('puts tags into the groups when asked to', async () => {
    const world = await createWorld()
    await createSome(world)
    const withTags = dataOf(await world.get('/groups?withTags=true&tags=round'))
    expect(withTags).toHaveLength(1)
    expect(withTags[0].tags).toEqual(['red', 'round'])
  })

  it('filters by time of creation and of real change', async () => {
    const world = await createWorld()
    await createAt(world, 'never-changed', 100, null)
    await createAt(world, 'changed', 100, 200)
    await createAt(world, 'later', 150, 300)
    const expected: Array<[string, string[]]> = [
      ['createdAt[from]=101', ['later']],
      ['createdAt[to]=100', ['changed', 'never-changed']],
      ['updatedAt[from]=100', ['changed', 'later']],
      ['updatedAt[from]=201', ['later']],
      ['updatedAt[to]=299', ['changed']],
    ]
    for (const [query, result] of expected) expect(await listed(world, query), query).toEqual(result)
  })

  it('goes on by updatedAt in both directions, rows ascending, the second of the cursor included', async () => {
    const world = await createWorld()
    await createAt(world, 'd', 100, null)
    await createAt(world, 'c', 50, 200)
    await createAt(world, 'b', 10, 300)
    await createAt(world, 'a', 400, null)
    expect(await listed(world, 'updatedAt=200')).toEqual(['c', 'b', 'a'])
    expect(await listed(world, 'affix=append&updatedAt=201')).toEqual(['b', 'a'])
    expect(await listed(world, 'affix=prepend&updatedAt=200')).toEqual(['d', 'c'])
    expect(await listed(world, 'affix=prepend&perPage=2')).toEqual(['b', 'a'])
    const page = await world.get('/groups?affix=append&perPage=2')
    expect(guids(page)).toEqual(['d', 'c'])
    expect(page.body.meta.cursor).toEqual({ updatedAt: 200, affix: 'append' })
    const back = await world.get('/groups?affix=prepend&updatedAt=300&perPage=2')
    expect(guids(back)).toEqual(['c', 'b'])
    expect(back.body.meta.cursor).toEqual({ updatedAt: 200, affix: 'prepend' })
  })

  it('is walked by updatedAt alone, however many groups share a second', async () => {
    const world = await createWorld()
    const times = [100, 200, 200, 200, 200, 200, 300, 400]
    for (const [i, time] of times.entries()) await createAt(world, `g${i}`, time, null)
    for (const affix of ['append', 'prepend'] as const) {
      const seen = new Set<string>()
      let query = ''
      for (let pages = 0; seen.size < times.length; pages++) {
        expect(pages).toBeLessThan(8)
        const page = await world.get(`/groups?affix=${affix}&perPage=2${query}`)
        for (const guid of guids(page)) seen.add(guid)
        expect(page.body.meta.cursor.affix).toBe(affix)
        query = `&updatedAt=${page.body.meta.cursor.updatedAt}`
      }
    }
    expect(guids(await world.get('/groups?affix=append&perPage=2&updatedAt=200'))).toHaveLength(6)
    expect(guids(await world.get('/groups?affix=append&perPage=2&updatedAt=200&page=1'))).toHaveLength(2)
    expect(guids(await world.get('/groups?affix=append&perPage=2&updatedAt=100'))).toEqual(['g0', 'g1'])
  })

  it('shows a user the open groups and his private ones, and how he stands to each', async () => {
    const world = await createWorld()
    await createSome(world)
    expect(await listed(world, '', 'bob')).toEqual(['b-open', 'a-open', 'c-lock', 'd-hide'])
    expect(await listed(world, '', 'carol')).toEqual(['b-open', 'a-open', 'c-lock'])
    expect(await listed(world, 'hasJoined=true', 'bob')).toEqual(['a-open', 'c-lock', 'd-hide'])
    expect(await listed(world, 'hasJoined=0', 'carol')).toEqual(['b-open', 'a-open', 'c-lock'])

    const answer = await world.get('/groups?guids=b-open,d-hide', { as: 'bob' })
    expect(answer.body.data[0]).toMatchObject({ guid: 'b-open', hasJoined: false })
    expect(answer.body.data[0]).not.toHaveProperty('scope')
    expect(answer.body.data[1]).toMatchObject({
      scope: 'moderator',
      hasJoined: true,
      joinedAt: expect.any(Number),
    })
    expect((await world.get('/groups?perPage=1', { as: 'carol' })).body.meta.pagination.total).toBe(3)
  })

  it('marks the groups that a user is banned from', async () => {
    const world = await createWorld()
    await createUsers(world, 'eve')
    dataOf(await world.post('/groups', { guid: 'g', name: 'G', type: 'public', members: { usersToBan: ['eve'] } }))
    expect(dataOf(await world.get('/groups', { as: 'eve' }))).toMatchObject([{ hasJoined: false, isBanned: true }])
  })

  it('says which parameter is wrong', async () => {
    const world = await createWorld()
    const wrong = ['sortBy=age', 'sortOrder=up', 'affix=both', 'type=open', 'types=public,open', 'perPage=1001']
    for (const query of [...wrong, 'page=0', 'searchIn=email', 'updatedAt=x', 'membersCount[eq]=-1', 'hasJoined=2']) {
      const answer = await world.get(`/groups?${query}`)
      expect(refusal(answer), query).toBe('400 ERR_BAD_REQUEST')
      expect(answer.body.error.details[0].path).toContain(`query/${query.split('=')[0]}`)
    }
    const nobody = await world.get('/groups?hasJoined=true')
    expect(refusal(nobody)).toBe('400 ERR_BAD_REQUEST')
    expect(nobody.body.error.details[0].path).toBe('headers/onBehalfOf')
  })

  it('never shows groups of another app', async () => {
    const [one, other] = [await createWorld(), await createWorld()]
    dataOf(await one.post('/groups', { guid: 'g', name: 'G', type: 'public' }))
    expect(await listed(other, '')).toEqual([])
    expect(refusal(await other.get('/groups/g'))).toBe('404 ERR_GUID_NOT_FOUND')
  })
})
