import { parentPort, workerData } from 'node:worker_threads'

/* Runs in a thread of its own: calls what it is told to, and answers with what it gives. */

const { module, name, given } = workerData as { module: string; name: string; given: readonly unknown[] }

try {
  const functions = (await import(module)) as Record<string, (...given: readonly unknown[]) => unknown>
  parentPort?.postMessage({ returned: await functions[name]?.(...given) })
} catch (thrown) {
  parentPort?.postMessage({ thrown })
}
