import { afterAll, expect, it } from 'vitest'
import { createLog } from '../../../src/log.ts'
import { startOwnDatabase } from '../../../src/process/foundation.ts'
import { createBench, select } from './support.ts'

const bench = createBench()
afterAll(() => bench.clean())

/** Of the first thread of a process 44, of the one that sends notifications 17. */
const ofProcess = 61

it('the embedded PostgreSQL has room for sixteen processes that have opened all that they may, while one of them is replaced', async () => {
  const own = await startOwnDatabase(bench.makeFolder(), createLog('silent'), 16)
  try {
    const client = await bench.connect(own.connection as Parameters<typeof bench.connect>[0])
    expect(Number(await select(client, 'show max_connections'))).toBeGreaterThan(ofProcess * (16 + 1))
    await client.end()
  } finally {
    await own.stop()
  }
})
