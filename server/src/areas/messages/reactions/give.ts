import { badRequest, limits } from '@parley/contract'
import type { App } from '../../../chat/identity.ts'
import { changeMessage } from '../../../chat/messages/change.ts'
import { requireMessageRight } from '../../../chat/messages/group-rights.ts'
import type { StoredMessage } from '../../../chat/messages/rows.ts'
import { traits } from '../../../chat/messages/traits.ts'
import { placeOf } from '../../../chat/place.ts'
import { requireMayWriteTo } from '../../../chat/writing/may-write.ts'
import type { Context } from '../../../context.ts'
import type { ChatEvent } from '../../../events/types.ts'
import { statement } from '../../../store/statement.ts'
import { tooManyReactions } from '../errors.ts'
import { refuseUnsuitable } from '../marks/pins.ts'

/**
 * Gives a reaction, and marks that the message has any. One statement, since each that goes to the database takes as long as what
 * is done here. Under the conversation's lock nobody else changes what is counted.
 */
const give = statement(`
  with kinds as materialized (
    select count(*) < $6 or coalesce(bool_or(reaction = $3), false) as have_room
    from reaction_counts
    where app_id = $1
    and message_id = $2
  ),
  given as (
    insert into reactions (app_id, message_id, reaction, uid, reacted_at)
    select $1, $2, $3, $4::text, $5::bigint
    from kinds
    where have_room
    on conflict do nothing
    returning id, reacted_at
  ),
  marked as (
    update messages
    set traits = traits | $7::int
    where app_id = $1
    and id = $2
    and traits & $7::int = 0
    and (select have_room from kinds)
  )
  select k.have_room as "haveRoom", g.id as "reactionId", g.reacted_at as "reactedAt"
  from kinds k
  left join given g on true`)

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

/** What became of one that was to be given; without an id it was given before. */
type GivenRow = { readonly haveRoom: boolean } & (ChangedRow | { readonly reactionId: null })

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
 * @returns the message as it is then
 * @throws 400 for a reaction that is too long, or one more than a message takes; 403 for who may not
 */
export async function addReaction(
  context: Context,
  app: App,
  { uid, device }: Reactor,
  id: number,
  reaction: string,
): Promise<StoredMessage> {
  checkReaction(reaction)
  return changeMessage(context, app, uid, id, async (tx, message) => {
    // It reaches the other side like a message.
    await requireMayWriteTo(context, tx, app.appId, uid, message, { key: 'addReaction' })
    refuseUnsuitable(message)
    const now = Math.floor(Date.now() / 1000)
    const values = [app.appId, id, reaction, uid, now, limits.reactionsPerMessage, traits.reactions]
    const [given] = await tx.query<GivenRow>(give, values)
    if (given?.haveRoom !== true) throw tooManyReactions()
    if (given.reactionId !== null) {
      await context.events.raise(tx, app.appId, [
        reacted('message_reaction_added', message, { uid, device }, reaction, given),
      ])
    }
    return { ...message, traits: message.traits | traits.reactions }
  })
}

/**
 * Takes a user's reaction off a message, if it is there; also off a deleted one, and while a block stands.
 * @returns the message; that it has reactions may be said of it still
 */
export function removeReaction(
  context: Context,
  app: App,
  { uid, device }: Reactor,
  id: number,
  reaction: string,
): Promise<StoredMessage> {
  return changeMessage(context, app, uid, id, async (tx, message) => {
    await requireMessageRight(tx, app, uid, message, 'addReaction')
    const removed = await tx.query<ChangedRow>(remove, [app.appId, id, reaction, uid])
    const told = removed.map((row) => reacted('message_reaction_removed', message, { uid, device }, reaction, row))
    await context.events.raise(tx, app.appId, told)
    await tx.query(clearTrait, [app.appId, id, traits.reactions])
    return message
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
    reactionId: row.reactionId,
    reactedAt: row.reactedAt,
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
