import { type AdminBodyOf, badRequest, type openReading } from '@parley/contract'
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
