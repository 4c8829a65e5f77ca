import cluster from 'node:cluster'
import v8 from 'node:v8'
import dotenv from 'dotenv'
import { type Config, ConfigError, readConfig, retentionWarning } from './config/index.ts'
import { outboundWarning } from './config/outbound.ts'
import { describeUnknown, findUnknownSettings } from './config/unknown.ts'
import { createLog } from './log.ts'
import { requireFreePorts } from './process/ports.ts'

/**
 * How far the heap may grow beyond what is in use before it is cleaned up, in percent. By itself the engine lets it double
 * or more, so that an import of large requests would hold memory that it does not need.
 */
const heapGrowth = 80

v8.setFlagsFromString(`--heap-growing-percent=${heapGrowth}`)
// By itself the engine takes objects that outlived two short clean-ups for lasting ones, and from then on makes those of their kind
// among what stays. Here they live as long as a request: one that is made there keeps its request, answer and headers until the
// next long clean-up, every few seconds, though nobody can reach them.
v8.setFlagsFromString('--no-allocation-site-pretenuring')

/** What Node.js has from version 21 on. Without it, pg loads all that `fetch` needs to find out that this is no Cloudflare. */
if (!('navigator' in globalThis)) {
  Object.assign(globalThis, { navigator: { userAgent: `Node.js/${process.versions.node.split('.')[0]}` } })
}

/** No restart mends it: supervisors that can be told so do not try (`RestartPreventExitStatus=78`). */
const hopelessExit = 78

const { parsed: file = {} } = dotenv.config({ quiet: true })
main().catch((error: unknown) => {
  if (error instanceof ConfigError || isHopeless(error)) console.error((error as Error).message)
  else console.error(`Parley could not start: ${error instanceof Error ? error.message : String(error)}`)
  process.exit(isHopeless(error) ? hopelessExit : 1)
})

/** By its name: the first of several processes loads nothing of the database before it needs it. */
function isHopeless(error: unknown): boolean {
  return error instanceof Error && ['NewerDatabaseError', 'ClosedDatabaseError'].includes(error.name)
}

async function main(): Promise<void> {
  const config = readConfig(process.env)
  if (cluster.isPrimary) {
    const log = createLog(config.logLevel)
    for (const unknown of findUnknownSettings(process.env, Object.keys(file))) {
      log.warn({ setting: unknown.name }, describeUnknown(unknown))
    }
    const outbound = outboundWarning(config.outbound)
    if (outbound !== undefined) log.warn({ setting: 'WEBHOOK_ALLOW_PRIVATE' }, outbound)
    const retention = retentionWarning(config)
    if (retention !== undefined) log.warn({ setting: 'EVENTS_RETENTION_DAYS' }, retention)
    await requireFreePorts(config)
  }
  const run = await roleOf(config)
  await run(config)
}

/** Only what the role needs is loaded: the first of several processes serves nothing. */
async function roleOf({ workers }: Config): Promise<(config: Config) => Promise<void>> {
  if (cluster.isWorker) return (await import('./process/worker.ts')).runWorker
  if (workers > 1) return (await import('./process/primary.ts')).runPrimary
  return (await import('./process/alone.ts')).runAlone
}
