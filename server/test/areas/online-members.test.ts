import { describe, expect, it, onTestFinished } from 'vitest'
import { createGroup, dataOf, refusal } from '../support/chat.ts'
import { startService } from '../support/service.ts'
import { type Client, connect, eventually, tokenOf } from '../support/socket.ts'
import { type Answer, createUsers, createWorld, send, type World } from '../support/world.ts'

const path = '/api/v3.0/online-members'

/** Asks as the client of the socket does: without a version before the path, with the token in `Authorization`. */
async function ask(world: World, uid: string, body: unknown = {}) {
  const answer = await fetch(`${world.url}${path}`, {
    method: 'POST',
    headers: {
      appId: world.app.name,
      Authorization: await tokenOf(world, uid),
      'content-type': 'application/json',
    },
    body: JSON.stringify(body),
  })
  return { status: answer.status, headers: {}, body: await answer.json() } as Answer
}

/** What the app is told, once everybody who connected has been noted. */
const settled = (world: World, count: number) =>
  eventually(
    async () => dataOf(await world.post(path)).onlineUsersCount,
    (online) => online === count,
  )

async function connectAll(world: World, ...uids: string[]): Promise<Client[]> {
  const clients = await Promise.all(uids.map((uid) => connect(world, uid, { deviceId: `${uid}-${Math.random()}` })))
  onTestFinished(() => {
    for (const client of clients) client.close()
  })
  return clients
}

describe('The count of those who are online', () => {
  it('counts each user once, whatever their devices and processes, and nobody who has gone', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol', 'dave')
    await createGroup(world, 'team', 'alice', { participants: ['bob', 'carol'] })
    const second = await startService()
    onTestFinished(() => second.parley.close())
    const elsewhere = { ...world, url: second.url }
    const [first] = await connectAll(world, 'alice', 'alice', 'bob')
    const [alsoBob, carol] = await connectAll(elsewhere, 'bob', 'carol')
    await settled(world, 3)
    for (const at of [world, elsewhere]) {
      expect(dataOf(await ask(at, 'dave'))).toEqual({ onlineUsersCount: 3 })
      expect(dataOf(await ask(at, 'alice', { groups: ['team'] }))).toEqual({ groups: { team: 3 } })
    }
    carol?.close()
    alsoBob?.close()
    first?.close()
    await settled(world, 2)
    expect(dataOf(await ask(elsewhere, 'alice', { groups: ['TEAM', 'team'] }))).toEqual({ groups: { team: 2 } })
  })

  it('leaves out who stands in a block with the asker, on both sides', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol')
    await createGroup(world, 'team', 'alice', { participants: ['bob', 'carol'] })
    dataOf(await world.post('/users/alice/blockedusers', { blockedUids: ['bob'] }))
    await connectAll(world, 'alice', 'bob', 'carol')
    await settled(world, 3)
    for (const [uid, count] of [
      ['alice', 2],
      ['bob', 2],
      ['carol', 3],
    ] as const) {
      expect(dataOf(await ask(world, uid)), uid).toEqual({ onlineUsersCount: count })
      expect(dataOf(await ask(world, uid, { groups: ['team'] })), uid).toEqual({ groups: { team: count } })
    }
  })

  it('tells nothing of groups that the asker does not see, or whose members they may not list', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol')
    for (const [guid, type] of [
      ['open', 'public'],
      ['lock', 'password'],
      ['hide', 'private'],
      ['empty', 'public'],
    ] as const) {
      const password = type === 'password' ? { password: 'x' } : {}
      const members = guid === 'empty' ? {} : { participants: ['bob'] }
      await createGroup(world, guid, 'alice', members, { type, ...password })
    }
    await connectAll(world, 'alice', 'bob')
    await settled(world, 2)
    const groups = ['open', 'lock', 'hide', 'nothing', 'empty']
    const all = { open: 2, lock: 2, hide: 2, empty: 1 }
    expect(dataOf(await world.post(path, { groups }))).toEqual({ groups: all })
    expect(dataOf(await ask(world, 'bob', { groups }))).toEqual({ groups: all })
    expect(dataOf(await ask(world, 'carol', { groups }))).toEqual({ groups: { open: 2, lock: 2, empty: 1 } })
    const set = (permissions: object) => world.put('/groups/open/scopes/participant/permissions', { permissions })
    dataOf(await set({ 'listMembers.allowedScopes': ['admin'] }))
    expect(dataOf(await ask(world, 'bob', { groups: ['open'] }))).toEqual({ groups: { open: 1 } })
    dataOf(await set({ listMembers: 'deny' }))
    expect(dataOf(await ask(world, 'bob', { groups }))).toEqual({ groups: { lock: 2, hide: 2, empty: 1 } })
    expect(dataOf(await ask(world, 'bob', { groups: [] }))).toEqual({ groups: {} })
  })

  it('leaves out groups whose details a role may not read', async () => {
    const world = await createWorld()
    dataOf(await world.post('/roles', { role: 'guest', name: 'Guest' }))
    await createUsers(world, 'alice')
    dataOf(await world.post('/users', { uid: 'gina', name: 'Gina', role: 'guest' }))
    await createGroup(world, 'team', 'alice')
    await connectAll(world, 'alice')
    await settled(world, 1)
    const counts = async () => dataOf(await ask(world, 'gina', { groups: ['team'] })).groups
    const set = async (permissions: object) => dataOf(await world.put('/roles/guest/permissions', { permissions }))
    expect(await counts()).toEqual({ team: 1 })
    await set({ 'getGroupDetails.allowedGroupTypes': ['password'] })
    expect(await counts()).toEqual({})
    await set({ 'getGroupDetails.allowedGroupTypes': ['public'] })
    expect(await counts()).toEqual({ team: 1 })
    await set({ getGroupDetails: 'deny' })
    expect(await counts()).toEqual({})
  })

  it('leaves out groups whose members a role may not list', async () => {
    const world = await createWorld()
    dataOf(await world.post('/roles', { role: 'guest', name: 'Guest' }))
    await createUsers(world, 'alice')
    dataOf(await world.post('/users', { uid: 'gina', name: 'Gina', role: 'guest' }))
    await createGroup(world, 'team', 'alice')
    for (const feature of ['listGroupMembers', 'getMember']) {
      dataOf(await world.post('/roles/guest/restrictedfeatures', { featuresToRestrict: [feature] }))
      expect(dataOf(await ask(world, 'gina', { groups: ['team'] }))).toEqual({ groups: {} })
      dataOf(await world.delete('/roles/guest/restrictedfeatures', { featuresToAllow: [feature] }))
    }
    expect(dataOf(await ask(world, 'gina', { groups: ['team'] }))).toEqual({ groups: { team: 0 } })
  })

  it('is with a group what it is when it is asked for, or not there', async () => {
    const world = await createWorld()
    dataOf(await world.post('/roles', { role: 'guest', name: 'Guest' }))
    await createUsers(world, 'alice', 'bob', 'carol')
    dataOf(await world.post('/users', { uid: 'gina', name: 'Gina', role: 'guest' }))
    await createGroup(world, 'team', 'alice', { participants: ['bob', 'carol'] })
    dataOf(await world.post('/users/bob/blockedusers', { blockedUids: ['carol'] }))
    await connectAll(world, 'alice', 'carol')
    await settled(world, 2)
    const counts = async () => {
      const uids = ['alice', 'bob', 'carol', 'gina']
      const seen = uids.map(async (uid) => {
        const asked = dataOf(await ask(world, uid, { groups: ['team'] })).groups.team
        const { guid, onlineMembersCount: shown } = dataOf(await world.get('/groups/team', { as: uid }))
        expect([guid, shown], uid).toEqual(['team', asked])
        return shown
      })
      return Promise.all(seen)
    }
    expect(await counts()).toEqual([2, 1, 2, 2])
    const set = (permissions: object) => world.put('/groups/team/scopes/participant/permissions', { permissions })
    dataOf(await set({ 'listMembers.allowedScopes': ['participant'] }))
    expect(await counts()).toEqual([2, 0, 1, 2])
    dataOf(await set({ listMembers: 'deny' }))
    dataOf(await world.post('/roles/guest/restrictedfeatures', { featuresToRestrict: ['listGroupMembers'] }))
    expect(await counts()).toEqual([2, undefined, undefined, undefined])
    expect(dataOf(await world.get('/groups/team')).onlineMembersCount).toBe(2)
  })

  it('counts those whom a role may list', async () => {
    const world = await createWorld()
    dataOf(await world.post('/roles', { role: 'guest', name: 'Guest' }))
    await createUsers(world, 'alice', 'bob')
    dataOf(await world.post('/users', { uid: 'gina', name: 'Gina', role: 'guest' }))
    await connectAll(world, 'alice', 'bob', 'gina')
    await settled(world, 3)
    const set = async (permissions: object) => dataOf(await world.put('/roles/guest/permissions', { permissions }))
    await set({ 'listUsers.allowedRoles': ['guest'] })
    expect(dataOf(await ask(world, 'gina'))).toEqual({ onlineUsersCount: 1 })
    await set({ 'listUsers.mode': 'friends', 'listUsers.allowedRoles': ['guest', 'default'] })
    dataOf(await world.post('/users/gina/friends', { accepted: ['bob'] }))
    expect(dataOf(await ask(world, 'gina'))).toEqual({ onlineUsersCount: 1 })
    await set({ listUsers: 'deny' })
    expect(refusal(await ask(world, 'gina'))).toBe('403 ERR_PERMISSION_DENIED')
  })

  it('is for those who are logged in', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice')
    const call = async (headers: Record<string, string>, body: unknown = {}) =>
      refusal(await send(world.url, 'POST', path, body, { appid: world.app.name, ...headers }))
    const token = await tokenOf(world, 'alice')
    expect(await call({})).toBe('401 AUTH_ERR_EMPTY_APIKEY')
    expect(await call({ authorization: 'nonsense' })).toBe('401 AUTH_ERR_AUTH_TOKEN_NOT_FOUND')
    expect(await call({ authorization: token })).toBe('200 undefined')
    expect(await call({ authorization: `Bearer ${token}` })).toBe('200 undefined')
    expect(await call({ authtoken: token })).toBe('200 undefined')
    for (const groups of ['team', [5], ['a b'], Array(101).fill('g')]) {
      expect(await call({ authorization: token }, { groups })).toBe('400 ERR_BAD_REQUEST')
    }
    // Nothing else takes it there.
    const users = await send(world.url, 'GET', '/users', undefined, { appid: world.app.name, authorization: token })
    expect(refusal(users)).toBe('401 AUTH_ERR_EMPTY_APIKEY')
    const settings = dataOf(await world.get('/settings', { token }))
    expect(path).toBe(`/api/${settings.WS_API_VERSION}/online-members`)
  })
})
