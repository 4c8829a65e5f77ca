import { readFileSync } from 'node:fs'
import { operatorRights, rightOf } from '@parley/contract'
import { expect, it } from 'vitest'
import { routes } from '../../src/routes.ts'

// Written by hand: `rightOf` has a default for each operation, and `look` is a right of every role.
const listed: unknown = JSON.parse(readFileSync(new URL('rights.json', import.meta.url), 'utf8'))

it('the right that each operation asks of an operator is the one that rights.json lists it under', () => {
  const asked = Object.keys(operatorRights).map((right) => {
    const ids = routes.flatMap(({ operation }) => (rightOf(operation) === right ? [operation.id] : []))
    return [right, ids.sort()] as const
  })
  expect(Object.fromEntries(asked.filter(([, ids]) => ids.length > 0))).toEqual(listed)
})
