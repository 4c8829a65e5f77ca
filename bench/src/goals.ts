import type { Figures } from './measure.ts'
import type { MemoryReport } from './memory.ts'

/** What the service is meant to reach, as a ratio to a bare limit of the same run where that makes it comparable. */
export interface Goal {
  readonly name: string
  readonly goal: string
  readonly reached: string
  readonly met: boolean
}

const memoryLimit = 300 * 1024 * 1024

/** Judges what was measured; goals whose scenarios did not run are left out. */
export function judgeGoals(figures: readonly Figures[], memory: MemoryReport | undefined): Goal[] {
  const find = (id: string) => figures.find((row) => row.id === id)
  const goals: Goal[] = []
  const ratio = (name: string, part: string, whole: string, least: number) => {
    const value = (find(part)?.perSecond ?? Number.NaN) / (find(whole)?.perSecond ?? Number.NaN)
    if (Number.isNaN(value)) return
    goals.push({ name, goal: `at least ${least}`, reached: value.toFixed(3), met: value >= least })
  }
  ratio('Sends (existing, 64) to bare node:http reading the same', 'send-existing-64', 'http-64', 1 / 5)
  ratio('Sends (existing, 64) to empty validated POSTs', 'send-existing-64', 'empty-64', 1 / 5)
  const p99 = find('send-existing-64')?.p99
  if (p99 !== undefined) {
    goals.push({
      name: 'p99 of these sends',
      goal: 'below 30 ms',
      reached: `${p99.toFixed(1)} ms`,
      met: p99 < 30,
    })
  }
  ratio('Sustained sends with their search index to sends (existing, 64)', 'sustained', 'send-existing-64', 0.8)
  ratio('Imported messages to plain SQL (1,000 rows)', 'import-messages', 'sql-1000', 0.35)
  if (memory !== undefined) {
    const megabytes = `${Math.round(memory.highest / 1024 / 1024)} MB`
    goals.push({
      name: 'Resident memory of the service, at most',
      goal: 'below 300 MB',
      reached: megabytes,
      met: memory.highest < memoryLimit,
    })
  }
  return goals
}
