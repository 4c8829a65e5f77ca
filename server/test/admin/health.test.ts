import type { HealthCheck } from '@parley/contract'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { metricOf } from '../cluster/support.ts'
import { createGroup, dataOf, refusal, say, sayInGroup } from '../support/chat.ts'
import { createOwnServices, type OwnServices } from '../support/own-services.ts'
import { flag, moderatedWorld } from '../support/review.ts'
import { soon, until } from '../support/until.ts'
import { closeEndpoints, open as openEndpoint, register } from '../support/webhooks.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'
import { createOperator, createOwner, type Visitor } from './operator.ts'

afterAll(closeEndpoints)

const healthOf = async (visitor: Visitor, world: World) => dataOf(await visitor.get(`/apps/${world.app.name}/health`))
const checkOf = (health: { checks: HealthCheck[] }, name: string) => health.checks.find(({ check }) => check === name)

describe('the health of an app', () => {
  it('is well where nothing is wrong, with what happens in it', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    await say(world, 'alice', 'bob', 'hi')
    const support = await createOperator(await createOwner(world), { role: 'support', apps: [world.app.name] })
    const health = await healthOf(support, world)
    expect(health).toMatchObject({
      state: 'ok',
      messages: { lastMinute: 1 },
      webhooks: { enabled: 0, pending: 0 },
      notifications: { enabled: 0, pending: 0 },
      storage: { bytes: 0 },
    })
    expect(health.checks.map(({ check }: HealthCheck) => check)).toEqual([
      ...['webhooks', 'notifications', 'queue', 'engines', 'files'],
    ])
    for (const check of health.checks) expect(check).not.toHaveProperty('advice')
  })

  it('names a webhook that fails first, since when, and what to do, but not its address', async () => {
    const [world, other, endpoint] = [await createWorld(), await createWorld(), await openEndpoint()]
    await createUsers(world, 'alice', 'bob')
    await register(world, `${endpoint.url}/with-a-secret`, { retryOnFailure: false })
    endpoint.behave({ status: 500 })
    await say(world, 'alice', 'bob', 'hi')
    const owner = await createOwner(world)
    const health = await until(async () => {
      const found = await healthOf(owner, world)
      return found.state === 'ok' ? undefined : found
    })
    expect(health).toMatchObject({ state: 'warning', webhooks: { enabled: 1 } })
    expect(health.checks[0]).toMatchObject({
      check: 'webhooks',
      state: 'warning',
      says: '1 webhook fails.',
      since: expect.any(Number),
      advice: expect.stringContaining('deliveries'),
      concerned: [{ appId: world.app.name, id: 'hook', since: expect.any(Number), says: 'Failed once.' }],
    })
    expect(JSON.stringify(health)).not.toContain('with-a-secret')
    // Another app has nothing to do with it.
    expect((await healthOf(owner, other)).state).toBe('ok')
    // What waits for an app that is paused is no failure.
    dataOf(await owner.post(`/apps/${world.app.name}/pause`))
    expect(checkOf(await healthOf(owner, world), 'webhooks')?.state).toBe('ok')
    dataOf(await owner.post(`/apps/${world.app.name}/resume`))
    endpoint.behave({})
    await say(world, 'alice', 'bob', 'again')
    await soon(async () => expect((await healthOf(owner, world)).state).toBe('ok'))
  })

  it('counts what waits for a review, and warns where it waits for more than a day', async () => {
    const world = await moderatedWorld('alice', 'bob')
    const { id } = await say(world, 'alice', 'bob', 'buy now')
    expect((await flag(world, id, 'bob')).status).toBe(200)
    const owner = await createOwner(world)
    const now = checkOf(await healthOf(owner, world), 'queue')
    expect(now).toMatchObject({ state: 'ok', says: '1 flagged and 0 blocked messages wait for a review.' })
    expect((await healthOf(owner, world)).reviews).toEqual({ flagged: 1, blocked: 0, oldestAt: expect.any(Number) })
    await world.context.database.transaction(async (tx) => {
      const text = 'update moderation_queue set opened_at = opened_at - 200000 where app_id = $1'
      await tx.query({ name: 'age-the-queue', text }, [world.app.appId])
    })
    const later = checkOf(await healthOf(owner, world), 'queue')
    expect(later).toMatchObject({ state: 'warning', says: expect.stringContaining('the oldest for 2 days') })
  })

  it('warns before the files of an app reach what it may have', async () => {
    const world = await createWorld()
    dataOf(await world.call('PATCH', `/apps/${world.app.name}/settings`, { mediaMegabytes: 1 }))
    await world.context.database.transaction(async (tx) => {
      const text = 'insert into media_usage (app_id, bytes) values ($1, 1000000)'
      await tx.query({ name: 'use-up-files', text }, [world.app.appId])
    })
    const health = await healthOf(await createOwner(world), world)
    expect(health.checks[0]).toMatchObject({ check: 'files', state: 'warning', advice: expect.any(String) })
    expect(health.storage).toEqual({ bytes: 1_000_000, mostBytes: 1024 * 1024 })
  })
})

describe('the health of the deployment', () => {
  let own: OwnServices
  afterEach(async () => await own?.close())

  const startOwn = async (environment?: Record<string, string>) => {
    own = await createOwnServices()
    const service = await own.start(environment)
    const world = await createWorld(service)
    return { service, world, owner: await createOwner(world) }
  }

  it('has what is of the machine and of the database, for operators of all apps only', async () => {
    const { world, owner } = await startOwn()
    await soon(async () => expect(dataOf(await owner.get('/health')).state).toBe('ok'))
    const health = dataOf(await owner.get('/health'))
    expect(health).toMatchObject({
      version: expect.stringMatching(/^\d+\.\d+/),
      database: { bytes: expect.any(Number), version: expect.stringMatching(/^\d+/) },
      jobs: { givenUp: 0 },
    })
    expect(health.database.bytes).toBeGreaterThan(1_000_000)
    expect(health.storage.freeBytes).toBeGreaterThan(0)
    expect(health.checks.map(({ check }: HealthCheck) => check)).toEqual([
      ...['database', 'jobs', 'events', 'disk', 'clock', 'webhooks', 'notifications', 'queue', 'engines'],
    ])
    const support = await createOperator(owner, { role: 'support' })
    expect((await support.get('/health')).status).toBe(200)
    expect(refusal(await support.post('/doctor'))).toBe('403 ERR_PERMISSION_DENIED')
    const ofOne = await createOperator(owner, { role: 'owner', apps: [world.app.name] })
    for (const path of ['/health', '/doctor']) expect(refusal(await ofOne.get(path))).toBe('403 ERR_PERMISSION_DENIED')
  })

  it('says that no backup has been made for long, also while one hangs and where there never was one', async () => {
    const { owner } = await startOwn({ BACKUP_SCHEDULE: '0 3 * * *', BACKUP_TO: '/nowhere' })
    const day = 86_400
    const lastNight = Math.floor((Date.now() / 1000 - 4 * 3_600) / day) * day + 3 * 3_600
    const insert = 'insert into backup_runs (status, started_at, finished_at) values ($1, $2, $3)'
    const backups = async () => checkOf(dataOf(await owner.get('/health')), 'backups')
    expect(await backups()).toMatchObject({ state: 'ok', says: 'None has been due yet.' })

    await own.query(insert, ['running', lastNight - 2 * day, null])
    const first = { state: 'warning', since: lastNight - 2 * day, advice: expect.stringContaining('BACKUP_TO') }
    const running = `One is being made since ${new Date(first.since * 1000).toISOString()}.`
    expect(await backups()).toMatchObject({ ...first, says: expect.stringContaining(running) })

    await own.query(`update backup_runs set status = 'done', finished_at = started_at + 60`)
    const late = await backups()
    expect(late).toMatchObject({ state: 'warning', since: lastNight - day })
    expect(late?.says).toContain('None is being made.')

    await own.query(insert, ['done', lastNight, lastNight + 60])
    expect(await backups()).toMatchObject({ state: 'ok' })
  })

  it('says that jobs are late, and since when', async () => {
    const { owner } = await startOwn()
    await own.query(
      `select graphile_worker.add_job('no_such_task', run_at => now() - interval '20 minutes 30 seconds')`,
    )
    const check = checkOf(dataOf(await owner.get('/health')), 'jobs')
    expect(check).toMatchObject({ state: 'failing', says: '1 jobs are due, the oldest for 20 minutes.' })
    expect(check?.advice).toBeDefined()
  })

  it('says that the event log is behind, which holds up webhooks', async () => {
    const { service, world, owner } = await startOwn()
    await createUsers(world, 'alice', 'bob')
    await register(world, 'http://127.0.0.1:9/', { enabled: true })
    const release = await own.lock('update event_horizon set id = id')
    await say(world, 'alice', 'bob', 'hi')
    await own.query('update events set created_at = created_at - 30')
    const check = checkOf(dataOf(await owner.get('/health')), 'events')
    expect(check).toMatchObject({ state: 'warning', since: expect.any(Number) })
    const behind = () => metricOf(service.url, 'parley_events_behind_seconds')
    expect(await behind()).toBeGreaterThanOrEqual(30)
    await release()
    await soon(async () => expect(checkOf(dataOf(await owner.get('/health')), 'events')?.state).toBe('ok'))
    expect(await behind()).toBe(0)
    await service.parley.close()
  })

  it('is told beside the rate limits that hold, and how long things are kept', async () => {
    const { world, owner } = await startOwn({ RATE_LIMITS: 'core=600,user=0', EVENTS_RETENTION_DAYS: '3' })
    const { rateLimits, keptDays } = dataOf(await owner.get(`/apps/${world.app.name}/limits`))
    expect(rateLimits).toContainEqual({ name: 'core', perMinute: 600, burst: 600, isDefault: false })
    expect(rateLimits).toContainEqual(expect.objectContaining({ name: 'operator', isDefault: true }))
    expect(rateLimits.map(({ name }: { name: string }) => name)).not.toContain('user')
    expect(keptDays).toMatchObject({ events: 3, auditLog: 365, notificationLogs: expect.any(Number) })
  })

  it('finds what has waited longest among more than it counts', async () => {
    const { world, owner } = await startOwn()
    await register(world, 'http://127.0.0.1:9/')
    const provider = { isEnabled: true, webhookURL: 'http://127.0.0.1:9/', useBasicAuth: false }
    const ofNobody = { basicAuthUsername: '', basicAuthPassword: '' }
    dataOf(await world.post('/notifications/push/v1/providers/custom', { ...provider, ...ofNobody }))
    const later = Date.now() + 600_000
    const [longAgo, since] = [Date.now() - 4 * 3_600_000, Math.floor(Date.now() / 1000) - 4 * 3_600]
    // Left alone, so that all of it stays; what has waited longest is stored last.
    await own.query('update webhook_states set paused_until = $1', [later])
    await own.query(
      `insert into notification_senders (app_id, provider, paused_until)
      select app_id, key, $1 from notification_providers
      on conflict (app_id, provider) do update set paused_until = excluded.paused_until`,
      [later],
    )
    const dueAt = 'case when n = 10001 then $1::bigint else $2::bigint end'
    await own.query(
      `insert into webhook_deliveries (app_id, webhook, id, trigger, attempts, due_at, created_at)
      select app_id, key, n, 'message_sent', 1, ${dueAt}, 0 from webhooks, generate_series(1, 10001) n`,
      [longAgo, later],
    )
    await own.query(
      `insert into notification_deliveries (app_id, uid, channel, provider_kind, provider_id, provider, trigger, event,
        kind, receiver, status, gates, due_at, expires_at, created_at)
      select app_id, 'bob', channel, kind, id, key, 'message_sent', 1, 1, 'bob', 'pending', '[]', ${dueAt}, $2, 0
      from notification_providers, generate_series(1, 10001) n`,
      [longAgo, later],
    )
    await own.query(
      `insert into message_moderation (app_id, message, conversation, sender, status, lane, due_at, created_at, updated_at)
      select app_id, n, 1, 'bob', 'pending', 'two', $2::bigint / 1000, 0, ${dueAt} / 1000
      from webhooks, generate_series(1, 10001) n`,
      [longAgo, later],
    )
    for (const health of [await healthOf(owner, world), dataOf(await owner.get('/health'))]) {
      for (const name of ['webhooks', 'notifications']) {
        const check = checkOf(health, name)
        expect(check).toMatchObject({ state: 'warning', says: expect.stringContaining('has been due for 4 hours') })
        expect(Math.abs((check?.since ?? 0) - since)).toBeLessThan(2)
      }
      expect(checkOf(health, 'engines')).toMatchObject({
        state: 'failing',
        says: '10000 or more messages wait for an answer of a moderation engine, the oldest for 4 hours.',
      })
    }
    expect(await healthOf(owner, world)).toMatchObject({
      webhooks: { enabled: 1, pending: 10_000 },
      notifications: { enabled: 1, pending: 10_000 },
    })
  })

  it('says that uploads are about to be refused since the disk is full', async () => {
    const { owner } = await startOwn({ MEDIA_MIN_FREE_MB: '900000000' })
    expect(checkOf(dataOf(await owner.get('/health')), 'disk')).toMatchObject({ state: 'failing' })
  })

  it('lists the endpoints of all apps that fail', async () => {
    const { service, world, owner } = await startOwn()
    const [second, endpoint] = [await createWorld(service), await openEndpoint()]
    endpoint.behave({ status: 500 })
    for (const one of [world, second]) {
      await createUsers(one, 'alice', 'bob')
      await register(one, endpoint.url, { retryOnFailure: false })
      await say(one, 'alice', 'bob', 'hi')
    }
    await soon(async () => {
      const check = checkOf(dataOf(await owner.get('/health')), 'webhooks')
      expect(check?.concerned?.map(({ appId }) => appId).sort()).toEqual([world.app.name, second.app.name].sort())
    })
  })
})

describe('the doctor, run by an operator', () => {
  let own: OwnServices
  afterEach(async () => await own?.close())

  const startOwn = async () => {
    own = await createOwnServices()
    const service = await own.start()
    const world = await createWorld(service)
    await createUsers(world, 'alice', 'bob')
    await createGroup(world, 'team', 'alice', { participants: ['bob'] })
    await sayInGroup(world, 'alice', 'team', 'one')
    return { service, world, owner: await createOwner(world) }
  }
  const runOf = async (visitor: Visitor) => dataOf(await visitor.get('/doctor')).run
  const ended = (visitor: Visitor) =>
    until(async () => {
      const run = await runOf(visitor)
      return run.status === 'running' ? undefined : run
    })

  it('finds nothing where all is well, and says who began it', async () => {
    const { owner } = await startOwn()
    expect(await runOf(owner)).toBeUndefined()
    expect(dataOf(await owner.post('/doctor'))).toMatchObject({ status: 'running', findings: [] })
    const run = await ended(owner)
    expect(run).toMatchObject({ status: 'done', findings: [], startedBy: expect.any(String) })
    expect(run.checked).toBe(run.checks)
    expect(run.checks).toBeGreaterThan(15)
    const log = (await owner.get('/audit-log?action=doctor_started')).body.data
    expect(log).toMatchObject([{ target: { type: 'doctor', id: run.id } }])
  })

  it('shows what has drifted, by app, and forgets whom it names when they are erased', async () => {
    const { world, owner } = await startOwn()
    await own.query(`update conversation_states set member = not member where uid = 'bob'`)
    dataOf(await owner.post('/doctor'))
    const { findings } = await ended(owner)
    const sides = findings.find(({ check }: { check: string }) => check === 'states of members')
    expect(sides).toMatchObject({
      count: 1,
      meaning: expect.any(String),
      examples: [{ appId: world.app.name, subject: 'team/bob', stored: 'false', expected: 'true' }],
    })
    dataOf(await world.delete('/users/bob', { permanent: true }))
    expect(JSON.stringify(await runOf(owner))).not.toContain('bob')
    // The next run begins with nothing.
    dataOf(await owner.post('/doctor'))
    expect((await ended(owner)).findings).toEqual([])
  })

  it('is run once at a time, is stopped in the midst of a check, and can begin again', async () => {
    const { owner } = await startOwn()
    const release = await own.lock('lock table media_usage in access exclusive mode')
    dataOf(await owner.post('/doctor'))
    await until(async () => (await runOf(owner)).current === 'bytes of files')
    expect(refusal(await owner.post('/doctor'))).toBe('409 ERR_DOCTOR_RUNS')
    dataOf(await owner.delete('/doctor'))
    const stopped = await runOf(owner)
    expect(stopped).toMatchObject({ status: 'stopped', finishedAt: expect.any(Number) })
    const log = (await owner.get('/audit-log?action=doctor_stopped')).body.data
    expect(log).toMatchObject([{ target: { type: 'doctor', id: stopped.id } }])
    // The statement ends, too: nothing goes on in the database.
    await until(async () => {
      const waiting = await own.query(
        `select pid from pg_stat_activity where wait_event_type = 'Lock' and query like '%media_usage%'`,
      )
      return waiting.length === 0
    })
    await release()
    // To stop what does not run changes nothing.
    dataOf(await owner.delete('/doctor'))
    dataOf(await owner.post('/doctor'))
    expect((await ended(owner)).status).toBe('done')
  })

  it('goes on after a restart where it was, with what it had found', async () => {
    const { service, owner } = await startOwn()
    await own.query('update groups set members_count = 9')
    const release = await own.lock('lock table media_usage in access exclusive mode')
    dataOf(await owner.post('/doctor'))
    const before = await until(async () => {
      const run = await runOf(owner)
      return run.current === 'bytes of files' ? run : undefined
    })
    expect(before.findings).toHaveLength(1)
    await service.parley.close()
    await own.query('update groups set members_count = 2')
    await release()
    const next = await own.start()
    const visitor = await createOwner({ url: next.url, context: next.parley.context })
    const run = await ended(visitor)
    expect(run).toMatchObject({ id: before.id, status: 'done', findings: before.findings })
  })
})
