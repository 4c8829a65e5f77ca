import { describe, expect, it } from 'vitest'
import { dataOf, say } from '../support/chat.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'
import { createOperator, createOwner, type Visitor } from './operator.ts'

const check = async (visitor: Visitor, world: World, kind: string, records: readonly object[]) =>
  dataOf(await visitor.post(`/apps/${world.app.name}/import-checks`, { kind, records }))

describe('a check of an import', () => {
  it('says of each record what would become of it, and stores nothing', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice')
    const developer = await createOperator(await createOwner(world), { role: 'developer', apps: [world.app.name] })
    const users = [
      { uid: 'Alice', name: 'Alice' },
      { uid: 'bob', name: 'Bob', role: 'chief' },
      { uid: 'b c', name: 1 },
    ]
    expect(await check(developer, world, 'users', users)).toMatchObject([
      { state: 'known', code: 'ERR_UID_ALREADY_EXISTS', name: 'users/alice' },
      { state: 'good', makes: ['users/bob'], missing: [{ name: 'roles/chief', path: 'role' }] },
      { state: 'refused', code: 'ERR_IMPORT_INVALID_USER_FORMAT', reason: expect.stringContaining('uid') },
    ])
    const message = { muid: 'm1', sender: 'bob', receiver: 'alice', receiverType: 'user', sentAt: 1_700_000_000 }
    const texts = { category: 'message', type: 'text', data: { text: 'hi' } }
    expect(await check(developer, world, 'messages', [{ ...message, ...texts }])).toMatchObject([
      { state: 'good', name: 'messages/m1', missing: [{ name: 'users/bob', path: 'sender' }] },
    ])
    expect((await world.get('/users/bob')).status).toBe(404)
  })

  it('agrees with the import about what is there', async () => {
    const world = await createWorld()
    const owner = await createOwner(world)
    const records = {
      users: [{ uid: 'alice', name: 'Alice' }],
      groups: [{ guid: 'team', name: 'Team', type: 'public', owner: 'alice' }],
      members: [{ memberId: 'team_member_alice', guid: 'team', uid: 'alice' }],
      messages: [
        {
          ...{ muid: 'm1', sender: 'alice', receiver: 'team', receiverType: 'group', sentAt: 1_700_000_000 },
          ...{ category: 'message', type: 'text', data: { text: 'hi' } },
        },
      ],
    }
    for (const [kind, some] of Object.entries(records)) {
      const [before] = await check(owner, world, kind, some)
      if (kind !== 'members') expect(before.state, kind).toBe('good')
      dataOf(await world.post(`/data_import/${kind}`, { [kind]: some }))
      expect(await check(owner, world, kind, some)).toMatchObject([{ state: 'known', missing: [] }])
    }
  })

  it('knows who was erased, and what', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol')
    await say(world, 'alice', 'bob', 'hi', { muid: 'erased' })
    dataOf(await world.delete('/users/alice', { permanent: true }))
    const owner = await createOwner(world)
    const alice = { uid: 'alice', name: 'Alice' }
    expect(await check(owner, world, 'users', [alice, { ...alice, recreate: true }])).toMatchObject([
      { state: 'refused', code: 'ERR_IMPORT_UID_ERASED', makes: [] },
      { state: 'good', makes: ['users/alice'] },
    ])
    const message = {
      ...{ sender: 'bob', receiver: 'carol', receiverType: 'user', sentAt: 1_700_000_000 },
      ...{ category: 'message', type: 'text', data: { text: 'hi' } },
    }
    const ofAlice = { ...message, muid: 'm', sender: 'alice', senderUserDetails: alice }
    expect(await check(owner, world, 'messages', [{ ...message, muid: 'erased' }, ofAlice])).toMatchObject([
      { state: 'refused', code: 'ERR_IMPORT_MUID_ERASED' },
      { state: 'good', makes: [], missing: [{ name: 'users/alice', path: 'sender' }] },
    ])
  })
})
