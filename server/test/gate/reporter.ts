import type { Reporter, TestCase, TestModule, Vitest } from 'vitest/node'

/**
 * Says at the end, by name, what a green run hides: tests that passed only on a second try, and tests that did not run.
 * Why one was skipped stands in its name; see `needs.ts`.
 */
export default class GateReporter implements Reporter {
  private vitest: Vitest | undefined

  onInit(vitest: Vitest): void {
    this.vitest = vitest
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()])
    // With `-t`, everything else counts as skipped.
    const skipped = this.vitest?.config.testNamePattern === undefined ? tests.filter(isSkipped) : []
    const kept = skipped.filter(wasToRun).map(fileOf)
    this.list('Passed only on a retry', tests.filter(isFlaky).map(nameOf))
    // One hook may keep hundreds from running.
    this.list(
      'Not run, since a hook failed',
      [...new Set(kept)].map((file) => `${file}: ${kept.filter((each) => each === file).length}`),
    )
    this.list('Skipped', skipped.filter((test) => !wasToRun(test)).map(nameOf))
  }

  private list(what: string, lines: readonly string[]): void {
    if (lines.length > 0) this.vitest?.logger.log(`\n ${what}:\n   ${lines.join('\n   ')}`)
  }
}

const fileOf = (test: TestCase) => test.module.relativeModuleId
const nameOf = (test: TestCase) => `${fileOf(test)} > ${test.fullName}`
const isFlaky = (test: TestCase) => test.ok() && test.diagnostic()?.flaky === true
const isSkipped = (test: TestCase) => test.result().state === 'skipped'
const wasToRun = (test: TestCase) => test.options.mode === 'run'
