import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { removeOldExports } from '../../src/areas/person-exports/job.ts'
import { leftOut, sections } from '../../src/areas/person-exports/sections.ts'
import { findDrift } from '../../src/doctor/drift.ts'
import { tables } from '../../src/tables.ts'
import { createOperator, createOwner } from '../admin/operator.ts'
import { createGroup, dataOf, refusal, say, sayInGroup } from '../support/chat.ts'
import { picture, sendForm, toBob } from '../support/forms.ts'
import { sharedService, startService } from '../support/service.ts'
import { until } from '../support/until.ts'
import { createUsers, createWorld, servedBy, type World } from '../support/world.ts'

const ask = (world: World, as = 'alice') => world.post('/me/export', {}, { as })
const release = (world: World, uid = 'alice') => world.post(`/users/${uid}/export`, {})
const fetchIt = (world: World, uid = 'alice', query = '') => world.get(`/users/${uid}/export${query}`)

interface Piece {
  readonly kind: string
  // biome-ignore lint/suspicious/noExplicitAny: looked at as a client would
  readonly record: any
}

/** Asks, releases, waits, and reads all pages. */
const exportOf = async (world: World, uid = 'alice', limit = 1000): Promise<Piece[]> => {
  dataOf(await ask(world, uid))
  dataOf(await release(world, uid))
  await ready(world, uid)
  const records: Piece[] = []
  for (let after: string | undefined; ; ) {
    const { body } = await fetchIt(world, uid, `?limit=${limit}${after === undefined ? '' : `&after=${after}`}`)
    records.push(...body.data.records)
    after = body.meta.next?.after
    if (after === undefined) return records
  }
}

const ready = (world: World, uid = 'alice') =>
  until(async () => dataOf(await fetchIt(world, uid)).export.status === 'ready')

const of = (records: readonly Piece[], kind: string) =>
  records.filter((piece) => piece.kind === kind).map(({ record }) => record)

const textsOf = (records: readonly Piece[], kind: string) => of(records, kind).map(({ data }) => data?.text)

const createTeam = async () => {
  const world = await createWorld()
  await createUsers(world, 'alice', 'bob', 'carol')
  await createGroup(world, 'team', 'bob', { participants: ['alice', 'carol'] })
  return world
}

const statement = async (world: World, text: string) =>
  (await sharedService()).parley.context.database.run<{ count?: number }>(
    sql`${sql.raw(text)} where app_id = ${world.app.appId}`,
  )

const audited = async (world: World) =>
  dataOf(await world.get('/audit-log?targetType=user&target=alice'))
    .map(({ action }: { action: string }) => action)
    .filter((action: string) => action.startsWith('person_'))

describe('the data of a person', () => {
  it('has what they wrote, uploaded, set and marked, and what they saw of others', async () => {
    const world = await createTeam()
    dataOf(
      await world.put('/users/alice', { metadata: { city: 'Oslo', '@private': { plan: 'hidden-plan' } }, tags: ['x'] }),
    )
    dataOf(await world.put('/users/bob', { metadata: { '@private': { plan: 'plan-of-bob' } } }))
    const mine = await say(world, 'alice', 'bob', 'from alice')
    const theirs = await say(world, 'bob', 'alice', 'from bob')
    await say(world, 'bob', 'carol', 'not for alice')
    const inTeam = await sayInGroup(world, 'carol', 'team', 'in the team')
    dataOf(await sendForm(world, toBob, [picture], { as: 'alice' }))
    dataOf(await world.post(`/messages/${theirs.id}/reactions/👍`, undefined, { as: 'alice' }))
    dataOf(await world.post(`/messages/${theirs.id}/save`, undefined, { as: 'alice' }))
    dataOf(await world.post(`/messages/${inTeam.id}/flagged`, { reasonId: 'spam' }, { as: 'alice' }))
    dataOf(await world.post(`/messages/${mine.id}/flagged`, { reasonId: 'spam', remark: 'flag-of-bob' }, { as: 'bob' }))
    dataOf(await world.post('/users/alice/blockedusers', { blockedUids: ['carol'] }))
    dataOf(await world.post('/users/carol/blockedusers', { blockedUids: ['alice'] }))
    dataOf(await world.post('/users/alice/friends', { accepted: ['bob'] }))
    dataOf(await world.post('/users/bob/conversation/read', undefined, { as: 'alice' }))

    const records = await exportOf(world, 'alice', 3)
    expect(of(records, 'profile')).toEqual([expect.objectContaining({ uid: 'alice', metadata: { city: 'Oslo' } })])
    expect(textsOf(records, 'ownMessage')).toEqual(['from alice', undefined])
    expect(textsOf(records, 'seenMessage')).toEqual(expect.arrayContaining(['from bob', 'in the team']))
    expect(of(records, 'file')).toEqual([expect.objectContaining({ name: picture.name })])
    expect(of(records, 'reaction')).toEqual([expect.objectContaining({ messageId: theirs.id, reaction: '👍' })])
    expect(of(records, 'saved')).toEqual([expect.objectContaining({ messageId: theirs.id })])
    expect(of(records, 'flag')).toEqual([expect.objectContaining({ messageId: inTeam.id, reasonId: 'spam' })])
    expect(of(records, 'block')).toEqual([expect.objectContaining({ uid: 'carol' })])
    expect(of(records, 'friend')).toEqual([expect.objectContaining({ uid: 'bob' })])
    expect(of(records, 'membership')).toEqual([expect.objectContaining({ guid: 'team', isOwner: false })])
    expect(of(records, 'conversation')).toContainEqual(expect.objectContaining({ conversationId: 'alice_user_bob' }))

    const all = JSON.stringify(records)
    for (const secret of ['@private', 'hidden-plan', 'plan-of-bob', 'flag-of-bob', 'not for alice']) {
      expect(all).not.toContain(secret)
    }
    expect(await audited(world)).toEqual([
      ...['person_export_fetched', 'person_export_fetched'],
      ...['person_export_made', 'person_export_released', 'person_export_asked'],
    ])
    expect(await findDrift(world.context.database, world.app.appId)).toEqual([])
  })

  it('has no message of others that is hidden from them, and all of their own', async () => {
    const world = await createTeam()
    await createGroup(world, 'left', 'bob', { participants: ['alice'] })
    await sayInGroup(world, 'alice', 'left', 'mine before I left')
    await sayInGroup(world, 'bob', 'left', 'of a group that I left')
    dataOf(await world.delete('/groups/left/members', undefined, { as: 'alice' }))
    await say(world, 'bob', 'alice', 'before the reset')
    await say(world, 'alice', 'bob', 'mine before the reset')
    dataOf(await world.delete('/users/bob/conversation', { conversationWith: 'bob' }, { as: 'alice' }))
    const gone = await say(world, 'bob', 'alice', 'deleted since')
    dataOf(await world.delete(`/messages/${gone.id}`, undefined, { as: 'bob' }))
    await say(world, 'bob', 'alice', 'after the reset')
    dataOf(
      await world.post(
        '/messages',
        {
          receiver: 'alice',
          receiverType: 'user',
          category: 'custom',
          type: 'poll',
          data: { customData: { hidden: 1 } },
        },
        { as: 'bob' },
      ),
    )
    const only = { 'listMessages.allowedMessageCategories': ['message'] }
    dataOf(await world.put('/roles/default/permissions', { permissions: only }))
    const listed = dataOf(await world.get('/messages?limit=1000', { as: 'alice' }))

    const records = await exportOf(world)
    expect(textsOf(records, 'ownMessage').filter(Boolean).sort()).toEqual([
      'mine before I left',
      'mine before the reset',
    ])
    const seen = textsOf(records, 'seenMessage')
    expect(seen).toContain('after the reset')
    const idsOf = (messages: ReadonlyArray<{ id: string; sender: string }>) =>
      messages.filter(({ sender }) => sender !== 'alice').map(({ id }) => id)
    expect(idsOf(of(records, 'seenMessage'))).toEqual(idsOf(listed))
    expect(JSON.stringify(records)).not.toContain('customData')
    for (const text of ['of a group that I left', 'before the reset', 'deleted since']) expect(seen).not.toContain(text)
  })

  it('is made at once where the app has set that', async () => {
    const world = await createTeam()
    dataOf(await world.call('PATCH', `/apps/${world.app.name}/settings`, { personExports: 'atOnce' }))
    expect(dataOf(await ask(world))).toMatchObject({ uid: 'alice', status: 'making' })
    await ready(world)
  })

  it('is asked for once a day', async () => {
    const world = await createTeam()
    const both = await Promise.all([ask(world), ask(world)])
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409])
    expect(refusal(await ask(world))).toBe('409 ERR_EXPORT_ALREADY_ASKED')
    dataOf(await ask(world, 'bob'))
    dataOf(await release(world))
    await ready(world)
    const first = dataOf(await fetchIt(world, 'alice', '?limit=1'))
    const next = (await fetchIt(world, 'alice', '?limit=1')).body.meta.next.after
    await statement(world, 'update person_exports set asked_at = asked_at - 86400')
    expect(dataOf(await ask(world)).status).toBe('asked')
    expect(first.records).toHaveLength(1)
    expect(refusal(await fetchIt(world, 'alice', `?after=${next}`))).toBe('404 ERR_EXPORT_NOT_FOUND')
    expect(dataOf(await fetchIt(world))).toMatchObject({ export: { status: 'asked' }, records: [] })
  })

  it('is for the app alone', async () => {
    const world = await createTeam()
    dataOf(await ask(world))
    const { authToken: token } = dataOf(await world.post('/users/alice/auth_tokens', {}))
    const front = { headers: { apikey: world.authKey } }
    for (const options of [{ token }, front]) {
      expect(refusal(await world.get('/users/alice/export', options))).toBe('403 AUTH_ERR_NO_ACCESS')
      expect(refusal(await world.post('/users/alice/export', {}, options))).toBe('403 AUTH_ERR_NO_ACCESS')
    }
    expect(refusal(await world.post('/me/export', {}, { headers: { apikey: 'f'.repeat(40) }, as: 'alice' }))).toBe(
      '401 AUTH_ERR_APIKEY_NOT_FOUND',
    )
    expect(refusal(await fetchIt(await createTeam()))).toBe('404 ERR_EXPORT_NOT_FOUND')
  })

  it('is nowhere where nobody has asked', async () => {
    const world = await createTeam()
    expect(refusal(await fetchIt(world, 'nobody'))).toBe('404 ERR_UID_NOT_FOUND')
    expect(refusal(await release(world, 'nobody'))).toBe('404 ERR_UID_NOT_FOUND')
    expect(refusal(await fetchIt(world))).toBe('404 ERR_EXPORT_NOT_FOUND')
    expect(refusal(await release(world))).toBe('404 ERR_EXPORT_NOT_FOUND')
    expect(refusal(await fetchIt(world, 'alice', '?after=1_2'))).toBe('400 ERR_BAD_REQUEST')
  })

  it('goes after seven days', async () => {
    const world = await createTeam()
    await exportOf(world)
    const { madeAt, expiresAt } = dataOf(await fetchIt(world)).export
    expect(expiresAt - madeAt).toBe(7 * 86_400)
    await statement(world, 'update person_exports set expires_at = 1')
    expect(refusal(await fetchIt(world))).toBe('404 ERR_EXPORT_NOT_FOUND')
    expect(refusal(await release(world))).toBe('404 ERR_EXPORT_NOT_FOUND')
    await removeOldExports(world.context.database, 2)
    expect(await statement(world, 'select uid from person_export_records')).toEqual([])
    expect(await statement(world, 'select uid from person_exports')).toEqual([])
  })

  it('that failed goes after seven days, and begins anew where it is released again', async () => {
    const world = await createTeam()
    const run = async (text: string) => (await sharedService()).parley.context.database.run(sql.raw(text))
    const name = `broken_${world.app.appId}`
    // Any process may make it: what fails is the database, of this app, at a section.
    const failing = async (kind: string, work: () => Promise<unknown>) => {
      const holds = `check (app_id <> ${world.app.appId} or kind <> '${kind}') not valid`
      await run(`alter table person_export_records add constraint ${name} ${holds}`)
      try {
        await work()
        await until(async () => dataOf(await fetchIt(world)).export.status === 'failed')
      } finally {
        await run(`alter table person_export_records drop constraint ${name}`)
      }
    }
    dataOf(await ask(world))
    await failing('membership', async () => dataOf(await release(world)))
    const { releasedAt, expiresAt } = dataOf(await fetchIt(world)).export
    expect(expiresAt - releasedAt).toBeGreaterThanOrEqual(7 * 86_400)
    expect(await statement(world, 'select record from person_export_records')).not.toEqual([])

    dataOf(await world.delete('/groups/team/members/alice'))
    dataOf(await release(world))
    await ready(world)
    const { records } = dataOf(await fetchIt(world, 'alice', '?limit=1000'))
    expect(of(records, 'profile')).toHaveLength(1)
    expect(of(records, 'membership')).toEqual([])

    await statement(world, 'update person_exports set asked_at = asked_at - 86400')
    dataOf(await ask(world))
    await failing('profile', async () => dataOf(await release(world)))
    await statement(world, 'update person_exports set expires_at = expires_at - 8 * 86400')
    expect(refusal(await release(world))).toBe('404 ERR_EXPORT_NOT_FOUND')
    await statement(world, 'update person_exports set expires_at = 1')
    await removeOldExports(world.context.database, 2)
    expect(await statement(world, 'select uid from person_export_records')).toEqual([])
    expect(await statement(world, 'select uid from person_exports')).toEqual([])
  })

  it('loses what is removed for good, and whoever is', async () => {
    const world = await createTeam()
    await say(world, 'bob', 'alice', 'stays')
    await say(world, 'carol', 'alice', 'goes with carol')
    await sayInGroup(world, 'carol', 'team', 'of carol in the team')
    const purged = await say(world, 'bob', 'alice', 'purged')
    await exportOf(world)
    dataOf(await world.delete(`/messages/${purged.id}`, { permanent: true }))
    dataOf(await world.delete('/users/carol', { permanent: true }))
    const { records } = dataOf(await fetchIt(world))
    const all = JSON.stringify(records)
    expect(textsOf(records, 'seenMessage')).toContain('stays')
    for (const text of ['carol', 'purged']) expect(all.toLowerCase()).not.toContain(text)
    dataOf(await world.delete('/groups/team'))
    expect(JSON.stringify(dataOf(await fetchIt(world)).records)).not.toContain('"team"')
    expect(await findDrift(world.context.database, world.app.appId)).toEqual([])
  })

  it('of somebody who is erased meanwhile is never made', async () => {
    const world = await createTeam()
    const talks = Array.from({ length: 30 }, (_, index) => `friend-${index}`)
    await createUsers(world, ...talks)
    await Promise.all(talks.map((uid) => say(world, 'alice', uid, 'a secret of alice')))
    dataOf(await ask(world))
    const [, erased] = await Promise.all([release(world), world.delete('/users/alice', { permanent: true })])
    dataOf(erased)
    expect(refusal(await fetchIt(world))).toBe('404 ERR_UID_NOT_FOUND')
    for (const table of ['person_exports', 'person_export_records']) {
      expect(await statement(world, `select uid from ${table}`)).toEqual([])
    }
    dataOf(await world.post('/users', { uid: 'alice', name: 'Another' }))
    expect(refusal(await fetchIt(world))).toBe('404 ERR_EXPORT_NOT_FOUND')
    expect(await findDrift(world.context.database, world.app.appId)).toEqual([])
  })

  it('shows operators no texts of it, and nothing at all to those who only look', async () => {
    const world = await createTeam()
    await say(world, 'bob', 'alice', 'a private word')
    await exportOf(world)
    const owner = await createOwner(world)
    const at = `/apps/${world.app.name}/users/alice/export`
    const support = await createOperator(owner, { role: 'support', apps: [world.app.name] })
    expect(refusal(await support.get(at))).toBe('403 ERR_PERMISSION_DENIED')
    expect(refusal(await support.post(at))).toBe('403 ERR_PERMISSION_DENIED')
    const developer = await createOperator(owner, { role: 'developer', apps: [world.app.name] })
    const { records } = dataOf(await developer.get(at))
    expect(of(records, 'seenMessage')).toHaveLength(1)
    expect(JSON.stringify(records)).not.toContain('a private word')
  })

  it('is gone on with by another process, with nothing twice and nothing missing', async () => {
    const own = await startService()
    const world = await createWorld(own)
    await createUsers(world, 'alice', 'bob')
    const old = { sender: 'bob', receiver: 'alice', receiverType: 'user', category: 'message', type: 'text' }
    for (let from = 0; from < 4000; from += 1000) {
      const messages = Array.from({ length: 1000 }, (_, i) => ({
        ...{ ...old, muid: `m${from + i}`, data: { text: `text ${from + i}` }, sentAt: 1_700_000_000 + from + i },
      }))
      dataOf(await world.post('/data_import/messages', { messages }))
    }
    dataOf(await ask(world))
    dataOf(await release(world))
    const written = () => statement(world, 'select count(*) as count from person_export_records')
    await until(async () => Number((await written())[0]?.count) > 200, { interval: 1 })
    await own.parley.close()

    const next = await createWorld()
    const other = servedBy(world, next.url)
    await ready(other)
    const seen: string[] = []
    for (let after = ''; ; ) {
      const { body } = await fetchIt(other, 'alice', `?limit=1000${after}`)
      seen.push(...textsOf(body.data.records, 'seenMessage'))
      if (body.meta.next === undefined) break
      after = `&after=${body.meta.next.after}`
    }
    expect(seen).toEqual(Array.from({ length: 4000 }, (_, i) => `text ${i}`))
  })

  it('has every table that names users, or leaves it out by name', () => {
    const named = tables.filter(({ naming }) => naming.uids !== undefined).map(({ name }) => name)
    const known = [...sections.flatMap((section) => section.of), ...Object.keys(leftOut)]
    expect(named.filter((name) => !known.includes(name))).toEqual([])
  })
})
