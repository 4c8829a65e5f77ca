import { badRequest, limits, type MutedConversation } from '@parley/contract'
import { type ConversationKind, kindSql, storedKind } from '../../chat/kind.ts'
import { lockUser } from '../../chat/users/locks.ts'
import { refuseDeactivated } from '../../chat/users/require.ts'
import type { Context } from '../../context.ts'
import type { Queryable } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'
import { tooManyMutes } from './errors.ts'

/** What is over is not there any more. */
const select = statement(`
  select ${kindSql('kind')} as kind, peer, until
  from notification_mutes
  where app_id = $1
  and uid = $2
  and (until is null or until > $3)
  order by notification_mutes.kind, peer`)

const insert = statement(`
  insert into notification_mutes (app_id, uid, kind, peer, until)
  select $1, $2, m.kind, m.peer, m.until
  from unnest($3::smallint[], $4::text[], $5::bigint[]) as m(kind, peer, until)
  on conflict (app_id, uid, kind, peer) do update
  set until = excluded.until`)

const removePast = statement(`
  delete from notification_mutes
  where app_id = $1
  and uid = $2
  and until <= $3`)

const count = statement(`
  select count(*) as count
  from notification_mutes
  where app_id = $1
  and uid = $2`)

const remove = statement(`
  delete from notification_mutes m
  using unnest($3::smallint[], $4::text[]) as g(kind, peer)
  where m.app_id = $1
  and m.uid = $2
  and m.kind = g.kind
  and m.peer = g.peer`)

type Named = Pick<MutedConversation, 'id' | 'type'>

const kindOf = ({ type }: Named) => storedKind(type === 'oneOnOne' ? 'user' : 'group')
const peerOf = ({ id }: Named) => id.toLowerCase()

interface MuteRow {
  readonly kind: ConversationKind
  readonly peer: string
  readonly until: number | null
}

/** The conversations that a user has muted now. */
export async function listMutes(on: Queryable, appId: number, uid: string): Promise<MutedConversation[]> {
  const rows = await on.query<MuteRow>(select, [appId, uid, Date.now()])
  return rows.map(({ kind, peer, until }) => ({
    id: peer,
    type: kind === 'user' ? 'oneOnOne' : 'group',
    ...(until !== null && { until }),
  }))
}

/**
 * Mutes conversations; of one that is named twice the last counts. Whether there is such a user or group is not asked: who
 * mutes would learn of groups that they must not know of.
 * @throws 400 for a time that is not in the future, and beyond the limit
 */
export async function mute(
  { database }: Pick<Context, 'database'>,
  appId: number,
  uid: string,
  conversations: readonly MutedConversation[],
): Promise<void> {
  const now = Date.now()
  const past = conversations.flatMap(({ until }, i) =>
    until !== undefined && until <= now
      ? [{ path: `body/conversations/${i}/until`, message: 'must be in the future, in epoch milliseconds' }]
      : [],
  )
  if (past.length > 0) throw badRequest(past)
  const last = [...new Map(conversations.map((one) => [`${one.type} ${peerOf(one)}`, one])).values()]
  await database.transaction(async (tx) => {
    refuseDeactivated(await lockUser(tx, appId, uid))
    await tx.query(removePast, [appId, uid, now])
    await tx.query(insert, [appId, uid, last.map(kindOf), last.map(peerOf), last.map(({ until }) => until ?? null)])
    const [counted] = await tx.query<{ count: number }>(count, [appId, uid])
    const { mutesPerUser } = limits.notifications
    if ((counted?.count ?? 0) > mutesPerUser) throw tooManyMutes(mutesPerUser)
  })
}

export async function unmute(
  { database }: Pick<Context, 'database'>,
  appId: number,
  uid: string,
  conversations: readonly Named[],
): Promise<void> {
  await database.query(remove, [appId, uid, conversations.map(kindOf), conversations.map(peerOf)])
}
