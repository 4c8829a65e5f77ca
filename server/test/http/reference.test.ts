import { readFile } from 'node:fs/promises'
import { beforeAll, describe, expect, it } from 'vitest'
import { startService } from '../support/service.ts'
import { createWorld } from '../support/world.ts'
import { ask } from './watched.ts'

interface Described {
  readonly operationId: string
  readonly summary: string
  readonly description?: string
  readonly tags: readonly string[]
}

interface Document {
  readonly info: { readonly version: string; readonly description: string }
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>
}

let document: Document
let operations: Described[]

beforeAll(async () => {
  const { url } = await createWorld()
  document = (await ask(`${url}/openapi.json`)).body
  operations = Object.values(document.paths).flatMap((item) => Object.values(item))
})

describe('/openapi.json', () => {
  it('has the version of the product', async () => {
    const file = await readFile(new URL('../../package.json', import.meta.url), 'utf8')
    expect(document.info.version).toBe(JSON.parse(file).version)
  })

  it('says of each area what it is, users and messages first, and none is empty', () => {
    const names = document.tags.map(({ name }) => name)
    expect(names.slice(0, 2)).toEqual(['Users', 'Messages'])
    expect(names.toSorted()).toEqual([...new Set(operations.flatMap(({ tags }) => tags))].sort())
    for (const { name, description } of document.tags) expect(description, name).toMatch(/\.$/)
  })

  it('has a guide that names headers of answers as they are', async () => {
    const named = [...document.info.description.matchAll(/`(x-[\w-]+)`/g)].map(([, header]) => header as string)
    expect(named.length).toBeGreaterThan(1)
    const limited = await startService({ RATE_LIMITS: 'core=1000,standard=1000' })
    const { headers } = await (await createWorld(limited)).get('/users')
    await limited.parley.close()
    expect(named.filter((header) => headers[header] === undefined)).toEqual([])
  })

  it('describes each operation in at least a sentence', () => {
    const wanting = operations.filter(({ description }) => !/[.:!?)`]$/.test(description ?? ''))
    const ids = wanting.map(({ operationId }) => operationId)
    expect(ids, 'add a `description` to their declarations in contract/src/areas').toEqual([])
  })

  it('has no two operations of the same title', () => {
    expect(operations.length).toBeGreaterThan(200)
    const titles = operations.map(({ summary }) => summary)
    expect(
      titles.filter((title, place) => titles.indexOf(title) !== place),
      'change the `summary` of one of them',
    ).toEqual([])
  })
})
