import { afterAll, expect, it } from 'vitest'
import { runCrashLedger } from './support/crash.ts'
import { createStage } from './support/stage.ts'

const cycles = Number(process.env.CRASH_CYCLES ?? 4)
const seed = Number(process.env.CRASH_SEED ?? Date.now() % 1_000_000)
const isLong = process.env.CRASH_CYCLES !== undefined

const stage = createStage()
afterAll(stage.clean)

it(
  `after ${cycles} crashes under load (seed ${seed}), everything answered is stored once, in order`,
  async () => {
    const { ledger, flaws } = await runCrashLedger(stage, {
      cycles,
      seed,
      proveEvery: 25,
      ...(isLong && { report: (line) => console.log(line) }),
    })
    expect(flaws).toEqual([])
    expect(ledger.acknowledged.size).toBeGreaterThan(cycles * 100)
    // It was a storm: some requests failed, some were sent again, marks were set.
    expect(ledger.counts.cut).toBeGreaterThan(0)
    expect(ledger.counts.refused).toBeGreaterThan(0)
    expect(ledger.counts.marks).toBeGreaterThan(0)
    if (isLong) console.log(`${ledger.acknowledged.size} messages answered, ${JSON.stringify(ledger.counts)}`)
  },
  // On a machine with ten things to do at once, each cycle takes half a minute.
  120_000 + cycles * 60_000,
)
