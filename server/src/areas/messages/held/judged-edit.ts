import { ApiError, type Message } from '@parley/contract'
import type { App } from '../../../chat/identity.ts'
import { draftMessageAction } from '../../../chat/messages/actions.ts'
import { type ActingEditor, type RecordedChange, showAction } from '../../../chat/messages/change.ts'
import { readMessages, type StoredMessage } from '../../../chat/messages/rows.ts'
import { isHeld } from '../../../chat/messages/traits.ts'
import type { Outcome } from '../../../chat/moderation/model.ts'
import { flagByRules } from '../../../chat/moderation/queue.ts'
import { decisionsOf, flaggingsOf, logDecisions } from '../../../chat/moderation/records.ts'
import { decide } from '../../../chat/moderation/verdict.ts'
import type { Context } from '../../../context.ts'
import type { Transaction } from '../../../store/database.ts'
import type { Content } from '../content.ts'
import type { Turn } from '../in-turn.ts'
import { storeEdit } from '../store-edit.ts'
import { isUpToPeople, readModeration } from './holding.ts'
import { release } from './release.ts'
import { askAgain, keepForReview, keepPending } from './rewritten.ts'
import { askInShadow, keepWaiting } from './waiting.ts'

/** An edit that judges have seen, by somebody who may make it. */
export interface JudgedEdit {
  readonly by: ActingEditor
  readonly content: Content
  readonly tags: readonly string[] | undefined
  readonly outcome: Outcome | undefined
}

/** What becomes of an edit: it is stored and published, it waits and its answer shows what was wanted, or it is refused. */
export type Edited =
  | { readonly is: 'stored'; readonly change: RecordedChange }
  | { readonly is: 'waiting'; readonly answer: Message }
  | { readonly is: 'refused'; readonly error: ApiError }

/**
 * Stores an edit by what the rules of moderation say of it, under the lock. Of a message that others see, the old text stays
 * until the new one is approved. A held message takes the new text at once, since nobody else sees it, and is released where
 * that is approved; one that a reviewer has stopped waits for a reviewer again.
 */
export async function editByOutcome(
  context: Context,
  tx: Transaction,
  app: App,
  message: StoredMessage,
  edit: JudgedEdit,
  turn: Turn,
): Promise<Edited> {
  const { by, content, tags, outcome } = edit
  const now = Math.floor(Date.now() / 1000)
  const decision = outcome && decide(outcome)
  if (outcome !== undefined && outcome.questions.length > 0) tx.afterCommit(context.questions.wake)
  if (outcome !== undefined && decision?.stoppedBy !== undefined) {
    await log(context, tx, app, message, outcome, 'refused', now)
    return { is: 'refused', error: stoppedByRule(message.id, decision.stoppedBy.rule.name) }
  }
  if (outcome !== undefined && decision?.status === 'pending' && !isHeld(message)) {
    await keepWaiting(
      tx,
      app,
      message,
      { data: content.data, ...(tags && { tags }), editor: by.editor ?? null, flaggedBy: flaggingsOf(outcome) },
      outcome,
      now,
    )
    await log(context, tx, app, message, outcome, 'pending', now)
    return { is: 'waiting', answer: await showWaiting(tx, app, message, edit, now) }
  }
  const change = await storeEdit(context, tx, app, by, message, content, tags, outcome !== undefined)
  if (outcome !== undefined) {
    await log(context, tx, app, message, outcome, decision?.status ?? 'approved', now)
    await flagByRules(tx, app.appId, message.id, flaggingsOf(outcome), true, now)
  }
  const isThere = !isHeld(message) || (await holdOn(context, tx, app, message, outcome, turn, now))
  if (isThere && outcome !== undefined && outcome.questions.length > 0) {
    await askInShadow(tx, app.appId, message, outcome, now)
  }
  return { is: 'stored', change }
}

/** What becomes of a held message with its new text. @returns whether it is released */
async function holdOn(
  context: Context,
  tx: Transaction,
  app: App,
  { id }: StoredMessage,
  outcome: Outcome | undefined,
  turn: Turn,
  now: number,
): Promise<boolean> {
  const { appId } = app
  const row = await readModeration(tx, appId, id)
  if (row !== undefined && isUpToPeople(row)) {
    await keepForReview(tx, appId, id, now)
    return false
  }
  if (outcome === undefined) {
    await askAgain(tx, appId, id, now)
    return false
  }
  if (decide(outcome).status === 'pending') {
    await keepPending(tx, appId, id, outcome, now)
    return false
  }
  const message = (await readMessages(tx, appId, [id])).get(id)
  if (message === undefined) return false
  const done = await release(context, tx, app, { message, row }, { by: 'rules', took: outcome.took }, turn)
  if ('refused' in done) await keepForReview(tx, appId, id, now, done.refused)
  return !('refused' in done)
}

/** Every hit goes into the log. */
async function log(
  { moderationActions }: Context,
  tx: Transaction,
  app: App,
  { id }: StoredMessage,
  outcome: Outcome,
  decision: string,
  now: number,
): Promise<void> {
  const { appId } = app
  const { hits, took } = outcome
  const decisions = decisionsOf(hits, { lane: 'one', took }, decision)
  if (decisions.some(({ acted }) => !acted)) tx.afterCommit(() => moderationActions.soon(app, id))
  await logDecisions(tx, appId, id, decisions, now)
}

/** The answer to an edit that waits: the message as it would be. It is stored nowhere, and nobody else is notified. */
async function showWaiting(
  tx: Transaction,
  app: App,
  message: StoredMessage,
  { by: { editor }, content, tags }: JudgedEdit,
  now: number,
): Promise<Message> {
  const draft = await draftMessageAction(tx, app.appId, 'edited', message, editor ?? message.sender, now)
  const shown = await showAction(tx, app, draft, editor)
  const entities = shown.data.entities as Record<string, { readonly entity: Message }>
  const on = entities.on as { readonly entity: Message }
  const data = { ...content.data, entities: on.entity.data.entities, moderation: { status: 'pending' } }
  const entity = { ...on.entity, data, ...(tags && { tags: [...tags] }) }
  return { ...shown, data: { ...shown.data, entities: { ...entities, on: { ...on, entity } } } }
}

/** 403: a rule of the app stops what the message would say. */
function stoppedByRule(id: number, rule: string): ApiError {
  return new ApiError(
    'ERR_MESSAGE_ACTION_NOT_ALLOWED',
    `The message ${id} was not edited: the rule "${rule}" forbids the text.`,
  )
}
