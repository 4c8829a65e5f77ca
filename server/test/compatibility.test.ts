import { readFile } from 'node:fs/promises'
import { type PublicOperation, publicOperations } from '@parley/contract'
import { describe, expect, it } from 'vitest'
import { describeCompatibility, missing, stateOf } from '../src/compatibility/table.ts'
import { routes } from '../src/routes.ts'
import { chatAreas } from './http/refusals.ts'

const declared = routes.map((route) => route.operation)

/** Areas that are complete: an operation of these that is not served is a mistake. */
const complete: ReadonlyArray<PublicOperation['area']> = [...chatAreas, 'Webhooks']

describe('the public contract', () => {
  it.each(complete)('is served whole in the area %s', (area) => {
    const unserved = publicOperations.filter(
      (operation) => operation.area === area && !stateOf(operation, declared).served,
    )
    expect(unserved).toEqual([])
  })

  it('gives its operation ids to the operations served', () => {
    for (const { id, method, path } of declared) {
      const known = publicOperations.find((operation) => operation.method === method && operation.path === path)
      if (known !== undefined) expect(id).toBe(known.id)
    }
  })

  it('is described in docs/compatibility.md as it is served', async () => {
    const written = await readFile(new URL('../../docs/compatibility.md', import.meta.url), 'utf8')
    expect(written, 'run npm run docs:compatibility').toBe(describeCompatibility(declared))
  })

  it('names as partly served only what is served', () => {
    for (const id of Object.keys(missing)) {
      const operation = publicOperations.find((known) => known.id === id)
      expect(operation && stateOf(operation, declared).served).toBe(true)
    }
  })
})
