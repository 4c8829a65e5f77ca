import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { LoadPlan, LoadReport, LoadResult } from './plan.ts'

/** The load generator, in a process of its own so that it does not wait for anything else. */
export interface LoadGenerator {
  readonly pid: number
  run(plan: LoadPlan): Promise<LoadResult>
  stop(): void
}

export function startLoadGenerator(): LoadGenerator {
  const child = fork(fileURLToPath(new URL('generator.js', import.meta.url)), { serialization: 'advanced' })
  return {
    pid: child.pid as number,
    run(plan) {
      return new Promise((resolve, reject) => {
        const exited = (code: number | null) => reject(new Error(`the load generator ended (exit code ${code})`))
        child.once('exit', exited)
        child.once('message', (report: LoadReport) => {
          child.off('exit', exited)
          if ('result' in report) resolve(report.result)
          else reject(new Error(`the load generator failed: ${report.error}`))
        })
        child.send(plan)
      })
    },
    stop: () => void child.kill(),
  }
}
