import { randomBytes } from 'node:crypto'
import os from 'node:os'
import path from 'node:path'
import type pg from 'pg'
import { buildParley, type Parley } from '../../src/app.ts'
import { ensureKey } from '../../src/areas/api-keys/keys.ts'
import type { App } from '../../src/chat/identity.ts'
import { readConfig } from '../../src/config/index.ts'
import type { BusEvent } from '../../src/events/types.ts'
import { createLog } from '../../src/log.ts'
import { createOwnDatabase } from '../support/own-database.ts'
import { databasePatienceMs, testMasterKey } from '../support/service.ts'
import { until } from '../support/until.ts'
import { type Answer, send, type World } from '../support/world.ts'

/** What the bus of the service tells of one world, from now on. */
export function hear({ app, context }: World): BusEvent[] {
  const heard: BusEvent[] = []
  context.events.bus.subscribe((appId, event) => {
    if (appId === app.appId) heard.push(event)
  })
  return heard
}

export interface Service {
  readonly parley: Parley
  readonly url: string
}

/** Services on a database that is theirs alone, as several processes would be: one of them moves the horizon. */
export interface Cluster {
  readonly connection: pg.ClientConfig
  readonly services: readonly Service[]
  /** Starts another service, which is not among `services`. */
  start(): Promise<Service>
  stop(service: Service): Promise<void>
  end(): Promise<void>
}

export async function startCluster(size: number): Promise<Cluster> {
  const { connection, drop } = await createOwnDatabase()
  const running = new Set<Service>()
  for (let i = 0; i < size; i++) running.add(await startOn(connection))
  const services = [...running]
  return {
    connection,
    services,
    async start() {
      const service = await startOn(connection)
      running.add(service)
      return service
    },
    async stop(service) {
      running.delete(service)
      await service.parley.close()
    },
    async end() {
      await Promise.all([...running].map(({ parley }) => parley.close()))
      await drop()
    },
  }
}

async function startOn(connection: pg.ClientConfig): Promise<Service> {
  const parley = await buildParley({
    config: readConfig({ LOG_LEVEL: 'silent' }),
    log: createLog(readConfig({ LOG_LEVEL: process.env.TEST_LOG_LEVEL ?? 'silent' }).logLevel),
    connection,
    masterKey: testMasterKey,
    databasePatienceMs,
    mediaDir: path.join(os.tmpdir(), `parley-test-media-${process.pid}`),
  })
  await parley.context.apps.ensure('parley', 'us')
  return { parley, url: await parley.http.listen({ host: '127.0.0.1', port: 0 }) }
}

/** Asks the service of that number (counted round); throws unless it answers 200. */
export type Ask = (at: number, method: string, path: string, body?: unknown, as?: string) => Promise<Answer>

/** An app that all services of a cluster serve. */
export async function createApp({ services }: Cluster): Promise<{ app: App; ask: Ask }> {
  const { context } = (services[0] as Service).parley
  const app = await context.apps.ensure(`app-${randomBytes(8).toString('hex')}`, 'us')
  const apiKey = randomBytes(20).toString('hex')
  await ensureKey(context, app.appId, { apiKey, name: 'test', scope: 'fullAccess' })
  const ask: Ask = async (at, method, path, body, as) => {
    const { url } = services[at % services.length] as Service
    const headers = { appid: app.name, apikey: apiKey, ...(as !== undefined && { onbehalfof: as }) }
    const answer = await send(url, method, path, body, headers)
    if (answer.status !== 200) throw new Error(`${method} ${path}: ${JSON.stringify(answer.body)}`)
    return answer
  }
  return { app, ask }
}

/** Begins to pull the events of an app; every service of the cluster knows it then. @returns the cursor */
export async function startPulling({ services }: Cluster, ask: Ask, appId: number): Promise<string> {
  const { cursor } = (await ask(0, 'GET', '/events')).body.meta
  await until(async () => {
    const listening = await Promise.all(services.map(({ parley }) => parley.context.events.listens(appId)))
    return listening.every((triggers) => triggers.size > 0)
  })
  return cursor
}
