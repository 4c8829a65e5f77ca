import type { Queryable, Transaction } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'

/** What every revision of a rule or a list has, beside what it says. */
export interface Revised {
  readonly id: string
  /** Counts from 1, and never begins anew under the same id. */
  readonly revision: number
  readonly predefined: boolean
  /** It is the current one of what is still there. */
  readonly active: boolean
  /** Epoch seconds. */
  readonly createdAt: number
  readonly updatedAt: number
}

/** A kind of things with revisions: a table of what there is, and one of the revisions, the last of which outlives it. */
interface Kind<Text, Row extends Text & Revised> {
  readonly table: string
  readonly revisions: string
  /** The column of `revisions` that names what they are of. */
  readonly of: string
  /** Columns of `Row`, of revisions `v` and what they are of, `r`. */
  readonly columns: string
  /** The same for a list of revisions, where something in them is too large for that. */
  readonly columnsOfMany?: string
  /** The columns that hold what a revision says, in the order of `valuesOf`. */
  readonly said: readonly string[]
  readonly valuesOf: (text: Text) => unknown[]
  /** What every app has to begin with, in the order in which it is listed; nothing is stored of it until it is changed. */
  readonly shippedIds: () => readonly string[]
  readonly shipped: (id: string) => Row | undefined
  /** So many are kept of what is there: the newest ones. */
  readonly kept: number
  /** Conditions on revisions `v`: something names one, which is kept as long as that is there. */
  readonly named: readonly string[]
  /** Assignments to the last revision of what was removed, where nothing names it. */
  readonly emptied?: string
}

/** The last revision of something, whether it is still there or not. */
export interface Former<Row> {
  readonly row: Row
  /** Nothing of it is in the database. */
  readonly isShipped: boolean
}

export interface RevisionStore<Text, Row> {
  /** As it is now, also where it is as it was shipped. */
  read(on: Queryable, appId: number, id: string): Promise<Row | undefined>
  /** All there is: the app's own, the newest first, then the predefined ones. */
  readAll(on: Queryable, appId: number): Promise<Row[]>
  /** The revisions of something that is there, the newest first. */
  readRevisions(on: Queryable, appId: number, id: string, limit: number): Promise<Row[]>
  /** How many an app has of its own. */
  countOwn(on: Queryable, appId: number): Promise<number>
  readFormer(on: Queryable, appId: number, id: string): Promise<Former<Row> | undefined>
  /** Makes something, under an id that may have had revisions before. @param former its last revision then */
  insert(tx: Transaction, appId: number, id: string, text: Text, former: Former<Row> | undefined): Promise<void>
  /** Makes another revision the current one. Those that are many revisions old, and that nothing names, are cut. */
  advance(tx: Transaction, appId: number, former: Former<Row>, text: Text): Promise<void>
  /** The last revision stays, so that it goes on counting, and so do those that something names. */
  remove(tx: Transaction, appId: number, former: Former<Row>): Promise<void>
  /** Stores what was shipped as the first revision, unless something is stored already. */
  keepShipped(tx: Transaction, appId: number, former: Former<Row>): Promise<void>
}

/** Locks of the app are for the caller: whoever changes anything holds it. */
export function createRevisionStore<Text, Row extends Text & Revised>(kind: Kind<Text, Row>): RevisionStore<Text, Row> {
  const {
    table,
    revisions,
    of,
    columns,
    columnsOfMany = columns,
    said,
    valuesOf,
    shippedIds,
    shipped,
    kept,
    named,
    emptied,
  } = kind
  const current = `
  select ${columns}
  from ${table} r
  join ${revisions} v on v.app_id = r.app_id and v.${of} = r.id and v.revision = r.revision
  where r.app_id = $1`
  const selectOne = statement(`${current}
  and r.id = $2`)
  const selectAll = statement(`${current}
  order by v.created_at desc, r.key desc`)
  const selectRevisions = statement(`
  select ${columnsOfMany}
  from ${table} r
  join ${revisions} v on v.app_id = r.app_id and v.${of} = r.id
  where r.app_id = $1
  and r.id = $2
  order by v.revision desc
  limit $3`)
  const countOwn = statement(`
  select count(*) as count
  from ${table}
  where app_id = $1
  and not predefined
  and not removed`)
  const write = statement(`
  insert into ${table} (app_id, id, revision, predefined, created_at)
  values ($1, $2, $3, $4, $5)
  on conflict (app_id, id) do update
  set revision = excluded.revision,
    predefined = excluded.predefined,
    created_at = excluded.created_at,
    removed = false,
    key = default`)
  const advance = statement(`
  update ${table}
  set revision = $3
  where app_id = $1
  and id = $2`)
  const remove = statement(`
  update ${table}
  set removed = true
  where app_id = $1
  and id = $2`)
  const writeRevision = statement(`
  insert into ${revisions} (app_id, ${of}, revision, created_at, updated_at, ${said.join(', ')})
  values ($1, $2, $3, $4, $5, ${said.map((_, index) => `$${index + 6}`).join(', ')})`)
  const unnamed = named.map((condition) => `\n  and not ${condition}`).join('')
  const cut = statement(`
  delete from ${revisions} v
  where v.app_id = $1
  and v.${of} = $2
  and v.revision <= $3${unnamed}`)
  const empty =
    emptied === undefined
      ? undefined
      : statement(`
  update ${revisions} v
  set ${emptied}
  where v.app_id = $1
  and v.${of} = $2
  and v.revision = $3${unnamed}`)

  const insertRevision = async (
    tx: Transaction,
    appId: number,
    row: Omit<Revised, 'active' | 'predefined'>,
    text: Text,
  ) => {
    await tx.query(writeRevision, [appId, row.id, row.revision, row.createdAt, row.updatedAt, ...valuesOf(text)])
  }
  const keepShipped = async (tx: Transaction, appId: number, { row, isShipped }: Former<Row>) => {
    if (!isShipped) return
    await tx.query(write, [appId, row.id, row.revision, true, row.createdAt])
    await insertRevision(tx, appId, row, row)
  }
  return {
    async read(on, appId, id) {
      const [row] = await on.query<Row>(selectOne, [appId, id])
      if (row === undefined) return shipped(id)
      return row.active ? row : undefined
    },
    async readAll(on, appId) {
      const rows = await on.query<Row>(selectAll, [appId])
      const stored = new Map(rows.map((row) => [row.id, row]))
      const ids = new Set(shippedIds())
      const isPredefined = (row: Row) => row.predefined && ids.has(row.id)
      const predefined = [...ids].map((id) => stored.get(id) ?? shipped(id))
      const all = [...rows.filter((row) => !isPredefined(row)), ...predefined.filter((row) => row?.predefined === true)]
      return all.filter((row): row is Row => row?.active === true)
    },
    async readRevisions(on, appId, id, limit) {
      const rows = await on.query<Row>(selectRevisions, [appId, id, limit])
      const untouched = rows.length === 0 ? shipped(id) : undefined
      return untouched === undefined ? rows : [untouched]
    },
    async countOwn(on, appId) {
      const [row] = await on.query<{ count: number }>(countOwn, [appId])
      return row?.count ?? 0
    },
    async readFormer(on, appId, id) {
      const [row] = await on.query<Row>(selectOne, [appId, id])
      if (row !== undefined) return { row, isShipped: false }
      const untouched = shipped(id)
      return untouched && { row: untouched, isShipped: true }
    },
    async insert(tx, appId, id, text, former) {
      const now = epochSeconds()
      const revision = (former?.row.revision ?? 0) + 1
      await tx.query(write, [appId, id, revision, shippedIds().includes(id), now])
      await insertRevision(tx, appId, { id, revision, createdAt: now, updatedAt: now }, text)
    },
    async advance(tx, appId, former, text) {
      await keepShipped(tx, appId, former)
      const { id, createdAt, updatedAt } = former.row
      const revision = former.row.revision + 1
      await insertRevision(tx, appId, { id, revision, createdAt, updatedAt: Math.max(epochSeconds(), updatedAt) }, text)
      await tx.query(advance, [appId, id, revision])
      await tx.query(cut, [appId, id, revision - kept])
    },
    async remove(tx, appId, former) {
      await keepShipped(tx, appId, former)
      const { id, revision } = former.row
      await tx.query(remove, [appId, id])
      await tx.query(cut, [appId, id, revision - 1])
      if (empty !== undefined) await tx.query(empty, [appId, id, revision])
    },
    keepShipped,
  }
}

function epochSeconds(): number {
  return Math.floor(Date.now() / 1000)
}
