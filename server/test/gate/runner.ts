import { type RunnerTask, type RunnerTestFile, TestRunner } from 'vitest'
import strictPaths from './strict.json' with { type: 'json' }

/**
 * Vitest's own runner, in which some tests never have a second try, not even on a busy build machine: those that look for
 * races, faults and disorder, as such a fault is often gone the second time. `strict.json` has parts of their paths, and
 * `npm run test:long` runs these many times. Elsewhere a test says by its name, or its suite's, that it looks for a race.
 */
export default class StrictRunner extends TestRunner {
  onCollected(files: RunnerTestFile[]): void {
    for (const file of files) {
      const isStrict = strictPaths.some((part) => file.filepath.includes(part))
      for (const task of file.tasks) tryOnce(task, isStrict)
    }
  }
}

const ofRaces = /\bat the same (?:time|moment)\b|\brac(?:e|es|ing)\b/

function tryOnce(task: RunnerTask, isWithin: boolean): void {
  const isStrict = isWithin || ofRaces.test(task.name)
  if ('tasks' in task) for (const each of task.tasks) tryOnce(each, isStrict)
  else if (isStrict) task.retry = 0
}
