import { sql } from 'kysely'
import { systemUid } from '../../chat/apps.ts'
import { lockConversations } from '../../chat/conversations/membership.ts'
import { erase } from '../../chat/erasure.ts'
import { tryStep } from '../../chat/retention/lock.ts'
import { notHeldSql } from '../../chat/sight/participation.ts'
import type { Context } from '../../context.ts'
import { appKey } from '../../store/app-key.ts'
import { clockMayDifferMs } from '../../store/clock.ts'
import type { Transaction } from '../../store/database.ts'
import { type Fragment, statement } from '../../store/statement.ts'
import { clearMessage, recountThreads } from '../messages/index.ts'
import { type Pass, readPasses } from './passes.ts'

/** What a step did. */
export interface Done {
  readonly removed: number
  readonly stripped: number
  /** There is nothing more behind it. */
  readonly isOver: boolean
}

/** Messages that a step looks at; their conversations are locked for as long. */
const atOnce = 100
/** Positions that it goes through for these: those of what was removed before are nobody's to wait for. */
const positionsAtOnce = 5000
/** What was passed over, and what was imported into the past, is looked at after so many seconds. */
const anewAfter = 7 * 86_400

const selectProgress = statement(`
  select rule, began_at as "beganAt", sent_at as "sentAt", id
  from retention_progress
  where app_id = $1
  and place = $2
  for update`)

const writeProgress = statement(`
  insert into retention_progress (app_id, place, rule, began_at, sent_at, id)
  values ($1, $2, $3, $4, $5, $6)
  on conflict (app_id, place) do update
  set rule = excluded.rule,
    began_at = excluded.began_at,
    sent_at = excluded.sent_at,
    id = excluded.id`)

interface Progress {
  readonly rule: string
  readonly beganAt: number
  readonly sentAt: number
  readonly id: number
}

interface Position {
  readonly id: number
  readonly sentAt: number
  readonly conversation: number
}

/** What a step finds: messages, and at the end the last position that it has gone through. */
interface Found extends Position {
  readonly isEnd: boolean
  /** Positions that it has gone through. */
  readonly passed: number
}

/** A message that is due. */
interface Due {
  readonly id: number
  readonly conversation: number
  readonly parentId: number | null
  readonly traits: number
  readonly isDeleted: boolean
  readonly isAction: boolean
}

/** Of a message `m`: moderation holds it or an edit of it, a reviewer is to look at it, or somebody has put it on hold. */
const staysSql = sql`(
  not (${notHeldSql})
  or exists (
    select from moderation_queue q
    where q.app_id = m.app_id and q.message = m.id and q.status = 'open'
  )
  or exists (
    select from message_moderation w
    where w.app_id = m.app_id and w.message = m.id and (w.status = 'pending' or w.waiting is not null)
  )
  or exists (
    select from retention_holds h
    where h.app_id = m.app_id
    and (h.conversation = m.conversation or h.uid = m.sender or m.kind = 1 and h.uid = m.receiver)
  )
)`

const columns = sql`m.id, m.conversation, m.parent_id as "parentId", m.traits, m.deleted_at is not null as "isDeleted",
    m.category = 'action' as "isAction"`

const selectWithReplies = statement(`
  select distinct parent_id as id
  from messages
  where app_id = $1
  and parent_id = any($2::bigint[])
  and not purged
  and id <> all($3::bigint[])`)

const raiseVersions = statement(`
  update conversations
  set version = version + 1
  where app_id = $1
  and key = any($2::bigint[])`)

/**
 * Looks at the next messages that are older than a rule keeps them, and removes or strips those that nothing keeps, with all that
 * hangs on them. Nothing where something else is set by now, or the app is paused. What has replies that stay becomes a deleted message, and goes with the last of these.
 * @param now epoch seconds
 * @returns undefined where another process is at it, or somebody changes what is on hold
 */
export async function step(
  context: Pick<Context, 'config' | 'tables' | 'database'>,
  { appId, place, mode, days }: Pass,
  now: number,
): Promise<Done | undefined> {
  const before = now - days * 86_400
  return context.database.transaction(async (tx) => {
    if (!(await tryStep(tx, appId))) return undefined
    const [current] = await readPasses(tx, context.config, appId, place)
    if (current?.days !== days || current.mode !== mode) return { removed: 0, stripped: 0, isOver: true }
    const rule = `${days} ${mode}`
    const [known] = await tx.query<Progress>(selectProgress, [appId, place])
    const isAnew = known === undefined || known.rule !== rule || isOver(known, now)
    const from = isAnew ? { rule, beganAt: now, sentAt: 0, id: 0 } : known
    const found = (await tx.run(nextPositions(appId, place, from, before))) as Found[]
    const positions = found.filter(({ isEnd }) => !isEnd)
    const end = found.find(({ isEnd }) => isEnd)
    const isFull = positions.length === atOnce
    const last = isFull ? positions.at(-1) : end
    if (last === undefined) {
      await tx.query(writeProgress, [appId, place, rule, from.beganAt, from.sentAt, from.id])
      return { removed: 0, stripped: 0, isOver: true }
    }
    await lockConversations(tx, appId, [...new Set(positions.map(({ conversation }) => conversation))])
    const due = await readDue(tx, appId, place, positions)
    const done =
      mode === 'delete' ? await remove(context, tx, appId, due, now, before) : await strip(tx, appId, due, now)
    const touched = [...new Set(due.map(({ conversation }) => conversation))]
    if (done.removed + done.stripped > 0) await tx.query(raiseVersions, [appId, touched])
    await tx.query(writeProgress, [appId, place, rule, from.beganAt, last.sentAt, last.id])
    return { ...done, isOver: end !== undefined && end.passed < positionsAtOnce }
  })
}

/**
 * The next messages that are there, in their order; where these are fewer than a step takes, also the last position that was looked at, and how many
 * were. It looks no further than it has to: `passed` is read as far as it is asked for.
 */
function nextPositions(appId: number, place: number, { sentAt, id }: Progress, before: number): Fragment {
  const inPlace = place === 0 ? sql`` : sql`and m.conversation = ${place} and not m.purged`
  return sql`
    with passed as materialized (
      select m.id, m.sent_at, m.conversation, m.purged
      from messages m
      where m.app_id = ${appKey(appId)}
      ${inPlace}
      and (m.sent_at, m.id) > (${sentAt}::bigint, ${id}::bigint)
      and m.sent_at < ${before}
      order by m.sent_at, m.id
      limit ${positionsAtOnce}
    ),
    next as materialized (
      select *
      from passed
      where not purged
      limit ${atOnce}
    )
    select id, sent_at as "sentAt", conversation, false as "isEnd", 0 as passed
    from next
    union all
    select id, sent_at, conversation, true, (select count(*) from passed)
    from (
      select *
      from passed
      where (select count(*) from next) < ${atOnce}
      order by sent_at desc, id desc
      limit 1
    ) ended
    order by "isEnd", "sentAt", id`
}

/** Those of some messages that are there and that nothing keeps, as they are under the locks of their conversations. */
async function readDue(tx: Transaction, appId: number, place: number, positions: readonly Position[]): Promise<Due[]> {
  const ids = positions.map(({ id }) => id)
  const others =
    place === 0
      ? sql`and m.conversation not in (
          select g.conversation
          from group_retention r
          join groups g on g.app_id = r.app_id and g.guid = r.guid
          where r.app_id = ${appKey(appId)}
        )`
      : sql``
  return (await tx.run(sql`
    select ${columns}
    from messages m
    where m.app_id = ${appKey(appId)}
    and m.id = any(${ids}::bigint[])
    and not m.purged
    and not ${staysSql}
    ${others}
    order by m.id`)) as Due[]
}

/** Also one that a clock began which was ahead: it would be gone on with only once that time has come. */
function isOver({ beganAt }: Progress, now: number): boolean {
  return beganAt <= now - anewAfter || beganAt > now + clockMayDifferMs / 1000
}

type Did = Pick<Done, 'removed' | 'stripped'>

async function strip(tx: Transaction, appId: number, due: readonly Due[], now: number): Promise<Did> {
  const said = due.filter(({ isDeleted, isAction }) => !isDeleted && !isAction)
  for (const message of said) await clearMessage(tx, appId, message, systemUid, now)
  await recountThreads(tx, appId, parentsOf(said))
  return { removed: 0, stripped: said.length }
}

async function remove(
  { tables }: Pick<Context, 'tables'>,
  tx: Transaction,
  appId: number,
  due: readonly Due[],
  now: number,
  before: number,
): Promise<Did> {
  const kept = await withReplies(tx, appId, due)
  const gone = due.filter(({ id }) => !kept.has(id))
  const stripped = due.filter(({ id, isDeleted }) => kept.has(id) && !isDeleted)
  if (gone.length > 0) await erase(tx, tables, 'ofMessages', { appId, ids: gone.map(({ id }) => id) })
  for (const message of stripped) await clearMessage(tx, appId, message, systemUid, now)
  const parents = parentsOf([...gone, ...stripped])
  await recountThreads(tx, appId, parents)
  const orphaned = await removeEmptyParents({ tables }, tx, appId, parents, before)
  return { removed: gone.length + orphaned, stripped: stripped.length }
}

/** Parents that stayed as deleted messages only because there were replies go with the last of these. */
async function removeEmptyParents(
  { tables }: Pick<Context, 'tables'>,
  tx: Transaction,
  appId: number,
  parents: readonly number[],
  before: number,
): Promise<number> {
  if (parents.length === 0) return 0
  const found = (await tx.run(sql`
    select ${columns}
    from messages m
    where m.app_id = ${appKey(appId)}
    and m.id = any(${parents}::bigint[])
    and not m.purged
    and m.deleted_at is not null
    and m.sent_at < ${before}
    and not ${staysSql}`)) as Due[]
  const kept = await withReplies(tx, appId, found)
  const ids = found.map(({ id }) => id).filter((id) => !kept.has(id))
  if (ids.length > 0) await erase(tx, tables, 'ofMessages', { appId, ids })
  return ids.length
}

/** Those of some messages that have replies beside these. */
async function withReplies(tx: Transaction, appId: number, messages: readonly Due[]): Promise<ReadonlySet<number>> {
  const ids = messages.map(({ id }) => id)
  if (ids.length === 0) return new Set()
  return new Set((await tx.query<{ id: number }>(selectWithReplies, [appId, ids, ids])).map(({ id }) => id))
}

function parentsOf(messages: readonly Due[]): number[] {
  return [...new Set(messages.flatMap(({ parentId }) => parentId ?? []))]
}
