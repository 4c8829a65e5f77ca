import { expect, test } from 'vitest'
import * as contract from '../src/index.ts'

const operations = Object.values<unknown>(contract).filter(
  (value): value is contract.Operation =>
    typeof value === 'object' && value !== null && 'path' in value && 'summary' in value && 'method' in value,
)

test('every operation has a title of its own, so that the reference can be read by titles', () => {
  expect(operations.length).toBeGreaterThan(100)
  const titles = operations.map(({ summary }) => summary)
  expect(titles.filter((title, i) => titles.indexOf(title) !== i)).toEqual([])
})
