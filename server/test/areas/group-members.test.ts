import { describe, expect, it } from 'vitest'
import { createGroup, dataOf, refusal, sayInGroup } from '../support/chat.ts'
import { importWell, usersNamed } from '../support/imports.ts'
import { type Answer, createUsers, createWorld, type World } from '../support/world.ts'

const uids = (answer: Answer) => dataOf(answer).map(({ uid }: { uid: string }) => uid)

/** A group of alice (owner), bob and ann (admins), mike and mona (moderators), pete and paula (participants). */
async function createStaffedGroup(world: World, extra: object = {}) {
  await createUsers(world, 'alice', 'bob', 'ann', 'mike', 'mona', 'pete', 'paula', 'zoe')
  const members = { admins: ['bob', 'ann'], moderators: ['mike', 'mona'], participants: ['pete', 'paula'] }
  await createGroup(world, 'g', 'alice', members, extra)
}

describe('The list of members', () => {
  it('is ordered by name, with scope and time of joining, and tells the true total', async () => {
    const world = await createWorld()
    await createStaffedGroup(world)
    dataOf(await world.put('/users/pete', { name: 'aaron', avatar: 'https://example.com/p.png' }))
    const answer = await world.get('/groups/G/members')
    expect(uids(answer)).toEqual(['pete', 'alice', 'ann', 'bob', 'mike', 'mona', 'paula'])
    expect(answer.body.data[0]).toEqual({
      uid: 'pete',
      name: 'aaron',
      avatar: 'https://example.com/p.png',
      status: 'offline',
      role: 'default',
      scope: 'participant',
      joinedAt: expect.any(Number),
      createdAt: expect.any(Number),
      updatedAt: expect.any(Number),
    })
    expect(answer.body.meta.pagination).toMatchObject({ total: 7, count: 7 })
    expect(answer.body.cursor).toEqual({ updatedAt: expect.any(Number), affix: 'prepend' })
    const page = await world.get('/groups/g/members?perPage=3&page=3')
    expect(uids(page)).toEqual(['paula'])
    expect(page.body.meta.pagination).toEqual({
      total: 7,
      count: 1,
      per_page: 3,
      current_page: 3,
      total_pages: 3,
    })
  })

  it('has the same first pages in a large group, whoever else is in the app', async () => {
    const world = await createWorld()
    const named = (prefix: string, count: number) => Array.from({ length: count }, (_, n) => `${prefix}${n + 10}`)
    const members = named('m', 48)
    await importWell(world, 'users', usersNamed('alice', ...members))
    await createGroup(world, 'large', 'alice', { participants: members.slice(0, 24) })
    dataOf(await world.post('/groups/large/members', { participants: members.slice(24) }))
    const expected = ['alice', ...members]
    const pages = async () => {
      for (const page of [1, 2, 9]) {
        const answer = await world.get(`/groups/large/members?perPage=3&page=${page}`)
        expect(uids(answer)).toEqual(expected.slice(page * 3 - 3, page * 3))
        expect(answer.body.meta.pagination).toMatchObject({ total: 49, count: 3, current_page: page })
      }
    }
    await pages()
    // More of them than are looked at stand between the members, and before all others.
    await importWell(world, 'users', usersNamed(...named('b', 30)))
    await pages()
    dataOf(await world.put('/users/m57', { name: '0' }))
    dataOf(await world.delete('/users', { uidsToDeactivate: ['m10'] }))
    expected.splice(0, 50, 'm57', 'alice', ...members.filter((uid) => uid !== 'm57' && uid !== 'm10'))
    expect(uids(await world.get('/groups/large/members?perPage=3'))).toEqual(expected.slice(0, 3))
    expect(uids(await world.get('/groups/large/members?perPage=3', { as: 'm11' }))).toEqual(expected.slice(0, 3))
  })

  it('filters by scopes, presence and text', async () => {
    const world = await createWorld()
    await createStaffedGroup(world)
    const expected: Array<[string, string[]]> = [
      ['scopes=admin', ['alice', 'ann', 'bob']],
      ['scopes=moderator,participant', ['mike', 'mona', 'paula', 'pete']],
      ['scopes[]=moderator', ['mike', 'mona']],
      ['searchKey=P', ['paula', 'pete']],
      ['searchKey=LIC', ['alice']],
      ['searchKey=p&scopes=admin', []],
      ['status=offline&scopes=moderator', ['mike', 'mona']],
      ['status=available', []],
    ]
    for (const [query, result] of expected) {
      const answer = await world.get(`/groups/g/members?${query}`)
      expect(uids(answer), query).toEqual(result)
      expect(answer.body.meta.pagination.total).toBe(result.length)
    }
    for (const query of ['scopes=owner', 'status=away', 'perPage=1001', 'page=0']) {
      expect(refusal(await world.get(`/groups/g/members?${query}`)), query).toBe('400 ERR_BAD_REQUEST')
    }
  })

  it('shows a member the others as he sees them: talks, blocks, and nothing private', async () => {
    const world = await createWorld()
    await createStaffedGroup(world)
    for (const uid of ['pete', 'mike'])
      dataOf(await world.put(`/users/${uid}`, { metadata: { '@private': { n: 1 }, o: 2 } }))
    const seen = new Map(
      dataOf(await world.get('/groups/g/members', { as: 'pete' })).map((row: { uid: string }) => [row.uid, row]),
    )
    expect(seen.get('mike')).toMatchObject({ conversationId: 'mike_user_pete', metadata: { o: 2 } })
    expect(seen.get('mike')).not.toMatchObject({ metadata: { '@private': expect.anything() } })
    expect(seen.get('pete')).toMatchObject({ metadata: { '@private': { n: 1 } } })
    expect(seen.get('pete')).not.toHaveProperty('conversationId')
    const [, , , mike] = dataOf(await world.get('/groups/g/members'))
    expect(mike).toMatchObject({ uid: 'mike', metadata: { '@private': { n: 1 } } })
    expect(mike).not.toHaveProperty('conversationId')
  })

  it('leaves deactivated members out', async () => {
    const world = await createWorld()
    await createStaffedGroup(world)
    dataOf(await world.delete('/users', { uidsToDeactivate: ['pete'] }))
    const answer = await world.get('/groups/g/members?scopes=participant')
    expect(uids(answer)).toEqual(['paula'])
    expect(answer.body.meta.pagination.total).toBe(1)
  })

  it('is not for those outside', async () => {
    const world = await createWorld()
    await createStaffedGroup(world)
    await createGroup(world, 'p', 'alice', {}, { type: 'private' })
    expect(refusal(await world.get('/groups/g/members', { as: 'zoe' }))).toBe('403 ERR_GROUP_NOT_JOINED')
    expect(refusal(await world.get('/groups/p/members', { as: 'zoe' }))).toBe('404 ERR_GUID_NOT_FOUND')
    expect(refusal(await world.get('/groups/x/members'))).toBe('404 ERR_GUID_NOT_FOUND')
    dataOf(await world.post('/groups/g/bannedusers/zoe'))
    expect(refusal(await world.get('/groups/g/members', { as: 'zoe' }))).toBe('403 ERR_BANNED_GROUPMEMBER')
  })
})

describe('Changing a scope', () => {
  const change = (world: World, uid: string, scope: string | undefined, as?: string) =>
    world.put(`/groups/g/members/${uid}`, { scope }, as === undefined ? {} : { as })

  it('answers the membership and tells the group the old and the new scope', async () => {
    const world = await createWorld()
    await createStaffedGroup(world)
    const joinedAt = dataOf(await world.get('/groups/g', { as: 'pete' })).joinedAt
    const changed = await world.put('/groups/G/members/PETE', { scope: 'moderator' }, { as: 'alice' })
    expect(changed.body).toEqual({ data: { guid: 'g', uid: 'pete', scope: 'moderator', joinedAt } })
    const [message] = dataOf(await world.get('/groups/g/messages'))
    expect(message).toMatchObject({
      sender: 'alice',
      category: 'action',
      data: {
        action: 'scopeChanged',
        entities: { by: { entity: { uid: 'alice' } }, on: { entity: { uid: 'pete' } } },
        extras: { scope: { old: 'participant', new: 'moderator' } },
      },
    })
    expect(dataOf(await world.get('/groups/g', { as: 'pete' })).scope).toBe('moderator')
    expect(dataOf(await change(world, 'pete', undefined))).toMatchObject({ scope: 'participant' })
  })

  it('follows the rank of scopes: nobody acts above himself or gives more than he has', async () => {
    const world = await createWorld()
    await createStaffedGroup(world)
    const none = '403 ERR_GROUP_NO_SCOPE_CLEARANCE'
    const cases: Array<[string, string, string, string | undefined]> = [
      ['pete', 'paula', 'moderator', '403 ERR_GROUP_NO_MODERATOR_SCOPE'],
      ['pete', 'mike', 'participant', '403 ERR_GROUP_NO_MODERATOR_SCOPE'],
      ['mike', 'pete', 'admin', none],
      ['mike', 'bob', 'participant', none],
      ['mike', 'alice', 'participant', none],
      ['bob', 'alice', 'moderator', none],
      ['bob', 'bob', 'moderator', '403 ERR_GROUP_NO_SELF_ACTION'],
      ['alice', 'alice', 'moderator', '403 ERR_GROUP_NO_SELF_ACTION'],
      ['bob', 'mike', 'moderator', '400 ERR_SAME_SCOPE'],
      ['bob', 'zoe', 'moderator', '400 ERR_NOT_A_MEMBER'],
      ['bob', 'ghost', 'moderator', '404 ERR_UID_NOT_FOUND'],
      ['zoe', 'pete', 'moderator', '403 ERR_GROUP_NOT_JOINED'],
      ['mike', 'pete', 'moderator', undefined],
      ['mike', 'mona', 'participant', undefined],
      ['bob', 'ann', 'participant', undefined],
      ['bob', 'paula', 'admin', undefined],
      ['alice', 'bob', 'participant', undefined],
    ]
    for (const [actor, uid, scope, expected] of cases) {
      const answer = await change(world, uid, scope, actor)
      const result = answer.status === 200 ? undefined : refusal(answer)
      expect(result, `${actor} makes ${uid} ${scope}`).toBe(expected)
    }
  })

  it('is free for the app, but for the owner, who stays an admin', async () => {
    const world = await createWorld()
    await createStaffedGroup(world)
    expect((await change(world, 'bob', 'participant')).status).toBe(200)
    expect(refusal(await change(world, 'alice', 'participant'))).toBe('403 ERR_GROUP_NO_SCOPE_CLEARANCE')
    expect(refusal(await change(world, 'zoe', 'admin'))).toBe('400 ERR_NOT_A_MEMBER')
    expect(refusal(await change(world, 'bob', 'owner'))).toBe('400 ERR_BAD_REQUEST')
    expect(refusal(await world.put('/groups/x/members/bob', {}))).toBe('404 ERR_GUID_NOT_FOUND')
  })
})

describe('Kicking', () => {
  const kick = (world: World, uid: string, as?: string) =>
    world.delete(`/groups/g/members/${uid}`, undefined, as === undefined ? {} : { as })

  it('removes the member at once and tells the group', async () => {
    const world = await createWorld()
    await createStaffedGroup(world)
    const kicked = await world.delete('/groups/G/members/PETE', undefined, { as: 'mike' })
    expect(kicked.body).toEqual({ data: { success: true, message: 'pete was kicked from g' } })
    const [message] = dataOf(await world.get('/groups/g/messages'))
    expect(message).toMatchObject({
      sender: 'mike',
      data: {
        action: 'kicked',
        entities: { on: { entity: { uid: 'pete' } }, for: { entity: { guid: 'g', membersCount: 6 } } },
      },
    })
    expect(dataOf(await world.get('/groups/g', { as: 'pete' }))).toMatchObject({ hasJoined: false, membersCount: 6 })
    const said = world.post('/messages', { receiver: 'g', receiverType: 'group', data: { text: 'x' } }, { as: 'pete' })
    expect(refusal(await said)).toBe('403 ERR_GROUP_NOT_JOINED')
    dataOf(await world.post('/groups/g/members', {}, { as: 'pete' }))
    expect((await sayInGroup(world, 'pete', 'g', 'back')).sender).toBe('pete')
  })

  it('follows the rank of scopes', async () => {
    const world = await createWorld()
    await createStaffedGroup(world)
    const cases: Array<[string | undefined, string, string | undefined]> = [
      ['pete', 'paula', '403 ERR_PERMISSION_DENIED'],
      ['pete', 'mike', '403 ERR_GROUP_NO_CLEARANCE'],
      ['mike', 'bob', '403 ERR_GROUP_NO_CLEARANCE'],
      ['mike', 'alice', '403 ERR_GROUP_NO_CLEARANCE'],
      ['bob', 'alice', '403 ERR_GROUP_NO_CLEARANCE'],
      [undefined, 'alice', '403 ERR_GROUP_NO_CLEARANCE'],
      ['bob', 'bob', '403 ERR_GROUP_NO_SELF_ACTION'],
      ['bob', 'zoe', '400 ERR_NOT_A_MEMBER'],
      ['pete', 'zoe', '403 ERR_PERMISSION_DENIED'],
      ['zoe', 'pete', '403 ERR_GROUP_NOT_JOINED'],
      [undefined, 'ghost', '404 ERR_UID_NOT_FOUND'],
      ['mike', 'paula', undefined],
      ['mike', 'mona', undefined],
      ['bob', 'ann', undefined],
      [undefined, 'bob', undefined],
    ]
    for (const [actor, uid, expected] of cases) {
      const answer = await kick(world, uid, actor)
      expect(answer.status === 200 ? undefined : refusal(answer), `${actor} kicks ${uid}`).toBe(expected)
    }
    expect(refusal(await world.delete('/groups/x/members/pete'))).toBe('404 ERR_GUID_NOT_FOUND')
    expect(uids(await world.get('/groups/g/members'))).toEqual(['alice', 'mike', 'pete'])
    expect(dataOf(await world.get('/groups/g')).membersCount).toBe(3)
  })

  it('lets messages that only the kicked had not read count as read by all', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol')
    await createGroup(world, 'g', 'alice', { participants: ['bob', 'carol'] })
    const { id } = await sayInGroup(world, 'alice', 'g', 'read me')
    dataOf(await world.post('/groups/g/conversation/read', {}, { as: 'bob' }))
    const readAt = async () => dataOf(await world.get(`/messages/${id}`)).readAt
    expect(await readAt()).toBeUndefined()
    dataOf(await kick(world, 'carol'))
    expect(await readAt()).toEqual(expect.any(Number))
  })
})
