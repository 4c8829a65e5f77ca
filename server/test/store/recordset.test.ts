import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { createRecordset } from '../../src/store/recordset.ts'
import { createWorld } from '../support/world.ts'

interface Row {
  readonly id: number
  readonly name: string | null
  readonly tags: readonly string[] | null
  readonly isOn: boolean
}

const recordset = createRecordset<Row>(
  [
    ['id', 'bigint', ({ id }) => id],
    ['name', 'text', ({ name }) => name],
    ['tags', 'text[]', ({ tags }) => tags],
    ['is_on', 'boolean', ({ isOn }) => isOn],
  ],
  { first: 2 },
)

describe('A recordset', () => {
  it('names columns, types and parameters in the order of its values', () => {
    expect(recordset.sql).toBe(
      'unnest($2::bigint[], $3::text[], $4::text[], $5::boolean[]) as r(id, name, tags, is_on)',
    )
    expect(recordset.values([{ id: 1, name: null, tags: ['a'], isOn: true }])[recordset.indexOf('is_on')]).toBe(
      '{true}',
    )
  })

  it('brings rows to the database as they are', async () => {
    const { database } = (await createWorld()).context
    const rows: Row[] = [
      { id: 1, name: 'a "quoted" \\ one, {with} NULL', tags: ['x', 'y "z"', ''], isOn: true },
      { id: 2, name: null, tags: null, isOn: false },
      { id: 3, name: '', tags: [], isOn: true },
    ]
    const [ids, names, tags, isOn] = recordset.values(rows)
    const found = await database.run(sql<Row>`
      select id, name, tags::text[] as tags, is_on as "isOn"
      from unnest(${ids}::bigint[], ${names}::text[], ${tags}::text[], ${isOn}::boolean[]) as r(id, name, tags, is_on)
      order by id`)
    expect(found).toEqual(rows)
  })
})
