import { BaseSequencer, type TestSpecification } from 'vitest/node'
import strictPaths from './strict.json' with { type: 'json' }

/** Strict tests first: they are the long ones, and mostly wait, so that nobody waits for one of them alone at the end. */
export default class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const isLong = ({ moduleId }: TestSpecification) => strictPaths.some((part) => moduleId.includes(part))
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))]
  }
}
