import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { createAppSettings } from '../../../chat/app-settings.ts'
import { createNotificationSettings } from '../../../chat/notifications/settings.ts'
import { createRolePolicies } from '../../../chat/roles/policies.ts'
import { createLog } from '../../../log.ts'
import { createFileLinks } from '../../../media/links.ts'
import { createFileOrigins } from '../../../media/origins.ts'
import { openDatabase } from '../../../store/database.ts'
import { createInvalidation } from '../../../store/invalidation.ts'
import { monitorDatabase } from '../../../store/monitor.ts'
import { lowerThreadPriority } from '../../../store/priority.ts'
import { createSecrets, type DataKeys } from '../../../store/secrets.ts'
import { createTracing } from '../../../tracing/tracing.ts'
import { createOutbound } from '../../outbound/index.ts'
import { createSenders } from '../senders.ts'
import { createNotificationWork, type NotificationWork } from '../work.ts'
import type { Failure, FromThread, Task, ThreadData, ToThread } from './messages.ts'

/*
 * Runs in a thread of its own. What it needs of the service it has once more, on connections of its own: only its log, its
 * figures and its keys are those of the process.
 */

await run(parentPort as MessagePort, workerData as ThreadData)

async function run(port: MessagePort, data: ThreadData): Promise<void> {
  const post = (message: FromThread) => port.postMessage(message)
  const systemId = lowerThreadPriority()
  if (systemId !== undefined) post({ type: 'begun', systemId })
  const { config } = data
  let keys = revive(data.keys)
  const log = createLog(config.logLevel, { write: (line) => post({ type: 'line', line }) }, data.logged)
  const tracing = await createTracing(config.tracing, {
    log,
    counted: (outcome, count) => post({ type: 'spans', outcome, count }),
  })
  const database = openDatabase(data.connection, {
    listTimeoutMs: config.listTimeoutSeconds * 1000,
    giveWay: data.ownDatabase,
  })
  // That the database is away is said by the first thread.
  const monitor = monitorDatabase(database, { warn: () => {}, info: () => {} }, data.patienceMs)
  const invalidation = createInvalidation(database, 'parley notifier changes')
  const secrets = createSecrets(() => keys)
  const settings = createAppSettings(database, invalidation, config.appDefaults)
  const outbound = createOutbound(config.outbound)
  const senders = createSenders({ log, secrets, poster: outbound.poster, endpoints: config.notifications })
  const work = createNotificationWork({
    ...{ config, log, database, secrets, settings, tracing, now: Date.now },
    metrics: { ended: (provider, results) => post({ type: 'ended', provider, results: results.map(statusOf) }) },
    // Nobody who asks waits for this thread.
    demand: { count: 0 },
    notificationSettings: createNotificationSettings(database, invalidation),
    policies: createRolePolicies(database, invalidation),
    senders,
    fileLinks: createFileLinks(secrets, settings, createFileOrigins(database)),
  })
  await invalidation.start()

  port.on('message', (message: ToThread) => {
    switch (message.type) {
      case 'do':
        void answer(message.id, message.task)
        break
      case 'wake':
        work.wake(message.appIds)
        break
      case 'keys':
        keys = revive(message.keys)
        break
      case 'echo':
        post({ type: 'echo' })
        break
      case 'stop':
        work.stop()
        break
      case 'close':
        void close()
    }
  })

  async function answer(id: number, task: Task): Promise<void> {
    try {
      await perform(work, task)
      post({ type: 'done', id })
    } catch (error) {
      post({ type: 'done', id, error: failureOf(error) })
    }
  }

  async function close(): Promise<void> {
    await Promise.all([senders.close(), outbound.close()])
    monitor.stop()
    await invalidation.stop()
    await database.close()
    await tracing?.stop()
    port.close()
  }
}

function perform(work: NotificationWork, task: Task): Promise<void> {
  return 'plan' in task ? work.plan(task.plan) : work.send(task.send)
}

function failureOf(error: unknown): Failure {
  const { name, message, stack } = error instanceof Error ? error : new Error(String(error))
  const { code } = error as { code?: unknown }
  return { name, message, stack, code: typeof code === 'string' ? code : undefined }
}

function statusOf<Status>({ status }: { readonly status: Status }) {
  return { status }
}

/** Buffers arrive as plain bytes. */
function revive({ digest, seal, current }: DataKeys): DataKeys {
  return {
    digest: Buffer.from(digest),
    seal: new Map(Array.from(seal, ([version, key]) => [version, Buffer.from(key)])),
    current,
  }
}
