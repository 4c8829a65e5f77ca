import { appLimitReached, type BodyOf, type createReason, limits, type updateReason } from '@parley/contract'
import { lockApp } from '../../../chat/apps.ts'
import { changesOf } from '../../../chat/audit/changes.ts'
import { predefinedReasons } from '../../../chat/moderation/predefined.ts'
import { type ReasonRow, readFormerReason, readReason, readReasons } from '../../../chat/moderation/reasons.ts'
import type { Context } from '../../../context.ts'
import type { Queryable, Transaction } from '../../../store/database.ts'
import { statement } from '../../../store/statement.ts'
import { reasonExists, unknownReason } from '../errors.ts'

type Changing = Pick<Context, 'database' | 'audit' | 'flagReasons'>

/** Also one that was removed, which then is a new one. */
const write = statement(`
  insert into moderation_reasons (app_id, id, name, description, predefined, removed, created_at, updated_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8)
  on conflict (app_id, id) do update
  set name = excluded.name,
    description = excluded.description,
    removed = excluded.removed,
    created_at = excluded.created_at,
    updated_at = excluded.updated_at`)

async function store(tx: Transaction, appId: number, row: ReasonRow): Promise<ReasonRow> {
  const { id, name, description, predefined, removed, createdAt, updatedAt } = row
  await tx.query(write, [appId, id, name, description, predefined, removed, createdAt, updatedAt])
  return row
}

/** @throws 409 `ERR_REASON_ALREADY_EXISTS`; 400 where the app has all it can have */
export function makeReason(context: Changing, appId: number, body: BodyOf<typeof createReason>): Promise<ReasonRow> {
  const { id, name, description = null } = body
  const predefined = Object.hasOwn(predefinedReasons, id)
  return changing(context, appId, async (tx) => {
    if ((await readReason(tx, appId, id)) !== undefined) throw reasonExists(id)
    const { reasonsPerApp } = limits.moderation
    const own = (await readReasons(tx, appId)).filter((reason) => !reason.predefined)
    if (!predefined && own.length >= reasonsPerApp) {
      throw appLimitReached(reasonsPerApp, 'reasons for flagging besides the predefined ones')
    }
    const now = Math.floor(Date.now() / 1000)
    const details = changesOf(undefined, { name, description })
    await context.audit.record(tx, appId, { action: 'moderation_reason_created', type: 'reason', target: id, details })
    const times = { createdAt: now, updatedAt: now }
    return store(tx, appId, { id, name, description, predefined, removed: false, ...times })
  })
}

/** @throws 404 `ERR_REASON_NOT_FOUND` */
export function renameReason(
  context: Changing,
  appId: number,
  id: string,
  { name, description }: BodyOf<typeof updateReason>,
): Promise<ReasonRow> {
  return changing(context, appId, async (tx) => {
    const row = await requireReason(tx, appId, id)
    const details = changesOf(recorded(row), { name, description: description ?? row.description })
    await context.audit.record(tx, appId, { action: 'moderation_reason_updated', type: 'reason', target: id, details })
    const updatedAt = Math.max(Math.floor(Date.now() / 1000), row.updatedAt)
    return store(tx, appId, { ...row, name, description: description ?? row.description, updatedAt })
  })
}

/** What the audit log has of a reason. */
const recorded = ({ name, description }: ReasonRow) => ({ name, description })

/** Removes a reason; flags that name it keep its id. @throws 404 `ERR_REASON_NOT_FOUND` */
export async function removeReason(context: Changing, appId: number, id: string): Promise<void> {
  await changing(context, appId, async (tx) => {
    const row = await requireReason(tx, appId, id)
    await store(tx, appId, { ...row, removed: true })
    const details = changesOf(recorded(row), undefined)
    await context.audit.record(tx, appId, { action: 'moderation_reason_deleted', type: 'reason', target: id, details })
  })
}

/** @throws 404 `ERR_REASON_NOT_FOUND` */
export async function requireReason(on: Queryable, appId: number, id: string): Promise<ReasonRow> {
  const row = await readFormerReason(on, appId, id)
  if (row === undefined || row.removed) throw unknownReason(id)
  return row
}

function changing<Result>(
  { database, flagReasons }: Changing,
  appId: number,
  work: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  return database.transaction(async (tx) => {
    await lockApp(tx, appId)
    const done = await work(tx)
    await flagReasons.announce(tx, appId)
    return done
  })
}
