import type { Context } from '../../context.ts'
import type { Queryable, Transaction } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'
import { erase } from '../erasure.ts'
import { formerUid } from '../naming.ts'

const note = statement(`
  insert into former_users as f (app_id, uid, times, last_event)
  select $1, $2, 1, last_value
  from event_ids
  on conflict (app_id, uid) do update
  set times = f.times + 1,
    last_event = excluded.last_event`)

/** Notes that a uid is removed for good: at the end of the transaction in which it is, when its last events are written. */
export async function noteFormerUser(tx: Transaction, appId: number, uid: string): Promise<void> {
  await tx.query(note, [appId, uid])
}

/** A uid that was removed for good. */
export interface FormerUser {
  readonly uid: string
  /** How often it was. */
  readonly times: number
  /** Events up to this id that name the uid are about those who had it before. */
  readonly lastEvent: number
}

const select = statement(`
  select uid, times, last_event as "lastEvent"
  from former_users
  where app_id = $1
  and uid = any($2::text[])`)

/** Which of some uids were removed for good, in use again or not. */
export async function readFormerUsers(
  on: Queryable,
  appId: number,
  uids: Iterable<string>,
): Promise<ReadonlyMap<string, FormerUser>> {
  const wanted = [...new Set(uids)]
  if (wanted.length === 0) return new Map()
  const rows = await on.query<FormerUser>(select, [appId, wanted])
  return new Map(rows.map((row) => [row.uid, row]))
}

/**
 * Keeps what former holders of uids left apart from the users who have just been given them: old messages in groups stay
 * those of a deleted user, whom nobody can be. Whatever keeps the uid in memory forgets it.
 * @param uids of new users, in lower case
 * @returns those of them that somebody had before
 */
export async function keepFormersApart(
  { tables, events }: Pick<Context, 'tables' | 'events'>,
  tx: Transaction,
  appId: number,
  uids: readonly string[],
): Promise<string[]> {
  const formers = [...(await readFormerUsers(tx, appId, uids)).values()]
  for (const { uid, times } of formers) {
    await erase(tx, tables, 'ofReuse', { appId, uid, former: formerUid(uid, times) })
    tx.afterCommit(() => events.publish(appId, { control: 'sessions_ended', uid }))
  }
  return formers.map(({ uid }) => uid)
}
