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
    this.list('Passed only on a retry', tests.filter(isFlaky))
    this.list('Not run, since a hook failed', skipped.filter(wasToRun))
    this.list(
      'Skipped',
      skipped.filter((test) => !wasToRun(test)),
    )
  }

  private list(what: string, tests: readonly TestCase[]): void {
    if (tests.length === 0) return
    const lines = tests.map((test) => `   ${test.module.relativeModuleId} > ${test.fullName}`)
    this.vitest?.logger.log(`\n ${what} (${tests.length}):\n${lines.join('\n')}`)
  }
}

const isFlaky = (test: TestCase) => test.ok() && test.diagnostic()?.flaky === true
const isSkipped = (test: TestCase) => test.result().state === 'skipped'
const wasToRun = (test: TestCase) => test.options.mode === 'run'
