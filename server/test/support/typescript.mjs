import { register } from 'node:module'
import { isMainThread } from 'node:worker_threads'

// Threads that tests start read the TypeScript sources, as the tests do. Vitest itself sees to the main thread.
if (!isMainThread) register('./typescript-hooks.mjs', import.meta.url)
