import { readFile } from 'node:fs/promises'
import { type PublicOperation, publicOperations } from '@parley/contract'
import { describe, expect, it } from 'vitest'
import { withErrorCodes } from '../src/compatibility/errors.ts'
import { describeCompatibility, missing, servedOperations, stateOf } from '../src/compatibility/table.ts'
import { routesByFile } from '../src/routes.ts'
import { chatAreas } from './http/refusals.ts'

const served = servedOperations(routesByFile)

/** Areas that are complete: an operation of these that is not served is a mistake. */
const complete: ReadonlyArray<PublicOperation['area']> = [...chatAreas, 'Webhooks']

describe('the public contract', () => {
  it.each(complete)('is served whole in the area %s', (area) => {
    const unserved = publicOperations.filter(
      (operation) => operation.area === area && !stateOf(operation, served).served,
    )
    expect(unserved).toEqual([])
  })

  it('gives its operation ids to the operations served', () => {
    for (const { id, method, path } of served.map((one) => one.operation)) {
      const known = publicOperations.find((operation) => operation.method === method && operation.path === path)
      if (known !== undefined) expect(id).toBe(known.id)
    }
  })

  it('is described in docs/compatibility.md as it is served', async () => {
    const written = await readFile(new URL('../../docs/compatibility.md', import.meta.url), 'utf8')
    expect(written, 'run npm run docs:compatibility').toBe(describeCompatibility(served))
  })

  it('has all its error codes in docs/api.md', async () => {
    const written = await readFile(new URL('../../docs/api.md', import.meta.url), 'utf8')
    expect(written, 'run npm run docs:compatibility').toBe(withErrorCodes(written))
    expect(written).toContain('| `ERR_UID_NOT_FOUND` | 404 | This user does not exist. |')
  })

  it('links each operation to a file that names it', async () => {
    for (const { operation, file } of served) {
      const text = await readFile(new URL(`../src/${file}`, import.meta.url), 'utf8')
      expect(text, `${file} serves ${operation.id}`).toMatch(/\bserve\(/)
    }
    const files = new Set(served.map(({ file }) => file))
    expect(files.size).toBe(Object.keys(routesByFile).length)
  })

  it('names as partly served only what is served', () => {
    for (const id of Object.keys(missing)) {
      const operation = publicOperations.find((known) => known.id === id)
      expect(operation && stateOf(operation, served).served).toBe(true)
    }
  })
})
