import { describe, expect, it } from 'vitest'
import { dataOf, refusal, sayInGroup } from '../support/chat.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'

/** Makes a token for a user, as his front end does. */
async function logIn(world: World, uid: string): Promise<string> {
  return dataOf(await world.post(`/users/${uid}/auth_tokens`, {})).authToken
}

describe('Creating a group', () => {
  it('makes the acting user its owner and an admin member', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const group = {
      name: 'Team',
      type: 'public',
      description: 'our team room',
      icon: 'https://example.com/team.png',
      tags: ['work', 'internal', 'work'],
      metadata: { floor: 3 },
    }
    const made = await world.post('/groups', { guid: 'Team-1', ...group, owner: 'bob' }, { as: 'alice' })
    expect(made.status).toBe(200)
    expect(made.body).toEqual({
      data: {
        ...group,
        guid: 'team-1',
        tags: ['work', 'internal'],
        owner: 'alice',
        scope: 'admin',
        membersCount: 1,
        joinedAt: made.body.data.createdAt,
        hasJoined: true,
        conversationId: 'group_team-1',
        createdAt: expect.any(Number),
      },
    })
    expect((await world.get('/groups/TEAM-1', { as: 'alice' })).body.data).toEqual({
      ...made.body.data,
      onlineMembersCount: 0,
    })
    expect((await world.get('/groups/team-1/messages', { as: 'alice' })).body.data).toEqual([])
  })

  it('without an acting user takes the owner named in the body, else the system user, who is no member', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice')
    const named = dataOf(await world.post('/groups', { guid: 'a', name: 'A', type: 'public', owner: 'Alice' }))
    expect(named).toMatchObject({ owner: 'alice', scope: 'admin', hasJoined: true, membersCount: 1 })
    expect(dataOf(await world.get('/groups/a/members')).map((member: { uid: string }) => member.uid)).toEqual(['alice'])

    const ownerless = dataOf(await world.post('/groups', { guid: 'b', name: 'B', type: 'private' }))
    expect(ownerless).toMatchObject({ owner: 'app_system', membersCount: 0 })
    expect(ownerless).not.toHaveProperty('scope')
    expect(ownerless).not.toHaveProperty('hasJoined')
    expect(dataOf(await world.get('/groups/b/members'))).toEqual([])
  })

  it('can be done with a token', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice')
    const token = await logIn(world, 'alice')
    const made = await world.post('/groups', { guid: 'mine', name: 'Mine', type: 'private' }, { token })
    expect(dataOf(made)).toMatchObject({ owner: 'alice', scope: 'admin', type: 'private' })
  })

  it('takes the three types only: protected is a word of lists, and no password gets lost by it', async () => {
    const world = await createWorld()
    const protectedGroup = { name: 'P', type: 'protected', password: 's3cret' }
    const made = await world.post('/groups', { guid: 'p', ...protectedGroup })
    dataOf(await world.post('/groups', { guid: 'open', name: 'O', type: 'public' }))
    for (const answer of [made, await world.put('/groups/open', protectedGroup)]) {
      expect(refusal(answer)).toBe('400 ERR_BAD_REQUEST')
      expect(answer.body.error.details[0].path).toBe('body/type')
    }
    expect(
      dataOf(await world.get('/groups')).map(({ guid, type }: { guid: string; type: string }) => [guid, type]),
    ).toEqual([['open', 'public']])
  })

  it('brings members and bans along, each with his outcome, and writes no action message', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol', 'dave', 'eve', 'frank')
    const members = {
      admins: ['alice', 'Bob'],
      moderators: ['carol', 'bob'],
      participants: ['dave', 'ghost', 'no such id!'],
      usersToBan: ['eve', 'dave'],
    }
    const made = await world.post('/groups', { guid: 'g', name: 'G', type: 'public', members }, { as: 'alice' })
    const unknown = { success: false, error: { code: 'ERR_UID_NOT_FOUND' } }
    expect(dataOf(made).membersCount).toBe(4)
    expect(dataOf(made).members).toMatchObject({
      data: {
        admins: { alice: { success: true }, bob: { success: true } },
        moderators: { carol: { success: true } },
        participants: { dave: { success: true }, ghost: unknown, 'no such id!': unknown },
        usersToBan: { eve: { success: true } },
      },
    })
    expect(Object.keys(dataOf(made).members.data.admins)).toEqual(['alice', 'bob'])
    expect(Object.keys(dataOf(made).members.data.moderators)).toEqual(['carol'])
    expect(Object.keys(dataOf(made).members.data.usersToBan)).toEqual(['eve'])

    const listed = dataOf(await world.get('/groups/g/members'))
    expect(listed.map(({ uid, scope }: { uid: string; scope: string }) => [uid, scope])).toEqual([
      ['alice', 'admin'],
      ['bob', 'admin'],
      ['carol', 'moderator'],
      ['dave', 'participant'],
    ])
    expect(dataOf(await world.get('/groups/g/bannedusers')).map(({ uid }: { uid: string }) => uid)).toEqual(['eve'])
    expect(dataOf(await world.get('/groups/g/messages'))).toEqual([])
    expect((await sayInGroup(world, 'dave', 'g', 'hello')).receiver).toBe('g')
  })

  it('tells what became of those who are named, and of the owner only where a list names them', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const make = async (guid: string, members: object) => {
      const made = dataOf(await world.post('/groups', { guid, name: guid, type: 'public', members }, { as: 'alice' }))
      return { ...made.members.data, membersCount: made.membersCount }
    }
    const nobody = { admins: {}, moderators: {}, participants: {}, usersToBan: {} }
    const success = { success: true }
    expect(await make('a', {})).toEqual({ ...nobody, membersCount: 1 })
    expect(await make('b', { participants: ['bob'] })).toEqual({
      ...{ ...nobody, participants: { bob: success } },
      membersCount: 2,
    })
    expect(await make('c', { moderators: ['Alice', 'bob'], participants: ['alice'] })).toEqual({
      ...{ ...nobody, moderators: { alice: success, bob: success } },
      membersCount: 2,
    })
    const members = dataOf(await world.get('/groups/c/members'))
    expect(members.map(({ uid, scope }: { uid: string; scope: string }) => [uid, scope])).toEqual([
      ['alice', 'admin'],
      ['bob', 'moderator'],
    ])
  })

  it('keeps the owner an admin when he is listed lower, and out of reach of a ban', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice')
    const made = await world.post('/groups', {
      guid: 'g',
      name: 'G',
      type: 'public',
      owner: 'alice',
      members: { participants: ['alice'] },
    })
    expect(dataOf(made)).toMatchObject({
      membersCount: 1,
      scope: 'admin',
      members: { data: { participants: { alice: { success: true } } } },
    })
    const banned = await world.post('/groups', {
      guid: 'h',
      name: 'H',
      type: 'public',
      owner: 'alice',
      members: { usersToBan: ['alice'] },
    })
    expect(dataOf(banned).members.data.usersToBan.alice.error.code).toBe('ERR_GROUP_NO_CLEARANCE')
    expect(dataOf(banned).membersCount).toBe(1)
  })

  it('names the field that is wrong', async () => {
    const world = await createWorld()
    const right = { guid: 'g', name: 'G', type: 'public' }
    const many = Array.from({ length: 13 }, (_, i) => `u${i}`)
    const wrong: Array<[object, string]> = [
      [{ guid: undefined }, 'body/guid'],
      [{ guid: 'no blanks' }, 'body/guid'],
      [{ guid: 'x'.repeat(101) }, 'body/guid'],
      [{ guid: { $ne: '' } }, 'body/guid'],
      [{ name: undefined }, 'body/name'],
      [{ name: '' }, 'body/name'],
      [{ name: 'x'.repeat(101) }, 'body/name'],
      [{ type: undefined }, 'body/type'],
      [{ type: 'secret' }, 'body/type'],
      [{ password: 5 }, 'body/password'],
      [{ password: 'x'.repeat(101) }, 'body/password'],
      [{ icon: 'javascript://alert(1)' }, 'body/icon'],
      [{ icon: 'no url' }, 'body/icon'],
      [{ description: 'x'.repeat(256) }, 'body/description'],
      [{ metadata: 'text' }, 'body/metadata'],
      [{ metadata: { text: 'x'.repeat(5200) } }, 'body/metadata'],
      [{ tags: 'work' }, 'body/tags'],
      [{ tags: Array.from({ length: 26 }, (_, i) => `t${i}`) }, 'body/tags'],
      [{ members: { everybody: ['alice'] } }, 'body/members/everybody'],
      [{ members: { admins: 'alice' } }, 'body/members/admins'],
      [{ members: { admins: many, participants: many } }, 'body/members'],
    ]
    for (const [fields, path] of wrong) {
      const answer = await world.post('/groups', { ...right, ...fields })
      expect(refusal(answer), JSON.stringify(fields).slice(0, 80)).toBe('400 ERR_BAD_REQUEST')
      expect(answer.body.error.details[0].path).toBe(path)
    }
    expect(refusal(await world.get('/groups/g'))).toBe('404 ERR_GUID_NOT_FOUND')
  })

  it('names what is wrong with a request before what the role of who acts does not allow', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice')
    const permissions = { 'createGroup.allowedGroupTypes': ['public'] }
    dataOf(await world.put('/roles/default/permissions', { permissions }))
    const make = (fields: object) =>
      world.post('/groups', { guid: 'g', name: 'G', type: 'password', password: 'x', ...fields }, { as: 'alice' })
    const many = Array.from({ length: 26 }, (_, i) => `u${i}`)
    expect(refusal(await make({}))).toBe('403 ERR_PERMISSION_DENIED')
    expect(refusal(await make({ password: '' }))).toBe('400 ERR_EMPTY_GROUP_PASS')
    expect(refusal(await make({ icon: 'javascript://alert(1)' }))).toBe('400 ERR_BAD_REQUEST')
    expect(refusal(await make({ metadata: { text: 'x'.repeat(5200) } }))).toBe('400 ERR_BAD_REQUEST')
    expect(refusal(await make({ members: { participants: many } }))).toBe('400 ERR_BAD_REQUEST')
  })

  it('refuses a taken guid in whatever case, an unknown owner, and a password group without password', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice')
    const create = (fields: object) => world.post('/groups', { guid: 'g', name: 'G', type: 'public', ...fields })
    expect(refusal(await create({ owner: 'ghost' }))).toBe('404 ERR_UID_NOT_FOUND')
    expect(refusal(await create({ type: 'password' }))).toBe('400 ERR_EMPTY_GROUP_PASS')
    expect(refusal(await create({ type: 'password', password: '' }))).toBe('400 ERR_EMPTY_GROUP_PASS')
    expect((await create({ members: {} })).status).toBe(200)
    expect(refusal(await create({ guid: 'G' }))).toBe('409 ERR_GUID_ALREADY_EXISTS')
    expect(refusal(await world.post('/groups', { guid: 'h', name: 'H', type: 'public' }, { as: 'ghost' }))).toBe(
      '404 ERR_UID_NOT_FOUND',
    )
  })

  it('never shows the password', async () => {
    const world = await createWorld()
    const made = await world.post('/groups', { guid: 'g', name: 'G', type: 'password', password: 'open sesame' })
    const shown = [made, await world.get('/groups/g'), await world.get('/groups')]
    for (const answer of shown) expect(JSON.stringify(answer.body)).not.toContain('sesame')
    expect(dataOf(made).type).toBe('password')
  })
})

describe('Reading a group', () => {
  it('shows viewers how they stand to it, and private groups only to their members', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'eve')
    for (const type of ['public', 'private']) {
      const members = { participants: ['bob'], usersToBan: ['eve'] }
      dataOf(await world.post('/groups', { guid: type, name: type, type, owner: 'alice', members }))
    }
    expect(dataOf(await world.get('/groups/public'))).not.toHaveProperty('hasJoined')
    expect(dataOf(await world.get('/groups/private', { as: 'bob' }))).toMatchObject({
      scope: 'participant',
      hasJoined: true,
      joinedAt: expect.any(Number),
    })
    const seen = dataOf(await world.get('/groups/public', { as: 'eve' }))
    expect(seen).toMatchObject({ hasJoined: false, isBanned: true })
    expect(seen).not.toHaveProperty('scope')
    await createUsers(world, 'frank')
    expect(dataOf(await world.get('/groups/public', { as: 'frank' }))).not.toHaveProperty('isBanned')
    for (const uid of ['eve', 'frank']) {
      expect(refusal(await world.get('/groups/private', { as: uid }))).toBe('404 ERR_GUID_NOT_FOUND')
    }
    expect(refusal(await world.get('/groups/nowhere'))).toBe('404 ERR_GUID_NOT_FOUND')
    expect(refusal(await world.get('/groups/public', { as: 'ghost' }))).toBe('404 ERR_UID_NOT_FOUND')
  })
})

describe('Changing a group', () => {
  it('changes what is named, clears what is unset, and says when and by whom', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice')
    const whole = { icon: 'https://example.com/a.png', description: 'old', metadata: { a: 1 }, tags: ['x'] }
    dataOf(await world.post('/groups', { guid: 'g', name: 'G', type: 'public', owner: 'alice', ...whole }))

    const changed = await world.put('/groups/G', { name: 'New', tags: ['y', 'y'], description: 'new' }, { as: 'alice' })
    expect(dataOf(changed)).toMatchObject({
      ...whole,
      guid: 'g',
      name: 'New',
      description: 'new',
      tags: ['y'],
      scope: 'admin',
      hasJoined: true,
      updatedAt: expect.any(Number),
      updatedBy: 'alice',
    })
    const cleared = dataOf(await world.put('/groups/g', { unset: ['icon', 'description', 'metadata'], tags: [] }))
    expect(cleared).toMatchObject({ name: 'New', updatedBy: 'app_system' })
    for (const field of ['icon', 'description', 'metadata', 'tags', 'hasJoined']) {
      expect(cleared).not.toHaveProperty(field)
    }
    expect(dataOf(await world.get('/groups/g'))).toEqual({ ...cleared, onlineMembersCount: 0 })
  })

  it('writes nothing when nothing is to change', async () => {
    const world = await createWorld()
    const made = dataOf(await world.post('/groups', { guid: 'g', name: 'G', type: 'public' }))
    expect(dataOf(await world.put('/groups/g', {}))).toEqual(made)
  })

  it('needs a password to become a password group, and forgets it when it is none any more', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    dataOf(await world.post('/groups', { guid: 'g', name: 'G', type: 'public' }))
    const join = (password: string, as = 'alice') => world.post('/groups/g/members', { password }, { as })
    expect(refusal(await world.put('/groups/g', { type: 'password' }))).toBe('400 ERR_EMPTY_GROUP_PASS')
    expect((await world.get('/groups/g')).body.data.type).toBe('public')

    dataOf(await world.put('/groups/g', { type: 'password', password: 'first' }))
    expect(refusal(await join('wrong'))).toBe('403 ERR_WRONG_GROUP_PASS')
    dataOf(await world.put('/groups/g', { name: 'still with a password' }))
    dataOf(await world.put('/groups/g', { password: 'second' }))
    expect(refusal(await join('first'))).toBe('403 ERR_WRONG_GROUP_PASS')
    expect((await join('second')).status).toBe(200)
    expect(refusal(await world.put('/groups/g', { password: '' }))).toBe('400 ERR_EMPTY_GROUP_PASS')

    dataOf(await world.put('/groups/g', { type: 'public' }))
    expect(refusal(await world.put('/groups/g', { type: 'password' }))).toBe('400 ERR_EMPTY_GROUP_PASS')
    expect((await join('', 'bob')).status).toBe(200)
  })

  it('hides a group that becomes private at once', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice')
    dataOf(await world.post('/groups', { guid: 'g', name: 'G', type: 'public' }))
    expect((await world.get('/groups/g', { as: 'alice' })).status).toBe(200)
    dataOf(await world.put('/groups/g', { type: 'private' }))
    expect(refusal(await world.get('/groups/g', { as: 'alice' }))).toBe('404 ERR_GUID_NOT_FOUND')
    expect(dataOf(await world.get('/groups', { as: 'alice' }))).toEqual([])
  })

  it('lets the app appoint an owner, who becomes an admin member; a user cannot by this way', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol', 'eve')
    const members = { participants: ['bob'], usersToBan: ['eve'] }
    dataOf(await world.post('/groups', { guid: 'g', name: 'G', type: 'public', owner: 'alice', members }))
    expect(dataOf(await world.put('/groups/g', { owner: 'bob', name: 'N' }, { as: 'alice' })).owner).toBe('alice')

    expect(dataOf(await world.put('/groups/g', { owner: 'Bob' }))).toMatchObject({ owner: 'bob', membersCount: 2 })
    expect(dataOf(await world.get('/groups/g', { as: 'bob' })).scope).toBe('admin')
    expect(dataOf(await world.put('/groups/g', { owner: 'carol' }))).toMatchObject({ owner: 'carol', membersCount: 3 })
    expect(dataOf(await world.get('/groups/g', { as: 'alice' })).scope).toBe('admin')
    expect(dataOf(await world.get('/groups/g/messages'))).toEqual([])
    expect((await sayInGroup(world, 'carol', 'g', 'mine now')).receiver).toBe('g')

    expect(refusal(await world.put('/groups/g', { owner: 'ghost' }))).toBe('404 ERR_UID_NOT_FOUND')
    expect(refusal(await world.put('/groups/g', { owner: 'eve' }))).toBe('403 ERR_BANNED_GROUPMEMBER')
    expect(dataOf(await world.put('/groups/g', { owner: 'app_system' }))).toMatchObject({
      owner: 'app_system',
      membersCount: 3,
    })
  })

  it('refuses strangers, wrong fields and unknown groups', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'eve', 'frank')
    for (const type of ['public', 'private']) {
      dataOf(
        await world.post('/groups', { guid: type, name: type, type, owner: 'alice', members: { usersToBan: ['eve'] } }),
      )
    }
    const rename = (guid: string, as: string) => world.put(`/groups/${guid}`, { name: 'X' }, { as })
    expect(refusal(await rename('public', 'frank'))).toBe('403 ERR_GROUP_NOT_JOINED')
    expect(refusal(await rename('public', 'eve'))).toBe('403 ERR_BANNED_GROUPMEMBER')
    expect(refusal(await rename('private', 'frank'))).toBe('404 ERR_GUID_NOT_FOUND')
    expect(refusal(await rename('nowhere', 'alice'))).toBe('404 ERR_GUID_NOT_FOUND')
    for (const [body, path] of [
      [{ unset: ['name'] }, 'body/unset/0'],
      [{ name: 7 }, 'body/name'],
      [{ type: 'open' }, 'body/type'],
      [{ metadata: [] }, 'body/metadata'],
    ] as const) {
      const answer = await world.put('/groups/public', body)
      expect(refusal(answer)).toBe('400 ERR_BAD_REQUEST')
      expect(answer.body.error.details[0].path).toBe(path)
    }
  })
})

describe('Passing on a group', () => {
  const transfer = (world: World, owner: unknown, as?: string) =>
    world.call('PATCH', '/groups/g/owner', { owner }, as === undefined ? {} : { as })

  it('is done by the owner to another member, who becomes an admin; then the old one may leave', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol')
    const members = { participants: ['bob'] }
    dataOf(await world.post('/groups', { guid: 'g', name: 'G', type: 'public', owner: 'alice', members }))
    expect(refusal(await world.delete('/groups/g/members', undefined, { as: 'alice' }))).toBe(
      '403 ERR_GROUP_NO_SELF_ACTION',
    )
    expect(refusal(await transfer(world, 'carol', 'alice'))).toBe('400 ERR_NOT_A_MEMBER')
    expect(refusal(await transfer(world, 'ghost', 'alice'))).toBe('404 ERR_UID_NOT_FOUND')
    expect(refusal(await transfer(world, 'alice', 'alice'))).toBe('403 ERR_GROUP_NO_SELF_ACTION')
    expect(refusal(await transfer(world, 'bob', 'bob'))).toBe('403 ERR_GROUP_NO_CLEARANCE')
    expect(refusal(await transfer(world, 'bob', 'carol'))).toBe('403 ERR_GROUP_NOT_JOINED')
    expect(refusal(await transfer(world, 7, 'alice'))).toBe('400 ERR_BAD_REQUEST')

    expect(dataOf(await transfer(world, 'Bob', 'alice'))).toMatchObject({
      owner: 'bob',
      scope: 'admin',
      hasJoined: true,
    })
    expect(dataOf(await world.get('/groups/g', { as: 'bob' }))).toMatchObject({ owner: 'bob', scope: 'admin' })
    expect(dataOf(await world.get('/groups/g/messages'))).toEqual([])
    expect((await world.delete('/groups/g/members', undefined, { as: 'alice' })).status).toBe(200)
    expect(refusal(await transfer(world, 'bob', 'alice'))).toBe('403 ERR_GROUP_NOT_JOINED')
  })

  it('can be done by the app to whom it likes', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    dataOf(await world.post('/groups', { guid: 'g', name: 'G', type: 'public', owner: 'alice' }))
    expect(dataOf(await transfer(world, 'bob'))).toMatchObject({
      owner: 'bob',
      membersCount: 2,
      updatedBy: 'app_system',
    })
    expect(dataOf(await transfer(world, 'app_system'))).toMatchObject({ owner: 'app_system', membersCount: 2 })
  })
})

describe('Deleting a group', () => {
  it('removes members, bans, messages and everybody’s side of it, so that the guid is free again', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'eve')
    const group = { guid: 'g', name: 'G', type: 'public' }
    const members = { participants: ['bob'], usersToBan: ['eve'] }
    dataOf(await world.post('/groups', { ...group, owner: 'alice', members }))
    const message = await sayInGroup(world, 'bob', 'g', 'a secret')
    dataOf(await world.put('/groups/g/scopes/participant/permissions', { permissions: { sendMessage: 'deny' } }))

    const deleted = await world.delete('/groups/G')
    expect(deleted.body).toEqual({ data: { success: true, message: 'group g was deleted' } })
    expect(refusal(await world.get('/groups/g'))).toBe('404 ERR_GUID_NOT_FOUND')
    expect(refusal(await world.delete('/groups/g'))).toBe('404 ERR_GUID_NOT_FOUND')
    expect(refusal(await world.get(`/messages/${message.id}`))).toBe('404 ERR_MESSAGE_ID_NOT_FOUND')
    expect(dataOf(await world.get('/conversations', { as: 'bob' }))).toEqual([])

    dataOf(await world.post('/groups', { ...group, owner: 'bob' }))
    expect(dataOf(await world.get('/groups/g/members')).map(({ uid }: { uid: string }) => uid)).toEqual(['bob'])
    expect(dataOf(await world.get('/groups/g/bannedusers'))).toEqual([])
    expect(dataOf(await world.get('/groups/g/messages'))).toEqual([])
    dataOf(await world.post('/groups/g/members', {}, { as: 'alice' }))
    expect((await sayInGroup(world, 'alice', 'g', 'nothing is denied here')).receiver).toBe('g')
  })

  it('is the owner’s right by default, not that of other admins', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol')
    const members = { admins: ['bob'] }
    dataOf(await world.post('/groups', { guid: 'g', name: 'G', type: 'private', owner: 'alice', members }))
    expect(refusal(await world.delete('/groups/g', undefined, { as: 'carol' }))).toBe('404 ERR_GUID_NOT_FOUND')
    expect(refusal(await world.delete('/groups/g', undefined, { as: 'bob' }))).toBe('403 ERR_PERMISSION_DENIED')
    expect((await world.delete('/groups/g', undefined, { as: 'alice' })).status).toBe(200)
  })

  it('leaves other groups and one-to-one talks alone', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    for (const guid of ['g', 'h']) {
      dataOf(
        await world.post('/groups', { guid, name: guid, type: 'public', owner: 'alice', members: { admins: ['bob'] } }),
      )
      await sayInGroup(world, 'bob', guid, `hello ${guid}`)
    }
    dataOf(await world.delete('/groups/g'))
    const texts = dataOf(await world.get('/groups/h/messages')).map(({ data }: { data: { text: string } }) => data.text)
    expect(texts).toEqual(['hello h'])
    expect(dataOf(await world.get('/groups/h')).membersCount).toBe(2)
  })
})
