import { Worker } from 'node:worker_threads'
import { until } from './until.ts'

interface Reply {
  readonly returned?: unknown
  readonly thrown?: unknown
}

/**
 * Calls a function of a module in a thread of its own: one that does not return fails its test, and is ended. In the thread of
 * the tests nothing could end it. What it is given and what it returns is cloned.
 */
export async function callApart(module: URL, name: string, ...given: readonly unknown[]): Promise<unknown> {
  let reply: Reply | undefined
  const worker = new Worker(new URL('./apart-thread.ts', import.meta.url), {
    workerData: { module: module.href, name, given },
  })
  worker.once('message', (message: Reply) => {
    reply = message
  })
  worker.once('error', (thrown) => {
    reply = { thrown }
  })
  try {
    const { returned, thrown } = await until(() => reply)
    if (thrown !== undefined) throw thrown
    return returned
  } finally {
    await worker.terminate()
  }
}
