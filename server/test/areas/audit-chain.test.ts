import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createAudit } from '../../src/chat/audit/audit.ts'
import { headOf, linkEntries, readChain } from '../../src/chat/audit/chain.ts'
import { verifyAuditLog } from '../../src/chat/audit/verify.ts'
import { derivedKeys } from '../../src/store/data-keys.ts'
import { type Database, openDatabase } from '../../src/store/database.ts'
import { createSecrets } from '../../src/store/secrets.ts'
import type { Fragment } from '../../src/store/statement.ts'
import { createOperator, createOwner, meOf } from '../admin/operator.ts'
import { createGroup, dataOf, say } from '../support/chat.ts'
import { createOwnDatabase } from '../support/own-database.ts'
import { createUsers, createWorld } from '../support/world.ts'

const secrets = createSecrets(() => derivedKeys('5'.repeat(64)))

describe('the chain of the audit log', () => {
  let own: Awaited<ReturnType<typeof createOwnDatabase>>
  let database: Database
  let apps = 0

  beforeAll(async () => {
    own = await createOwnDatabase()
    database = openDatabase(own.connection)
  })
  afterAll(async () => {
    await database?.close()
    await own?.drop()
  })

  const record = (appId: number, target: string) =>
    createAudit(secrets, { caller: 'service' }).record(database, appId, {
      ...{ action: 'role_created', type: 'role', target, details: { before: {}, after: { name: target } } },
    })

  /** An app with five entries, linked. */
  async function createLog(): Promise<number> {
    const appId = ++apps
    for (const target of ['one', 'two', 'three', 'four', 'five']) await record(appId, target)
    await linkEntries(database, secrets)
    return appId
  }

  /** What somebody can do who has the database, and not the service. */
  async function tamper(change: Fragment): Promise<void> {
    await database.run(sql`alter table audit_log disable trigger user`)
    await database.run(change)
    await database.run(sql`alter table audit_log enable trigger user`)
  }
  const flawsOf = async (appId: number, told?: string) => (await verifyAuditLog(database, secrets, appId, told)).flaws

  it('proves what was written, linked or not yet', async () => {
    const appId = await createLog()
    expect(await verifyAuditLog(database, secrets, appId)).toMatchObject({ entries: 5, unlinked: 0, flaws: [] })
    await record(appId, 'six')
    const { entries, unlinked, flaws } = await verifyAuditLog(database, secrets, appId)
    expect({ entries, unlinked, flaws }).toEqual({ entries: 6, unlinked: 1, flaws: [] })
    const told = headOf((await readChain(database, appId))!)
    await linkEntries(database, secrets)
    expect(await flawsOf(appId, told)).toEqual([])
  })

  it('is extended by several at the same time, each entry once', async () => {
    const appId = ++apps
    for (let n = 0; n < 30; n++) await record(appId, `role-${n}`)
    await Promise.all([1, 2, 3].map(() => linkEntries(database, secrets)))
    expect(await verifyAuditLog(database, secrets, appId)).toMatchObject({ entries: 30, unlinked: 0, flaws: [] })
  })

  it('is not changed by anybody in the service', async () => {
    const appId = await createLog()
    for (const change of [
      sql`update audit_log set target = 'other' where app_id = ${appId}`,
      sql`update audit_log set details = null where app_id = ${appId}`,
      sql`update audit_log set seq = seq + 10 where app_id = ${appId}`,
      sql`update audit_log set seal = null where app_id = ${appId}`,
      sql`delete from audit_log where app_id = ${appId}`,
      sql`truncate audit_log`,
    ]) {
      await expect(database.run(change)).rejects.toThrow('entries of the audit log are not changed')
    }
    expect(await flawsOf(appId)).toEqual([])
  })

  const attacks: ReadonlyArray<[string, (appId: number) => Fragment, RegExp]> = [
    [
      'says something else',
      (app) => sql`update audit_log set action = 'role_deleted' where app_id = ${app} and seq = 3`,
      /is not as it was written/,
    ],
    [
      'is about somebody else',
      (app) => sql`update audit_log set target = 'nobody' where app_id = ${app} and seq = 3`,
      /is not as it was written/,
    ],
    [
      'names somebody else',
      (app) => sql`update audit_log set caller = 'command' where app_id = ${app} and seq = 3`,
      /is not as it was written/,
    ],
    [
      'has other details',
      (app) => sql`update audit_log set details = '{}' where app_id = ${app} and seq = 3`,
      /is not as it was written/,
    ],
    [
      'looks erased',
      (app) => sql`update audit_log set target = '~12345678', redaction = seal where app_id = ${app} and seq = 3`,
      /is not as it was written/,
    ],
    [
      'is from another time',
      (app) => sql`update audit_log set created_at = created_at - 60 where app_id = ${app} and seq = 3`,
      /is not as it was written/,
    ],
    ['is gone', (app) => sql`delete from audit_log where app_id = ${app} and seq = 3`, /1 entries are missing before/],
    [
      'was the last and is gone',
      (app) => sql`delete from audit_log where app_id = ${app} and seq = 5`,
      /the last 1 entries are missing/,
    ],
    [
      'was the first and is gone',
      (app) => sql`delete from audit_log where app_id = ${app} and seq = 1`,
      /1 entries are missing before/,
    ],
    [
      'changed places',
      (app) => sql`
        update audit_log a set seq = -b.seq from audit_log b
        where a.app_id = ${app} and b.app_id = ${app} and a.seq in (2, 3) and b.seq = 5 - a.seq`,
      /missing/,
    ],
    [
      'was added without a seal',
      (app) => sql`
        insert into audit_log (app_id, created_at, action, caller, target_type, target)
        values (${app}, 1, 'role_created', 'service', 'role', 'forged')`,
      /has no seal/,
    ],
    [
      'is there twice',
      (app) => sql`
        insert into audit_log (app_id, created_at, action, caller, target_type, target, details, seal)
        select app_id, created_at, action, caller, target_type, target, details, seal
        from audit_log where app_id = ${app} and seq = 3`,
      /is there twice/,
    ],
    [
      'has no chain any more',
      (app) => sql`delete from audit_chains where app_id = ${app}`,
      /where the chain begins and ends is gone/,
    ],
    [
      'has a chain of somebody else',
      (app) => sql`update audit_chains set seq = 4 where app_id = ${app}`,
      /where the chain begins and ends/,
    ],
  ]

  it.each(attacks)('shows that an entry %s', async (_, change, flaw) => {
    const appId = await createLog()
    await tamper(change(appId))
    const flaws = await flawsOf(appId)
    expect(flaws.join('\n')).toMatch(flaw)
    // Linking what is there does not make it right.
    await record(appId, 'later')
    await linkEntries(database, secrets)
    expect((await flawsOf(appId)).length).toBeGreaterThan(0)
  })

  it('shows that all of it was taken back to an earlier state, by an end that was told', async () => {
    const appId = await createLog()
    const before = (await readChain(database, appId))!
    await record(appId, 'six')
    await linkEntries(database, secrets)
    const told = headOf((await readChain(database, appId))!)
    expect(await flawsOf(appId, told)).toEqual([])
    await tamper(sql`delete from audit_log where app_id = ${appId} and seq = 6`)
    await database.run(
      sql`update audit_chains set seq = ${before.seq}, link = ${before.link}, mac = ${before.mac} where app_id = ${appId}`,
    )
    expect(await flawsOf(appId)).toEqual([])
    expect(await flawsOf(appId, told)).toEqual(['the entry 6 that was noted is not in the chain'])
  })

  it('takes over what was there before there were seals, once', async () => {
    const appId = ++apps
    const old = sql`
      insert into audit_log (app_id, created_at, action, caller, target_type, target)
      values (${appId}, 1, 'role_created', 'service', 'role', 'old')`
    await database.run(old)
    await linkEntries(database, secrets)
    expect(await flawsOf(appId)).toEqual([])
    await database.run(old)
    await linkEntries(database, secrets)
    expect(await flawsOf(appId)).toEqual([expect.stringContaining('has no seal')])
  })
})

describe('who is erased', () => {
  it('is nowhere in the audit log, which still proves what was written', async () => {
    const world = await createWorld()
    const { database, secrets } = world.context
    const verify = async () => {
      await linkEntries(database, secrets)
      return (await verifyAuditLog(database, secrets, world.app.appId)).flaws
    }
    await createUsers(world, 'alice', 'bob', 'carol')
    await createGroup(world, 'team', 'alice', { participants: ['bob'] })
    dataOf(await world.post('/groups/team/bannedusers/bob', undefined, { as: 'alice' }))
    dataOf(await world.post('/users/alice/auth_tokens'))
    const { id } = await say(world, 'bob', 'alice', 'a rude word')
    await world.post(`/messages/${id}/flagged`, {}, { as: 'alice' })
    await world.call('PATCH', `/moderation/flagged-messages/${id}`, { status: 'approved', reviewedBy: 'alice' })
    const owner = await createOwner(world)
    dataOf(await owner.post(`/apps/${world.app.name}/readings`, { of: 'alice_user_bob', reason: 'Report 17' }))
    expect(await verify()).toEqual([])

    dataOf(await world.delete('/users/alice', { permanent: true }))
    const entries = dataOf(await world.get('/audit-log?limit=1000')) as Array<{ action: string; details: object }>
    const [deleted, ...others] = entries
    expect(deleted).toMatchObject({ action: 'user_deleted', target: { id: 'alice' } })
    expect((deleted as { details: { auditEntries: number } }).details.auditEntries).toBeGreaterThanOrEqual(4)
    expect(JSON.stringify(others)).not.toContain('alice')
    expect(JSON.stringify(others)).toMatch(/~[0-9a-f]{8}_user_bob/)
    expect(await verify()).toEqual([])

    // Somebody new with the ID changes nothing.
    dataOf(await world.post('/users', { uid: 'alice', name: 'Another' }))
    dataOf(await world.post('/users/alice/auth_tokens'))
    expect(await verify()).toEqual([])
  })
})

describe('operators', () => {
  it('are recorded with their token, whatever they change', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const { id } = await say(world, 'alice', 'bob', 'hello')
    const owner = await createOwner(world)
    const operator = await createOperator(owner, { role: 'owner', apps: [world.app.name] })
    const { id: operatorId } = await meOf(operator)
    const made = dataOf(
      await operator.post('/tokens', { name: 'script', rights: ['look', 'manage', 'moderate'], days: 1 }),
    )
    operator.token = made.token
    const at = `/apps/${world.app.name}`
    dataOf(await operator.put(`${at}/users/alice`, { name: 'A secret name' }))
    dataOf(await operator.delete(`${at}/messages/${id}`))
    dataOf(await operator.delete(`${at}/users`, { uidsToDeactivate: ['alice', 'bob'] }))
    dataOf(await operator.get(`${at}/users`))
    const entries = dataOf(await world.get(`/audit-log?operator=${operatorId}`))
    const actor = { caller: 'operator', operator: operatorId, token: made.id, address: expect.any(String) }
    expect(
      entries.map(({ action, target, details }: { action: string; target: object; details: object }) => ({
        action,
        target,
        details,
      })),
    ).toEqual([
      {
        action: 'operator_acted',
        target: { type: 'user', id: 'bob' },
        details: { operation: 'deactivate-users', fields: ['uidsToDeactivate'] },
      },
      {
        action: 'operator_acted',
        target: { type: 'user', id: 'alice' },
        details: { operation: 'deactivate-users', fields: ['uidsToDeactivate'] },
      },
      { action: 'operator_acted', target: { type: 'message', id }, details: { operation: 'delete-message' } },
      {
        action: 'operator_acted',
        target: { type: 'user', id: 'alice' },
        details: { operation: 'update-user', fields: ['name'] },
      },
    ])
    for (const entry of entries) expect(entry.actor).toEqual(actor)
    expect(JSON.stringify(entries)).not.toContain('A secret name')
  })

  it.each([
    {
      does: 'create-user',
      beside: 'token_created',
      call: ['POST', '/users', { uid: 'eve', name: 'Eve', role: 'default', withAuthToken: true }],
      on: { type: 'user', id: 'eve' },
      fields: ['uid', 'name', 'role', 'withAuthToken'],
    },
    {
      does: 'put-group-members',
      beside: 'user_banned',
      call: ['PUT', '/groups/team/members', { admins: ['carol'], usersToBan: ['bob'] }],
      on: { type: 'group', id: 'team' },
      fields: ['admins', 'usersToBan'],
    },
    {
      does: 'add-group-members',
      beside: 'user_banned',
      call: ['POST', '/groups/team/members', { admins: ['carol'], usersToBan: ['bob'] }],
      on: { type: 'group', id: 'team' },
      fields: ['admins', 'usersToBan'],
    },
    {
      does: 'create-group',
      beside: 'user_banned',
      call: ['POST', '/groups', { guid: 'other', name: 'Other', type: 'public', members: { usersToBan: ['bob'] } }],
      on: { type: 'app' },
      fields: ['guid', 'name', 'type', 'members'],
    },
  ] as const)('are recorded with $does, also where a part of it is recorded by itself', async (sample) => {
    const { does, beside, call, on, fields } = sample
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol')
    await createGroup(world, 'team', 'alice')
    const owner = await createOwner(world)
    const operator = await createOperator(owner, { role: 'owner', apps: [world.app.name] })
    const [method, path, body] = call
    dataOf(await operator.call(method, `/apps/${world.app.name}${path}`, body))
    const { id } = await meOf(operator)
    const entries = dataOf(await world.get(`/audit-log?operator=${id}`))
    expect(entries.map(({ action }: { action: string }) => action).sort()).toEqual(['operator_acted', beside].sort())
    const deed = entries.find(({ action }: { action: string }) => action === 'operator_acted')
    expect(deed).toMatchObject({ target: on, details: { operation: does, fields } })
  })
})
