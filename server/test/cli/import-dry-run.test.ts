import { describe, expect, it } from 'vitest'
import { createImportWorld, message, type Outcome, users } from './import-world.ts'

const group = { guid: 'g1', name: 'G', type: 'public' }
const member = { memberId: 'g1_member_ann', guid: 'g1', uid: 'ann' }

/** The table of a dry run: read, good, refused, repeated, unknown reference. */
function figures({ stdout }: Outcome, kind: string): number[] {
  const line = stdout.split('\n').find((text) => text.startsWith(kind)) ?? ''
  return line.slice(kind.length).trim().split(/\s+/).map(Number)
}

/** Checks files with no service to ask. */
async function check(files: Record<string, string | readonly object[]>) {
  const world = await createImportWorld()
  for (const [name, content] of Object.entries(files)) await world.put(name, content)
  const outcome = await world.runWithoutKey('--dry-run')
  return { world, outcome }
}

describe('parley import --dry-run', () => {
  it('finds nothing in good files and stores nothing', async () => {
    const { world, outcome } = await check({
      'users.ndjson': users('Ann', 'bob'),
      'groups.ndjson.gz': [
        { ...group, owner: 'app_system' },
        { ...group, guid: 'g2', owner: 'BOB' },
      ],
      'members.ndjson': [member],
      'messages.ndjson': [
        message('m1', 'ann', 'bob'),
        message('m2', 'app_system', 'g1'),
        message('m3', 'bob', 'ann', { parentMuid: 'm1', reactions: { '👍': ['ann'] } }),
      ],
    })
    expect(outcome).toMatchObject({ code: 0, stdout: expect.stringContaining('Nothing was stored.') })
    expect(figures(outcome, 'messages')).toEqual([3, 3, 0, 0, 0])
    expect(world.service.requests).toEqual([])
  })

  const base = { 'users.ndjson': users('ann', 'bob'), 'groups.ndjson': [{ ...group, createdAt: 1_600_000_000 }] }

  it.each([
    ['a broken line', 'users', 'nonsense', 'refused', { code: 'ERR_IMPORT_INVALID_USER_FORMAT' }],
    ['a record without its id', 'groups', [{ name: 'G' }], 'refused', { code: 'ERR_IMPORT_INVALID_GROUP_FORMAT' }],
    [
      'a wrong field',
      'members',
      [{ ...member, scope: 'boss' }],
      'refused',
      {
        code: 'ERR_BAD_REQUEST',
        details: [{ path: 'scope', message: 'must be one of admin, moderator, participant' }],
      },
    ],
    [
      'a time of joining before the group was made',
      'members',
      [{ ...member, joinedAt: 1_500_000_000 }],
      'refused',
      { code: 'ERR_IMPORT_INVALID_JOINEDAT' },
    ],
    [
      'a uid in other capitals',
      'users',
      [...users('ann', 'bob', 'ANN')],
      'refused',
      {
        code: 'ERR_UID_ALREADY_EXISTS',
        message: 'uid differs from the id of an earlier record in upper and lower case only',
      },
    ],
    ['a uid again', 'users', [...users('ann', 'bob', 'ann')], 'repeated', { code: 'ERR_UID_ALREADY_EXISTS' }],
    ['a guid again', 'groups', [group, group], 'repeated', { code: 'ERR_GUID_ALREADY_EXISTS' }],
    ['a member again', 'members', [member, member], 'repeated', { code: 'ERR_ALREADY_JOINED' }],
    [
      'a message again',
      'messages',
      [message('m', 'ann', 'bob'), message('M', 'ann', 'bob'), message('m', 'ann', 'bob')],
      'repeated',
      { code: 'ERR_IMPORT_MUID_ALREADY_EXISTS' },
    ],
    ['an unknown owner', 'groups', [{ ...group, owner: 'zoe' }], 'unknown', { code: 'ERR_UID_NOT_FOUND' }],
    [
      'a member of an unknown group',
      'members',
      [{ memberId: 'x_member_ann', guid: 'x', uid: 'ann' }],
      'unknown',
      { code: 'ERR_GUID_NOT_FOUND' },
    ],
    [
      'an unknown member',
      'members',
      [{ memberId: 'g1_member_zoe', guid: 'g1', uid: 'zoe' }],
      'unknown',
      { code: 'ERR_UID_NOT_FOUND' },
    ],
    [
      'an unknown receiver',
      'messages',
      [message('m', 'ann', 'zoe')],
      'unknown',
      {
        code: 'ERR_UID_NOT_FOUND',
        details: [{ path: 'receiver', message: expect.stringContaining('unknown reference: zoe') }],
      },
    ],
    ['an unknown group', 'messages', [message('m', 'ann', 'g9')], 'unknown', { code: 'ERR_GUID_NOT_FOUND' }],
    [
      'an unknown user who reacted',
      'messages',
      [message('m', 'ann', 'bob', { reactions: { x: ['zoe'] } })],
      'unknown',
      { code: 'ERR_UID_NOT_FOUND' },
    ],
    [
      'an unknown parent',
      'messages',
      [message('m', 'ann', 'bob', { parentMuid: 'later' })],
      'unknown',
      { code: 'ERR_WRONG_MESSAGE_THREAD' },
    ],
    [
      'a parent of another conversation',
      'messages',
      [message('p', 'ann', 'g1'), message('m', 'bob', 'ann', { parentMuid: 'p' })],
      'unknown',
      { code: 'ERR_WRONG_MESSAGE_THREAD', message: expect.stringContaining('of this conversation') },
    ],
    [
      'a reply to a reply',
      'messages',
      [
        message('p', 'ann', 'bob'),
        message('r', 'bob', 'ann', { parentMuid: 'p' }),
        message('m', 'ann', 'bob', { parentMuid: 'r' }),
      ],
      'refused',
      { code: 'ERR_MESSAGE_THREAD_NESTING', message: 'parentMuid r is a reply itself.' },
    ],
    [
      'an action on a message of another conversation',
      'messages',
      [
        message('p', 'ann', 'bob'),
        message('m', 'ann', 'g1', {
          category: 'action',
          type: 'message',
          data: { action: 'edited' },
          subjectMuid: 'p',
        }),
      ],
      'unknown',
      { code: 'ERR_MESSAGE_ID_NOT_FOUND', message: expect.stringContaining('of this conversation') },
    ],
  ] as const)('reports %s', async (_what, kind, content, finding, error) => {
    const { world, outcome } = await check({ ...base, [`${kind}.ndjson`]: content })
    expect(outcome.code).toBe(1)
    const report = (await world.report()).filter((line) => line.kind === kind)
    const lines = typeof content === 'string' ? 1 : content.length
    expect(report).toMatchObject([{ kind, line: lines, error }])
    const [read, good, ...found] = figures(outcome, kind)
    expect([read, good]).toEqual([lines, lines - 1])
    expect(found).toEqual(['refused', 'repeated', 'unknown'].map((name) => (name === finding ? 1 : 0)))
  })

  it('takes users and groups of embedded details for known', async () => {
    const { outcome } = await check({
      'groups.ndjson': [{ ...group, owner: 'ann', groupOwnerDetails: { uid: 'ann', name: 'Ann' } }],
      'members.ndjson': [
        {
          memberId: 'g2_member_bob',
          guid: 'g2',
          uid: 'bob',
          groupDetails: { ...group, guid: 'g2' },
          userDetails: { uid: 'bob', name: 'Bob' },
        },
      ],
      'messages.ndjson': [
        message('m1', 'carl', 'dora', {
          senderUserDetails: { uid: 'carl', name: 'Carl' },
          receiverUserDetails: { uid: 'dora', name: 'Dora' },
          mentionedUserDetails: { eve: { uid: 'eve', name: 'Eve' } },
        }),
        message('m2', 'dora', 'g3', {
          receiverGroupDetails: { ...group, guid: 'g3', owner: 'finn' },
          receiverGroupOwnerDetails: { uid: 'finn', name: 'Finn' },
        }),
        message('m3', 'eve', 'g3'),
        message('m4', 'finn', 'g2'),
      ],
    })
    expect(outcome.code).toBe(0)
  })

  it('asks the service for what the files do not hold, once for each', async () => {
    const world = await createImportWorld()
    await world.put('users.ndjson', users('zoe'))
    await world.run()
    world.service.requests.length = 0
    await world.put('users.ndjson', [
      { uid: 'ann', name: 'Ann', role: 'boss' },
      { uid: 'bob', name: 'Bob', role: 'default' },
    ])
    await world.put('messages.ndjson', [
      message('m1', 'ann', 'zoe'),
      message('m2', 'Zoe', 'ann'),
      message('m3', 'ann', 'yan'),
      message('m4', 'yan', 'g7'),
    ])
    const outcome = await world.run('--dry-run', '--concurrency', '3')
    expect(outcome.code).toBe(1)
    const asked = world.service.requests.map(({ method, path }) => `${method} ${path}`).toSorted()
    expect(asked).toEqual(['GET /v3/groups/g7', 'GET /v3/roles/boss', 'GET /v3/users/yan', 'GET /v3/users/zoe'])
    expect(await world.report()).toMatchObject([
      { key: 'ann', error: { code: 'ERR_ROLE_NOT_FOUND', details: [{ path: 'role' }] } },
      { key: 'm3', error: { code: 'ERR_UID_NOT_FOUND' } },
      { key: 'm4', error: { details: [{ path: 'sender' }, { path: 'receiver' }] } },
    ])
    expect(world.service.stored.users).toEqual(['zoe'])
  })

  it('ends with 3 when something else answers its questions', async () => {
    const world = await createImportWorld()
    await world.put('messages.ndjson', [message('m', 'ann', 'bob')])
    world.service.obstacle = () => ({ status: 404, body: { error: 'no such page' } })
    expect((await world.run('--dry-run')).code).toBe(3)
  })
})
