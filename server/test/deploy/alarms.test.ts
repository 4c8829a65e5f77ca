import { randomBytes } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { type RedisServer, redisServer, startRedis } from '../cluster/redis.ts'
import { serving, workersOf } from '../cluster/workers.ts'
import { type ExternalServer, startExternalServer } from '../faults/support/external.ts'
import { apiKey, type ServiceProcess } from '../faults/support/service-process.ts'
import { createStage } from '../faults/support/stage.ts'
import { describeWith, inLongSuite, type Need } from '../gate/needs.ts'
import { type Endpoint, openEndpoint } from '../support/endpoint.ts'
import { findFreePort } from '../support/ports.ts'
import { soon } from '../support/until.ts'
import { type Document, readDocuments } from './files.ts'
import { type Prometheus, prometheusServer, watchService } from './prometheus.ts'

/** Minutes are seconds here, and a few are many: what is broken is as it is. */
const hasten = (rules: string) =>
  rules
    .replaceAll('[30m]', '[30s]')
    .replaceAll(/\[\d+m\]/g, '[10s]')
    .replaceAll('> 10000', '> 20')
    .replaceAll('> 60', '> 3')
    .replaceAll('> 86400', '> 2')
    .replaceAll('> 21600', '> 45')

/** What goes by a schedule moves once a minute. */
const patience = { progress: () => Math.floor(performance.now() / 30_000) }

const need: Need = [inLongSuite, prometheusServer, redisServer].find(({ isMet }) => !isMet) ?? inLongSuite

describeWith(need, 'each alert of deploy/monitoring', () => {
  const stage = createStage()
  let redis: RedisServer
  let server: ExternalServer
  let databaseUrl: string
  let service: ServiceProcess
  let prometheus: Prometheus
  let endpoint: Endpoint
  let port: number
  let url: string
  let start: (more?: Record<string, string>) => Promise<void>
  const ends: Array<() => unknown> = []
  const tried: string[] = []

  beforeAll(async () => {
    ;[redis, server, endpoint, port] = await Promise.all([
      ...[startRedis(), startExternalServer(stage), openEndpoint(), findFreePort()],
    ] as const)
    databaseUrl = await server.database('chat')
    url = `http://127.0.0.1:${port}`
    const dataDir = stage.makeFolder()
    start = async (more = {}) => {
      service = await stage.start({
        ...{ PORT: String(port), WORKERS: '2', REDIS_URL: redis.url, DATABASE_URL: databaseUrl, DATA_DIR: dataDir },
        ...{ DEMO: 'off', OUTBOUND_ALLOW: '127.0.0.1', TRUST_PROXY: 'loopback', LOG_LEVEL: 'error', ...more },
      })
      await serving(url, 2)
    }
    await start()
    prometheus = await watchService(stage, port, hasten)
    for (const uid of ['alice', 'bob']) await must('POST', '/users', { uid, name: uid })
    await say('the first')
    await soon(async () => expect(await prometheus.firing()).toEqual([]))
  })
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end()
  })
  afterAll(async () => {
    await stage.clean()
    await redis.close()
    await endpoint.close()
  })

  /** Asks as the app, or as a user; whoever is refused, or gets no answer, goes on. */
  async function ask(
    method: string,
    path: string,
    body?: object,
    headers: Record<string, string> = {},
  ): Promise<Document> {
    const answer = await fetch(`${url}/v3${path}`, {
      method,
      headers: { appid: 'parley', apikey: apiKey, ...(body && { 'content-type': 'application/json' }), ...headers },
      ...(body && { body: JSON.stringify(body) }),
    }).catch(() => undefined)
    return answer === undefined ? {} : ((await answer.json().catch(() => ({}))) as Document)
  }
  /** Asks for what must be done. */
  async function must(...asked: Parameters<typeof ask>): Promise<Document> {
    const answer = await ask(...asked)
    expect(answer.data ?? answer.success, `${asked[1]}: ${JSON.stringify(answer)}`).toBeTruthy()
    return answer
  }
  const say = (text: string) =>
    ask('POST', '/messages', { receiver: 'bob', receiverType: 'user', data: { text } }, { onbehalfof: 'alice' })

  /** Does something again and again until it is ended, some at a time. */
  function keep(doing: () => Promise<unknown>, atOnce = 1, pauseMs = 50): () => Promise<void> {
    let isOver = false
    const loops = Array.from({ length: atOnce }, async () => {
      while (!isOver) {
        await doing()
        await new Promise((resolve) => setTimeout(resolve, pauseMs))
      }
    })
    const end = async () => {
      isOver = true
      await Promise.all(loops)
    }
    ends.push(end)
    return end
  }

  /** Begins a transaction with what locks. @returns ends it */
  async function lock(statement: string): Promise<() => Promise<void>> {
    const client = await connect()
    await client.query('begin')
    await client.query(statement)
    const end = () => client.end()
    ends.push(end)
    return end
  }
  async function connect(): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: databaseUrl })
    client.on('error', () => {})
    await client.connect()
    return client
  }
  async function query(text: string): Promise<void> {
    const client = await connect()
    await client.query(text)
    await client.end()
  }

  /** The alert fires while something is broken, and is quiet once that is mended. */
  function fires(alert: string, when: string, breakIt: () => Promise<() => unknown>): void {
    tried.push(alert)
    it(`${alert} fires when ${when}, and is quiet when that is mended`, async () => {
      const mend = await breakIt()
      await soon(async () => expect(await prometheus.firing()).toContain(alert), patience)
      await mend()
      await soon(async () => expect(await prometheus.firing()).not.toContain(alert), patience)
    })
  }

  fires('ParleyDown', 'the service is killed', async () => {
    await service.kill()
    return () => start()
  })

  fires('ParleyErrors', 'a table is missing', async () => {
    await query('alter table friends rename to friends_of_before')
    const end = keep(() => ask('GET', '/users/alice/friends'))
    return async () => {
      await query('alter table friends_of_before rename to friends')
      await end()
    }
  })

  fires('ParleyUnavailable', 'the database is stopped', async () => {
    keep(() => ask('GET', '/users/alice'))
    await server.stop()
    return () => server.start()
  })

  fires('ParleySendsSlow', 'sends wait for a lock', async () => {
    const end = keep(async () => {
      const unlock = await lock('select from conversations for update')
      const saying = say('slowly')
      await new Promise((resolve) => setTimeout(resolve, 1_500))
      await unlock()
      await saying
    })
    return end
  })

  fires('ParleyDatabaseQueue', 'transactions do not end', async () => {
    const unlock = await lock(`select from users where uid = 'alice' for update`)
    const asking = Array.from({ length: 60 }, (_, i) => ask('PUT', '/users/alice', { name: `Alice ${i}` }))
    return async () => {
      await unlock()
      await Promise.all(asking)
    }
  })

  fires('ParleyJobsStalled', 'the table of jobs is locked', () =>
    lock('lock table graphile_worker._private_jobs in access exclusive mode'),
  )

  fires('ParleyEventsBehind', 'the horizon of events is locked', async () => {
    // Whoever pulls events has them kept.
    await must('GET', '/events')
    const unlock = await lock('update event_horizon set id = id')
    await say('behind the horizon')
    return unlock
  })

  fires('ParleyWebhooksWaiting', 'an endpoint fails', async () => {
    endpoint.behave({ status: 500 })
    const hook = {
      id: 'hook',
      name: 'Hook',
      webhookURL: endpoint.url,
      triggers: ['message_sent'],
      retryOnFailure: true,
    }
    await must('POST', '/webhooks', hook)
    keep(() => say('to the webhook'), 4)
    return async () => {
      endpoint.behave({})
      // Whoever has mended an endpoint need not wait for the next attempt.
      await must('PUT', '/webhooks/hook', { enabled: false })
      await must('DELETE', '/webhooks/hook')
    }
  })

  const provider = '/notifications/push/v1/providers/custom'
  const setUpProvider = () =>
    must('POST', provider, {
      ...{ isEnabled: true, webhookURL: endpoint.url },
      ...{ useBasicAuth: false, basicAuthUsername: '', basicAuthPassword: '' },
    })

  fires('ParleyNotificationsWaiting', 'a provider is away', async () => {
    endpoint.behave({ status: 503 })
    await setUpProvider()
    keep(() => say('to the provider'), 4)
    return () => endpoint.behave({})
  })

  fires('ParleyNotificationsFail', 'a provider refuses what it is sent', async () => {
    endpoint.behave({ status: 400 })
    await setUpProvider()
    keep(() => say('to the provider'))
    return () => endpoint.behave({})
  })

  fires('ParleyModerationEnginesFail', 'an engine fails', async () => {
    endpoint.behave({ status: 500 })
    await ask('DELETE', provider)
    const list = { id: 'api', name: 'API', category: 'custom-api', url: endpoint.url }
    await must('POST', '/moderation/keywords', list)
    const condition = { operand: 'text', category: 'custom-api', value: ['api_greaterThan_80'] }
    const rule = { id: 'by-api', name: 'By API', mode: 'on', action: ['blockMessage'], conditions: [condition] }
    await must('POST', '/moderation/rules', rule)
    keep(() => say('to the engine'))
    return () => endpoint.behave({ body: '{"isMatchingCondition": false, "confidence": 1}' })
  })

  fires('ParleyReviewsWait', 'nobody reviews', async () => {
    await ask('DELETE', '/moderation/rules/by-api')
    const { data } = await say('to be looked at')
    await must('POST', `/messages/${data.id}/flagged`, {}, { onbehalfof: 'bob' })
    return () => must('PATCH', `/moderation/flagged-messages/${data.id}`, { status: 'approved' })
  })

  fires('ParleyGuessing', 'somebody tries keys', async () =>
    keep(
      () =>
        ask('GET', '/users', undefined, { apikey: randomBytes(20).toString('hex'), 'x-forwarded-for': '203.0.113.9' }),
      4,
      20,
    ),
  )

  fires('ParleyRedisAway', 'Redis is killed', async () => {
    await redis.stop()
    return redis.start
  })

  fires('ParleyEventsDropped', 'Redis is away while more is said than can wait', async () => {
    await redis.stop()
    const long = 'x'.repeat(9_000)
    keep(() => say(long), 16, 0)
    return redis.start
  })

  fires('ParleyWorkersDie', 'workers are killed again and again', async () => {
    for (let deaths = 0; deaths < 3; deaths++) {
      const [worker] = workersOf(service)
      process.kill(worker as number, 'SIGKILL')
      await soon(() => expect(workersOf(service)).not.toContain(worker))
      await serving(url, 2)
    }
    return () => {}
  })

  fires('ParleyEventLoopBusy', 'a process gets a fifth of a core', async () => {
    const [worker] = workersOf(service) as [number]
    const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
    return keep(async () => {
      process.kill(worker, 'SIGSTOP')
      await wait(400)
      process.kill(worker, 'SIGCONT')
      await wait(50)
    })
  })

  const place = path.join(stage.makeFolder(), 'backups')

  fires('ParleyBackupFails', 'backups have no place to go to', async () => {
    await service.kill()
    await writeFile(place, 'no folder')
    await start({ BACKUP_SCHEDULE: '* * * * *', BACKUP_TO: place })
    return () => rm(place)
  })

  fires('ParleyBackupOld', 'no backup is made any more', async () => {
    await rm(place, { recursive: true })
    await writeFile(place, 'no folder')
    return () => rm(place)
  })

  it('was tried', async () => {
    const [{ groups }] = await readDocuments('monitoring/alerts.yml')
    const alerts = groups.flatMap(({ rules }: Document) => rules.map((rule: Document) => rule.alert))
    expect(tried).toEqual(alerts)
  })
})
