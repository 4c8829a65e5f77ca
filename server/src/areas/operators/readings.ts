import { type AdminBodyOf, badRequest, type openReading } from '@parley/contract'
import { deployment } from '../../chat/audit/audit.ts'
import type { App } from '../../chat/identity.ts'
import type { Context } from '../../context.ts'
import { statement } from '../../store/statement.ts'
import type { Operator } from './accounts.ts'

/** Of the whole app. */
export const everything = '*'

const readingSeconds = 3600

const select = statement(`
  select subject as of, reason, opened_at as "openedAt", until
  from operator_readings
  where app_id = $1
  and operator_id = $2
  and until > $3
  order by opened_at desc, subject`)

const open = statement(`
  insert into operator_readings (app_id, operator_id, subject, reason, opened_at, until)
  values ($1, $2, $3, $4, $5, $6)
  on conflict (app_id, operator_id, subject) do update
  set reason = excluded.reason, opened_at = excluded.opened_at, until = excluded.until`)

const removeOver = statement(`
  delete from operator_readings
  where app_id = $1
  and operator_id = $2
  and until <= $3`)

/** What an operator may read at the moment, and why. */
export interface Reading {
  /** ID of a conversation, or `*`. */
  readonly of: string
  readonly reason: string
  readonly openedAt: number
  readonly until: number
}

export function listOwnReadings(
  { database }: Pick<Context, 'database'>,
  app: App,
  { account }: Operator,
): Promise<Reading[]> {
  return database.query<Reading>(select, [app.appId, account.id, Math.floor(Date.now() / 1000)])
}

/** Lets an operator read a conversation, or all of an app, for an hour. The reason is recorded in the app's audit log. */
export async function openOwnReading(
  context: Context,
  app: App,
  { account }: Operator,
  { of, reason: text }: AdminBodyOf<typeof openReading>,
): Promise<Reading> {
  const reason = text.trim()
  if (reason.length < 3) throw badRequest([{ path: 'body/reason', message: 'must say why' }])
  const now = Math.floor(Date.now() / 1000)
  const until = now + readingSeconds
  await context.database.transaction(async (tx) => {
    await tx.query(removeOver, [app.appId, account.id, now])
    await tx.query(open, [app.appId, account.id, of, reason, now, until])
    await context.audit.record(tx, app.appId, {
      ...{ action: 'reading_opened', type: 'conversation', target: of, details: { reason, until } },
    })
  })
  return { of, reason, openedAt: now, until }
}

const removeForgotten = statement(`
  delete from operator_reads
  where app_id = $1
  and operator_id = $2
  and at <= $3`)

const noteReads = statement(`
  insert into operator_reads (app_id, operator_id, conversation, at)
  select $1, $2, unnest($3::text[]), $4
  on conflict do nothing
  returning conversation`)

/**
 * Records what an operator is shown by a reading of the whole app: each conversation once an hour.
 * @param appId that of the deployment for what is of no app
 */
export async function recordReads(
  { database, audit }: Pick<Context, 'database' | 'audit'>,
  appId: number,
  { account }: Operator,
  conversations: Iterable<string>,
  reason: string,
): Promise<void> {
  const now = Math.floor(Date.now() / 1000)
  const read = [...conversations].sort()
  await database.transaction(async (tx) => {
    await tx.query(removeForgotten, [appId, account.id, now - readingSeconds])
    const fresh = await tx.query<{ conversation: string }>(noteReads, [appId, account.id, read, now])
    for (const { conversation } of fresh) {
      const [action, type] =
        appId === deployment
          ? (['emulators_read', 'operator'] as const)
          : (['conversation_read', 'conversation'] as const)
      const target = appId === deployment ? String(account.id) : conversation
      await audit.record(tx, appId, { action, type, target, details: { reason } })
    }
  })
}
