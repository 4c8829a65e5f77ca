import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { dataOf, refusal } from '../support/chat.ts'
import { connect, eventually, tokenOf } from '../support/socket.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'

type Listed = { uid: string }

const uidsOf = async (world: World, query: string, as?: string): Promise<string[]> =>
  dataOf(await world.get(`/users?${query}`, as === undefined ? {} : { as })).map(({ uid }: Listed) => uid)

/** Moves a user's times, so that tests need not wait. */
const setTimes = (world: World, uid: string, createdAt: number, updatedAt: number | null) =>
  world.context.database.query(
    {
      name: 'test set times',
      text: 'update users set created_at = $3, updated_at = $4 where app_id = $1 and uid = $2',
    },
    [world.app.appId, uid, createdAt, updatedAt],
  )

const befriend = (world: World, uid: string, friend: string) =>
  world.context.database.query(
    { name: 'test befriend', text: 'insert into friends values ($1, $2, $3, 1), ($1, $3, $2, 1)' },
    [world.app.appId, uid, friend],
  )

const block = (world: World, blocker: string, blocked: string) =>
  world.context.database.query(
    {
      name: 'test block at',
      text: 'insert into blocks (app_id, blocker, blocked, blocked_at) values ($1, $2, $3, 1700000020)',
    },
    [world.app.appId, blocker, blocked],
  )

describe('the list of users', () => {
  it('is in the order of names whatever their case, then of uids, without the system user', async () => {
    const world = await createWorld()
    for (const [uid, name] of [
      ['u1', 'bob'],
      ['u2', 'Carol'],
      ['u4', 'ALICE'],
      ['u3', 'alice'],
      ['u5', 'Élodie'],
    ]) {
      await world.post('/users', { uid, name })
    }
    expect(await uidsOf(world, '')).toEqual(['u3', 'u4', 'u1', 'u2', 'u5'])
  })

  it('is sorted by uid or status, and backwards, where the query says so', async () => {
    const world = await createWorld()
    for (const [uid, name] of [
      ['u1', 'carol'],
      ['u2', 'Bob'],
      ['u3', 'alice'],
    ]) {
      await world.post('/users', { uid, name })
    }
    expect(await uidsOf(world, 'sortBy=name&sortOrder=desc')).toEqual(['u1', 'u2', 'u3'])
    expect(await uidsOf(world, 'sortOrder=desc')).toEqual(['u1', 'u2', 'u3'])
    expect(await uidsOf(world, 'sortBy=uid')).toEqual(['u1', 'u2', 'u3'])
    expect(await uidsOf(world, 'sortBy=uid&sortOrder=desc&perPage=2&page=2')).toEqual(['u1'])
    const client = await connect(world, 'u2')
    await eventually(
      () => uidsOf(world, 'status=available'),
      (uids) => uids.length === 1,
    )
    expect(await uidsOf(world, 'sortBy=status')).toEqual(['u2', 'u3', 'u1'])
    expect(await uidsOf(world, 'sortBy=status&sortOrder=desc')).toEqual(['u1', 'u3', 'u2'])
    client.close()
    expect(refusal(await world.get('/users?sortBy=age'))).toBe('400 ERR_BAD_REQUEST')
  })

  it('leaves out the user who asks with a token, and nobody where the app asks on behalf of one', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol')
    const token = await tokenOf(world, 'alice')
    const { body } = await world.get('/users', { token })
    expect(body.data.map(({ uid }: Listed) => uid)).toEqual(['bob', 'carol'])
    expect(body.meta.pagination).toMatchObject({ total: 2, count: 2 })
    expect(await uidsOf(world, '', 'alice')).toEqual(['alice', 'bob', 'carol'])
  })

  it('is empty in an app without users', async () => {
    const world = await createWorld()
    expect((await world.get('/users')).body).toEqual({
      data: [],
      meta: { pagination: { total: 0, count: 0, per_page: 100, current_page: 1, total_pages: 1 } },
    })
  })

  it('comes in pages with true totals, also past the end', async () => {
    const world = await createWorld()
    await createUsers(world, 'a', 'b', 'c', 'd', 'e')
    const page = async (query: string) => {
      const { data, meta } = (await world.get(`/users?${query}`)).body
      return [data.map(({ uid }: Listed) => uid).join(''), meta.pagination]
    }
    const pagination = { total: 5, per_page: 2, total_pages: 3 }
    expect(await page('perPage=2')).toEqual(['ab', { ...pagination, count: 2, current_page: 1 }])
    expect(await page('per_page=2&page=2')).toEqual(['cd', { ...pagination, count: 2, current_page: 2 }])
    expect(await page('perPage=2&page=3')).toEqual(['e', { ...pagination, count: 1, current_page: 3 }])
    expect(await page('perPage=2&page=4')).toEqual(['', { ...pagination, count: 0, current_page: 4 }])
    expect(await page('perPage=5')).toEqual([
      'abcde',
      { total: 5, count: 5, per_page: 5, current_page: 1, total_pages: 1 },
    ])
    expect((await page('count=true'))[1]).toMatchObject({ total: 5, count: 5 })
  })

  it('finds users by any part of name or uid, or of the one asked for', async () => {
    const world = await createWorld()
    for (const [uid, name] of [
      ['anna', 'Zoe'],
      ['zed', 'Anna Lee'],
      ['m1', 'Lee Anna'],
      ['100', '100% Bob'],
      ['1000', '1000'],
      ['a_b', 'A_B'],
      ['axb', 'AxB'],
      ['x', '中国'],
    ]) {
      await world.post('/users', { uid, name })
    }
    const search = (query: string) => uidsOf(world, query)
    expect(await search('searchKey=ANN')).toEqual(['zed', 'm1', 'anna'])
    expect(await search('searchKey=ann&searchIn=name')).toEqual(['zed', 'm1'])
    expect(await search('searchKey=ANN&searchIn=uid')).toEqual(['anna'])
    expect(await search('searchKey=ann&searchIn=uid,name')).toEqual(['zed', 'm1', 'anna'])
    expect(await search('searchKey=ann&searchIn[]=uid&searchIn[]=name')).toEqual(['zed', 'm1', 'anna'])
    expect(await search('searchKey=lee')).toEqual(['zed', 'm1'])
    expect(await search('searchKey=a%20l')).toEqual(['zed'])
    expect(await search('searchKey=ee%20ann')).toEqual(['m1'])
    expect(await search('searchKey=100%25')).toEqual(['100'])
    expect(await search('searchKey=a_')).toEqual(['a_b'])
    expect(await search('searchKey=%25')).toEqual(['100'])
    expect(await search('searchKey=_')).toEqual(['a_b'])
    expect(await search('searchKey=annas')).toEqual([])
    expect(await search('searchKey=%5C')).toEqual([])
    expect(await search("searchKey='")).toEqual([])
    expect(await search('searchKey=%E4%B8%AD')).toEqual(['x'])
    expect(await search('searchKey=%E5%9B%BD')).toEqual(['x'])
    expect(await search('searchKey=%E5%9B%BD%E4%B8%AD')).toEqual([])
    expect(await search('searchKey=')).toHaveLength(8)
    expect(await search('searchKey=%EF%BC%A1nn')).toEqual(['zed', 'm1', 'anna']) // a full-width A
  })

  it('filters by roles and by tags, any of them, and shows tags when asked', async () => {
    const world = await createWorld()
    for (const role of ['manager', 'guest']) {
      await world.context.database.query(
        { name: 'test make role', text: 'insert into roles (app_id, role, name, created_at) values ($1, $2, $2, 1)' },
        [world.app.appId, role],
      )
    }
    await world.post('/users', { uid: 'a', name: 'a', role: 'manager', tags: ['x', 'y'] })
    await world.post('/users', { uid: 'b', name: 'b', role: 'guest', tags: ['z'] })
    await world.post('/users', { uid: 'c', name: 'c' })
    expect(await uidsOf(world, 'role=Manager')).toEqual(['a'])
    expect(await uidsOf(world, 'roles=manager,guest')).toEqual(['a', 'b'])
    expect(await uidsOf(world, 'roles=guest&role=default')).toEqual(['b', 'c'])
    expect(await uidsOf(world, 'role=nosuch')).toEqual([])
    expect(await uidsOf(world, 'tags=y,z')).toEqual(['a', 'b'])
    expect(await uidsOf(world, 'tags=x&role=guest')).toEqual([])
    expect(dataOf(await world.get('/users?tags=x'))[0]).not.toHaveProperty('tags')
    expect(dataOf(await world.get('/users?tags=x&withTags=true'))[0].tags).toEqual(['x', 'y'])
    expect(dataOf(await world.get('/users?withTags=1&uids=c'))[0]).not.toHaveProperty('tags')
  })

  it('shows deactivated users only when asked', async () => {
    const world = await createWorld()
    await createUsers(world, 'a', 'b', 'c')
    await world.delete('/users', { uidsToDeactivate: ['b'] })
    expect(await uidsOf(world, '')).toEqual(['a', 'c'])
    expect(await uidsOf(world, 'withDeactivated=true')).toEqual(['a', 'b', 'c'])
    expect(await uidsOf(world, 'onlyDeactivated=true')).toEqual(['b'])
    expect(await uidsOf(world, 'onlyDeactivated=true&withDeactivated=true')).toEqual(['b'])
    expect(await uidsOf(world, 'onlyDeactivated=false&withDeactivated=0')).toEqual(['a', 'c'])
    const listed = dataOf(await world.get('/users?onlyDeactivated=1'))[0]
    expect(listed.deactivatedAt).toBe(listed.updatedAt)
  })

  it('filters by presence, which is offline for everybody who is not connected', async () => {
    const world = await createWorld()
    await createUsers(world, 'a', 'b')
    expect(await uidsOf(world, 'status=offline')).toEqual(['a', 'b'])
    expect(await uidsOf(world, 'status=available,offline')).toEqual(['a', 'b'])
    expect(await uidsOf(world, 'status=available')).toEqual([])
  })

  it('filters by times of creation and change, both ends included; without a change creation counts', async () => {
    const world = await createWorld()
    await createUsers(world, 'a', 'b', 'c')
    await setTimes(world, 'a', 100, null)
    await setTimes(world, 'b', 200, 500)
    await setTimes(world, 'c', 300, 400)
    const query = (text: string) => uidsOf(world, text.replaceAll('[', '%5B').replaceAll(']', '%5D'))
    expect(await query('createdAt[from]=200')).toEqual(['b', 'c'])
    expect(await uidsOf(world, 'createdAt[from]=200')).toEqual(['b', 'c'])
    expect(await query('createdAt[to]=200')).toEqual(['a', 'b'])
    expect(await query('createdAt[from]=200&createdAt[to]=299')).toEqual(['b'])
    expect(await query('updatedAt[from]=400')).toEqual(['b', 'c'])
    expect(await query('updatedAt[to]=400')).toEqual(['a', 'c'])
    expect(await query('updatedAt[from]=400&updatedAt[to]=400')).toEqual(['c'])
  })

  it('lists given uids', async () => {
    const world = await createWorld()
    await createUsers(world, 'a', 'b', 'c')
    expect(await uidsOf(world, 'uids=C,a,nobody,a%20b')).toEqual(['a', 'c'])
    expect(await uidsOf(world, 'uids=nobody')).toEqual([])
    expect(await uidsOf(world, 'uids=app_system')).toEqual([])
  })

  it('refuses parameters of the wrong type, naming them, and ignores unknown ones', async () => {
    const world = await createWorld()
    await createUsers(world, 'a')
    const wrong: Array<[string, string]> = [
      ['page=0', 'query/page'],
      ['page=x', 'query/page'],
      ['page=1.5', 'query/page'],
      ['perPage=0', 'query/perPage'],
      ['perPage=1001', 'query/perPage'],
      ['status=online', 'query/status/0'],
      ['searchIn=email', 'query/searchIn/0'],
      [`searchKey=${'x'.repeat(101)}`, 'query/searchKey'],
      ['searchKey[$ne]=x&searchKey=a%00', 'query/searchKey'],
      ['withTags=yes', 'query/withTags'],
      ['createdAt[from]=-1', 'query/createdAt[from]'],
      ['createdAt[from]=now', 'query/createdAt[from]'],
      ['updatedAt=99999999999999999999', 'query/updatedAt'],
      ['affix=sideways', 'query/affix'],
      ['friendsOnly=true', 'query/friendsOnly'],
      ['hideBlockedUsers=1', 'query/hideBlockedUsers'],
    ]
    for (const [query, path] of wrong) {
      const answer = await world.get(`/users?${query}`)
      expect(refusal(answer), query).toBe('400 ERR_BAD_REQUEST')
      expect(answer.body.error.details[0].path).toBe(path)
    }
    expect(await uidsOf(world, 'shoeSize=44&friendsOnly=false&hideBlockedUsers=0&role=&page=1')).toEqual(['a'])
  })
})

describe('the list of users, as somebody sees it', () => {
  it('tells how each stands to him', async () => {
    const world = await createWorld()
    const metadata = { '@private': { email: 'x@example.com' }, city: 'Rome' }
    for (const uid of ['alice', 'bob', 'carol', 'dave']) await world.post('/users', { uid, name: uid, metadata })
    await block(world, 'bob', 'dave')
    await block(world, 'carol', 'bob')
    const [alice, bob, carol, dave] = dataOf(await world.get('/users', { as: 'bob' }))
    expect(alice).toMatchObject({ uid: 'alice', conversationId: 'alice_user_bob', metadata: { city: 'Rome' } })
    expect(alice.metadata).not.toHaveProperty('@private')
    expect(alice).not.toHaveProperty('blockedByMe')
    expect(bob).toMatchObject({ uid: 'bob', metadata })
    expect(bob).not.toHaveProperty('conversationId')
    expect(carol).toMatchObject({ conversationId: 'bob_user_carol' })
    expect(carol).not.toHaveProperty('hasBlockedMe')
    expect(dave).toMatchObject({ blockedByMe: true, blockedByMeAt: 1700000020, blockedAt: 1700000020 })
    const seenByApp = dataOf(await world.get('/users'))
    expect(seenByApp[0].metadata).toEqual(metadata)
    expect(seenByApp[0]).not.toHaveProperty('conversationId')
  })

  it('can be his friends only, or without those whom he has blocked', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol', 'dave')
    await befriend(world, 'bob', 'carol')
    await befriend(world, 'alice', 'dave')
    await block(world, 'bob', 'dave')
    await block(world, 'alice', 'bob')
    expect(await uidsOf(world, 'friendsOnly=true', 'bob')).toEqual(['carol'])
    expect(await uidsOf(world, 'friendsOnly=true', 'alice')).toEqual(['dave'])
    expect(await uidsOf(world, 'hideBlockedUsers=true', 'bob')).toEqual(['alice', 'bob', 'carol'])
    expect(await uidsOf(world, 'hideBlockedUsers=1&searchKey=d', 'bob')).toEqual([])
  })

  it('works with a token as with onBehalfOf, but for the user who asks', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice')
    const { authToken } = dataOf(await world.post('/users', { uid: 'bob', name: 'Bob', withAuthToken: true }))
    const withToken = await world.get('/users?per_page=30', { token: authToken })
    const [alice] = dataOf(await world.get('/users?per_page=30', { as: 'bob' }))
    expect(withToken.body.data).toEqual([alice])
    expect(alice.conversationId).toBe('alice_user_bob')
  })
})

describe('syncing users by change', () => {
  const changed = async () => {
    const world = await createWorld()
    await createUsers(world, 'a', 'b', 'c', 'd')
    await setTimes(world, 'd', 100, null)
    await setTimes(world, 'c', 100, 200)
    await setTimes(world, 'b', 100, 300)
    await setTimes(world, 'a', 300, null)
    return world
  }

  it('has a cursor with the newest change of the page', async () => {
    const world = await changed()
    expect((await world.get('/users')).body.cursor).toEqual({ updatedAt: 300, affix: 'prepend' })
    expect((await world.get('/users?uids=c,d')).body.cursor).toEqual({ updatedAt: 200, affix: 'prepend' })
    expect((await world.get('/users?uids=nobody')).body).not.toHaveProperty('cursor')
  })

  it('appends what changed since, the second itself included, oldest first', async () => {
    const world = await changed()
    expect(await uidsOf(world, 'affix=append')).toEqual(['d', 'c', 'a', 'b'])
    expect(await uidsOf(world, 'updatedAt=200')).toEqual(['c', 'a', 'b'])
    expect(await uidsOf(world, 'updatedAt=301&affix=append')).toEqual([])
    const first = (await world.get('/users?affix=append&perPage=2')).body
    expect(first.data.map(({ uid }: Listed) => uid)).toEqual(['d', 'c'])
    expect(first.cursor).toEqual({ updatedAt: 200, affix: 'append' })
    expect(first.meta.pagination.total).toBe(4)
  })

  it('prepends what changed before, the second itself included, rows ascending', async () => {
    const world = await changed()
    expect(await uidsOf(world, 'affix=prepend')).toEqual(['d', 'c', 'a', 'b'])
    expect(await uidsOf(world, 'updatedAt=200&affix=prepend')).toEqual(['d', 'c'])
    const newest = (await world.get('/users?affix=prepend&perPage=2')).body
    expect(newest.data.map(({ uid }: Listed) => uid)).toEqual(['a', 'b'])
    expect(newest.cursor).toEqual({ updatedAt: 300, affix: 'prepend' })
    const before = (await world.get('/users?affix=prepend&updatedAt=300&perPage=2&page=2')).body
    expect(before.data.map(({ uid }: Listed) => uid)).toEqual(['d', 'c'])
    expect(before.cursor).toEqual({ updatedAt: 100, affix: 'prepend' })
  })

  it('goes on by updatedAt alone, however many changed in one second', async () => {
    const world = await changed()
    await world.context.database.run(sql`
      insert into users (app_id, uid, name, name_key, created_at, updated_at)
      select ${world.app.appId}, 'many' || n, 'Many', 'many', 100, 200
      from generate_series(1, 10500) n`)
    for (const [affix, end] of [
      ['append', 300],
      ['prepend', 100],
    ] as const) {
      const { data, cursor } = (await world.get(`/users?updatedAt=200&affix=${affix}&perPage=100`)).body
      expect(cursor).toEqual({ updatedAt: end, affix })
      expect(data).toHaveLength(10_502)
    }
    await world.context.database.run(
      sql`update users set updated_at = 100 where app_id = ${world.app.appId} and uid in ('a', 'b')`,
    )
    const last = (await world.get('/users?updatedAt=200&affix=append&perPage=100')).body
    expect(last.data).toHaveLength(10_501)
  })

  it('meets a change, a deactivation and a new user', async () => {
    const world = await changed()
    const { cursor } = (await world.get('/users')).body
    await world.put('/users/c', { name: 'C2' })
    await world.delete('/users', { uidsToDeactivate: ['d'] })
    await world.post('/users', { uid: 'e', name: 'E' })
    const since = await uidsOf(world, `updatedAt=${cursor.updatedAt + 1}&affix=append&withDeactivated=true`)
    expect(since.sort()).toEqual(['c', 'd', 'e'])
  })
})
