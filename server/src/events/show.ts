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
import type { EventTrigger } from './types.ts'

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

/** What the events of a page name, as it is gathered. */
interface Names {
  readonly messages: Set<number>
  readonly judged: Set<number>
  readonly senders: Set<number>
  readonly uids: Set<string>
  readonly receipts: Array<{ readonly messageId: number; readonly uid: string }>
}

/** Gathers the messages that one kind of event names, and users whom none of its members names. */
type Gather<Trigger extends EventTrigger> = (event: Extract<StoredEvent, { trigger: Trigger }>, names: Names) => void

const showsMessage = ({ messageId }: { readonly messageId: number }, { messages }: Names) => messages.add(messageId)
const showsJudged = ({ messageId }: { readonly messageId: number }, { judged }: Names) => judged.add(messageId)
const namesNoMessage = () => undefined

function showsChange(
  { actionId, messageId }: { readonly actionId: number; readonly messageId: number },
  { messages, senders }: Names,
): void {
  messages.add(actionId)
  senders.add(messageId)
}

function showsReceipt(receipt: Names['receipts'][number], { senders, receipts }: Names): void {
  senders.add(receipt.messageId)
  receipts.push(receipt)
}

function showsReceiptOfAll({ messageId }: { readonly messageId: number }, { senders, uids }: Names): void {
  senders.add(messageId)
  uids.add(systemUid)
}

/** A message that is not gathered here is shown as one that was removed for good. */
const gathers: { readonly [Trigger in EventTrigger]: Gather<Trigger> } = {
  message_sent: showsMessage,
  user_mentioned: showsMessage,
  message_edited: showsChange,
  message_deleted: showsChange,
  message_delivery_receipt: showsReceipt,
  message_read_receipt: showsReceipt,
  message_delivered_to_all: showsReceiptOfAll,
  message_read_by_all: showsReceiptOfAll,
  message_reaction_added: namesNoMessage,
  message_reaction_removed: namesNoMessage,
  user_blocked: namesNoMessage,
  user_unblocked: namesNoMessage,
  user_connection_status_changed: namesNoMessage,
  group_created: namesNoMessage,
  group_updated: namesNoMessage,
  group_owner_transferred: namesNoMessage,
  group_deleted: namesNoMessage,
  group_member_joined: namesNoMessage,
  group_member_left: namesNoMessage,
  group_member_added: namesNoMessage,
  group_member_kicked: namesNoMessage,
  group_member_banned: namesNoMessage,
  group_member_unbanned: namesNoMessage,
  group_member_scope_changed: namesNoMessage,
  moderation_engine_approved: showsJudged,
  moderation_engine_blocked: showsJudged,
  moderation_manual_approved: showsJudged,
  moderation_engine_failed: showsJudged,
}

/** What the events of a page name. */
function referencesOf(events: readonly StoredEvent[]): References {
  const guids = new Set<string>()
  const names: Names = { messages: new Set(), judged: new Set(), senders: new Set(), uids: new Set(), receipts: [] }
  const { uids, receipts } = names
  for (const event of events) {
    if ('guid' in event) guids.add(event.guid)
    if ('uid' in event) uids.add(event.uid)
    if ('by' in event && event.by !== undefined) uids.add(event.by)
    if ('uids' in event) for (const uid of event.uids ?? []) uids.add(uid)
    if ('members' in event) for (const { uid } of event.members) uids.add(uid)
    const gather = gathers[event.trigger] as Gather<EventTrigger>
    gather(event, names)
  }
  const pairs = (senderOf: ResolvedReferences['senderOf']) =>
    receipts.flatMap(({ messageId, uid }) => {
      const sender = senderOf(messageId)
      return sender === undefined ? [] : [[sender, uid] as const]
    })
  return { ...names, guids, pairs }
}
