import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { TooManyRequests } from '../../src/limits/errors.ts'
import { createGroup, dataOf, refusal } from '../support/chat.ts'
import { importWell } from '../support/imports.ts'
import { createOwnServices, type OwnServices, type Service } from '../support/own-services.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'

const wrong = '403 ERR_WRONG_GROUP_PASS'
const tooMany = '429 ERR_TOO_MANY_REQUESTS'
const free = 10

const passwordWorld = async (service?: Service) => {
  const world = await createWorld(service)
  await createUsers(world, 'alice', 'bob', 'carol')
  await createGroup(world, 'g', 'alice', {}, { type: 'password', password: 'Open Sesame' })
  return world
}
const join = (world: World, password: string, as = 'bob', guid = 'g') =>
  world.post(`/groups/${guid}/members`, { password }, { as })

describe('who guesses the password of a group', () => {
  it('must wait after some wrong ones, longer each time; others and other groups are not concerned', async () => {
    const world = await passwordWorld()
    await createGroup(world, 'other', 'alice', {}, { type: 'password', password: 'Open Sesame' })
    const guesses = []
    for (let n = 0; n <= free; n++) guesses.push(refusal(await join(world, `guess ${n}`)))
    expect(guesses).toEqual(Array(free + 1).fill(wrong))

    // The wait grows with each, so that it is met on a slow machine, too.
    let refused = await join(world, 'another guess')
    for (let n = 0; n < 10 && refused.status === 403; n++) refused = await join(world, `guess again ${n}`)
    expect(refusal(refused)).toBe(tooMany)
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
    expect(refused.body.error.devMessage).toContain('g')

    expect(dataOf(await join(world, 'Open Sesame', 'carol')).data.action).toBe('joined')
    expect(dataOf(await join(world, 'Open Sesame', 'bob', 'other')).data.action).toBe('joined')
  })

  it('gets no further by guessing many at once', async () => {
    const world = await passwordWorld()
    const answers = await Promise.all(Array.from({ length: 3 * free }, (_, n) => join(world, `guess ${n}`)))
    const outcomes = answers.map(refusal)
    expect(outcomes.filter((outcome) => outcome === wrong).length).toBeLessThan(2 * free)
    expect(outcomes.filter((outcome) => outcome === wrong).length).toBeGreaterThanOrEqual(1)
    expect(new Set(outcomes)).toEqual(new Set([wrong, tooMany]))
    expect((await world.get('/groups/g', { as: 'bob' })).body.data.hasJoined).toBe(false)
  })

  it('may start anew once the right one was found', async () => {
    const world = await passwordWorld()
    for (let round = 0; round < 3; round++) {
      for (let n = 0; n < free - 1; n++) expect(refusal(await join(world, `guess ${n}`))).toBe(wrong)
      dataOf(await join(world, 'Open Sesame'))
      dataOf(await world.delete('/groups/g/members', {}, { as: 'bob' }))
    }
  })

  it('is told nothing by empty ones, by being banned or a member, and these do not count', async () => {
    const world = await passwordWorld()
    for (let n = 0; n < 2 * free; n++) expect(refusal(await join(world, ''))).toBe('400 ERR_EMPTY_GROUP_PASS')
    dataOf(await world.post('/groups/g/bannedusers/bob'))
    expect(refusal(await join(world, 'guess'))).toBe('403 ERR_BANNED_GROUPMEMBER')
    expect(refusal(await join(world, 'guess', 'alice'))).toBe('409 ERR_ALREADY_JOINED')
  })
})

describe('a password that could not be checked', () => {
  it('does not count as wrong', async () => {
    const world = await passwordWorld()
    const { groupPasswords } = world.context
    const full = vi.spyOn(groupPasswords, 'matches')
    try {
      full.mockRejectedValue(new TooManyRequests('Too many of your group passwords wait to be checked.', 1_000))
      for (let n = 0; n < 2 * free; n++) expect(refusal(await join(world, 'Open Sesame'))).toBe(tooMany)
    } finally {
      full.mockRestore()
    }
    for (let n = 0; n < free - 1; n++) expect(refusal(await join(world, `guess ${n}`))).toBe(wrong)
    expect(dataOf(await join(world, 'Open Sesame')).data.action).toBe('joined')
  })
})

describe('the password of a group', () => {
  let services: OwnServices
  let service: Service
  beforeAll(async () => {
    services = await createOwnServices()
    service = await services.start()
  })
  afterAll(() => services.close())

  const keptOf = async (world: World, guid = 'g') => {
    const [row] = await services.query<{ kept: Buffer }>(
      'select password_digest as kept from groups where app_id = $1 and guid = $2',
      [world.app.appId, guid],
    )
    return row?.kept as Buffer
  }

  it('is checked before anything is locked', async () => {
    const world = await passwordWorld(service)
    const unlock = await services.lock(`select from groups where app_id = ${world.app.appId} for update`)
    const unlockUsers = await services.lock(`select from users where app_id = ${world.app.appId} for update`)
    expect(refusal(await join(world, 'guess'))).toBe(wrong)
    await unlock()
    await unlockUsers()
    dataOf(await join(world, 'Open Sesame'))
  })

  it('is kept with a salt: the same one twice looks different', async () => {
    const world = await passwordWorld(service)
    const first = await keptOf(world)
    dataOf(await world.put('/groups/g', { password: 'Open Sesame' }))
    expect((await keptOf(world)).equals(first)).toBe(false)
    dataOf(await join(world, 'Open Sesame'))
  })

  it('that was imported works, and is kept in the slow form once somebody has joined by it', async () => {
    const world = await passwordWorld(service)
    const group = { guid: 'old', name: 'Old', type: 'password', password: 'Open Sesame', owner: 'alice' }
    await importWell(world, 'groups', { old: group })
    const digest = await keptOf(world, 'old')
    expect(refusal(await join(world, 'guess', 'bob', 'old'))).toBe(wrong)
    expect((await keptOf(world, 'old')).equals(digest)).toBe(true)
    const joins = await Promise.all([
      join(world, 'Open Sesame', 'bob', 'old'),
      join(world, 'Open Sesame', 'carol', 'old'),
    ])
    expect(joins.map(({ status }) => status)).toEqual([200, 200])
    const slow = await keptOf(world, 'old')
    expect(slow.length).toBeGreaterThan(digest.length)
    dataOf(await world.delete('/groups/old/members', {}, { as: 'bob' }))
    dataOf(await join(world, 'Open Sesame', 'bob', 'old'))
    expect(refusal(await world.post('/groups/old/members', { password: 'Open Sesame' }, { as: 'alice' }))).toBe(
      '409 ERR_ALREADY_JOINED',
    )
  })
})
