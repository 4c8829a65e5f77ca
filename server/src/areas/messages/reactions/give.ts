import { badRequest, limits } from '@parley/contract'
import type { App } from '../../../chat/identity.ts'
import { changeMessage } from '../../../chat/messages/change.ts'
import type { StoredMessage } from '../../../chat/messages/rows.ts'
import { requireMessageScopePermission } from '../../../chat/messages/scope-permissions.ts'
import { traits } from '../../../chat/messages/traits.ts'
import { placeOf } from '../../../chat/place.ts'
import { requireMayWriteTo } from '../../../chat/writing/may-write.ts'
import type { Context } from '../../../context.ts'
import type { ChatEvent } from '../../../events/types.ts'
import { statement } from '../../../store/statement.ts'
import { tooManyReactions } from '../errors.ts'
import { requireMarkable } from '../marks/pins.ts'

const selectKinds = statement(`
  select reaction
  from reaction_counts
  where app_id = $1
  and message_id = $2`)

const insert = statement(`
  insert into reactions (app_id, message_id, reaction, uid, reacted_at)
  values ($1, $2, $3, $4, $5)
  on conflict do nothing
  returning id as "reactionId", reacted_at as "reactedAt"`)

const setTrait = statement(`
  update messages
  set traits = traits | $3::int
  where app_id = $1
  and id = $2
  and traits & $3::int = 0`)

const remove = statement(`
  delete from reactions
  where app_id = $1
  and message_id = $2
  and reaction = $3
  and uid = $4
  returning id as "reactionId", reacted_at as "reactedAt"`)

/** A reaction that was given or taken back. */
interface ChangedRow {
  readonly reactionId: number
  readonly reactedAt: number
}

/** Who reacts, with which device. */
interface Reactor {
  readonly uid: string
  readonly device: string | undefined
}

const clearTrait = statement(`
  update messages
  set traits = traits & ~$3::int
  where app_id = $1
  and id = $2
  and traits & $3::int <> 0
  and not exists (
    select from reaction_counts c
    where c.app_id = $1
    and c.message_id = $2
  )`)

/**
 * Puts a user's reaction on a message, under the conversation's lock, so that two new ones cannot both be the last that
 * the message takes. Given already, it stays as it is.
 * @throws 400 for a reaction that is too long, or one more than a message takes; 403 if they may not react
 */
export async function addReaction(
  context: Context,
  app: App,
  { uid, device }: Reactor,
  id: number,
  reaction: string,
): Promise<void> {
  checkReaction(reaction)
  await changeMessage(context, app, uid, id, async (tx, message) => {
    // It reaches the other side like a message.
    await requireMayWriteTo(context, tx, app.appId, uid, message, { key: 'addReaction' })
    requireMarkable(message)
    const kinds = await tx.query<{ reaction: string }>(selectKinds, [app.appId, id])
    if (kinds.length >= limits.reactionsPerMessage && !kinds.some((kind) => kind.reaction === reaction)) {
      throw tooManyReactions()
    }
    const values = [app.appId, id, reaction, uid, Math.floor(Date.now() / 1000)]
    const added = await tx.query<ChangedRow>(insert, values)
    const happened = added.map((row) => reacted('message_reaction_added', message, { uid, device }, reaction, row))
    await context.events.raise(tx, app.appId, happened)
    await tx.query(setTrait, [app.appId, id, traits.reactions])
  })
}

/** Takes a user's reaction off a message, if it is there; also off a deleted one, and while a block stands. */
export async function removeReaction(
  context: Context,
  app: App,
  { uid, device }: Reactor,
  id: number,
  reaction: string,
): Promise<void> {
  await changeMessage(context, app, uid, id, async (tx, message) => {
    await requireMessageScopePermission(tx, app, uid, message, 'addReaction')
    const removed = await tx.query<ChangedRow>(remove, [app.appId, id, reaction, uid])
    const happened = removed.map((row) => reacted('message_reaction_removed', message, { uid, device }, reaction, row))
    await context.events.raise(tx, app.appId, happened)
    await tx.query(clearTrait, [app.appId, id, traits.reactions])
  })
}

function reacted(
  trigger: 'message_reaction_added' | 'message_reaction_removed',
  message: StoredMessage,
  by: Reactor,
  reaction: string,
  row: ChangedRow,
): ChatEvent {
  const { id: messageId, parentId } = message
  return {
    trigger,
    place: placeOf(message),
    messageId,
    ...(parentId !== null && { parentId }),
    reaction,
    ...by,
    ...row,
  }
}

/** An emoji may be several characters; they are counted as code points. */
function checkReaction(reaction: string): void {
  const length = [...reaction].length
  if (length > limits.reactionLength) {
    throw badRequest([{ path: 'params/reaction', message: `must have at most ${limits.reactionLength} characters` }])
  }
  if (reaction.trim() === '') throw badRequest([{ path: 'params/reaction', message: 'must not be blank' }])
}
