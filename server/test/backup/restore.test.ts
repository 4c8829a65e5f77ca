import { readFile, rm, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { sql } from 'kysely'
import pg from 'pg'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { ensureKey } from '../../src/areas/api-keys/keys.ts'
import { readHealth } from '../../src/areas/operators/health/deployment-health.ts'
import { close } from '../../src/backup/target.ts'
import { heldCommand } from '../../src/cli/held.ts'
import { derivedKeys } from '../../src/store/data-keys.ts'
import { migrate, migrateTo } from '../../src/store/migrate.ts'
import { migrations } from '../../src/store/migrations/index.ts'
import { createSecrets } from '../../src/store/secrets.ts'
import { runCommand } from '../cli/command.ts'
import { createGroup, dataOf, refusal, say, texts } from '../support/chat.ts'
import { picture, sendForm, toBob } from '../support/forms.ts'
import { setUpCustomPush } from '../support/notifications.ts'
import { testMasterKey } from '../support/service.ts'
import { soon, until } from '../support/until.ts'
import { closeEndpoints, deliveriesOf, idsOf, open, register } from '../support/webhooks.ts'
import { createUsers, createWorld, servedBy, type World } from '../support/world.ts'
import { back, contentsOf, createSite, run, type Site, temporaryFolder } from './scene.ts'

afterAll(closeEndpoints)

/** A site with an app, a backup of it, and a place for what comes back. */
async function prepared(fill: (world: World) => Promise<unknown>, settings = {}) {
  const [site, empty, folder] = [await createSite(), await createSite({ isEmpty: true }), await temporaryFolder()]
  const service = await site.start({ BACKUP_TO: folder, ...settings })
  const world = await createWorld(service)
  await createUsers(world, 'alice', 'bob')
  await fill(world)
  const id = await back(site, folder)
  return { site, empty, folder, service, world, id }
}

const nothing = async () => {}

describe('a restore', () => {
  it('writes over nothing unless its name is typed, and keeps the files that were there', async () => {
    const { site, folder, service, world } = await prepared((world) =>
      sendForm(world, toBob, [picture], { as: 'alice' }),
    )
    const inUse = await run(site, folder, 'restore', ['--replace', site.name])
    expect(inUse).toMatchObject({ code: 1 })
    expect(inUse.err).toContain('stop it first')
    await say(world, 'alice', 'bob', 'after the backup')
    await service.parley.close()

    const before = await contentsOf(site, [])
    const refused = await run(site, folder, 'restore')
    expect(refused.code).toBe(1)
    expect(refused.err).toContain(
      `The database ${site.name} is not empty. To replace what is there, say --replace ${site.name}.`,
    )
    const wrong = await run(site, folder, 'restore', ['--replace', 'parley'])
    expect(wrong.code).toBe(1)
    expect(wrong.err).toContain(`--replace is not ${site.name}`)
    expect(await contentsOf(site, [])).toEqual(before)

    const done = await run(site, folder, 'restore', ['--replace', site.name])
    expect(done).toMatchObject({ code: 0 })
    const [, aside = ''] = /What was there is in (\S+)\.\n/.exec(done.out) ?? []
    expect((await stat(path.join(aside, 'media'))).isDirectory()).toBe(true)
    const again = servedBy(world, (await site.start()).url)
    expect(texts(await again.get('/messages?limit=100', { as: 'bob' }))).not.toContain('after the backup')
  })

  it('is refused without the master key of the backup, and says what could not be read', async () => {
    const { empty, folder } = await prepared((world) => world.post('/users/alice/auth_tokens', {}))
    for (const [key, words] of [
      ['', 'There is no master key here.'],
      ['11'.repeat(32), 'The master key here is not the one that this backup was made under.'],
    ] as const) {
      const refused = await run(empty, folder, 'restore', [], { PARLEY_MASTER_KEY: key })
      expect(refused.code).toBe(1)
      expect(refused.err).toContain(words)
      expect(refused.err).toMatch(/could not be read: \d+ API keys, 1 auth tokens, .*passwords of groups/)
      expect(await empty.query(`select from pg_tables where schemaname = 'public'`)).toEqual([])
    }
    expect((await run(empty, folder, 'verify-backup', [], { PARLEY_MASTER_KEY: '11'.repeat(32) })).code).toBe(1)
  })

  it('brings the keys, where they were sealed with a passphrase', async () => {
    const { site, empty, folder } = await prepared(nothing)
    const keys = { PARLEY_API_KEY: 'ab'.repeat(20), PARLEY_AUTH_KEY: 'cd'.repeat(20), PARLEY_MASTER_KEY: testMasterKey }
    const lines = Object.entries(keys).map(([name, value]) => `${name}=${value}\n`)
    await writeFile(path.join(site.dataDir, 'keys.env'), lines.join(''))
    const none = await run(site, folder, 'backup', ['--with-keys'])
    expect(none.code).toBe(2)
    expect(none.err).toContain('BACKUP_PASSPHRASE')

    const id = await back(site, folder, ['--with-keys'], { BACKUP_PASSPHRASE: 'correct horse battery' })
    const everything = await Promise.all(
      ['keys.sealed', 'manifest.json'].map((name) => readFile(path.join(folder, 'backups', id, name), 'utf8')),
    )
    for (const secret of Object.values(keys)) expect(everything.join()).not.toContain(secret)

    const passphrase = { BACKUP_PASSPHRASE: 'correct horse battery' }
    const verified = await run(site, folder, 'verify-backup', [], passphrase)
    expect(verified).toMatchObject({ code: 0, out: expect.stringContaining('BACKUP_PASSPHRASE opens the keys') })
    expect(await run(site, folder, 'verify-backup')).toMatchObject({
      code: 0,
      out: expect.stringContaining('note   BACKUP_PASSPHRASE is not set'),
    })
    const sealed = path.join(folder, 'backups', id, 'keys.sealed')
    const whole = await readFile(sealed)
    for (const [damage, said] of [
      [() => writeFile(sealed, whole.subarray(0, 40)), 'keys.sealed is damaged'],
      [() => rm(sealed), 'keys.sealed is missing'],
    ] as const) {
      await damage()
      expect(await run(site, folder, 'verify-backup')).toMatchObject({ code: 1, out: expect.stringContaining(said) })
    }
    await writeFile(sealed, whole)
    const other = { ...passphrase, PARLEY_MASTER_KEY: 'e'.repeat(64) }
    const refusedKey = await run(site, folder, 'backup', ['--with-keys'], other)
    expect(refusedKey).toMatchObject({ code: 1, err: expect.stringContaining('not that of the database') })

    const wrong = { PARLEY_MASTER_KEY: '', BACKUP_PASSPHRASE: 'battery horse correct' }
    const refused = await run(empty, folder, 'restore', [], wrong)
    expect(refused.code).toBe(1)
    expect(refused.err).toContain('BACKUP_PASSPHRASE is not the one')
    const right = { PARLEY_MASTER_KEY: '', BACKUP_PASSPHRASE: 'correct horse battery' }
    expect(await run(empty, folder, 'restore', [], right)).toMatchObject({ code: 0 })
    const file = path.join(empty.dataDir, 'keys.env')
    expect(await readFile(file, 'utf8')).toBe(lines.join(''))
    expect((await stat(file)).mode & 0o777).toBe(0o600)
  })

  it('does again what was erased and revoked since', async () => {
    const tokens: string[] = []
    const { site, empty, folder, world, service } = await prepared(async (world) => {
      await createUsers(world, 'carol', 'dave', 'erin')
      await createGroup(world, 'team', 'alice', { participants: ['carol'] })
      await say(world, 'carol', 'bob', 'from carol')
      for (const uid of ['alice', 'alice', 'dave']) {
        tokens.push(dataOf(await world.post(`/users/${uid}/auth_tokens`, {})).authToken)
      }
      // Somebody new has the uid of somebody who was erased before the backup.
      for (const uid of ['dave', 'erin']) dataOf(await world.delete(`/users/${uid}`, { permanent: true }))
      await createUsers(world, 'dave', 'erin')
    })
    const [ended = '', kept = ''] = tokens
    const { apiKey: revoked } = dataOf(await world.post('/apikeys', { name: 'second', scope: 'fullAccess' }))
    const second = await back(site, folder)
    dataOf(await world.delete(`/users/alice/auth_tokens/${ended}`))
    dataOf(await world.delete(`/apikeys/${revoked}`))
    for (const uid of ['carol', 'erin']) dataOf(await world.delete(`/users/${uid}`, { permanent: true }))
    await service.parley.close()
    const ledger = await readFile(
      path.join(site.dataDir, 'ledger', `${new Date().toISOString().slice(0, 7)}.ndjson`),
      'utf8',
    )
    for (const secret of ['carol', 'alice', ended, revoked, world.app.name]) expect(ledger).not.toContain(secret)

    // Beside the backups there is another one: the data folder is lost.
    const restored = await run(empty, folder, 'restore', [second])
    expect(restored).toMatchObject({ code: 0 })
    for (const line of ['1 API keys revoked', '1 auth tokens revoked', '2 users erased']) {
      expect(restored.out).toContain(`Done again, by the ledger: ${line}`)
    }
    const { parley, url } = await empty.start()
    const again = servedBy(world, url)
    for (const uid of ['carol', 'erin']) expect(refusal(await again.get(`/users/${uid}`))).toBe('404 ERR_UID_NOT_FOUND')
    expect(texts(await again.get('/messages?limit=100', { as: 'bob' }))).not.toContain('from carol')
    expect(dataOf(await again.get('/users/dave'))).toMatchObject({ uid: 'dave' })
    expect(refusal(await again.get('/me', { token: ended }))).toBe('401 AUTH_ERR_AUTH_TOKEN_NOT_FOUND')
    expect(dataOf(await again.get('/me', { token: kept }))).toMatchObject({ uid: 'alice' })
    expect(refusal(await again.get('/users', { headers: { apikey: revoked } }))).toBe('401 AUTH_ERR_APIKEY_NOT_FOUND')
    expect(dataOf(await again.get('/users/carol/erasures'))).toHaveLength(1)
    expect(dataOf(await again.get('/users/erin/erasures'))).toHaveLength(2)
    // Nor does an environment bring it back that still has it.
    const named = { apiKey: revoked, name: 'second', scope: 'fullAccess' } as const
    expect(await ensureKey(parley.context, world.app.appId, named)).toHaveProperty('deletedAt')
  })

  it('keeps those from coming back with an import who were made and erased since', async () => {
    const { site, empty, folder, world, service, id } = await prepared(nothing)
    await createUsers(world, 'late')
    dataOf(await world.delete('/users/late', { permanent: true }))
    await service.parley.close()
    expect(await run(site, folder, 'backup')).toMatchObject({ code: 0 })
    expect(await run(empty, folder, 'restore', [id])).toMatchObject({ code: 0 })
    const { url } = await empty.start()
    const again = servedBy(world, url)
    const users = { late: { uid: 'late', name: 'Late' }, other: { uid: 'other', name: 'Other' } }
    const imported = dataOf(await again.post('/data_import/users', { users }))
    expect(imported.other).toMatchObject({ success: true })
    expect(imported.late).toMatchObject({ success: false })
    expect(refusal(await again.get('/users/late'))).toBe('404 ERR_UID_NOT_FOUND')
    // Nor if the ledger is lost that told of it: the one beside the new data has it, too.
    const noted = await empty.query(`select digest from ledger where kind = 'erased' and id > 1000000000000`)
    expect(noted).toHaveLength(1)
  })

  it('holds what was due, shows it, and has it sent on command', async () => {
    const endpoint = await open()
    endpoint.behave({ status: 503 })
    const { site, empty, folder, world, service } = await prepared(async (world) => {
      await register(world, endpoint.url)
      await say(world, 'alice', 'bob', 'to be told')
      await until(() => endpoint.received.length > 0)
    })
    await service.parley.close()
    endpoint.behave({})
    const tries = endpoint.received.length
    // As if the backup had been made before the webhook was asked for the first time, and just after another message.
    await site.query(`update webhook_deliveries set attempts = 0, status = 'pending', due_at = 1, attempted_at = null`)
    await site.query(`update webhook_states set paused_until = 0, failures = 0`)
    await site.query('update event_horizon set id = 0')
    const id = await back(site, folder)

    const restored = await run(empty, folder, 'restore', [id])
    expect(restored.out).toContain(`Held: ${world.app.name}: 1 deliveries to webhooks`)
    const restoredService = await empty.start()
    const again = servedBy(world, restoredService.url)
    await say(again, 'alice', 'bob', 'new')
    await until(() => endpoint.received.length > tries)
    expect(await listHeld(empty)).toContain(`${world.app.name}: 1 deliveries to webhooks`)
    expect(endpoint.received.slice(tries)).toHaveLength(1)
    const { checks } = await readHealth(restoredService.parley.context)
    expect(checks.find(({ check }) => check === 'restore')).toMatchObject({ state: 'warning' })

    const sent = await runCommand(heldCommand, ['send', 'webhooks', '--app', world.app.name], empty.environment)
    expect(sent).toMatchObject({ code: 0, out: '1 deliveries to webhooks are due now.\n' })
    await soon(async () => expect((await deliveriesOf(again)).map(statusOf)).toEqual(['delivered', 'delivered']))
    expect(new Set(idsOf(endpoint).slice(tries)).size).toBe(2)
    expect(await listHeld(empty)).toBe('Nothing is held.\n')
    expect((await runCommand(heldCommand, ['send', 'all'], empty.environment)).code).toBe(2)
  })

  it('holds notifications too, those that nobody had planned yet among them, and questions to engines', async () => {
    const endpoint = await open()
    endpoint.behave({ status: 503 })
    const { site, empty, folder, world, service } = await prepared(async (world) => {
      await setUpCustomPush(world, endpoint.url)
      await say(world, 'alice', 'bob', 'before')
      await until(() => endpoint.received.length > 0)
    })
    await service.parley.close()
    await site.query(`update notification_plans set event = 0, uid = ''`)
    await site.query(`
      insert into message_moderation (app_id, message, conversation, sender, status, questions, due_at, lane, created_at, updated_at)
      select app_id, id, conversation, sender, 'pending', '[]', 1, 'two', sent_at, sent_at
      from messages
      where sender = 'alice'
      limit 1`)
    const id = await back(site, folder)
    endpoint.behave({})
    const tries = endpoint.received.length

    const restored = await run(empty, folder, 'restore', [id])
    expect(restored.out).toContain(`Held: ${world.app.name}: 1 pushes, e-mails and SMS`)
    expect(restored.out).toContain(
      `Held: ${world.app.name}: 1 messages that engines of moderation are to be asked about`,
    )
    const again = servedBy(world, (await empty.start()).url)
    await soon(async () => expect(await listHeld(empty)).toContain('2 pushes, e-mails and SMS'))
    await say(again, 'alice', 'bob', 'after')
    await until(() => endpoint.received.length > tries)
    const told = () => endpoint.received.slice(tries).map(({ body }) => body.data.notificationDetails.body)
    expect(told()).toEqual(['after'])

    await runCommand(heldCommand, ['send', 'notifications'], empty.environment)
    await soon(() => expect(told()).toEqual(['after', 'before', 'before']))
    const asked = await runCommand(heldCommand, ['send', 'questions', '--app', 'another'], empty.environment)
    expect(asked.out).toMatch(/^0 messages/)
    const all = await runCommand(heldCommand, ['send', 'questions'], empty.environment)
    expect(all.out).toMatch(/^1 messages/)
    expect(await listHeld(empty)).toBe('Nothing is held.\n')
  })

  it('gives out nothing a second time, however often the same backup is brought back', async () => {
    const { empty, folder, world, id } = await prepared(nothing)
    const given: number[] = []
    const operators: number[] = []
    for (const round of ['first', 'second', 'third']) {
      const replace = given.length === 0 ? [] : ['--replace', empty.name]
      expect(await run(empty, folder, 'restore', [id, ...replace])).toMatchObject({ code: 0 })
      const { parley, url } = await empty.start({ BACKUP_TO: folder })
      const again = servedBy(world, url)
      const message = await say(again, 'alice', 'bob', round)
      given.push(Number(message.id))
      const [operator] = await empty.query<{ id: number }>(`
        insert into operators (email, name, role, created_at)
        values ('new@example.com', 'New', 'owner', 1)
        returning operator_id as id`)
      operators.push(operator?.id ?? 0)
      await parley.close()
    }
    expect(new Set(given).size).toBe(3)
    expect(new Set(operators).size).toBe(3)
    // They are as far apart each time: there is room for thousands.
    expect((given[2] as number) - (given[1] as number)).toBeLessThan(
      1.5 * ((given[1] as number) - (given[0] as number)),
    )
    const lines = (
      await readFile(path.join(folder, 'ledger', `${new Date().toISOString().slice(0, 7)}.ndjson`), 'utf8')
    )
      .split('\n')
      .filter((line) => line.includes('"restored"'))
      .map((line) => JSON.parse(line).id)
    expect(new Set(lines).size).toBe(3)
  })

  it('disables again who was disabled, and deletes again which app was deleted', async () => {
    const { site, empty, folder, world, service } = await prepared(async (world) => {
      const { database } = world.context
      await database.transaction((tx) =>
        tx.run(sql`
          insert into operators (email, name, role, created_at)
          values ('gone@example.com', 'Gone', 'owner', 1), ('kept@example.com', 'Kept', 'owner', 1),
            ('removed@example.com', 'Removed', 'owner', 1)`),
      )
      dataOf(await world.post('/users/alice/auth_tokens', {}))
    })
    await site.query(`update operators set disabled_at = 1700000000`)
    await site.query(`update operators set disabled_at = null where email = 'kept@example.com'`)
    await site.query(`delete from operators where email = 'removed@example.com'`)
    await site.query(`update apps set deletes_at = 1, paused_at = 1 where name = $1`, [world.app.name])
    // As an import of somebody's own issuer does; the app has none here.
    await site.query(
      `
      insert into ended_jwts (app_id, digest, uid, expires_at)
      values ($1, '\\xab', 'alice', 1)`,
      [world.app.appId],
    )
    await service.parley.close()
    const { out } = await run(empty, folder, 'restore')
    for (const what of ['2 operators disabled or enabled', '1 apps deleted or taken back', '1 logins ended']) {
      expect(out).toContain(what)
    }
    expect(await empty.query('select email from operators where disabled_at is null')).toEqual([
      { email: 'kept@example.com' },
    ])
    expect(await empty.query('select from apps where deletes_at is not null')).toHaveLength(1)
    // Once more, from what came of that: nothing is left to do.
    const second = await run(empty, folder, 'restore', ['--recovered'])
    expect(second.out).not.toContain('Done again')
    // One that was interrupted is begun anew; one of another reason is not.
    const client = new pg.Client(empty.connection)
    await client.connect()
    onTestFinished(() => client.end())
    await client.query(`alter table event_horizon rename to away`)
    expect((await run(empty, folder, 'restore', ['--recovered'])).code).not.toBe(0)
    await expect(migrate(empty.connection)).rejects.toThrow('parley restore --recovered')
    await client.query(`alter table away rename to event_horizon`)
    expect(await run(empty, folder, 'restore', ['--recovered'])).toMatchObject({ code: 0 })
    await migrate(empty.connection)
    await close(client, 'It was moved away.', true)
    expect((await run(empty, folder, 'restore', ['--recovered'])).err).toContain('It was moved away.')
  })

  it('makes clients and back ends begin anew, whatever they had seen', async () => {
    const cursors: string[] = []
    const { empty, folder, world } = await prepared(async (world) => {
      dataOf(await world.get('/events'))
      dataOf(await world.get('/me/events', { as: 'bob' }))
      await say(world, 'alice', 'bob', 'before')
    })
    const places: string[] = []
    const look = async () => {
      cursors.push((await world.get('/events')).body.meta.cursor)
      places.push((await world.get('/me/events', { as: 'bob' })).body.meta.after)
    }
    await look()
    for (let count = 0; count < 5; count++) await say(world, 'alice', 'bob', 'after the backup')
    await until(async () => (await world.get('/events')).body.meta.cursor !== cursors[0])
    await look()

    expect((await run(empty, folder, 'restore')).code).toBe(0)
    const again = servedBy(world, (await empty.start()).url)
    for (const cursor of cursors)
      expect(refusal(await again.get(`/events?after=${cursor}`))).toBe('400 ERR_BAD_REQUEST')
    for (const place of places) {
      const { body } = await again.get(`/me/events?after=${place}`, { as: 'bob' })
      expect(body).toMatchObject({ data: [], meta: { reload: true } })
    }
    const { cursor } = (await again.get('/events')).body.meta
    await say(again, 'alice', 'bob', 'new')
    const fresh = await until(async () => {
      const { body } = await again.get(`/events?after=${cursor}`)
      return body.data.length > 0 && body.data
    })
    expect(fresh.map(({ trigger }: { trigger: string }) => trigger)).toContain('message_sent')
  })

  it('that was not finished keeps the service from starting, and is begun anew', async () => {
    const { folder, world } = await prepared((world) => say(world, 'alice', 'bob', 'kept'))
    // As a restore leaves it that was killed while it loaded: with tables, of which some are filled.
    const half = await createSite()
    await half.query(`insert into settings values ('mark', 'half')`)
    const client = new pg.Client(half.connection)
    await client.connect()
    await close(client, 'It was not finished.', false)
    await client.end()
    await expect(migrate(half.connection)).rejects.toThrow('It was not finished.')
    expect(await run(half, folder, 'restore')).toMatchObject({ code: 0 })
    expect(await half.query(`select from settings where name = 'mark'`)).toEqual([])
    const again = servedBy(world, (await half.start()).url)
    expect(texts(await again.get('/messages?limit=100', { as: 'bob' }))).toEqual(['kept'])
  })

  it('takes a backup of a version before, and none of one to come', async () => {
    const [site, empty] = [await createSite({ isEmpty: true }), await createSite({ isEmpty: true })]
    const folder = await temporaryFolder()
    const before = Object.keys(migrations).filter((name) => name < '0070')
    await migrateTo(site.connection, before, 'an older version')
    // It kept a check of its master key, and no keys.
    const check = createSecrets(() => derivedKeys(testMasterKey)).digest('master key check')
    await site.query(`insert into settings values ('master_key_check', $1)`, [check.toString('hex')])
    const old = await back(site, folder)
    expect(await run(empty, folder, 'restore', [old])).toMatchObject({ code: 0 })
    expect(await empty.query(`select from kysely_migration where name = '0070-ledger'`)).toHaveLength(1)
    // Sequences that came by migrations since go on, too.
    const [{ last } = { last: 0 }] = await empty.query<{ last: number }>(
      'select last_value::float8 as last from ledger_id_seq',
    )
    expect(last).toBeGreaterThanOrEqual(1e12)

    await site.query(`insert into kysely_migration values ('9999-from-tomorrow', now()::text)`)
    const newer = await back(site, folder)
    const target = await createSite({ isEmpty: true })
    const refused = await run(target, folder, 'restore', [newer])
    expect(refused.code).toBe(1)
    expect(refused.err).toContain('9999-from-tomorrow')
    expect(await target.query(`select from pg_tables where schemaname = 'public'`)).toEqual([])
  })
})

const statusOf = ({ status }: { status: string }) => status

async function listHeld(site: Site): Promise<string> {
  const { code, out, err } = await runCommand(heldCommand, [], site.environment)
  expect(code, err).toBe(0)
  return out
}
