import type { Message } from '@parley/contract'
import { systemUid } from '../../chat/apps.ts'
import { readMemberships } from '../../chat/groups/memberships.ts'
import { readGroup, showGroupOrDeleted } from '../../chat/groups/rows.ts'
import type { App } from '../../chat/identity.ts'
import { showDraftedAction } from '../../chat/messages/actions.ts'
import { readMessages, type StoredMessage } from '../../chat/messages/rows.ts'
import { showMessages } from '../../chat/messages/show.ts'
import { conversationId, shownUid } from '../../chat/naming.ts'
import { placeOf, placeOfGroup } from '../../chat/place.ts'
import { type Participation, readParticipations } from '../../chat/sight/participation.ts'
import { visibleReactions } from '../../chat/sight/reactions.ts'
import { readVisible, type Viewer } from '../../chat/sight/sight.ts'
import { readFormerUsers } from '../../chat/users/former.ts'
import { readUsers, showDeletedUser } from '../../chat/users/rows.ts'
import type { Context } from '../../context.ts'
import { readEventOrNote, type StoredNote, type StoredRow } from '../../events/notes.ts'
import type { MessageChanged, Place, Reacted, Receipt, ReceiptOfAll } from '../../events/types.ts'
import { statement } from '../../store/statement.ts'
import { areApart, type BlocksOf, readBlocks } from '../blocks.ts'
import { envelope, goalFrame, markFrame, messageFrame, reactionFrame, receiptsFrame, statusFrame } from '../show.ts'
import { showSummary, type UserSummaries } from '../user-summaries.ts'

type Frame = Record<string, unknown>
type Event = ReturnType<typeof readEventOrNote>

/** What decides whether a viewer is shown something, read once for a page of events. */
interface Known {
  readonly context: Context
  readonly app: App
  readonly viewer: Viewer
  readonly stored: ReadonlyMap<number, StoredMessage>
  /** Messages that the viewer sees. */
  readonly visible: ReadonlySet<number>
  readonly shown: ReadonlyMap<number, Message>
  readonly participations: ReadonlyMap<number, Participation>
  readonly blocks: BlocksOf | undefined
  /** Scopes of those who react, in groups where only the reactions of some scopes are seen. */
  readonly scopes: ReadonlyMap<string, string>
  summariesAt(event: number): UserSummaries
}

const selectInteractions = statement(`
  select element_id as "elementId", interacted_at as "interactedAt"
  from interactions
  where app_id = $1
  and message_id = $2
  and uid = $3
  order by interacted_at, element_id`)

/**
 * The frame that the sockets of a user were sent for each of some events, by the id of the event; missing where they were sent
 * none, or may not see any more what it shows. What is shown is as it is now.
 */
export async function framesOf(
  context: Context,
  app: App,
  viewer: Viewer,
  rows: readonly StoredRow[],
): Promise<ReadonlyMap<number, Frame>> {
  const events = rows.map((row) => ({ row, event: readEventOrNote(row) }))
  const known = await readKnown(context, app, viewer, events)
  const frames = await Promise.all(
    events.map(async ({ row, event }) => [row.id, await frameOf(known, row, event)] as const),
  )
  const found = frames.flatMap(([id, frame]) => (frame === undefined ? [] : [[id, frame as Frame] as const]))
  return new Map(found)
}

async function readKnown(
  context: Context,
  app: App,
  viewer: Viewer,
  events: ReadonlyArray<{ readonly row: StoredRow; readonly event: Event }>,
): Promise<Known> {
  const { database } = context
  const { appId } = app
  const ids = events.flatMap(({ row, event }) => [
    ...(row.message === null ? [] : [row.message]),
    ...('actionId' in event && event.actionId !== undefined ? [event.actionId] : []),
  ])
  const uids = events.flatMap(({ event }) => {
    if ('uid' in event) return [event.uid]
    // Who is in an action message that is stored nowhere.
    return isBanOf(event, viewer.uid) ? [viewer.uid, event.by ?? systemUid] : []
  })
  const conversations = events.flatMap(({ row }) => (row.conversation === null ? [] : [row.conversation]))
  const [stored, participations, users, formers, blocks] = await Promise.all([
    readMessages(database, appId, ids),
    readParticipations(database, appId, viewer.uid, conversations),
    readUsers(database, appId, uids),
    readFormerUsers(database, appId, new Set(uids)),
    readBlocks(database, appId, [viewer.uid]),
  ])
  const messages = [...stored.values()]
  const [visible, scopes] = await Promise.all([
    readVisible(database, appId, viewer, messages),
    readScopes(context, app, viewer, events, participations),
  ])
  const seen = messages.filter(({ id }) => visible.has(id))
  const options = { viewer: viewer.uid, policy: viewer.policy, withTags: true, withQuoted: true }
  const shown = await showMessages(database, appId, seen, options)
  const summariesAt = (event: number): UserSummaries => ({
    async of(_, uid) {
      const former = formers.get(uid)
      // Whoever has the uid by now is somebody else.
      if (former !== undefined && event <= former.lastEvent) return showDeletedUser(uid)
      return showSummary(uid, users.get(uid))
    },
    drop() {},
  })
  return {
    ...{ context, app, viewer, stored, visible, participations, scopes, summariesAt },
    shown: new Map(seen.map(({ id }, n) => [id, shown[n] as Message])),
    blocks: blocks.get(viewer.uid),
  }
}

async function readScopes(
  { database }: Context,
  { appId }: App,
  viewer: Viewer,
  events: ReadonlyArray<{ readonly row: StoredRow; readonly event: Event }>,
  participations: ReadonlyMap<number, Participation>,
): Promise<ReadonlyMap<string, string>> {
  const asked = events.flatMap(({ row, event }) => {
    if (!isReaction(event) || event.kind !== 'group') return []
    const visible = visibleReactions(viewer.policy, participations.get(row.conversation ?? 0)?.scope?.permissions)
    return visible === null ? [] : [{ guid: event.first, uid: event.uid }]
  })
  const memberships = await readMemberships(database, appId, asked)
  return new Map([...memberships].map(([key, { scope }]) => [key, scope]))
}

async function frameOf(known: Known, row: StoredRow, event: Event): Promise<object | undefined> {
  if ('note' in event) return noteFrame(known, row, event)
  const { app, viewer, stored, shown } = known
  switch (event.trigger) {
    case 'message_sent': {
      const message = shown.get(event.messageId)
      const place = placeIn(known, event.messageId)
      return message && place && messageFrame(app, { place }, message)
    }
    case 'message_edited':
    case 'message_deleted':
      return changeFrame(known, { ...event, place: placed(row, event), at: row.createdAt })
    case 'message_delivery_receipt':
    case 'message_read_receipt': {
      const receipt: Receipt = { ...event, place: placed(row, event) }
      if (!takesPart(known, row) || isKeptBy(known, event.uid)) return undefined
      const author = authorOf(known, receipt)
      if (author === undefined) return undefined
      if (event.kind === 'group' && viewer.uid !== author && viewer.uid !== event.uid) return undefined
      return receiptsFrame(known.summariesAt(row.id), app, receipt, shownUid(author))
    }
    case 'message_delivered_to_all':
    case 'message_read_by_all': {
      const receipt: ReceiptOfAll = { ...event, place: placed(row, event) }
      const author = stored.get(event.messageId)?.sender
      if (!takesPart(known, row)) return undefined
      return author === viewer.uid ? receiptsFrame(known.summariesAt(row.id), app, receipt, author) : undefined
    }
    case 'message_reaction_added':
    case 'message_reaction_removed': {
      if (event.reaction === undefined || !seesReaction(known, row, event)) return undefined
      const reacted: Reacted = { ...event, reaction: event.reaction, place: placed(row, event) }
      return reactionFrame(known.summariesAt(row.id), app, reacted)
    }
    default:
      return 'members' in event ? memberFrame(known, row, event) : undefined
  }
}

/** An edit or a deletion, and when it was, in epoch seconds. */
type Change = MessageChanged & { readonly at: number }

/** An edit or a deletion, where the viewer sees what it is about; of what is gone for good there is the id. */
function changeFrame(known: Known, event: Change): object | undefined {
  const { app, stored, shown, visible, viewer } = known
  const { place, actionId, messageId } = event
  const action = stored.get(actionId)
  if (place.kind === 'user' && known.blocks !== undefined && areApart(known.blocks, otherOf(place, viewer.uid))) {
    if (action?.sender !== viewer.uid) return undefined
  }
  if (stored.has(messageId) && !visible.has(messageId))
    return isBlockedNow(known, event) ? bare(known, event) : undefined
  const message = shown.get(actionId)
  if (message !== undefined) return messageFrame(app, { place }, message)
  // Moderation took it from others than the viewer, or has given it back.
  if (stored.get(messageId)?.deletedAt === null) return undefined
  const isGone = !stored.has(actionId) && event.trigger === 'message_deleted'
  return isGone && takesPart(known, place) ? bare(known, event) : undefined
}

/** Moderation blocked a message that others had seen: it is gone for them, and nothing shows what it said. */
function isBlockedNow(known: Known, { place, actionId, messageId, trigger }: MessageChanged) {
  const { stored, viewer } = known
  const isTaken = trigger === 'message_deleted' && !stored.has(actionId)
  return isTaken && stored.get(messageId)?.sender !== viewer.uid && takesPart(known, place)
}

/**
 * Of what is gone for good, nobody knows any more who deleted it. Clients name a conversation of two by sender and receiver: it is
 * sent as by the other one.
 */
function bare({ app, stored, viewer }: Known, { place, messageId, actionId, at }: Change): object {
  const conversation = conversationId(place.kind, place.first, place.second)
  const on = { entityType: 'message', entity: { id: String(messageId), conversationId: conversation } }
  const author = stored.get(messageId)?.sender
  const from = author ?? (place.kind === 'group' ? systemUid : otherOf(place, viewer.uid))
  const sender = shownUid(from)
  const receiver = place.kind === 'group' ? place.first : otherOf(place, from)
  return {
    ...envelope(app, 'message', place, sender),
    receiver,
    body: {
      ...{ id: String(actionId), conversationId: conversation, sender, receiverType: place.kind, receiver },
      ...{ category: 'action', type: 'message', data: { action: 'deleted', entities: { on } } },
      ...{ sentAt: at, updatedAt: at },
    },
  }
}

type Members = Extract<Event, { members: unknown }>

/** What happened to a member. Whoever was removed, or left, hears of that as the last thing of the group. */
async function memberFrame(known: Known, row: StoredRow, event: Members): Promise<object | undefined> {
  const { app, context, viewer, stored, shown } = known
  if (event.actionId === undefined) return undefined
  const action = stored.get(event.actionId)
  if (action === undefined) return isBanOf(event, viewer.uid) ? banFrame(known, row, event, event.actionId) : undefined
  const place = placeOf(action)
  const message = shown.get(action.id)
  if (message !== undefined) return messageFrame(app, { place }, message)
  const isRemoval = ['group_member_kicked', 'group_member_banned', 'group_member_left'].includes(event.trigger)
  if (!isRemoval || !event.members.some(({ uid }) => uid === viewer.uid)) return undefined
  const [last] = await showMessages(context.database, app.appId, [action])
  return last && messageFrame(app, { place }, last)
}

function isBanOf(event: Event, uid: string): event is Members {
  return 'members' in event && event.trigger === 'group_member_banned' && event.members.some((one) => one.uid === uid)
}

/** Those whom a list bans are sent an action message that is stored nowhere. Of a private group they do not see more now. */
async function banFrame(
  { app, context, viewer, summariesAt }: Known,
  row: StoredRow,
  { guid, by = systemUid }: Members,
  actionId: number,
): Promise<object> {
  const { appId } = app
  const summaries = summariesAt(row.id)
  const [group, actor, on] = await Promise.all([
    readGroup(context.database, appId, guid),
    summaries.of(appId, by),
    summaries.of(appId, viewer.uid),
  ])
  const shownGroup = showGroupOrDeleted(guid, group?.type === 'private' ? undefined : group)
  const action = { guid, action: 'banned', by: actor, on, group: shownGroup } as const
  const message = showDraftedAction(action, { id: actionId, sentAt: row.createdAt })
  return messageFrame(app, { place: placeOfGroup({ guid, conversation: row.conversation ?? 0 }) }, message)
}

async function noteFrame(known: Known, row: StoredRow, event: StoredNote): Promise<object | undefined> {
  const { app, context, viewer, stored, shown } = known
  const place = placed(row, event)
  const message = shown.get(event.messageId)
  const isOwn = event.uid === viewer.uid
  switch (event.note) {
    case 'message_pinned':
    case 'message_unpinned': {
      if (message === undefined || (!isOwn && place.kind === 'user' && isKeptBy(known, event.uid))) return undefined
      const action = event.note === 'message_pinned' ? 'pinned' : 'unpinned'
      return markFrame(app, { mark: 'message_pin', place, uid: event.uid, isPrivate: false, body: { action, message } })
    }
    case 'message_saved':
    case 'message_unsaved': {
      if (message === undefined || !isOwn) return undefined
      const action = event.note === 'message_saved' ? 'saved' : 'unsaved'
      return markFrame(app, { mark: 'message_save', place, uid: event.uid, isPrivate: true, body: { action, message } })
    }
    case 'moderation_status_changed':
      return isOwn
        ? statusFrame(context.database, app, { statusOf: event.messageId, place, sender: event.uid })
        : undefined
    case 'goal_reached': {
      const messageSender = stored.get(event.messageId)?.sender
      if (messageSender === undefined || !takesPart(known, row) || isKeptBy(known, event.uid)) return undefined
      if (place.kind === 'group' && !isOwn && messageSender !== viewer.uid) return undefined
      const values = [app.appId, event.messageId, event.uid]
      const interactions = await context.database.query<{ elementId: string; interactedAt: number }>(
        selectInteractions,
        values,
      )
      const goal = { goalOf: event.messageId, place, messageSender, uid: event.uid, interactions }
      return goalFrame(known.summariesAt(row.id), app, goal)
    }
  }
}

/** Whoever was removed from a group, or left it, hears nothing more of what its members do. */
function takesPart({ participations }: Known, { conversation }: { readonly conversation: number | null }): boolean {
  return participations.get(conversation ?? 0)?.takesPart === true
}

/** A block, in either direction, keeps from a viewer what somebody else does. */
function isKeptBy({ viewer, blocks }: Known, uid: string): boolean {
  return uid !== viewer.uid && blocks !== undefined && areApart(blocks, uid)
}

function isReaction(event: Event): event is Extract<Event, { reactionId: number }> {
  return 'reactionId' in event
}

function seesReaction(known: Known, row: StoredRow, event: Extract<Event, { reactionId: number }>): boolean {
  const { viewer, visible, participations, scopes } = known
  if (!visible.has(event.messageId)) return false
  if (event.kind === 'user' && isKeptBy(known, event.uid)) return false
  const seen = visibleReactions(viewer.policy, participations.get(row.conversation ?? 0)?.scope?.permissions)
  return seen === null || seen.includes(scopes.get(`${event.first} ${event.uid}`) ?? '')
}

/** Whose message a receipt is for: one to one it is the other side, also when the message is gone. */
function authorOf({ stored }: Known, { place, messageId, uid }: Receipt): string | undefined {
  return place.kind === 'user' ? otherOf(place, uid) : stored.get(messageId)?.sender
}

function otherOf({ first, second }: Place, uid: string): string {
  return first === uid ? second : first
}

function placed(row: StoredRow, { kind, first, second }: Omit<Place, 'conversation'>): Place {
  return { conversation: row.conversation ?? 0, kind, first, second }
}

function placeIn({ stored }: Known, id: number): Place | undefined {
  const message = stored.get(id)
  return message && placeOf(message)
}
