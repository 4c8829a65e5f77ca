import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { times } from '../bench.ts'
import type { AtEnd } from '../cleanup.ts'
import { type Ask, createAsk, inParallel, makeGroup, makeLogins } from '../live/people.ts'
import { cpuSeconds, familyCpuSeconds } from '../processes.ts'
import { progress } from '../progress.ts'
import type { RequestOptions } from '../requests.ts'
import { createDeployment, type Service } from '../service.ts'
import { warnAboutMemoryDisk } from '../start.ts'
import { type Providers, startProviders } from './providers.ts'

/** How much is done; a short run does less. */
export interface NotifyExtent {
  /** Users with a device each, and members of the largest group. */
  readonly people: number
  /** Pushes of the backlog. */
  readonly backlog: number
  /** Members of the groups whose last one is waited for, and messages to each. */
  readonly groups: readonly number[]
  readonly groupMessages: number
  /** Browsers, and pushes of theirs. */
  readonly browsers: number
  readonly webPushes: number
  /** Seconds of sends at a steady rate. */
  readonly seconds: number
  /** Times that sends are measured with and without notifications, in turn. */
  readonly pairs: number
  /** Seconds for which FCM fails. */
  readonly outage: number
  /** Notifications that wait while memory is looked at. */
  readonly waiting: number
}

/** A service with an app that notifies by FCM and APNs, and one that notifies nobody. */
export interface NotifyWorld {
  readonly service: Service
  readonly providers: Providers
  readonly database: pg.Client
  readonly ask: Ask
  /** Who sends in each of the two apps. */
  readonly apps: Readonly<Record<'with' | 'without', RequestOptions>>
  readonly extent: NotifyExtent
  readCpu(): Cpu | undefined
}

/** CPU seconds. */
export interface Cpu {
  readonly service: number
  readonly postgres: number
  /** The emulators, which are other machines where there is a real provider. */
  readonly providers: number
  /** What sends. */
  readonly load: number
}

/** Microseconds for each of what was done meanwhile. */
export function eachOf(count: number, before: Cpu | undefined, after: Cpu | undefined): Cpu | undefined {
  if (before === undefined || after === undefined) return undefined
  const each = (who: keyof Cpu) => ((after[who] - before[who]) * 1e6) / count
  return { service: each('service'), postgres: each('postgres'), providers: each('providers'), load: each('load') }
}

const silentApp = 'silent'
export const uidOf = (i: number): string => `p${i}`
export const groupOf = (members: number): string => `all-${members}`
/** How many of the users the silent app has, too. */
export const pairUsers = 200

export async function startNotifyWorld(
  atEnd: AtEnd,
  extent: NotifyExtent,
  profileDir: string | undefined,
): Promise<NotifyWorld> {
  warnAboutMemoryDisk()
  const providers = await startProviders()
  atEnd(providers.stop)
  const folder = mkdtempSync(join(tmpdir(), 'parley-bench-ca-'))
  atEnd(() => rmSync(folder, { recursive: true }))
  const caFile = join(folder, 'ca.pem')
  writeFileSync(caFile, providers.apns.ca)
  const deployment = createDeployment({ profileDir })
  atEnd(deployment.remove)
  const silentKey = randomBytes(20).toString('hex')
  const first = await deployment.start({ PARLEY_APP_ID: silentApp, PARLEY_API_KEY: silentKey })
  atEnd(first.stop)
  await first.stop()
  const service = await deployment.start({
    ...{ FCM_ENDPOINT: providers.fcm.endpoint, FCM_TOKEN_ENDPOINT: providers.fcm.tokenEndpoint },
    ...{ APNS_ENDPOINT: providers.apns.endpoint, APNS_CA_FILE: caFile },
    ...{ WEB_PUSH_HOSTS: providers.web.host, OUTBOUND_ALLOW: providers.web.host },
  })
  atEnd(service.stop)
  const database = new pg.Client(service.database)
  await database.connect()
  atEnd(() => database.end())
  const ask = createAsk(service)
  await fill(ask, createAsk({ port: service.port, apiKey: silentKey }, 'http', silentApp), providers, extent)
  return {
    ...{ service, providers, database, ask, extent },
    apps: { with: { apiKey: service.apiKey }, without: { apiKey: silentKey, app: silentApp } },
    readCpu() {
      const cpu = {
        service: cpuSeconds(service.pid),
        postgres: familyCpuSeconds(service.postgresPid),
        providers: cpuSeconds(providers.pid),
      }
      const { service: own, postgres, providers: emulators } = cpu
      if (own === undefined || postgres === undefined || emulators === undefined) return undefined
      const { user, system } = process.cpuUsage()
      return { service: own, postgres, providers: emulators, load: (user + system) / 1e6 }
    },
  }
}

/** Every user has one device, of FCM and of APNs in turn. */
async function fill(ask: Ask, silent: Ask, providers: Providers, { people, groups }: NotifyExtent): Promise<void> {
  progress(`${people} users with a device each`)
  const push = '/notifications/push/v1'
  await ask('POST', `${push}/providers/fcm`, { providerId: 'fcm', serviceAccountCreds: providers.fcm.credentials })
  await ask('POST', `${push}/providers/apns`, { providerId: 'apns', ...providers.apns.credentials })
  const logins = await makeLogins(ask, 'p', people)
  await inParallel(logins, async ({ uid, token: authToken }) => {
    const device =
      Number(uid.slice(1)) % 2 === 0
        ? { platform: 'fcm_android', fcmToken: `device-${uid}` }
        : { platform: 'apns_ios_device', deviceToken: Buffer.from(`device-${uid}`).toString('hex') }
    await ask('POST', `${push}/tokens`, { ...device, authToken })
  })
  await ask('PATCH', '/apps/parley/settings', { pushGroupSize: 0 })
  const uids = times(people, uidOf)
  for (const members of groups) await makeGroup(ask, groupOf(members), uids.slice(0, members))
  await makeLogins(silent, 'p', pairUsers)
}

/** Nothing is sent until `resumeSending`; what waits meanwhile is planned all the same. */
export async function pauseSending(world: NotifyWorld): Promise<void> {
  await untilWaiting(world, 0)
  // Whoever sends at the moment would end the pause as they let go.
  const pause = `
    update notification_senders
    set paused_until = (extract(epoch from now()) * 1000)::bigint + 3600000
    where leased_by is null
    and paused_until = 0`
  const { rows } = await world.database.query<{ count: string }>('select count(*) as count from notification_providers')
  for (let paused = 0; paused < Number(rows[0]?.count); ) {
    paused += (await world.database.query(pause)).rowCount ?? 0
    await delay(50)
  }
}

export async function resumeSending({ database }: NotifyWorld): Promise<void> {
  await database.query('update notification_senders set paused_until = 0')
}

const patienceMs = 60_000

/** Waits until so many notifications wait to be sent. */
export async function untilWaiting(world: NotifyWorld, count: number, note = ''): Promise<void> {
  let [seen, seenAt] = [-1, performance.now()]
  for (;;) {
    const waiting = await countWaiting(world)
    if (waiting === count) return
    if (waiting !== seen) [seen, seenAt] = [waiting, performance.now()]
    if (performance.now() - seenAt > patienceMs) throw new Error(`${waiting} notifications wait instead of ${count}`)
    if (note !== '') progress(`${note}: ${waiting} of ${count} wait`)
    // Counting many takes time from who sends them.
    await delay(count === 0 && waiting < 1_000 ? 20 : 200)
  }
}

async function countWaiting({ database }: NotifyWorld): Promise<number> {
  const { rows } = await database.query<{ count: string }>(
    'select count(*) as count from notification_deliveries where day = 0 and due_at is not null',
  )
  return Number(rows[0]?.count)
}
