import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { LoadPlan, LoadReport, LoadResult } from './plan.ts'

/** The load generator, in a process of its own so that it does not wait for anything else. */
export interface LoadGenerator {
  readonly pid: number
  /** @param onMeasuring called when the warm-up of the plan is over */
  run(plan: LoadPlan, onMeasuring?: () => void): Promise<LoadResult>
  stop(): void
}

export function startLoadGenerator(): LoadGenerator {
  const child = fork(fileURLToPath(new URL('generator.js', import.meta.url)), { serialization: 'advanced' })
  return {
    pid: child.pid as number,
    run(plan, onMeasuring) {
      return new Promise((resolve, reject) => {
        const onExit = (code: number | null) => reject(new Error(`the load generator ended (exit code ${code})`))
        const onReport = (report: LoadReport) => {
          if ('measuring' in report) return onMeasuring?.()
          child.off('exit', onExit)
          child.off('message', onReport)
          if ('result' in report) resolve(report.result)
          else reject(new Error(`the load generator failed: ${report.error}`))
        }
        child.on('exit', onExit)
        child.on('message', onReport)
        child.send(plan)
      })
    },
    stop: () => void child.kill(),
  }
}
