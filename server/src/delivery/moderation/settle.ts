import { type Became, blockMessage, releaseMessage, settleEdit } from '../../areas/messages/index.ts'
import type { App } from '../../chat/identity.ts'
import { flagByRules, openReview } from '../../chat/moderation/queue.ts'
import { decisionsOf, flaggingsOf, logDecisions } from '../../chat/moderation/records.ts'
import { leavesWork } from '../../chat/moderation/verdict.ts'
import { placeOf } from '../../chat/place.ts'
import type { Context } from '../../context.ts'
import type { EngineFailed } from '../../events/types.ts'
import type { Transaction } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'
import { type Claimed, dropQuestions } from './claim.ts'
import { contentTypeOf, showFailures } from './failures.ts'
import type { Judged } from './pass.ts'

/**
 * Acts on what engines said: releases or blocks the message, stores or drops its edit, and writes what belongs to that in the
 * same transaction. What was changed, deleted or decided meanwhile stays as it is.
 */
export async function settle(context: Context, app: App, claimed: Claimed, judged: Judged): Promise<void> {
  const { message, ruling, took } = judged
  const { outcome, stoppedBy } = ruling
  const { generation } = claimed
  if (claimed.status !== 'pending') return settleShadow(context, app, claimed, judged)
  const within = (tx: Transaction, became: Became) => writeRest(context, tx, app, claimed, judged, became)
  const deciding = { by: 'engine', generation, took, within, ...(stoppedBy && { hit: stoppedBy }) } as const
  const done =
    claimed.waiting !== null
      ? await settleEdit(context, app, message.id, outcome, deciding)
      : outcome === 'approved'
        ? await releaseMessage(context, app, message.id, deciding)
        : await blockMessage(context, app, message.id, deciding)
  if (!('refused' in done)) {
    if (ruling.hits.some(leavesWork)) context.moderationActions.soon(app, message.id)
  } else if (done.because === 'forbidden' && claimed.waiting === null) {
    await leaveToPeople(context, app, claimed, done.refused)
  }
}

/** What the log, the queue and the events get beside the decision. */
async function writeRest(
  context: Context,
  tx: Transaction,
  { appId, name }: App,
  claimed: Claimed,
  { message, ruling, took }: Judged,
  became: Became,
): Promise<void> {
  const { hits, stoppedBy, outcome, failures } = ruling
  const { id } = message
  const now = Math.floor(Date.now() / 1000)
  const others = hits.filter((hit) => hit !== stoppedBy)
  await logDecisions(tx, appId, id, decisionsOf(others, { lane: 'two', took }, became), now)
  if (became === 'approved') await flagByRules(tx, appId, id, flaggingsOf({ hits }), claimed.waiting !== null, now)
  if (failures.length === 0) return
  const event: EngineFailed = {
    trigger: 'moderation_engine_failed',
    ...{ place: placeOf(message), messageId: id, outcome, completedAt: now },
    ...{ contentType: contentTypeOf(message.type), failures: showFailures(name, failures, now) },
  }
  await context.events.raise(tx, appId, [event])
}

/** Rules in shadow decide and log; nothing comes of it. */
function settleShadow({ database }: Context, { appId }: App, claimed: Claimed, judged: Judged): Promise<void> {
  const { message, status } = claimed
  const decisions = decisionsOf(judged.ruling.hits, { lane: 'two', took: judged.took }, status)
  return database.transaction(async (tx) => {
    if (await dropQuestions(tx, claimed))
      await logDecisions(tx, appId, message, decisions, Math.floor(Date.now() / 1000))
  })
}

const leave = statement(`
  update message_moderation
  set questions = null,
    due_at = null,
    leased_until = null,
    lane = 'manual',
    reason = $4
  where app_id = $1
  and message = $2
  and generation = $3
  and due_at is not null
  returning message`)

/** Approved, but it may no longer be written: it stays held, and people are to see why. */
async function leaveToPeople(
  { database }: Context,
  { appId }: App,
  { message, generation }: Claimed,
  why: string,
): Promise<void> {
  await database.transaction(async (tx) => {
    const left = await tx.query(leave, [appId, message, generation, why])
    if (left.length > 0) await openReview(tx, appId, message, { isNew: true }, Math.floor(Date.now() / 1000))
  })
}
