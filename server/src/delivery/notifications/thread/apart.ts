import { setTimeout as delay } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { type Log, writeLine } from '../../../log.ts'
import type { ConnectionSettings } from '../../../store/connection.ts'
import type { OpenSecrets } from '../../../store/data-keys.ts'
import { mayLeaveIdle, setIdleThread } from '../../../store/priority.ts'
import type { DataKeys } from '../../../store/secrets.ts'
import type { Tracing } from '../../../tracing/tracing.ts'
import type { NotificationMetrics } from '../metrics.ts'
import type { NotificationWork } from '../work.ts'
import { keepGivingWay } from './giving-way.ts'
import type { Failure, FromThread, Task, ThreadConfig, ThreadData, ToThread } from './messages.ts'

export interface ApartOptions {
  readonly config: ThreadConfig
  readonly connection: ConnectionSettings
  /** The database is a child of this service, on this machine. */
  readonly ownDatabase: boolean
  /** How long the database may take to answer before it counts as away, in milliseconds, if not as usual. */
  readonly patienceMs: number | undefined
  readonly log: Log
  readonly metrics: NotificationMetrics
  readonly secrets: OpenSecrets
  readonly tracing: Tracing | undefined
}

/** It has this long to close its connections. */
const closePatienceMs = 3_000

/** Work that is done elsewhere, with what that holds. */
export interface WorkApart extends NotificationWork {
  /** Once nothing runs any more. */
  close(): Promise<void>
}

interface Waiting {
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

interface Thread {
  readonly worker: Worker
  /** What it is doing, by number. */
  readonly waiting: Map<number, Waiting>
  readonly ended: AbortController
}

/**
 * Plans and sends in a thread of its own, which gives way to the one that answers clients. It begins with the first job: where nobody is
 * notified there is none. When it ends by a fault, what it was doing is done again, and another begins.
 */
export function createWorkApart(options: ApartOptions): WorkApart {
  const { log, secrets } = options
  let thread: Thread | undefined
  let lastId = 0
  let isStopping = false

  const post = (message: ToThread) => thread?.worker.postMessage(message)
  const ask = (task: Task) =>
    new Promise<void>((resolve, reject) => {
      // What is left is planned and sent by others, or after the next start.
      if (isStopping) return resolve()
      thread ??= begin()
      const id = ++lastId
      thread.waiting.set(id, { resolve, reject })
      post({ type: 'do', id, task })
    })
  secrets.onReload(() => post({ type: 'keys', keys: keysOf(secrets) }))

  function begin(): Thread {
    const begun: Thread = { worker: startThread(options), waiting: new Map(), ended: new AbortController() }
    const { worker, waiting, ended } = begun
    worker.on('message', (message: FromThread) => {
      if (message.type === 'begun') void giveWay(begun, message.systemId, log)
      else hear(options, waiting, message)
    })
    worker.on('error', (error) => log.error({ err: error }, 'the thread that sends notifications failed'))
    worker.once('exit', () => {
      ended.abort()
      if (thread === begun) thread = undefined
      for (const { reject } of waiting.values()) reject(new Error('the thread that sends notifications has ended'))
      waiting.clear()
    })
    return begun
  }

  return {
    plan: (appId) => ask({ plan: appId }),
    send: (provider) => ask({ send: provider }),
    wake: (appIds) => post({ type: 'wake', appIds }),
    stop() {
      isStopping = true
      post({ type: 'stop' })
    },
    async close() {
      if (thread === undefined) return
      const { worker } = thread
      const ended = new Promise((resolve) => worker.once('exit', resolve))
      post({ type: 'close' })
      await Promise.race([ended, delay(closePatienceMs, undefined, { ref: false })])
      await worker.terminate()
    },
  }
}

/** Lets it run in idle times only while it is on time, where the system would let it have a share again. */
async function giveWay({ worker, ended }: Thread, systemId: number, log: Log): Promise<void> {
  if (!mayLeaveIdle()) return
  const setIdle = async (isIdle: boolean) => {
    const done = await setIdleThread(systemId, isIdle)
    if (done) log.debug({ isIdle }, 'the thread that sends notifications gives way to everybody, or has a share')
    return done
  }
  const echo = () =>
    new Promise<void>((resolve) => {
      const hear = ({ type }: FromThread) => {
        if (type !== 'echo') return
        worker.off('message', hear)
        resolve()
      }
      worker.on('message', hear)
      worker.postMessage({ type: 'echo' } satisfies ToThread)
    })
  await keepGivingWay({ setIdle, echo }, ended.signal)
}

function startThread({ config, secrets, log, ...given }: ApartOptions): Worker {
  // The same file as this one's neighbour, whether it is TypeScript or built.
  const file = new URL(`./thread${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url)
  const { connection, ownDatabase, patienceMs } = given
  const workerData: ThreadData = {
    ...{ config: pick(config), connection, ownDatabase, patienceMs },
    ...{ keys: keysOf(secrets), logged: log.bindings() },
  }
  return new Worker(file, { name: 'notifications', workerData })
}

/** Nothing else of the settings leaves this thread. */
function pick(config: ThreadConfig): ThreadConfig {
  const { appDefaults, listTimeoutSeconds, logLevel, mailReplies, notifications, outbound, publicUrl, tracing } = config
  return { appDefaults, listTimeoutSeconds, logLevel, mailReplies, notifications, outbound, publicUrl, tracing }
}

function errorOf({ name, message, code, stack }: Failure): Error {
  return Object.assign(new Error(message), { name, stack, ...(code !== undefined && { code }) })
}

function keysOf({ held: { digest, seal, current } }: OpenSecrets): DataKeys {
  return { digest, seal, current }
}

function hear({ metrics, tracing }: ApartOptions, waiting: Map<number, Waiting>, message: FromThread): void {
  switch (message.type) {
    case 'done': {
      const asked = waiting.get(message.id)
      waiting.delete(message.id)
      if (message.error === undefined) asked?.resolve()
      else asked?.reject(errorOf(message.error))
      break
    }
    case 'ended':
      metrics.ended(message.provider, message.results)
      break
    case 'spans':
      tracing?.count(message.outcome, message.count)
      break
    case 'line':
      writeLine(message.line)
  }
}
