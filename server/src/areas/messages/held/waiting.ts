import type { App } from '../../../chat/identity.ts'
import { mediaKeysOf, recordUses, releaseUses } from '../../../chat/messages/file-uses.ts'
import type { StoredMessage } from '../../../chat/messages/rows.ts'
import { traits } from '../../../chat/messages/traits.ts'
import type { Outcome } from '../../../chat/moderation/model.ts'
import { storedQuestion } from '../../../chat/moderation/verdict.ts'
import type { Transaction } from '../../../store/database.ts'
import { statement } from '../../../store/statement.ts'
import type { WaitingEdit } from './holding.ts'

const keep = statement(`
  with marked as (
    update messages
    set traits = traits | ${traits.moderated}
    where app_id = $1
    and id = $2
    and traits & ${traits.moderated} = 0
  )
  insert into message_moderation as k (
    app_id, message, conversation, sender, status, waiting, questions, due_at, lane, took, created_at, updated_at
  )
  values ($1, $2, $3, $4, $9, $5::json, $6::json, $7, 'one', $8, $7, $7)
  on conflict (app_id, message) do update
  set status = excluded.status,
    generation = k.generation + 1,
    waiting = excluded.waiting,
    questions = excluded.questions,
    due_at = excluded.due_at,
    attempts = 0,
    leased_until = null,
    lane = excluded.lane,
    took = excluded.took,
    updated_at = excluded.updated_at`)

/** Keeps an edit of a message that everybody sees until engines have answered; it takes the place of one that waits already. */
export async function keepWaiting(
  tx: Transaction,
  app: App,
  { id, conversation, sender, data }: StoredMessage,
  edit: WaitingEdit,
  { questions, took }: Outcome,
  now: number,
): Promise<void> {
  const asked = JSON.stringify(questions.map(storedQuestion))
  await tx.query(keep, [app.appId, id, conversation, sender, JSON.stringify(edit), asked, now, took, 'pending'])
  const keys = mediaKeysOf(app, edit.data)
  await recordUses(tx, app, id, keys)
  await releaseUses(tx, app.appId, [id], [...keys, ...mediaKeysOf(app, data)])
}

/** Has engines asked about an edit that is stored: by rules in shadow mode, so nothing waits for the answers. */
export async function askInShadow(
  tx: Transaction,
  appId: number,
  { id, conversation, sender }: Pick<StoredMessage, 'id' | 'conversation' | 'sender'>,
  { questions, took }: Outcome,
  now: number,
): Promise<void> {
  const asked = JSON.stringify(questions.map(storedQuestion))
  await tx.query(keep, [appId, id, conversation, sender, null, asked, now, took, 'approved'])
}

const drop = statement(`
  update message_moderation
  set status = 'approved',
    generation = generation + 1,
    waiting = null,
    questions = null,
    due_at = null,
    leased_until = null,
    updated_at = $3
  where app_id = $1
  and message = $2
  and (waiting is not null or due_at is not null)`)

const end = statement(`
  update message_moderation
  set generation = generation + 1,
    status = case when waiting is not null or status = 'approved' then 'approved' else 'deleted' end,
    waiting = null,
    questions = null,
    due_at = null,
    leased_until = null,
    updated_at = $3
  where app_id = $1
  and message = $2`)

/** A message is deleted: nobody is asked about it any more, and what an edit would have made of it is gone. */
export async function dropJudging(tx: Transaction, appId: number, id: number, now: number): Promise<void> {
  await tx.query(end, [appId, id, now])
}

/**
 * Of a message that others see: an edit that waits is nobody's any more, since another came after it or it was decided; nor is
 * what rules in shadow mode ask about the text before.
 */
export async function dropWaiting(tx: Transaction, appId: number, id: number, now: number): Promise<void> {
  await tx.query(drop, [appId, id, now])
}
