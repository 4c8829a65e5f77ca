import { ApiError } from '@parley/contract'
import { lockConversationOf } from '../../../chat/conversations/membership.ts'
import type { App } from '../../../chat/identity.ts'
import { unknownMessage } from '../../../chat/messages/read.ts'
import { isHeld } from '../../../chat/messages/traits.ts'
import type { Context } from '../../../context.ts'
import type { Queryable, Transaction } from '../../../store/database.ts'
import { statement } from '../../../store/statement.ts'
import { blockMessage, type Refused, releaseMessage, restoreMessage } from '../../messages/index.ts'
import { raiseApproved } from './approved.ts'
import * as errors from './errors.ts'
import { deedOf, type List, type Review, type Reviewer, type ReviewState, type Wanted, weigh } from './state.ts'

/** A decision that a reviewer asks for. */
export interface Asked {
  readonly list: List
  readonly wanted: Wanted
  /** Of an approval: see `releaseMessage`. */
  readonly asNew: boolean
  readonly by: Reviewer
  /** `editedAt` of the text that the reviewer saw: nothing is decided about another one. Absent: whatever there is now. */
  readonly editedAt?: number | null
}

const lockDecisions = statement(`
  select pg_advisory_xact_lock(hashtextextended('moderation review ' || $1::int || ' ' || $2::bigint, 0))`)

/** A row `r` of the reviews, as a `Review`. */
const reviewJson = `json_build_object(
      'list', r.list, 'decision', r.decision, 'asNew', r.as_new, 'reviewer', r.reviewer, 'reviewedAt', r.reviewed_at,
      'editedAt', r.edited_at, 'settled', r.settled
    )`

const selectState = statement(`
  select m.id, m.traits, m.deleted_at as "deletedAt", m.edited_at as "editedAt", q.status as queue,
    h.message is not null as "wasHeld", h.review_status as seen, coalesce(h.was_visible, false) as "wasVisible",
    c.reviewer as "claimedBy",
    case when r.message is not null then ${reviewJson} end as review
  from messages m
  left join moderation_queue q on q.app_id = m.app_id and q.message = m.id
  left join message_moderation h on h.app_id = m.app_id and h.message = m.id
  left join moderation_reviews r on r.app_id = m.app_id and r.message = m.id
  left join moderation_claims c on c.app_id = m.app_id and c.message = m.id and c.until > $3
  where m.app_id = $1
  and m.id = $2
  and not m.purged`)

const putReview = statement(`
  insert into moderation_reviews (
    app_id, message, list, decision, as_new, reviewer, reviewed_at, edited_at, settled
  )
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
  on conflict (app_id, message) do update
  set list = excluded.list,
    decision = excluded.decision,
    as_new = excluded.as_new,
    reviewer = excluded.reviewer,
    reviewed_at = excluded.reviewed_at,
    edited_at = excluded.edited_at,
    settled = excluded.settled`)

const removeReview = statement(`
  delete from moderation_reviews
  where app_id = $1
  and message = $2`)

const closeFlagged = statement(`
  update moderation_queue
  set status = $3
  where app_id = $1
  and message = $2
  and status <> $3`)

/** What a reviewer has stopped stays so when it is put back among those that nobody saw. */
const markSeen = statement(`
  update message_moderation
  set review_status = $3,
    reviewed_by = $4,
    reviewed_at = $5,
    lane = case when $3 in ('disapproved', 'rejected') then 'manual' else lane end
  where app_id = $1
  and message = $2`)

const endClaim = statement(`
  delete from moderation_claims
  where app_id = $1
  and message = $2`)

/** What was decided, to be carried out, and what was in force before. */
interface Taken {
  readonly review: Review
  readonly before: Review | null
}

/**
 * Decides about a message. The decision is taken first, under a lock, so that of several reviewers one decides; then it is
 * carried out, and where that is refused it is taken back. The same decision again changes nothing.
 * @throws 404 `ERR_MESSAGE_ID_NOT_FOUND`; 409 `ERR_MESSAGE_ALREADY_REVIEWED`, `ERR_MESSAGE_ALREADY_CLAIMED`; 403
 *   `ERR_MESSAGE_NOT_RELEASED` where the rules of writing forbid by now what was held, or it was edited meanwhile or since the reviewer saw it
 */
export async function decide(context: Context, app: App, id: number, asked: Asked): Promise<void> {
  const taken = await context.database.transaction((tx) => take(context, tx, app, id, asked))
  if (taken !== undefined) await carryOut(context, app, id, taken)
}

async function take(context: Context, tx: Transaction, app: App, id: number, asked: Asked): Promise<Taken | undefined> {
  const { list, wanted, asNew, by } = asked
  const { appId } = app
  const now = Math.floor(Date.now() / 1000)
  await lockReview(tx, appId, id)
  const state = await readState(tx, appId, id, now)
  if (state === undefined) throw unknownMessage(id)
  const what = weigh(state, list, wanted, by)
  if (what === 'same') return undefined
  if (what === 'unfinished') return state.review === null ? undefined : { review: state.review, before: null }
  if (asked.editedAt !== undefined && asked.editedAt !== state.editedAt) throw errors.editedSinceSeen(id)
  if (wanted === 'unreviewed') {
    await tx.query(removeReview, [appId, id])
    await tx.query(markSeen, [appId, id, null, null, null])
    await record(context, tx, appId, id, list, wanted, by.name)
    return undefined
  }
  const review: Review = {
    ...{ list, decision: wanted, asNew, reviewer: by.name ?? null, reviewedAt: now },
    ...{ editedAt: state.editedAt, settled: false },
  }
  await write(tx, appId, id, review)
  if (list === 'flagged') await tx.query(closeFlagged, [appId, id, wanted])
  return { review, before: state.review }
}

/** Decisions about a message are taken one after the other, and none while it is removed for good. */
async function lockReview(tx: Transaction, appId: number, id: number): Promise<void> {
  await lockConversationOf(tx, appId, id)
  await tx.query(lockDecisions, [appId, id])
}

async function readState(on: Queryable, appId: number, id: number, now: number): Promise<ReviewState | undefined> {
  return (await on.query<ReviewState>(selectState, [appId, id, now]))[0]
}

function write(tx: Transaction, appId: number, id: number, review: Review): Promise<unknown> {
  const { list, decision, asNew, reviewer, reviewedAt, editedAt, settled } = review
  return tx.query(putReview, [appId, id, list, decision, asNew, reviewer, reviewedAt, editedAt, settled])
}

/**
 * Makes the message what the decision says, and settles the decision in the same transaction. Done again, it changes nothing;
 * nor is it done where another decision has come in between.
 */
async function carryOut(context: Context, app: App, id: number, { review, before }: Taken): Promise<void> {
  const { appId } = app
  const now = Math.floor(Date.now() / 1000)
  const state = await readState(context.database, appId, id, now)
  if (state === undefined) throw unknownMessage(id)
  const isApproved = review.decision === 'approved'
  const within = async (tx: Transaction) => {
    if (!(await settle(context, tx, app, id, review, isApproved))) throw new Overridden()
  }
  let done: Refused | 'done' | 'nothing'
  try {
    done = await act(context, app, id, state, review, within)
  } catch (error) {
    if (error instanceof Overridden) return
    throw error
  }
  if (done === 'done') return
  // Already in that state, or decided by others: that is as good.
  const refused = done === 'nothing' || done.because === 'decided' ? undefined : done
  await context.database.transaction(async (tx) => {
    if (refused !== undefined) await undo(tx, appId, id, review, before)
    else await settle(context, tx, app, id, review, isApproved && (review.list === 'blocked' || isHeld(state)))
  })
  if (refused === undefined) return
  if (refused.because === 'unknown' || refused.because === 'deleted') throw unknownMessage(id)
  throw errors.notReleased(id, refused.refused)
}

/** Another decision has taken the place of the one that was to be carried out. */
class Overridden extends Error {}

/** The state of a message about which a decision is in force and not settled; undefined where another is by now. */
async function readUnsettled(
  tx: Transaction,
  appId: number,
  id: number,
  review: Review,
): Promise<ReviewState | undefined> {
  await lockReview(tx, appId, id)
  const state = await readState(tx, appId, id, Math.floor(Date.now() / 1000))
  return state !== undefined && isSame(state.review, review) ? state : undefined
}

function isSame(found: Review | null, { decision, list, reviewer, reviewedAt }: Review): boolean {
  if (found === null || found.settled) return false
  return (
    found.decision === decision && found.list === list && found.reviewer === reviewer && found.reviewedAt === reviewedAt
  )
}

/** Does what a decision asks for, and calls `within` in the transaction that does. */
async function act(
  context: Context,
  app: App,
  id: number,
  state: ReviewState,
  { decision, asNew, reviewer, editedAt }: Review,
  within: (tx: Transaction) => Promise<void>,
): Promise<Refused | 'done' | 'nothing'> {
  const deciding = { by: { reviewer: reviewer ?? undefined }, within }
  switch (deedOf(state, decision)) {
    case 'release':
      return doneBy(await releaseMessage(context, app, id, { ...deciding, asNew, editedAt }))
    case 'restore':
      return doneBy(await restoreMessage(context, app, id, { ...deciding, editedAt }))
    case 'block':
      return doneBy(await blockMessage(context, app, id, deciding))
    default:
      return 'nothing'
  }
}

function doneBy(deed: object | Refused): Refused | 'done' {
  return 'refused' in deed ? deed : 'done'
}

/** Takes back a decision that cannot be carried out. */
async function undo(tx: Transaction, appId: number, id: number, review: Review, before: Review | null): Promise<void> {
  const state = await readUnsettled(tx, appId, id, review)
  if (state === undefined) return
  if (before === null) await tx.query(removeReview, [appId, id])
  else await write(tx, appId, id, before)
  const status = state.deletedAt === null ? 'open' : 'deleted'
  if (review.list === 'flagged') await tx.query(closeFlagged, [appId, id, status])
}

/**
 * Writes what follows from a decision that is carried out.
 * @param tells whether it is told that a reviewer has approved what was held
 * @returns whether it was still in force
 */
async function settle(
  context: Context,
  tx: Transaction,
  app: App,
  id: number,
  review: Review,
  raises: boolean,
): Promise<boolean> {
  const { appId } = app
  const state = await readUnsettled(tx, appId, id, review)
  if (state === undefined) return false
  const { list, decision, reviewer, reviewedAt } = review
  await write(tx, appId, id, { ...review, editedAt: state.editedAt, settled: true })
  await tx.query(markSeen, [appId, id, decision, reviewer, reviewedAt])
  // What is blocked waits for nobody any more, whichever list it was decided in.
  if (decision === 'rejected') await tx.query(closeFlagged, [appId, id, 'disapproved'])
  await tx.query(endClaim, [appId, id])
  await record(context, tx, appId, id, list, decision, reviewer ?? undefined)
  if (raises) await raiseApproved(context, tx, app, id)
  return true
}

function record(
  { audit }: Context,
  tx: Transaction,
  appId: number,
  id: number,
  list: List,
  decision: Wanted,
  reviewer: string | undefined,
): Promise<void> {
  const details = { list, decision, ...(reviewer !== undefined && { reviewer }) }
  return audit.record(tx, appId, { action: 'message_reviewed', type: 'message', target: String(id), details })
}

/**
 * What became of each of several messages, by id: one that is refused does not stop the others.
 * @param editedAt of those messages whose text the reviewer names, by id
 */
export async function decideAll(
  context: Context,
  app: App,
  ids: readonly number[],
  asked: Asked,
  editedAt: Readonly<Record<string, number | null>> = {},
): Promise<Record<string, Record<string, unknown>>> {
  const outcomes: Record<string, Record<string, unknown>> = {}
  for (const id of new Set(ids)) {
    try {
      await decide(context, app, id, {
        ...asked,
        ...(Object.hasOwn(editedAt, id) && { editedAt: editedAt[id] ?? null }),
      })
      outcomes[id] = { success: true, message: messageOf(id, asked.wanted) }
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      outcomes[id] = { success: false, ...error.toBody() }
    }
  }
  return outcomes
}

export function messageOf(id: number, wanted: Wanted): string {
  return wanted === 'unreviewed' ? `message ${id} is to be reviewed` : `message ${id} ${wanted}`
}

const selectUnsettled = statement(`
  select r.message as id, a.app_id as "appId", a.name, a.region, ${reviewJson} as review
  from moderation_reviews r
  join apps a on a.app_id = r.app_id
  where not r.settled
  and r.reviewed_at < $1
  and a.paused_at is null
  order by r.reviewed_at
  limit 100`)

/** Carries out what a process that was killed had decided and not done. @param before epoch seconds */
export async function finishReviews(context: Context, before: number): Promise<void> {
  const rows = await context.database.query<App & { id: number; review: Review }>(selectUnsettled, [before])
  for (const { id, review, appId, name, region } of rows) {
    try {
      await carryOut(context, { appId, name, region }, id, { review, before: null })
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
    }
  }
}
