import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { deleteForGood } from '../../src/areas/users/deletion.ts'
import { findDrift } from '../../src/doctor/drift.ts'
import { tables } from '../../src/tables.ts'
import { createGroup, dataOf, refusal, say, sayInGroup } from '../support/chat.ts'
import { createUsers, createWorld, send, type World } from '../support/world.ts'

const erase = async (world: World, uid = 'alice') => dataOf(await world.delete(`/users/${uid}`, { permanent: true }))
const certificates = async (world: World, uid = 'alice') => dataOf(await world.get(`/users/${uid}/erasures`))
const importing = async (world: World, kind: string, ...records: object[]) =>
  Object.values(
    dataOf(await world.post(`/data_import/${kind}`, { [kind]: records })) as Record<
      string,
      { error?: { code: string } }
    >,
  ).map(({ error }) => error?.code ?? 'stored')

const old = { receiverType: 'user', category: 'message', type: 'text', data: { text: 'old' }, sentAt: 1_700_000_000 }
const alice = { uid: 'alice', name: 'Alice' }

const createTeam = async () => {
  const world = await createWorld()
  await createUsers(world, 'alice', 'bob', 'carol')
  await createGroup(world, 'team', 'bob', { participants: ['alice', 'carol'] })
  return world
}

describe('the certificate of an erasure', () => {
  it('has every place of the registry, what was removed, and that nothing is left', async () => {
    const world = await createTeam()
    const { id } = await say(world, 'alice', 'bob', 'to bob', { muid: 'one' })
    await say(world, 'bob', 'alice', 'to alice', { muid: 'two' })
    await sayInGroup(world, 'alice', 'team', 'in the team', { muid: 'three' })
    dataOf(await world.post(`/messages/${id}/reactions/👍`, undefined, { as: 'bob' }))
    dataOf(await world.post('/users/alice/friends', { accepted: ['carol'] }))
    await erase(world)

    const [certificate, ...others] = await certificates(world, 'ALICE')
    expect(others).toEqual([])
    expect(certificate).toMatchObject({
      uid: 'alice',
      isClean: true,
      messages: 2,
      digests: { uids: 1, muids: 3 },
      kept: { groupMessages: 1, groupBans: 0 },
    })
    expect(certificate.places.map(({ table }: { table: string }) => table)).toEqual(tables.map(({ name }) => name))
    const place = (name: string) => certificate.places.find(({ table }: { table: string }) => table === name)
    expect(place('messages')).toMatchObject({ removed: 2, left: 0 })
    expect(place('reactions')).toMatchObject({ removed: 1, left: 0 })
    expect(place('friends')).toMatchObject({ removed: 2, left: 0 })
    expect(place('users')).toMatchObject({ removed: 1, left: 0 })
    expect(place('group_members')).toMatchObject({ removed: 1, left: 0 })
    const unread = certificate.places.filter(({ left, untouched }: { left?: number; untouched?: string }) => {
      return left === undefined && untouched === undefined
    })
    expect(unread.map(({ table }: { table: string }) => table)).toEqual(['group_retention'])
    expect(place('api_keys')).toEqual({ table: 'api_keys', untouched: 'keys are of the app' })
    expect(await findDrift(world.context.database, world.app.appId)).toEqual([])
  })

  /** alice has deleted a message of carol's, and one of her own. */
  const deleteOthers = async () => {
    const world = await createTeam()
    dataOf(await world.put('/groups/team/members/alice', { scope: 'moderator' }))
    const ofCarol = await sayInGroup(world, 'carol', 'team', 'said')
    const own = await sayInGroup(world, 'alice', 'team', 'said')
    for (const { id } of [ofCarol, own]) dataOf(await world.delete(`/messages/${id}`, undefined, { as: 'alice' }))
    const deleter = async ({ id }: { id: string }) =>
      dataOf(await world.get(`/messages/${id}`, { as: 'bob' })).deletedBy
    return { world, look: async () => [await deleter(ofCarol), await deleter(own)] }
  }

  it('is clean for who deleted messages of others: they are not named there any more', async () => {
    const { world, look } = await deleteOthers()
    const inTeam = { ...old, receiverType: 'group', receiver: 'team', sender: 'carol' }
    const records = [
      { ...inTeam, muid: 'deleted', deletedAt: old.sentAt + 1, deletedBy: 'alice' },
      { ...inTeam, muid: 'edited', editedAt: old.sentAt + 1, editedBy: 'alice' },
    ]
    expect(await importing(world, 'messages', ...records)).toEqual(['stored', 'stored'])
    const imported = async () => {
      const page = dataOf(await world.get('/groups/team/messages?limit=100', { as: 'bob' }))
      const byMuid = (muid: string) => page.find((message: { muid?: string }) => message.muid === muid)
      return [byMuid('deleted').deletedBy, byMuid('edited').editedBy]
    }
    expect([await look(), await imported()]).toEqual([
      ['alice', 'alice'],
      ['alice', 'alice'],
    ])
    await erase(world)
    const forgotten = [
      ['app_system', 'alice'],
      ['app_system', 'app_system'],
    ]
    expect([await look(), await imported()]).toEqual(forgotten)
    expect((await certificates(world))[0].isClean).toBe(true)
    dataOf(await world.post('/users', { uid: 'alice', name: 'Somebody else' }))
    expect([await look(), await imported()]).toEqual(forgotten)
  })

  it('says so where they are still named there; whoever gets the uid is not', async () => {
    const { world, look } = await deleteOthers()
    dataOf(await world.delete('/users/alice'))
    const forgetful = tables.map((table) => (table.name === 'messages' ? { ...table, ofUser: [] } : table))
    await deleteForGood({ ...world.context, tables: forgetful }, world.app, 'alice')
    const [{ isClean, places }] = await certificates(world)
    expect(isClean).toBe(false)
    // The one of carol's, and that alice became a moderator.
    expect(places).toContainEqual({ table: 'messages', removed: 0, changed: 0, left: 2 })
    dataOf(await world.post('/users', { uid: 'alice', name: 'Somebody else' }))
    expect(await look()).toEqual(['app_system', 'alice'])
  })

  const entitiesIn = async (world: World) =>
    dataOf(await world.get('/groups/team/messages?limit=100', { as: 'bob' })).flatMap(
      ({ data }: { data: { entities: Record<'by' | 'on', { entity: { uid: string } } | undefined> } }) =>
        [data.entities.by?.entity, data.entities.on?.entity].filter((entity) => entity?.uid === 'dave'),
    )

  /** dave was never a member of the team, is not banned from it any more, and action messages there tell of him. */
  const tellOfStranger = async () => {
    const world = await createTeam()
    dataOf(await world.post('/users', { uid: 'dave', name: 'Dave Realname', avatar: 'https://x.example/dave.png' }))
    dataOf(await world.post('/groups/team/bannedusers/dave'))
    dataOf(await world.delete('/groups/team/bannedusers/dave'))
    const by = { entity: { uid: 'dave', name: 'Dave Realname' }, entityType: 'user' }
    const on = { entity: { uid: 'bob', name: 'Bob' }, entityType: 'user' }
    const record = {
      ...{ ...old, receiverType: 'group', receiver: 'team', sender: 'carol', muid: 'told' },
      ...{ category: 'action', type: 'groupMember', data: { action: 'added', entities: { by, on } } },
    }
    expect(await importing(world, 'messages', record)).toEqual(['stored'])
    return world
  }

  it('is clean for whom only action messages of a group tell of: they tell no more of them than that they were deleted', async () => {
    const world = await tellOfStranger()
    expect((await entitiesIn(world)).map(({ name }: { name: string }) => name)).toEqual(Array(3).fill('Dave Realname'))
    await erase(world, 'dave')
    expect(await entitiesIn(world)).toEqual(Array(3).fill({ uid: 'dave', name: 'Deleted user' }))
    expect((await certificates(world, 'dave'))[0].isClean).toBe(true)
  })

  it('says so where action messages still tell of them', async () => {
    const world = await tellOfStranger()
    dataOf(await world.delete('/users/dave'))
    const forgetful = tables.map((table) => (table.name === 'messages' ? { ...table, ofUser: [] } : table))
    await deleteForGood({ ...world.context, tables: forgetful }, world.app, 'dave')
    const [{ isClean, places }] = await certificates(world, 'dave')
    expect(isClean).toBe(false)
    expect(places).toContainEqual({ table: 'messages', removed: 0, changed: 0, left: 3 })
  })

  it('is clean for whose conversations operators may read or have read', async () => {
    const world = await createTeam()
    const { database } = world.context
    const { appId } = world.app
    for (const conversation of ['alice_user_bob', 'bob_user_alice', 'bob_user_carol', '*']) {
      await database.run(sql`
        insert into operator_readings (app_id, operator_id, subject, reason, opened_at, until)
        values (${appId}, 1, ${conversation}, 'alice asked', 1, 2)`)
      await database.run(sql`
        insert into operator_reads (app_id, operator_id, conversation, at)
        values (${appId}, 1, ${conversation}, 1)`)
    }
    await erase(world)
    const left = await database.run(sql`
      select subject as of from operator_readings where app_id = ${appId}
      union all
      select conversation from operator_reads where app_id = ${appId}
      order by 1`)
    expect(left).toEqual(['*', '*', 'bob_user_carol', 'bob_user_carol'].map((of) => ({ of })))
    const [{ isClean, places }] = await certificates(world)
    expect(isClean).toBe(true)
    for (const table of ['operator_readings', 'operator_reads'])
      expect(places).toContainEqual({ table, removed: 2, changed: 0, left: 0 })
  })

  it('says so where something is left', async () => {
    const world = await createTeam()
    dataOf(await world.post('/users/alice/friends', { accepted: ['bob'] }))
    dataOf(await world.delete('/users/alice'))
    const forgetful = tables.map((table) => (table.name === 'friends' ? { ...table, ofUser: [] } : table))
    await deleteForGood({ ...world.context, tables: forgetful }, world.app, 'alice')
    const [certificate] = await certificates(world)
    expect(certificate.isClean).toBe(false)
    expect(certificate.places).toContainEqual({ table: 'friends', removed: 0, changed: 0, left: 2 })
  })

  it('holds no name: only who knows the uid finds it', async () => {
    const world = await createTeam()
    await say(world, 'alice', 'bob', 'to bob', { muid: 'a-secret-muid' })
    await erase(world)
    for (const table of ['erasures', 'erased_digests']) {
      const rows = await world.context.database.run(
        sql`select t::text from ${sql.table(table)} t where app_id = ${world.app.appId}`,
      )
      expect(JSON.stringify(rows)).not.toMatch(/alice|a-secret-muid/)
      expect(rows.length).toBeGreaterThan(0)
    }
  })

  it('is for the app alone, and for nobody who was not erased', async () => {
    const world = await createTeam()
    await erase(world)
    const { authToken: token } = dataOf(await world.post('/users/bob/auth_tokens', {}))
    expect(refusal(await world.get('/users/alice/erasures', { token }))).toBe('403 AUTH_ERR_NO_ACCESS')
    const front = { appid: world.app.name, apikey: world.authKey }
    expect(refusal(await send(world.url, 'GET', '/users/alice/erasures', undefined, front))).toBe(
      '403 AUTH_ERR_NO_ACCESS',
    )
    for (const uid of ['bob', 'nobody']) {
      expect(refusal(await world.get(`/users/${uid}/erasures`))).toBe('404 ERR_ERASURE_NOT_FOUND')
    }
    expect(refusal(await (await createTeam()).get('/users/alice/erasures'))).toBe('404 ERR_ERASURE_NOT_FOUND')
  })

  it('is one for each who had the uid', async () => {
    const world = await createTeam()
    await erase(world)
    dataOf(await world.post('/users', alice))
    await erase(world)
    const found = await certificates(world)
    expect(found).toHaveLength(2)
    expect(found.map(({ isClean }: { isClean: boolean }) => isClean)).toEqual([true, true])
  })
})

describe('an import after an erasure', () => {
  it('does not bring back the user, by whatever record', async () => {
    const world = await createTeam()
    await erase(world)
    expect(await importing(world, 'users', alice, { uid: 'Alice', name: 'A' })).toEqual([
      'ERR_IMPORT_UID_ERASED',
      'ERR_UID_ALREADY_EXISTS',
    ])
    const member = { memberId: 'team_member_alice', guid: 'team', uid: 'alice' }
    expect(await importing(world, 'members', member)).toEqual(['ERR_IMPORT_UID_ERASED'])
    const bringing = { ...member, userDetails: { ...alice, recreate: true } }
    expect(await importing(world, 'members', bringing)).toEqual(['ERR_IMPORT_UID_ERASED'])
    const group = { guid: 'new', name: 'New', type: 'public' }
    expect(await importing(world, 'groups', { ...group, owner: 'alice' })).toEqual(['ERR_IMPORT_UID_ERASED'])
    expect(await importing(world, 'groups', { ...group, owner: 'alice', groupOwnerDetails: alice })).toEqual([
      'ERR_IMPORT_UID_ERASED',
    ])
    const messages = [
      { ...old, muid: 'm1', sender: 'alice', receiver: 'bob' },
      { ...old, muid: 'm2', sender: 'bob', receiver: 'alice' },
      { ...old, muid: 'm3', sender: 'alice', receiver: 'bob', senderUserDetails: alice },
      { ...old, muid: 'm4', sender: 'bob', receiver: 'carol', mentionedUserDetails: { alice } },
      { ...old, muid: 'm5', sender: 'bob', receiver: 'carol', reactions: { x: ['alice'] } },
      { ...old, muid: 'm6', sender: 'bob', receiver: 'carol' },
    ]
    const erased = 'ERR_IMPORT_UID_ERASED'
    expect(await importing(world, 'messages', ...messages)).toEqual([erased, erased, erased, erased, erased, 'stored'])
    expect(refusal(await world.get('/users/alice'))).toBe('404 ERR_UID_NOT_FOUND')
  })

  it('does not bring back the messages, under whatever name', async () => {
    const world = await createTeam()
    await say(world, 'alice', 'bob', 'to bob', { muid: 'mine' })
    await say(world, 'bob', 'alice', 'to alice', { muid: 'theirs' })
    await sayInGroup(world, 'alice', 'team', 'in the team', { muid: 'in-team' })
    await erase(world)
    dataOf(await world.delete('/groups/team'))
    const between = { ...old, sender: 'bob', receiver: 'carol' }
    const records = ['mine', 'theirs', 'in-team', 'fresh'].map((muid) => ({ ...between, muid }))
    const refused = 'ERR_IMPORT_MUID_ERASED'
    expect(await importing(world, 'messages', ...records)).toEqual([refused, refused, refused, 'stored'])
    const dave = { uid: 'dave', name: 'Dave' }
    const withCast = records.map((record, place) => ({
      ...record,
      ...(place === 3 && { muid: 'fresher', sender: 'dave', senderUserDetails: dave }),
    }))
    expect(await importing(world, 'messages', ...withCast)).toEqual([refused, refused, refused, 'stored'])
  })

  it('makes somebody new by a user record that says so', async () => {
    const world = await createTeam()
    await sayInGroup(world, 'alice', 'team', 'of the first')
    await say(world, 'alice', 'bob', 'to bob', { muid: 'of-the-first' })
    await erase(world)
    expect(await importing(world, 'users', { ...alice, recreate: false })).toEqual(['ERR_IMPORT_UID_ERASED'])
    expect(await importing(world, 'users', { ...alice, recreate: 'yes' })).toEqual(['ERR_IMPORT_INVALID_USER_FORMAT'])
    expect(await importing(world, 'users', { ...alice, recreate: true })).toEqual(['stored'])
    expect(await importing(world, 'users', { uid: 'new', name: 'New', recreate: true })).toEqual(['stored'])
    const mine = { ...old, sender: 'alice', receiver: 'bob' }
    expect(await importing(world, 'messages', { ...mine, muid: 'of-the-first' }, { ...mine, muid: 'second' })).toEqual([
      'ERR_IMPORT_MUID_ERASED',
      'stored',
    ])
    const [first] = dataOf(await world.get('/groups/team/messages')).filter(
      ({ data }: { data: { text?: string } }) => data.text === 'of the first',
    )
    expect(first.data.entities.sender.entity.name).toBe('Deleted user')
  })

  it('of another app is not concerned', async () => {
    const [one, other] = [await createTeam(), await createWorld()]
    await say(one, 'alice', 'bob', 'to bob', { muid: 'mine' })
    await erase(one)
    expect(await importing(other, 'users', alice, { uid: 'bob', name: 'Bob' })).toEqual(['stored', 'stored'])
    expect(await importing(other, 'messages', { ...old, muid: 'mine', sender: 'alice', receiver: 'bob' })).toEqual([
      'stored',
    ])
  })
})
