import type { Erasure } from '@parley/contract'
import { sql } from 'kysely'
import { inConversation } from '../../chat/audit/tables.ts'
import { type ErasableTable, type ErasedUser, everyMessage, type Tally } from '../../chat/erasure.ts'
import { changedBy, isMemberAction } from '../../chat/messages/tables.ts'
import { digestOf } from '../../chat/users/erased.ts'
import { showDeletedUser } from '../../chat/users/rows.ts'
import type { Context } from '../../context.ts'
import { appKey } from '../../store/app-key.ts'
import type { Queryable, Transaction } from '../../store/database.ts'
import type { Secrets } from '../../store/secrets.ts'
import { type Fragment, statement } from '../../store/statement.ts'

/** What a user leaves who is erased, as it is found under the locks. */
export interface ErasedIds {
  /** Ids of all messages in their one-to-one conversations. */
  readonly messages: readonly number[]
  /** Muids of those, and of what they wrote in groups. */
  readonly muids: readonly string[]
}

const selectErasedIds = statement(`
  select id, muid
  from messages
  where app_id = $1
  and conversation = any($2::bigint[])
  and (not purged or purged)`)

const selectMuidsInGroups = statement(`
  select muid
  from messages
  where app_id = $1
  and sender = $2
  and kind = 2
  and muid is not null`)

export async function readErasedIds(tx: Transaction, { appId, uid, pairs }: ErasedUser): Promise<ErasedIds> {
  const rows = await tx.query<{ id: number; muid: string | null }>(selectErasedIds, [appId, pairs])
  const inGroups = await tx.query<{ muid: string }>(selectMuidsInGroups, [appId, uid])
  return {
    messages: rows.map(({ id }) => id),
    muids: [...rows.flatMap(({ muid }) => muid ?? []), ...inGroups.map(({ muid }) => muid)],
  }
}

const byReviewer =
  (column: string) =>
  ({ uid }: ErasedUser) => [sql`lower(${sql.ref(column)}) = ${uid}`]

/** Action messages of groups that still tell more of the user, as who acted or as whom it was done to, than of anybody deleted. */
function namedBy({ uid }: ErasedUser, role: 'by' | 'on'): Fragment {
  const entity = sql.lit(`{entities,${role},entity}`)
  return sql`${isMemberAction} and data #>> ${sql.lit(`{entities,${role},entity,uid}`)} = ${uid}
      and (data #> ${entity})::jsonb <> ${JSON.stringify(showDeletedUser(uid))}::jsonb`
}

/** How tables are read back whose rows hang on a user by more than the columns that `naming` has. */
const otherwise: Readonly<Record<string, (user: ErasedUser) => Fragment[]>> = {
  conversations: ({ pairs }) => [sql`key = any(${pairs}::bigint[])`],
  app_pinned_conversations: ({ uid }) => [sql`kind = 1 and peer = ${uid}`],
  notification_mutes: ({ uid }) => [sql`kind = 1 and peer = ${uid}`],
  groups: ({ uid }) => [sql`owner = ${uid}`, sql`updated_by = ${uid}`],
  group_bans: ({ uid }) => [sql`banned_by = ${uid}`],
  pinned_messages: ({ uid }) => [sql`pinned_by = ${uid}`],
  messages: (user) => [
    changedBy('edited_by', user.uid),
    changedBy('deleted_by', user.uid),
    namedBy(user, 'on'),
    sql`${namedBy(user, 'by')} and sender = ${user.uid} and kind = 2`,
    sql`${namedBy(user, 'by')} and data #>> '{entities,by,entity,uid}' <> sender`,
  ],
  audit_log: ({ uid }) => [sql`uid = ${uid}`, sql`target_type = 'user' and target = ${uid}`],
  operator_readings: ({ uid }) => [sql`subject ~* ${inConversation(uid)}`],
  operator_reads: ({ uid }) => [sql`conversation ~* ${inConversation(uid)}`],
  doctor_examples: ({ uid }) => [sql`${uid} = any(string_to_array(subject, '/'))`],
  events: ({ uid }) => [
    sql`trigger in ('message_reaction_added', 'message_reaction_removed') and data ->> 'uid' = ${uid}
      and data ->> 'reaction' is not null`,
  ],
  // Those of groups may have got new ones meanwhile, which are not about the user.
  webhook_deliveries: ({ pairs }) => [sql`conversation = any(${pairs}::bigint[]) and answer is not null`],
  moderation_claims: byReviewer('reviewer'),
  moderation_notes: byReviewer('author'),
  moderation_reviews: byReviewer('reviewer'),
  message_moderation: byReviewer('reviewed_by'),
  person_export_records: ({ uid }) => [sql`names @> array[${uid}]::text[]`],
}

/**
 * Counts the rows of a table that still name an erased user, or what went with them. Each condition is counted by itself, by
 * its own index.
 * @returns undefined where nothing in the table tells
 */
function leftIn({ name, naming }: ErasableTable, user: ErasedUser, { messages }: ErasedIds): Fragment | undefined {
  const { uids = [], conversation, message = naming.position } = naming
  const { uid, pairs, others } = user
  const inPairs =
    name === 'conversation_states'
      ? sql`(uid, conversation) in (select * from unnest(${others}::text[], ${pairs}::bigint[]))`
      : conversation &&
        sql`${sql.ref(conversation)} = any(${pairs}::bigint[])${name === 'messages' ? sql` and ${everyMessage}` : sql``}`
  const conditions = [
    ...uids.map((column) => sql`${sql.ref(column)} = ${uid}`),
    ...(inPairs ? [inPairs] : []),
    ...(message === undefined ? [] : [sql`${sql.ref(message)} = any(${messages}::bigint[])`]),
    ...(otherwise[name]?.(user) ?? []),
  ]
  if (conditions.length === 0) return undefined
  const counts = conditions.map(
    (condition) => sql`(select count(*) from ${sql.table(name)} where app_id = ${appKey(user.appId)} and ${condition})`,
  )
  return sql`select ${sql.join(counts, sql` + `)} as count`
}

const selectKept = statement(`
  select
    (select count(*) from messages where app_id = $1 and sender = $2 and kind = 2 and not purged) as "groupMessages",
    (select count(*) from group_bans where app_id = $1 and uid = $2) as "groupBans"`)

const insert = statement(`
  insert into erasures (app_id, digest, erased_at, certificate)
  values ($1, $2, $3, $4)`)

/**
 * Looks at every table once more, in the transaction that has erased a user, and writes down what was done and what is left.
 * @param held messages in groups that moderation held and that went with them
 * @returns tables in which something is left: none, unless something is wrong
 */
export async function certify(
  { tables, secrets }: Pick<Context, 'tables' | 'secrets'>,
  tx: Transaction,
  user: ErasedUser,
  ids: ErasedIds,
  { tally, held }: { readonly tally: Tally; readonly held: number },
): Promise<string[]> {
  const places: Array<Erasure['places'][number]> = []
  for (const table of tables) {
    if (table.untouched !== undefined) {
      places.push({ table: table.name, untouched: table.untouched })
      continue
    }
    const look = leftIn(table, user, ids)
    const [found] = look === undefined ? [] : ((await tx.run(look)) as Array<{ count: number }>)
    const { removed = 0, changed = 0 } = tally.get(table.name) ?? {}
    places.push({ table: table.name, removed, changed, ...(found && { left: found.count }) })
  }
  const [kept] = await tx.query<Erasure['kept']>(selectKept, [user.appId, user.uid])
  const unclean = places.flatMap(({ table, left = 0 }) => (left === 0 ? [] : table))
  const certificate = {
    isClean: unclean.length === 0,
    messages: ids.messages.length + held,
    digests: { uids: 1, muids: new Set(ids.muids).size },
    kept,
    places,
  }
  const digest = digestOf(secrets, user.appId, 'uid', user.uid)
  await tx.query(insert, [user.appId, digest, user.now, JSON.stringify(certificate)])
  return unclean
}

const select = statement(`
  select erased_at as "erasedAt", certificate
  from erasures
  where app_id = $1
  and digest = $2
  order by id desc
  limit 100`)

/** The certificates of those who had a uid and were erased, the last first. */
export async function readErasures(on: Queryable, secrets: Secrets, appId: number, uid: string): Promise<Erasure[]> {
  const rows = await on.query<{ erasedAt: number; certificate: Omit<Erasure, 'uid' | 'erasedAt'> }>(select, [
    appId,
    digestOf(secrets, appId, 'uid', uid),
  ])
  return rows.map(({ erasedAt, certificate }) => ({ uid, erasedAt, ...certificate }))
}
