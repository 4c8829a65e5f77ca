import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { createGroup, dataOf, refusal, sayInGroup } from '../support/chat.ts'
import { codes, groupText, importWell, text } from '../support/imports.ts'
import { untilWaitedFor, untilWaitsBehind } from '../support/waiters.ts'
import { type Answer, createUsers, createWorld, type World } from '../support/world.ts'

const as = { as: 'alice' }
const deeds: Readonly<Record<string, (world: World, id: string) => Promise<Answer>>> = {
  saved_messages: (world, id) => world.post(`/messages/${id}/save`, undefined, as),
  interactions: (world, id) => world.call('PATCH', `/messages/${id}/interacted`, { interactions: ['ok'] }, as),
  moderation_flags: (world, id) => world.post(`/messages/${id}/flagged`, { remark: 'rude' }, as),
  person_exports: (world) => world.post('/me/export', {}, as),
}

describe('What somebody does while they are erased', () => {
  it.each(Object.entries(deeds))('leaves no row in %s that the next one with their uid has', async (table, deed) => {
    const world = await createWorld()
    const { appId } = world.app
    await createUsers(world, 'alice', 'bob')
    await createGroup(world, 'team', 'bob', { participants: ['alice'] })
    const form = { category: 'interactive', type: 'form', data: { interactiveData: { elementId: 'ok' } } }
    const { id } = await sayInGroup(world, 'bob', 'team', '', form)
    let answer: Promise<Answer> | undefined
    // What an erasure holds from its begin to its end.
    await world.context.database.transaction(async (tx) => {
      await tx.run(sql`select from users where app_id = ${appId} and uid = 'alice' for update`)
      await tx.run(sql`select from conversations where app_id = ${appId} and first = 'team' for no key update`)
      answer = deed(world, id)
      await Promise.race([answer, untilWaitedFor(tx)])
      for (const name of ['group_members', 'conversation_states', 'users']) {
        await tx.run(sql`delete from ${sql.table(name)} where app_id = ${appId} and uid = 'alice'`)
      }
    })
    expect(refusal((await answer) as Answer)).toBe('404 ERR_UID_NOT_FOUND')
    const left = sql`select from ${sql.table(table)} where app_id = ${appId} and uid = 'alice'`
    expect(await world.context.database.run(left)).toEqual([])
  })
})

describe('An import of what somebody who was erased had a hand in', () => {
  const at = 1_650_000_000
  const entityOf = (uid: string) => ({
    entity: { uid, name: `Known as ${uid}`, avatar: 'https://example.com/face.png' },
  })
  const records = [
    groupText('edited', 'bob', 'team', at, { editedAt: at + 1, editedBy: 'Alice' }),
    groupText('deleted', 'bob', 'team', at + 1, { deletedAt: at + 2, deletedBy: 'alice' }),
    groupText('pinned', 'bob', 'team', at + 2, { pinnedAt: at + 3, pinnedBy: 'alice' }),
    groupText('kicked', 'bob', 'team', at + 3, {
      ...{ category: 'action', type: 'groupMember' },
      data: { action: 'kicked', entities: { by: entityOf('bob'), on: entityOf('alice') } },
    }),
  ]
  const detailed = { mentionedUserDetails: { zoe: { uid: 'zoe', name: 'Zoe' } } }
  const listByMuid = async (world: World) => {
    const listed: Record<string, Answer['body']> = {}
    for (const message of dataOf(await world.get('/groups/team/messages', { as: 'bob' })))
      listed[message.muid] = message
    return listed
  }
  const expectForgotten = async (world: World, answer: Answer) => {
    expect(codes(dataOf(answer))).toEqual({ edited: 'stored', deleted: 'stored', pinned: 'stored', kicked: 'stored' })
    const { edited, deleted, kicked } = dataOf(answer)
    const listed = await listByMuid(world)
    for (const messages of [listed, { edited: edited.data, deleted: deleted.data, kicked: kicked.data }]) {
      expect(messages.edited.editedBy).toBe('app_system')
      expect(messages.deleted.deletedBy).toBe('app_system')
      expect(messages.kicked.data.entities.on.entity).toEqual({ uid: 'alice', name: 'Deleted user' })
    }
    expect(listed.pinned.pinnedBy).toBe('app_system')
  }

  it.each([
    ['among those who are there', {}],
    ['beside somebody new', detailed],
  ])('brings the messages as the erasure leaves them: %s', async (_, extra) => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    await createGroup(world, 'team', 'bob', { participants: ['alice'] })
    dataOf(await world.delete('/users/alice', { permanent: true }))
    const messages = records.map((record) => ({ ...record, ...extra }))
    await expectForgotten(world, await world.post('/data_import/messages', { messages }))
  })

  it('names whoever is there, and who was never here', async () => {
    const world = await createWorld()
    await createUsers(world, 'carol', 'bob')
    await createGroup(world, 'team', 'bob', { participants: ['carol'] })
    dataOf(await world.delete('/users/carol', { permanent: true }))
    await importWell(world, 'messages', records)
    const { edited, kicked } = await listByMuid(world)
    expect(edited.editedBy).toBe('alice')
    expect(kicked.data.entities.on.entity).toEqual(entityOf('alice').entity)
  })

  it('waits for an erasure that is under way', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    await createGroup(world, 'team', 'bob', { participants: ['alice'] })
    await expectForgotten(world, await importWhileErased(world, 'messages', records))
  })

  /** A pin and a ban by Alice, of what is there. */
  const kept = (id: string) =>
    ({
      records: [{ kind: 'pin', messageId: id, pinnedBy: 'Alice', pinnedAt: at }],
      members: [
        { memberId: 'team_member_dave', guid: 'team', uid: 'dave', isBanned: true, bannedBy: 'Alice', bannedAt: at },
      ],
    }) as const
  const handsIn = async ({ context, app }: World) => {
    const [row] = await context.database.run(sql`
      select (select string_agg(pinned_by, ' ') from pinned_messages where app_id = ${app.appId}) as pins,
        (select string_agg(banned_by, ' ') from group_bans where app_id = ${app.appId}) as bans`)
    return row
  }
  const createTeam = async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'dave')
    await createGroup(world, 'team', 'bob', {})
    return { world, given: kept((await sayInGroup(world, 'bob', 'team', 'hello')).id) }
  }

  it('brings pins and bans as the erasure leaves them', async () => {
    const { world, given } = await createTeam()
    dataOf(await world.delete('/users/alice', { permanent: true }))
    for (const [kind, all] of Object.entries(given))
      expect(Object.values(codes(dataOf(await world.post(`/data_import/${kind}`, { [kind]: all }))))).toEqual([
        'stored',
      ])
    expect(await handsIn(world)).toEqual({ pins: 'app_system', bans: 'app_system' })
  })

  it.each(['records', 'members'] as const)('waits for an erasure that is under way: %s', async (kind) => {
    const { world, given } = await createTeam()
    const answer = await importWhileErased(world, kind, given[kind])
    expect(Object.values(codes(dataOf(answer)))).toEqual(['stored'])
    expect(await handsIn(world)).toEqual({
      pins: null,
      bans: null,
      [kind === 'records' ? 'pins' : 'bans']: 'app_system',
    })
  })

  it('names in pins and bans whoever is there, and who was never here', async () => {
    const { world, given } = await createTeam()
    await createUsers(world, 'carol')
    dataOf(await world.delete('/users/carol', { permanent: true }))
    const [ban] = given.members
    const second = { ...ban, memberId: 'other_member_bob', guid: 'other', uid: 'bob', bannedBy: 'nobody' }
    dataOf(await world.post('/groups', { guid: 'other', name: 'Other', type: 'public' }))
    await world.post('/data_import/records', { records: given.records })
    await importWell(world, 'members', [ban, second])
    expect(await handsIn(world)).toEqual({ pins: 'alice', bans: 'alice nobody' })
  })

  it('which names them as who banned somebody, is forgotten by the erasure, also in groups that they never came to', async () => {
    const { world, given } = await createTeam()
    await importWell(world, 'members', given.members)
    dataOf(await world.delete('/users/alice', { permanent: true }))
    expect(await handsIn(world)).toEqual({ pins: null, bans: 'app_system' })
    const [certificate] = dataOf(await world.get('/users/alice/erasures'))
    expect(certificate.isClean).toBe(true)
    expect(certificate.places).toContainEqual(
      expect.objectContaining({ table: 'group_bans', removed: 0, changed: 1, left: 0 }),
    )
  })
})

describe('An import that names somebody while they are erased', () => {
  const at = 1_650_000_000
  const imports: Readonly<Record<string, object>> = {
    'who wrote into a group': groupText('m', 'alice', 'team', at),
    'who reacted': groupText('m', 'bob', 'team', at, { reactions: { like: ['bob', 'alice'] } }),
    'who saved the message': groupText('m', 'bob', 'team', at, { savedBy: { alice: at } }),
    'who was written to': text('m', 'bob', 'alice', at),
    'who wrote, beside somebody new': groupText('m', 'alice', 'team', at, {
      mentionedUserDetails: { zoe: { uid: 'zoe', name: 'Zoe' } },
    }),
  }

  it.each(Object.entries(imports))('does not bring back %s', async (_who, record) => {
    const world = await createWorld()
    const { appId } = world.app
    await createUsers(world, 'alice', 'bob')
    await createGroup(world, 'team', 'bob', { participants: ['alice'] })
    await importWell(world, 'messages', [text('first', 'alice', 'bob', at), groupText('second', 'alice', 'team', at)])
    const imported = await importWhileErased(world, 'messages', [record, groupText('other', 'bob', 'team', at)])
    expect(codes(dataOf(imported))).toEqual({ m: 'ERR_IMPORT_UID_ERASED', other: 'stored' })
    for (const [table, column, value] of [
      ['messages', 'muid', 'm'],
      ['reactions', 'uid', 'alice'],
      ['saved_messages', 'uid', 'alice'],
    ] as const) {
      const left = sql`select from ${sql.table(table)} where app_id = ${appId} and ${sql.ref(column)} = ${value}`
      expect(await world.context.database.run(left)).toEqual([])
    }
    expect(refusal(await world.get('/users/alice'))).toBe('404 ERR_UID_NOT_FOUND')
  })
})

/** Imports records while Alice, a friend of Bob's, is being erased. @returns the answer to the import */
async function importWhileErased(world: World, kind: string, records: readonly object[]): Promise<Answer> {
  await world.post('/users/alice/friends', { accepted: ['bob'] })
  let erasure: Promise<Answer> | undefined
  let imported: Promise<Answer> | undefined
  await world.context.database.transaction(async (tx) => {
    // The erasure comes to this when it holds all that it locks.
    await tx.run(sql`select from friends where app_id = ${world.app.appId} for update`)
    erasure = world.delete('/users/alice', { permanent: true })
    await untilWaitedFor(tx)
    imported = world.post(`/data_import/${kind}`, { [kind]: records })
    // Whatever it waits for, that is the erasure.
    await Promise.race([imported, untilWaitsBehind(tx)])
  })
  expect((await erasure)?.status).toBe(200)
  return (await imported) as Answer
}
