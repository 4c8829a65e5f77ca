import { lockConversation } from '../../chat/conversations/membership.ts'
import type { App } from '../../chat/identity.ts'
import { type ConversationKind, kindSql } from '../../chat/kind.ts'
import { conversationId } from '../../chat/naming.ts'
import { waitForStep } from '../../chat/retention/lock.ts'
import { lockUser } from '../../chat/users/locks.ts'
import type { Context } from '../../context.ts'
import type { Queryable, Transaction } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'
import { maxHolds, notOnHold, tooManyHolds, unknownConversation } from './errors.ts'

type Store = Pick<Context, 'database' | 'audit'>

/** What is put on hold: a user, or a conversation by its key. */
export type Held = { readonly uid: string } | { readonly conversation: number; readonly name: string }

interface HoldRow {
  readonly uid: string | null
  readonly kind: ConversationKind | null
  readonly first: string | null
  readonly second: string | null
  readonly note: string | null
  readonly heldAt: number
}

const select = (condition: string) =>
  statement(`
  select h.uid, ${kindSql('c.kind')} as kind, c.first, c.second, h.note, h.held_at as "heldAt"
  from retention_holds h
  left join conversations c on c.app_id = h.app_id and c.key = h.conversation
  where h.app_id = $1${condition}
  order by h.id desc
  limit ${maxHolds}`)

const selectAll = select('')
const selectOf = select(`
  and (h.uid = $2 or h.conversation = $3)`)

const count = statement(`
  select count(*) as count
  from retention_holds
  where app_id = $1`)

const remove = statement(`
  delete from retention_holds
  where app_id = $1
  and (uid = $2 or conversation = $3)
  returning id`)

const insert = statement(`
  insert into retention_holds (app_id, uid, conversation, note, held_at)
  values ($1, $2, $3, $4, $5)`)

/** What was passed over is looked at again. */
const beginAnew = statement(`
  delete from retention_progress
  where app_id = $1`)

const valuesOf = (held: Held) => ('uid' in held ? [held.uid, null] : [null, held.conversation])

/**
 * Puts something on hold; a hold that there is gets another note.
 * @throws 403 `ERR_PLAN_QUOTA_RESTRICTION`; 404 `ERR_UID_NOT_FOUND`, `ERR_CONVERSATION_NOT_FOUND` for what is gone meanwhile
 */
export function setHold({ database, audit }: Store, app: App, held: Held, note: string | undefined) {
  const { appId } = app
  return database.transaction(async (tx) => {
    await waitForStep(tx, appId)
    await keep(tx, appId, held)
    await tx.query(remove, [appId, ...valuesOf(held)])
    const [held_] = await tx.query<{ count: number }>(count, [appId])
    if ((held_?.count ?? 0) >= maxHolds) throw tooManyHolds()
    await tx.query(insert, [appId, ...valuesOf(held), note ?? null, Math.floor(Date.now() / 1000)])
    await record(audit, tx, app, 'retention_hold_set', held)
    const [row] = await tx.query<HoldRow>(selectOf, [appId, ...valuesOf(held)])
    return showHold(row as HoldRow)
  })
}

/** Nobody removes it until the transaction ends: a hold that came after what removes holds would stay. */
async function keep(tx: Transaction, appId: number, held: Held): Promise<void> {
  if ('uid' in held) await lockUser(tx, appId, held.uid)
  else if (!(await lockConversation(tx, appId, held.conversation))) throw unknownConversation(held.name)
}

/** @throws 404 `ERR_HOLD_NOT_FOUND` */
export function liftHold({ database, audit }: Store, app: App, held: Held): Promise<void> {
  const { appId } = app
  return database.transaction(async (tx) => {
    await waitForStep(tx, appId)
    const removed = await tx.query(remove, [appId, ...valuesOf(held)])
    if (removed.length === 0) throw notOnHold('uid' in held ? held.uid : held.name)
    await tx.query(beginAnew, [appId])
    await record(audit, tx, app, 'retention_hold_lifted', held)
  })
}

/** A conversation of two is recorded by its key: its name holds their uids, which the log must be able to forget. */
function record(
  audit: Context['audit'],
  tx: Transaction,
  app: App,
  action: 'retention_hold_set' | 'retention_hold_lifted',
  held: Held,
): Promise<void> {
  const target = 'uid' in held ? { type: 'user', target: held.uid } : { type: 'app', target: app.name }
  const details = 'uid' in held ? {} : { details: { conversation: held.conversation } }
  return audit.record(tx, app.appId, { action, ...(target as { type: 'user' | 'app'; target: string }), ...details })
}

export async function listHolds(on: Queryable, appId: number) {
  return (await on.query<HoldRow>(selectAll, [appId])).map(showHold)
}

function showHold({ uid, kind, first, second, note, heldAt }: HoldRow) {
  return {
    ...(uid !== null && { uid }),
    ...(kind !== null && { conversationId: conversationId(kind, first as string, second as string) }),
    ...(note !== null && { note }),
    heldAt,
  }
}
