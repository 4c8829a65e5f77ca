import { systemUid } from '../chat/apps.ts'
import { readStored, type StoredEvent } from '../chat/events/stored.ts'
import type { App } from '../chat/identity.ts'
import { type FormerUser, readFormerUsers } from '../chat/users/former.ts'
import { showDeletedUser } from '../chat/users/rows.ts'
import type { Context } from '../context.ts'
import { showLegacy } from './legacy.ts'
import { showCurrent } from './payloads.ts'
import { type References, type ResolvedReferences, resolveReferences } from './references.ts'
import type { EventRow } from './rows.ts'

/** What an event says: `trigger` and `data` of its envelope. */
export interface ShownEvent {
  readonly trigger: string
  readonly data: object
  /** Where it comes from; only the older envelope says so, and only of receipts and presence. */
  readonly platform?: 'API' | 'WEBSOCKET'
}

/**
 * Events as they are shown, by id, with the names and messages of now: one read for each kind of entity, however many
 * events there are. Of a message that was removed for good only its position is shown; a user who was deleted is a
 * `Deleted user`.
 * @param version of the envelope: 2 the current one, 1 the older one, in which only some events exist (the others are
 * missing from the answer)
 */
export async function showEvents(
  { database }: Pick<Context, 'database'>,
  { appId }: Pick<App, 'appId'>,
  rows: readonly EventRow[],
  version: 1 | 2,
): Promise<Map<number, ShownEvent>> {
  const events = rows.map((row) => ({ id: row.id, event: readStored(row) }))
  const references = referencesOf(events.map(({ event }) => event))
  const [resolved, formers] = await Promise.all([
    resolveReferences(database, appId, references),
    readFormerUsers(database, appId, references.uids),
  ])
  const show = version === 1 ? showLegacy : showCurrent
  const shown = new Map<number, ShownEvent>()
  for (const { id, event } of events) {
    const rendered = show(event, asThen(resolved, formers, id))
    if (rendered !== undefined) shown.set(id, rendered)
  }
  return shown
}

/** Of users who were removed for good after an event it shows as such, whoever has their uid by now. */
function asThen(
  resolved: ResolvedReferences,
  formers: ReadonlyMap<string, FormerUser>,
  eventId: number,
): ResolvedReferences {
  if (formers.size === 0) return resolved
  const user = (uid: string) => {
    const former = formers.get(uid)
    return former !== undefined && eventId <= former.lastEvent ? showDeletedUser(uid) : resolved.user(uid)
  }
  return { ...resolved, user }
}

/** What the events of a page name. */
function referencesOf(events: readonly StoredEvent[]): References {
  const messages = new Set<number>()
  const judged = new Set<number>()
  const senders = new Set<number>()
  const uids = new Set<string>()
  const guids = new Set<string>()
  const receipts: Array<{ messageId: number; uid: string }> = []
  for (const event of events) {
    if ('guid' in event) guids.add(event.guid)
    if ('uid' in event) uids.add(event.uid)
    if ('by' in event && event.by !== undefined) uids.add(event.by)
    if ('uids' in event) for (const uid of event.uids ?? []) uids.add(uid)
    if ('members' in event) for (const { uid } of event.members) uids.add(uid)
    switch (event.trigger) {
      case 'message_sent':
      case 'user_mentioned':
        messages.add(event.messageId)
        break
      case 'moderation_engine_approved':
      case 'moderation_engine_blocked':
      case 'moderation_manual_approved':
      case 'moderation_engine_failed':
        judged.add(event.messageId)
        break
      case 'message_edited':
      case 'message_deleted':
        messages.add(event.actionId)
        senders.add(event.messageId)
        break
      case 'message_delivery_receipt':
      case 'message_read_receipt':
        senders.add(event.messageId)
        receipts.push(event)
        break
      case 'message_delivered_to_all':
      case 'message_read_by_all':
        senders.add(event.messageId)
        uids.add(systemUid)
    }
  }
  const pairs = (senderOf: ResolvedReferences['senderOf']) =>
    receipts.flatMap(({ messageId, uid }) => {
      const sender = senderOf(messageId)
      return sender === undefined ? [] : [[sender, uid] as const]
    })
  return { messages, judged, senders, uids, guids, pairs }
}
