import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, it } from 'vitest'
import { type Catalogue, catalogueSql, toCatalogue } from '../../src/cli/export/catalogue.ts'
import { leftOut, places, special, specialMade } from '../../src/cli/export/places.ts'
import { statement } from '../../src/store/statement.ts'
import { tables } from '../../src/tables.ts'
import { sharedService } from '../support/service.ts'

let catalogue: Catalogue

beforeAll(async () => {
  const { parley } = await sharedService()
  catalogue = toCatalogue(await parley.context.database.query(statement(catalogueSql)))
})

describe('every table of the service', () => {
  const exported = new Set(places.map(({ table }) => table))

  it('is exported, or named as left out with a reason, in cli/export/places.ts', () => {
    const known = (name: string) =>
      [exported.has(name), Object.hasOwn(special, name), Object.hasOwn(leftOut, name)].filter(Boolean).length
    const wrong = tables.map(({ name }) => name).filter((name) => known(name) !== 1)
    expect(wrong, 'neither or both').toEqual([])
    const names = new Set(tables.map(({ name }) => name))
    const gone = [...exported, ...Object.keys(special), ...Object.keys(leftOut)].filter((name) => !names.has(name))
    expect(gone, 'no such table').toEqual([])
  })

  it('has every column in a record, or named with the reason why not', () => {
    const wrong = places.flatMap((place) => {
      const columns = [...(catalogue.get(place.table)?.keys() ?? [])].filter((name) => name !== 'app_id')
      const inRecord = new Set(place.members.values())
      const isSpecial = (name: string) => Object.hasOwn(place.made, name)
      return [
        ...columns.filter((name) => inRecord.has(name) === isSpecial(name)).map((name) => `${place.file}: ${name}`),
        ...[...inRecord, ...Object.keys(place.made)]
          .filter((name) => !columns.includes(name))
          .map((name) => `${place.file}: ${name} is no column`),
      ]
    })
    expect(wrong).toEqual([])
    expect(Object.keys(specialMade)).toEqual(['reactions'])
  })

  it('has a name of its own for each file and each member', () => {
    const files = places.map(({ file }) => file)
    expect(new Set(files).size).toBe(files.length)
    for (const { members, file } of places) expect(new Set(members.values()).size, file).toBe(members.size)
  })

  it('stands in the tables of docs/moving-out.md', () => {
    const text = readFileSync(new URL('../../../docs/moving-out.md', import.meta.url), 'utf8')
    const rows = places.map(({ file, holds }) => `| \`${file}.ndjson\` | ${holds} |`)
    expect(rows.filter((row) => !text.includes(row))).toEqual([])
    const out = Object.entries(leftOut).map(([table, reason]) => `| \`${table}\` | ${reason} |`)
    expect(out.filter((row) => !text.includes(row))).toEqual([])
  })
})
