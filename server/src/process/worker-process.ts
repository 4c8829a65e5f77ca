import cluster, { type Worker } from 'node:cluster'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { type AnswerWatch, isTraced, watchAnswers } from './answers.ts'
import type { WorkerSetup } from './foundation.ts'
import type { FromPrimary, FromWorker, MetricJson } from './messages.ts'

/** One worker, seen from the primary. */
export interface WorkerProcess {
  readonly number: number
  readonly pid: number
  state: 'starting' | 'ready' | 'stopping' | 'ended'
  /** Since it served, in milliseconds; undefined when it never did. */
  readonly age: number | undefined
  /** Resolves when it serves, rejects when it ends before. */
  readonly ready: Promise<AddressInfo>
  /** How it ended, in words. */
  readonly ended: Promise<string>
  /** Asks it to end, waits, and ends it. */
  stop(): Promise<void>
  kill(): void
  askMetrics(): Promise<readonly MetricJson[]>
  /** What it said last of its metrics. */
  readonly lastMetrics: readonly MetricJson[]
}

/** A worker has this long for what it is doing. */
const stopTimeoutMs = 9_000

export interface Patience {
  /** How long it may take until it serves, from when it was started or last said that it brings the database up to date, in milliseconds. */
  readonly startMs: number
  /** How long it may answer nothing while it serves, in milliseconds. Whatever it works on, it answers between two steps of that. */
  readonly silentMs: number
}

const usualPatience: Patience = { startMs: 120_000, silentMs: 60_000 }

/** @param onWanted a worker is asked for the metrics of all */
export function startWorkerProcess(
  number: number,
  setup: () => Promise<WorkerSetup>,
  onWanted: () => Promise<string>,
  { startMs, silentMs } = usualPatience,
): WorkerProcess {
  const worker = cluster.fork()
  const letGo = watchHandover(worker)
  const asked = new Map<number, (metrics: readonly MetricJson[]) => void>()
  const { promise: ready, resolve: onReady, reject: onFailed } = withResolvers<AddressInfo>()
  let reason: string | undefined
  let readyAt: number | undefined
  let lastId = 0
  let lastMetrics: readonly MetricJson[] = []
  let isInspected = false
  let answers: AnswerWatch | undefined
  ready.catch(() => {})

  const ended = new Promise<string>((resolve) => {
    worker.once('exit', (code, signal) => {
      handle.state = 'ended'
      letGo()
      clearTimeout(starting)
      answers?.stop()
      for (const answer of asked.values()) answer(lastMetrics)
      const how = reason ?? (signal === null ? `exit code ${code}` : signal)
      onFailed(new Error(how))
      resolve(how)
    })
  })
  const giveUp = (why: string) => {
    reason = why
    worker.process.kill('SIGKILL')
  }
  const starting = setTimeout(() => giveUp(`it did not serve within ${startMs / 1000} s`), startMs).unref()
  worker.on('error', () => {})
  worker.on('message', async (message: FromWorker) => {
    switch (message.type) {
      case 'hello':
        try {
          sendTo(worker, { type: 'begin', number, setup: await setup() })
        } catch (error) {
          giveUp((error as Error).message)
        }
        break
      case 'migrating':
        starting.refresh()
        break
      case 'ready':
        clearTimeout(starting)
        readyAt = performance.now()
        if (handle.state === 'starting') {
          handle.state = 'ready'
          answers = watchAnswers({
            ask: () => sendTo(worker, { type: 'there?' }),
            isExcused: () => isInspected || isTraced(handle.pid),
            onSilent: () => giveUp(`it answered nothing for ${silentMs / 1000} s and was killed`),
            silentMs,
          })
        }
        onReady(message.address)
        break
      case 'here':
        isInspected = message.isInspected
        answers?.answered()
        break
      case 'failed':
        reason = message.reason
        break
      case 'metrics wanted':
        sendTo(worker, { type: 'metrics text', id: message.id, text: await onWanted() })
        break
      case 'metrics':
        lastMetrics = message.metrics
        asked.get(message.id)?.(message.metrics)
        asked.delete(message.id)
        break
      case 'last metrics':
        lastMetrics = message.metrics
    }
  })

  const handle: WorkerProcess = {
    number,
    pid: worker.process.pid as number,
    state: 'starting',
    get age() {
      return readyAt === undefined ? undefined : performance.now() - readyAt
    },
    ready,
    ended,
    async stop() {
      if (handle.state === 'ended') return
      handle.state = 'stopping'
      answers?.stop()
      sendTo(worker, { type: 'stop' })
      const hasEnded = await Promise.race([ended.then(() => true), delay(stopTimeoutMs, false, { ref: false })])
      if (!hasEnded) worker.process.kill('SIGKILL')
      await ended
    },
    kill: () => void worker.process.kill('SIGKILL'),
    get lastMetrics() {
      return lastMetrics
    },
    askMetrics() {
      if (handle.state === 'ended') return Promise.resolve(lastMetrics)
      const id = ++lastId
      return new Promise((resolve) => {
        asked.set(id, resolve)
        sendTo(worker, { type: 'metrics asked', id })
      })
    },
  }
  return handle
}

/** One that has just ended needs no message. */
function sendTo(worker: Worker, message: FromPrimary): void {
  if (worker.isConnected()) worker.send(message, () => {})
}

type Send = (message: { act?: string }, handle?: { close?(): void }, ...rest: unknown[]) => boolean

/**
 * Connections are handed to a worker one at a time, and closed here once it has said that it took them. One that it had
 * not taken when it died would stay open here, where nobody reads it, and its client would wait for ever.
 * @returns closes that one; where it was taken, it is closed already, and nothing happens
 */
function watchHandover({ process: child }: Worker): () => void {
  const handed = child as unknown as { send: Send }
  const send = handed.send.bind(child)
  let last: { close?(): void } | undefined
  handed.send = (message, handle, ...rest) => {
    if (message.act === 'newconn') last = handle
    return send(message, handle, ...rest)
  }
  return () => last?.close?.()
}

function withResolvers<T>() {
  let resolve: (value: T) => void = () => {}
  let reject: (error: Error) => void = () => {}
  const promise = new Promise<T>((onValue, onError) => {
    resolve = onValue
    reject = onError
  })
  return { promise, resolve, reject }
}
