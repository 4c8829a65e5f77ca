import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { dataOf, refusal } from '../support/chat.ts'
import { codes, groupText, importAll, importWell, type Kind, text, usersNamed } from '../support/imports.ts'
import { startService } from '../support/service.ts'
import { createWorld, send, type World } from '../support/world.ts'

const nest = (levels: number): unknown => (levels === 0 ? 1 : { deeper: nest(levels - 1) })

/** A sound record of each kind, by the id it has, with some more members. */
const sound: Record<Kind, (id: string, extra?: object) => [string, object]> = {
  users: (id, extra) => [id, { uid: id, name: id, ...extra }],
  groups: (id, extra) => [id, { guid: id, name: id, type: 'public', ...extra }],
  members: (id, extra) => [`team_member_${id}`, { memberId: `team_member_${id}`, guid: 'team', uid: id, ...extra }],
  messages: (id, extra) => [id, text(id, 'alice', 'bob', 1_600_000_000, { data: { text: id, ...extra } })],
}

/** Where a record of each kind takes anything. */
const free: Record<Kind, (value: unknown) => object> = {
  users: (metadata) => ({ metadata }),
  groups: (metadata) => ({ metadata }),
  members: (metadata) => ({ userDetails: { uid: 'bad', name: 'Bad', metadata } }),
  messages: (metadata) => ({ metadata }),
}

async function createTown(): Promise<World> {
  const world = await createWorld()
  await importWell(world, 'users', usersNamed('alice', 'bob', 'bad'))
  await importWell(world, 'groups', [{ guid: 'team', name: 'Team', type: 'public', owner: 'alice' }])
  return world
}

const kinds: Kind[] = ['users', 'groups', 'members', 'messages']

describe.each(kinds)('an import of %s', (kind) => {
  const good = () => (kind === 'members' ? sound.members('bob') : sound[kind]('good'))

  it.each([
    ['text with a NUL character', { k: 'a\0b' }, 'NUL'],
    ['a name with a NUL character', { 'a\0b': 1 }, 'NUL'],
    ['what is nested too deep', nest(40), 'nested'],
    ['what reaches for a prototype', JSON.parse('{"k":{"__proto__":{"a":1}}}'), 'not allowed'],
    ['a constructor with a prototype', { constructor: { prototype: { a: 1 } } }, 'not allowed'],
  ])('refuses a record with %s, and stores the others', async (_, value, why) => {
    const world = await createTown()
    const bad = sound[kind](kind === 'members' ? 'bad' : 'worse', free[kind](value))
    const answer = await world.post(`/data_import/${kind}`, { [kind]: Object.fromEntries([bad, good()]) })
    const outcomes = dataOf(answer)
    expect(codes(outcomes)).toEqual({ [bad[0]]: 'ERR_BAD_REQUEST', [good()[0]]: 'stored' })
    expect(outcomes[bad[0]].error.devMessage).toContain(why)
    expect(outcomes[bad[0]].error.details[0].path).not.toBe('')
  })

  it('takes records under keys and in arrays with a NUL character one by one', async () => {
    const world = await createTown()
    const map = dataOf(await world.post(`/data_import/${kind}`, { [kind]: { 'a\0b': {}, [good()[0]]: good()[1] } }))
    expect(Object.values(codes(map)).toSorted()).toEqual([expect.stringMatching(/^ERR_/), 'stored'])
    const list = dataOf(await world.post(`/data_import/${kind}`, { [kind]: ['a\0b', null, 5, [[]]] }))
    expect(Object.values(codes(list))).toEqual(Array(4).fill(expect.stringMatching(/^ERR_/)))
  })
})

describe('an import', () => {
  it('replaces broken surrogates in records', async () => {
    const world = await createTown()
    const record = text('m1', 'alice', 'bob', 1_600_000_000, { data: { text: 'a\ud800b', metadata: { '\udc00': 1 } } })
    const { m1 } = await importWell(world, 'messages', [record])
    expect(m1.data).toMatchObject({ text: 'a\ufffdb', metadata: { '\ufffd': 1 } })
  })

  it('refuses as a whole what is wrong beside the records', async () => {
    const world = await createTown()
    for (const other of ['"a\\u0000b"', `${'['.repeat(50)}${']'.repeat(50)}`, '{"__proto__":1}']) {
      const answer = await world.post('/data_import/users', `{"users":{"x":{"uid":"x","name":"X"}},"other":${other}}`)
      expect(refusal(answer)).toBe('400 ERR_BAD_REQUEST')
    }
    expect(refusal(await world.get('/users/x'))).toBe('404 ERR_UID_NOT_FOUND')
  })

  it('of members, groups and messages that make the same groups at once ends well', async () => {
    const world = await createWorld()
    const uids = Array.from({ length: 12 }, (_, i) => `u${i}`)
    await importWell(world, 'users', usersNamed(...uids))
    const groupOf = (i: number) => ({ guid: `g${i % 5}`, name: 'G', type: 'public', owner: uids[i % 4] })
    const members = uids.map((uid, i) => ({
      memberId: `g${i % 5}_member_${uid}`,
      guid: `g${i % 5}`,
      uid,
      groupDetails: groupOf(i),
    }))
    const groups = uids.slice(0, 5).map((_, i) => groupOf(i))
    const messages = uids.map((uid, i) =>
      groupText(`m${i}`, uid, `g${i % 5}`, 1_600_000_000 + i, { receiverGroupDetails: groupOf(i) }),
    )
    const runs = await Promise.all([
      importAll(world, 'members', members),
      importAll(world, 'groups', groups.toReversed()),
      importAll(world, 'messages', messages.toReversed()),
      importAll(world, 'members', members.toReversed()),
      importAll(world, 'messages', messages),
    ])
    const outcomes = runs.flatMap((run) => Object.values(codes(run)))
    const known = ['stored', 'ERR_ALREADY_JOINED', 'ERR_GUID_ALREADY_EXISTS', 'ERR_IMPORT_MUID_ALREADY_EXISTS']
    expect(outcomes.filter((code) => !known.includes(code ?? ''))).toEqual([])
    const again = await importAll(world, 'members', members)
    expect(new Set(Object.values(codes(again)))).toEqual(new Set(['ERR_ALREADY_JOINED']))
    for (const i of [0, 1, 2, 3, 4]) {
      const expected = new Set([...uids.filter((_, k) => k % 5 === i)])
      const { owner, membersCount } = dataOf(await world.get(`/groups/g${i}`))
      expect(membersCount).toBe(expected.add(owner).size)
    }
  })
})

describe('the number of records in a request', () => {
  let service: Awaited<ReturnType<typeof startService>>
  beforeAll(async () => {
    service = await startService({ IMPORT_MAX_RECORDS: '3' })
  })
  afterAll(() => service.parley.close())

  it('is a setting', async () => {
    const world = await createWorld()
    const headers = { appid: world.app.name, apikey: world.apiKey }
    const store = (count: number) => {
      const users = Array.from({ length: count }, (_, i) => ({ uid: `u${i}`, name: 'U' }))
      return send(service.url, 'POST', '/data_import/users', { users }, headers)
    }
    const refused = await store(4)
    expect(refusal(refused)).toBe('400 ERR_BAD_REQUEST')
    expect(refused.body.error.details).toEqual([{ path: 'body/users', message: 'must have at most 3 records' }])
    expect(refusal(await world.get('/users/u0'))).toBe('404 ERR_UID_NOT_FOUND')
    expect(Object.keys(dataOf(await store(3)))).toEqual(['u0', 'u1', 'u2'])
  })
})
