import { BaseSequencer, type TestSpecification } from 'vitest/node'
import longPaths from './long.json' with { type: 'json' }
import strictPaths from './strict.json' with { type: 'json' }

/**
 * Long files first, so that nobody waits for one of them alone at the end: those that `long.json` names, the longest at the
 * top; then the strict ones, which mostly wait.
 */
export default class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return sorted.toSorted((a, b) => placeOf(a) - placeOf(b))
  }
}

function placeOf({ moduleId }: TestSpecification): number {
  const place = longPaths.findIndex((path) => moduleId.includes(`/${path}`))
  if (place !== -1) return place
  return longPaths.length + (strictPaths.some((part) => moduleId.includes(part)) ? 0 : 1)
}
