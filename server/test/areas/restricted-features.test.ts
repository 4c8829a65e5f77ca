import { restrictedFeatures } from '@parley/contract'
import { describe, expect, it } from 'vitest'
import { routes } from '../../src/routes.ts'
import { dataOf, refusal } from '../support/chat.ts'
import { until } from '../support/until.ts'
import { createWorld, type World } from '../support/world.ts'

/** Every feature that the contract names. */
const features =
  `addMember ban blockUser changeScope createCall createGroup createMessage createMessageThread deleteCall
  deleteConversationForUser deleteGroup deleteGroupMessages deleteMessage getBlockedUsers getCall
  getConversation getGroup getGroupMessages getMember getMessage getMyDetails getUser getUserMessages joinGroup
  kickMember leaveGroup listBannedUsers listCalls listConversations listGroupMembers listGroups listMessages
  listSettings listThreadedMessages listUsers logout massMemberOperate patchOwner unban unblockUser
  updateAuthToken updateCall updateGroup updateMessage`.split(/\s+/)

const path = (role = 'default') => `/roles/${role}/restrictedfeatures`
const restrict = (world: World, ...featuresToRestrict: string[]) => world.post(path(), { featuresToRestrict })
const keysOf = async (world: World) => dataOf(await world.get(path())).map(({ key }: { key: string }) => key)

describe('Restricting features', () => {
  it('starts from a list of all of them', async () => {
    const world = await createWorld()
    const known = dataOf(await world.get('/restrictedfeatures'))
    expect(known.map(({ key }: { key: string }) => key).sort()).toEqual(features.map((key) => `u.${key}`))
    await restrict(world, 'createGroup')
    const { createdAt: _, ...restricted } = dataOf(await world.get(path()))[0]
    expect(known).toContainEqual(restricted)
  })

  it('takes every feature with and without its prefix, and answers it with the prefix', async () => {
    const world = await createWorld()
    const answer = await restrict(world, 'listUsers', 'u.deleteGroup')
    expect(answer.body).toEqual({
      data: {
        'u.listUsers': { success: true, message: 'u.listUsers is now restricted' },
        'u.deleteGroup': { success: true, message: 'u.deleteGroup is now restricted' },
      },
    })
    const every = [...restrictedFeatures.keys()]
    expect([...every].sort()).toEqual([...features].sort())
    const outcomes = dataOf(await restrict(world, ...every))
    expect(Object.keys(outcomes).sort()).toEqual(every.map((key) => `u.${key}`).sort())
    expect((await keysOf(world)).sort()).toEqual(every.map((key) => `u.${key}`).sort())
  })

  it('answers unknown keys as they were sent, and restricts the others', async () => {
    const world = await createWorld()
    const unknown = ['flyHigh', 'u.flyHigh', 'u.u.listUsers', 'U.listUsers', 'LISTUSERS', '', 'toString', '__proto__']
    const text = JSON.stringify({ featuresToRestrict: [...unknown, 'ban'] })
    const outcomes = dataOf(await world.post(path(), text))
    for (const key of unknown) {
      expect(Object.getOwnPropertyDescriptor(outcomes, key)?.value, key).toEqual({
        success: false,
        message: expect.stringContaining(key),
      })
    }
    expect(outcomes['u.ban'].success).toBe(true)
    expect(await keysOf(world)).toEqual(['u.ban'])
  })

  it('needs a list of texts that is not empty, and a known role', async () => {
    const world = await createWorld()
    for (const featuresToRestrict of [undefined, null, [], {}, 'listUsers', [7], [null]]) {
      const answer = await world.post(path(), { featuresToRestrict })
      expect(refusal(answer), JSON.stringify(featuresToRestrict)).toBe('400 ERR_BAD_REQUEST')
      expect(answer.body.error.details[0].path).toContain('body/featuresToRestrict')
    }
    expect(refusal(await world.post(path('nobody'), { featuresToRestrict: ['ban'] }))).toBe('404 ERR_ROLE_NOT_FOUND')
  })

  it('merges requests that come at the same time', async () => {
    const world = await createWorld()
    const every = [...restrictedFeatures.keys()]
    await Promise.all(every.map((key) => restrict(world, key)))
    expect(await keysOf(world)).toHaveLength(every.length)
  })
})

describe('Listing restricted features', () => {
  it('describes each with the route that it guards and since when, the newest first', async () => {
    const world = await createWorld()
    expect((await world.get(path())).body).toEqual({
      data: [],
      meta: { pagination: { total: 0, count: 0, per_page: 100, current_page: 1, total_pages: 1 } },
    })
    const before = Math.floor(Date.now() / 1000)
    await restrict(world, 'deleteGroup')
    await until(() => Math.floor(Date.now() / 1000) > before)
    await restrict(world, 'listUsers', 'deleteGroup')
    const answer = await world.get(path('DEFAULT'))
    const [newest, oldest] = dataOf(answer)
    expect(newest).toEqual({
      title: 'List users',
      description: 'A user may list users',
      key: 'u.listUsers',
      path: '/v3/users',
      createdAt: expect.any(Number),
    })
    expect(oldest).toMatchObject({ key: 'u.deleteGroup', path: '/v3/groups/{{guid}}' })
    // What was restricted already keeps its time.
    expect(oldest.createdAt).toBeLessThan(newest.createdAt)
    expect(answer.body.meta.pagination).toMatchObject({ total: 2, count: 2, per_page: 100 })
    const page = await world.get(`${path()}?perPage=1&page=2`)
    expect(dataOf(page)).toEqual([oldest])
    expect(refusal(await world.get(path('nobody')))).toBe('404 ERR_ROLE_NOT_FOUND')
  })

  it('names only operations that are served', () => {
    const served = new Set(routes.map(({ operation }) => operation.id))
    const named = [...restrictedFeatures.values()].flatMap(({ operations, within }) => [...operations, ...within])
    expect(named.filter((id) => !served.has(id))).toEqual([])
  })
})

describe('Allowing features', () => {
  it('lifts single restrictions, with and without prefix, and all at once', async () => {
    const world = await createWorld()
    const allow = (body: object) => world.delete(path(), body)
    await restrict(world, 'listUsers', 'ban', 'unban', 'kickMember')
    expect((await allow({ featuresToAllow: ['u.ban', 'listUsers', 'leaveGroup'] })).body).toEqual({
      data: { success: true, message: 'feature allowed' },
    })
    expect(await keysOf(world)).toEqual(['u.kickMember', 'u.unban'])
    dataOf(await allow({}))
    dataOf(await allow({ allowAll: false }))
    dataOf(await world.delete(path()))
    expect(await keysOf(world)).toHaveLength(2)
    dataOf(await allow({ allowAll: true }))
    expect(await keysOf(world)).toEqual([])
  })

  it('refuses features that do not exist, and lifts none then', async () => {
    const world = await createWorld()
    await restrict(world, 'ban')
    const answer = await world.delete(path(), { featuresToAllow: ['ban', 'flyHigh'] })
    expect(refusal(answer)).toBe('400 ERR_BAD_REQUEST')
    expect(answer.body.error.details).toEqual([{ path: 'body/featuresToAllow/1', message: expect.any(String) }])
    expect(await keysOf(world)).toEqual(['u.ban'])
    expect(refusal(await world.delete(path(), { featuresToAllow: 'ban' }))).toBe('400 ERR_BAD_REQUEST')
    expect(refusal(await world.delete(path(), { allowAll: 'yes' }))).toBe('400 ERR_BAD_REQUEST')
    expect(refusal(await world.delete(path('nobody'), { allowAll: true }))).toBe('404 ERR_ROLE_NOT_FOUND')
  })
})
