import cluster from 'node:cluster'
import inspector from 'node:inspector'
import { setTimeout as delay } from 'node:timers/promises'
import { buildParley, type Parley } from '../app.ts'
import type { Config } from '../config/index.ts'
import { masterKeySource } from '../keys-file.ts'
import { createWorkerLog, type Log } from '../log.ts'
import { whenDatabaseAnswers } from './foundation.ts'
import { listen } from './listen.ts'
import { addressOf, type FromPrimary, type FromWorker, type MetricJson } from './messages.ts'
import { isCount } from './metrics.ts'

/** The primary waits a little longer before it ends the process itself. */
const stopTimeoutMs = 8_500
/** Somebody waits for the metrics. The primary itself waits a little less for a worker that is late. */
const metricsPatienceMs = 3_000

/** One of several processes that serve the same port; the primary starts and ends it. */
export async function runWorker(config: Config): Promise<void> {
  let log: Log | undefined
  let parley: Parley | undefined
  let isStopping = false

  const stop = async () => {
    if (isStopping) return
    isStopping = true
    log?.info('the worker is stopping')
    if (parley !== undefined) {
      // First of all no connections come here any more: who is sent away connects to another worker.
      parley.http.server.close()
      const finished = await Promise.race([parley.close().then(() => true), delay(stopTimeoutMs, false)])
      if (!finished) log?.warn('not everything finished in time; the worker stops anyway')
    }
    await metrics.leave()
    if (log === undefined) process.exit(0)
    log.flush(() => process.exit(0))
  }
  process.on('SIGTERM', () => void stop())
  // These come from a terminal, to all processes at once; the primary says what is to be done.
  for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => {})

  const metrics = createMetricsExchange(() => parley)
  const begin = async ({ number, setup }: Extract<FromPrimary, { type: 'begin' }>) => {
    log = createWorkerLog(config.logLevel, number)
    const masterKeys = setup.keysFile === undefined ? undefined : masterKeySource(process.env, setup.keysFile)
    const options = {
      config,
      log,
      ...setup,
      masterKeySource: masterKeys,
      exposeMetrics: metrics.ofAll,
      notifiesApart: true,
      onMigrating: () => send({ type: 'migrating' }),
    }
    try {
      const built = await whenDatabaseAnswers(log, () => buildParley(options))
      parley = built
      if (isStopping) return
      await listen(built, config)
      send({ type: 'ready', address: addressOf(built.http) })
    } catch (error) {
      if (isStopping) return
      process.exitCode = 1
      send({ type: 'failed', reason: error instanceof Error ? error.message : String(error) }, () => process.exit(1))
    }
  }
  process.on('message', (message: FromPrimary) => {
    if (message.type === 'begin') void begin(message)
    else if (message.type === 'stop') void stop()
    else if (message.type === 'there?') send({ type: 'here', isInspected: inspector.url() !== undefined })
    else metrics.onMessage(message)
  })
  send({ type: 'hello' })
}

function createMetricsExchange(current: () => Parley | undefined) {
  const asked = new Map<number, (text: string) => void>()
  let lastId = 0
  return {
    /** The metrics of all workers together, made by the primary. Those of this process alone would be taken for counts that began anew. */
    async ofAll(): Promise<string | undefined> {
      const id = ++lastId
      const text = await Promise.race([
        new Promise<string>((resolve) => {
          asked.set(id, resolve)
          send({ type: 'metrics wanted', id })
        }),
        delay(metricsPatienceMs, undefined, { ref: false }),
      ])
      asked.delete(id)
      return text
    },
    /** What was counted here goes on to count. */
    async leave(): Promise<void> {
      const registry = current()?.context.metrics.registry
      const counting = registry?.getMetricsAsArray().filter(isCount) ?? []
      const counts = await Promise.all(counting.map(({ name }) => registry?.getSingleMetric(name)?.get()))
      const metrics = counts.filter((metric) => metric !== undefined) as MetricJson[]
      await new Promise<void>((resolve) => send({ type: 'last metrics', metrics }, resolve))
    },
    onMessage(message: FromPrimary) {
      if (message.type === 'metrics text') asked.get(message.id)?.(message.text)
      else if (message.type === 'metrics asked') void answer(message.id)
    },
  }
  async function answer(id: number): Promise<void> {
    const metrics = (await current()?.context.metrics.registry.getMetricsAsJSON()) ?? []
    send({ type: 'metrics', id, metrics: metrics as MetricJson[] })
  }
}

/** When the primary is gone the process ends anyway. */
function send(message: FromWorker, sent: () => void = () => {}): void {
  if (cluster.worker?.isConnected()) cluster.worker.send(message, sent)
  else sent()
}
