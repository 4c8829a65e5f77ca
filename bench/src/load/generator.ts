/** The load generator's process: carries out one plan after the other that its parent sends. */
import type { LoadPlan, LoadReport } from './plan.ts'
import { runPlan } from './run-plan.ts'

const report = (message: LoadReport) => void process.send?.(message)

process.on('message', (plan: LoadPlan) => {
  runPlan(plan, () => report({ measuring: true })).then(
    (result) => report({ result }),
    (error: unknown) => report({ error: error instanceof Error ? error.message : String(error) }),
  )
})
// The parent is gone, and with it whom to tell.
process.on('disconnect', () => process.exit())
