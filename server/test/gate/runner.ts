import { type RunnerTask, type RunnerTestFile, TestRunner } from 'vitest'
import strictPaths from './strict.json' with { type: 'json' }

/**
 * Vitest's own runner, in which some tests never have a second try, not even on a busy build machine: those that look for
 * races, faults and disorder, as such a fault is often gone the second time. `strict.json` has parts of their paths.
 * `npm run test:long` runs them many times.
 */
export default class StrictRunner extends TestRunner {
  onCollected(files: RunnerTestFile[]): void {
    for (const file of files) if (strictPaths.some((part) => file.filepath.includes(part))) tryOnce(file)
  }
}

function tryOnce(task: RunnerTask): void {
  if ('tasks' in task) for (const each of task.tasks) tryOnce(each)
  else task.retry = 0
}
