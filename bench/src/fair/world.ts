import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { times } from '../bench.ts'
import type { AtEnd } from '../cleanup.ts'
import { type CpuClock, createCpuClock } from '../cpu.ts'
import { type LoadGenerator, startLoadGenerator } from '../load/start.ts'
import { progress } from '../progress.ts'
import { fetchBody, type RequestOptions } from '../requests.ts'
import { readLastId, whenIndexed } from '../search-index.ts'
import { scaleWorld, type WorldSizes } from '../seed/sizes.ts'
import { seedWorld } from '../seed/world.ts'
import { createDeployment, type Service } from '../service.ts'
import { warnAboutMemoryDisk } from '../start.ts'

/** A service with two apps, and users of them with tokens of their own. */
export interface TwoApps {
  readonly service: Service
  readonly load: LoadGenerator
  readonly readCpu: CpuClock
  /** The one who asks for the dearest lists. */
  readonly greedy: RequestOptions
  /** Others, who take turns in asking for their conversations. */
  readonly others: Readonly<Record<Side, readonly RequestOptions[]>>
}

/** In the same app as the greedy user, or in another one. */
export type Side = 'same app' | 'other app'

const greedyUid = 'u7'
export const otherUids = times(10, (i) => `u${11 + i}`)
const otherApp = 'other'
/** The other app is small: what its users wait for is not their own lists. */
const otherScale = 0.01

/**
 * @param settings of the service, beside those of every bench
 * @param profileDir where the service leaves a CPU profile
 */
export async function startTwoApps(
  atEnd: AtEnd,
  sizes: WorldSizes,
  settings: Readonly<Record<string, string>> = {},
  profileDir?: string,
): Promise<TwoApps> {
  warnAboutMemoryDisk()
  const deployment = createDeployment({ profileDir })
  atEnd(deployment.remove)
  // Each start makes the app that its settings name, unless it is there.
  const otherKey = randomBytes(20).toString('hex')
  const first = await deployment.start({ PARLEY_APP_ID: otherApp, PARLEY_API_KEY: otherKey })
  atEnd(first.stop)
  await first.stop()
  const service = await deployment.start(settings)
  atEnd(service.stop)
  const load = startLoadGenerator()
  atEnd(load.stop)
  await fill(service, sizes)
  const login = async (uid: string, app?: RequestOptions): Promise<RequestOptions> => {
    const asApp = app ?? { apiKey: service.apiKey }
    const answer = await fetchBody(service.port, 'POST', `/v3/users/${uid}/auth_tokens`, asApp, {})
    const { data } = JSON.parse(answer) as { data: { authToken: string } }
    return { token: data.authToken, ...(app?.app !== undefined && { app: app.app }) }
  }
  const other = { apiKey: otherKey, app: otherApp }
  return {
    service,
    load,
    readCpu: createCpuClock({ service: service.pid, postgres: service.postgresPid, load: load.pid }),
    greedy: await login(greedyUid),
    others: {
      'same app': await Promise.all(otherUids.map((uid) => login(uid))),
      'other app': await Promise.all(otherUids.map((uid) => login(uid, other))),
    },
  }
}

async function fill(service: Service, sizes: WorldSizes): Promise<void> {
  const database = new pg.Client(service.database)
  await database.connect()
  try {
    const { rows } = await database.query<{ app_id: number; name: string }>('select app_id, name from apps')
    for (const { app_id: appId, name } of rows) {
      const isOther = name === otherApp
      await seedWorld(database, appId, isOther ? scaleWorld(otherScale) : sizes, {
        progress: (step) => progress(`filling the app ${name}: ${step}`),
      })
    }
    await whenIndexed(database, await readLastId(database), (left) =>
      progress(`the search index lacks ${left} messages`),
    )
  } finally {
    await database.end()
  }
}
