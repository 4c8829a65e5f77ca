import pg from 'pg'
import { inject } from 'vitest'
import { digestOf } from '../../src/chat/users/erased.ts'
import { indexed } from '../support/search.ts'
import { createWorld, type World } from '../support/world.ts'
import { type Furnished, furnishInOrder } from './in-order.ts'
import { erasedUid, type furnish, type Ids } from './samples.ts'

/** What is of an app as such, or is sealed for it. */
const apart = ['apps', 'audit_log', 'audit_chains', 'ledger']
/** What is inserted there fills other tables, by triggers. */
const first = ['users', 'groups', 'reactions']
/** What every new app has. */
const given = ['users', 'roles']
/** Each world has keys of its own. */
const isCopied: Readonly<Record<string, string>> = { api_keys: `name not in ('test', 'front')` }

/** The tables with what is of an app, with their columns; of one that is in parts, the whole. */
const selectTables = `
  select c.oid::regclass::text as name,
    array_agg(quote_ident(a.attname) order by a.attnum) as columns,
    array_agg(a.atttypid::regtype::text order by a.attnum) as types
  from pg_class c
  join pg_attribute a on a.attrelid = c.oid
  where c.relkind in ('r', 'p')
  and not c.relispartition
  and c.relnamespace = 'public'::regnamespace
  and c.relname <> all ($1)
  and exists (select from pg_attribute where attrelid = c.oid and attname = 'app_id' and not attisdropped)
  and a.attnum > 0
  and not a.attisdropped
  and a.attgenerated = ''
  group by c.oid
  order by array_position($2, c.relname::text), c.relname`

/**
 * Copies of a furnished world, each an app of its own: to make one takes sixty requests, to copy it a statement for each table.
 * What names the app, in texts and in JSON, names the copy's.
 */
export function createCopier<Named extends Ids>(
  furnishIt: (world: World) => Promise<Named>,
  ...service: Parameters<typeof createWorld>
): () => Promise<{ world: World; ids: Named }> {
  let made: Promise<{ world: World; ids: Ids; copyTo(world: World): Promise<void> }> | undefined
  const make = async () => {
    const original = await furnishInOrder(furnishIt, ...service)
    await indexed(original.world)
    const client = new pg.Client(inject('connection'))
    await client.connect()
    // Nobody waits for it to end: the run does so with its database.
    client.on('error', () => {})
    const { rows } = await client.query<{ name: string; columns: string[]; types: string[] }>(selectTables, [
      apart,
      first,
    ])
    const { app } = original.world
    const copyTo = async (copy: World) => {
      const statements = rows.map(({ name, columns, types }) => {
        const values = columns.map((column, i) => {
          if (column === 'app_id') return copy.app.appId
          if (!['json', 'jsonb', 'text'].includes(types[i] as string)) return column
          return `replace(${column}::text, '${app.name}', '${copy.app.name}')::${types[i]}`
        })
        return `
          insert into ${name} (${columns.join(', ')}) overriding system value
          select ${values.join(', ')}
          from ${name}
          where app_id = ${app.appId}
          and ${isCopied[name] ?? 'true'}
          on conflict do nothing`
      })
      // What was erased is known by digests that are other ones in each app.
      const [before, now] = [original.world, copy].map(({ app, context }) =>
        digestOf(context.secrets, app.appId, 'uid', erasedUid).toString('hex'),
      )
      await client.query(
        [
          ...given.map((name) => `delete from ${name} where app_id = ${copy.app.appId}`),
          ...statements,
          ...['erasures', 'erased_digests'].map(
            (name) =>
              `update ${name} set digest = '\\x${now}' where app_id = ${copy.app.appId} and digest = '\\x${before}'`,
          ),
        ].join(';'),
      )
    }
    return { ...original, copyTo }
  }
  return async () => {
    made ??= make()
    const { world: original, ids, copyTo } = await made
    const world = await createWorld(...service)
    await copyTo(world)
    const named = Object.entries(ids).map(([name, id]) => [name, id.replaceAll(original.app.name, world.app.name)])
    return { world, ids: Object.fromEntries(named) as Named }
  }
}

/** Copies for operations that hardly change them, each for some in turn. */
export function createFurnisher(uses: number): (furnishIt: typeof furnish) => Promise<Furnished> {
  const copiers = new Map<typeof furnish, () => Promise<Furnished>>()
  const kept = new Map<typeof furnish, { readonly furnished: Furnished; left: number }>()
  return async (furnishIt) => {
    let one = kept.get(furnishIt)
    if (one === undefined || one.left === 0) {
      const copy = copiers.get(furnishIt) ?? createCopier(furnishIt)
      copiers.set(furnishIt, copy)
      one = { furnished: await copy(), left: uses }
      kept.set(furnishIt, one)
    }
    one.left--
    return one.furnished
  }
}
