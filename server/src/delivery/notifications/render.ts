import type { Message, NotificationReason, NotificationSettings, NotificationTrigger } from '@parley/contract'
import { type GroupRow, readGroups } from '../../chat/groups/rows.ts'
import type { App } from '../../chat/identity.ts'
import { readMessages, type StoredMessage } from '../../chat/messages/rows.ts'
import { showMessages } from '../../chat/messages/show.ts'
import { isHeld } from '../../chat/messages/traits.ts'
import { conversationId } from '../../chat/naming.ts'
import { type Decision, decidedGone, type Gate } from '../../chat/notifications/decide.ts'
import { privacyOf } from '../../chat/notifications/preferences.ts'
import type { AppNotifications } from '../../chat/notifications/settings.ts'
import { readUnreadTotals } from '../../chat/notifications/unread.ts'
import { readUsers, showDeletedUser, type UserRow } from '../../chat/users/rows.ts'
import { type AskOptions, askAgain, viewerOf } from './ask-again.ts'
import type { DueNotification } from './due.ts'
import { forPush } from './message-object.ts'
import { deletedBody, type Words, wordsOfMembers, wordsOfMessage, wordsOfReaction } from './words.ts'

/** A notification for one user, before it takes the form of a provider. */
export interface Notification extends Words {
  readonly uid: string
  readonly sender: string
  readonly senderName: string
  readonly senderAvatar?: string
  readonly receiver: string
  readonly receiverName: string
  readonly receiverAvatar?: string
  readonly receiverType: 'user' | 'group'
  /** Id of the notification that is shown: one with the same takes its place. */
  readonly tag: string
  readonly conversationId: string
  /** Epoch milliseconds. */
  readonly sentAt: number
  readonly unread: number
  /** Absent: without a sound. */
  readonly sound?: string
  /** What is shown under the tag is replaced or taken back, quietly; absent: it is something new. */
  readonly action?: 'edited' | 'deleted'
  readonly message?: Partial<Message>
  readonly custom?: Readonly<Record<string, unknown>>
}

export type Rendered =
  | { readonly notice: Notification }
  | { readonly lapse: NotificationReason; readonly gates: readonly Gate[] }
  | 'later'

export type RenderOptions = AskOptions

/** Everything that a portion of notifications is about, as it is now. */
interface Known {
  readonly app: AppNotifications
  readonly messages: ReadonlyMap<number, Message>
  readonly users: ReadonlyMap<string, UserRow>
  readonly groups: ReadonlyMap<string, GroupRow>
  readonly unread: ReadonlyMap<string, number>
}

/** Makes notifications of what is there now: one read for each kind of entity, however many there are. */
export async function renderNotifications(
  options: RenderOptions,
  app: Pick<App, 'appId'>,
  due: readonly DueNotification[],
): Promise<ReadonlyMap<number, Rendered>> {
  if (due.length === 0) return new Map()
  // Hardly anything is stopped this late, so all that is named is read at once.
  const contents = await readContents(options, app.appId, due)
  const decisions = await askAgain(options, app.appId, due, contents.stored)
  const rendered = new Map<number, Rendered>()
  const open: DueNotification[] = []
  for (const one of due) {
    const decision = decisions.get(one.id) as Decision | 'later'
    if (decision === 'later') rendered.set(one.id, decision)
    else if (decision.reason === undefined) open.push(one)
    else rendered.set(one.id, { lapse: decision.reason, gates: decision.gates })
  }
  if (open.length === 0) return rendered
  const known = await show(options, app.appId, open, contents)
  for (const one of open) {
    const notification = render(one, known)
    // Its group or whom it names has gone since.
    const { reason: lapse, gates } = decidedGone('message', { isInTime: true })
    rendered.set(one.id, notification === undefined ? { lapse, gates } : { notice: notification })
  }
  return rendered
}

interface Contents extends Omit<Known, 'app' | 'messages'> {
  readonly stored: ReadonlyMap<number, StoredMessage>
}

async function readContents(
  { database, policies }: RenderOptions,
  appId: number,
  due: readonly DueNotification[],
): Promise<Contents> {
  const ofApp = await policies.ofApp(appId)
  const ids = due.flatMap(({ message }) => message ?? [])
  const guids = due.flatMap(({ kind, first }) => (kind === 'group' ? first : []))
  const viewers = due.map((one) => viewerOf(one, ofApp))
  const [stored, groups, users, unread] = await Promise.all([
    readMessages(database, appId, ids),
    readGroups(database, appId, guids),
    readUsers(database, appId, due.flatMap(namedBy)),
    readUnreadTotals(database, appId, viewers),
  ])
  return { stored, groups, users, unread }
}

/** The messages as they are shown. */
async function show(
  { database, notificationSettings }: RenderOptions,
  appId: number,
  due: readonly DueNotification[],
  { stored, groups, users, unread }: Contents,
): Promise<Known> {
  const wanted = new Set(due.map(({ message }) => message))
  const rows = [...stored.values()].filter((row) => wanted.has(row.id) && !isHeld(row))
  // What a message quotes may be hidden from the one who is notified.
  const withQuoted = false
  const known = { users: [...users.values()], groups: [...groups.values()] }
  const [app, shown] = await Promise.all([
    notificationSettings.of(appId),
    showMessages(database, appId, rows, { withQuoted, known }),
  ])
  const messages = new Map(rows.map((row, i) => [row.id, shown[i] as Message]))
  return { app, messages, users, groups, unread }
}

interface EventData {
  readonly uid?: string
  readonly by?: string
  readonly reaction?: string
  readonly members?: ReadonlyArray<{ readonly uid: string }>
}

function dataOf({ data }: DueNotification): EventData {
  return (data ?? {}) as EventData
}

/** Everybody whose name may stand in it. */
function namedBy(due: DueNotification): string[] {
  const { uid, by, members = [] } = dataOf(due)
  const named = due.kind === 'user' ? [due.first, due.second] : []
  for (const one of [due.sender, due.actedBy, uid, by]) if (one !== undefined && one !== null) named.push(one)
  for (const one of members) named.push(one.uid)
  return named
}

/** @returns undefined where what it is about is gone */
function render(due: DueNotification, known: Known): Notification | undefined {
  if (due.kind === null) return undefined
  const { settings } = known.app
  const isPrivate = privacyOf(known.app, due.preferences ?? {}).value
  const words = describe(due, known, { templates: settings.templates, isPrivate, isGroup: due.kind === 'group' })
  if (words === undefined) return undefined
  const { customJson } = settings.preferences.push
  const action = actionOf[due.trigger]
  const from = faceOf(words.sender, known.users)
  // One literal, and few additions: to put it together of parts costs more than to send it.
  const notification: Mutable<Notification> = {
    title: words.title,
    body: words.body,
    uid: due.uid,
    sender: from.uid,
    senderName: from.name,
    receiver: due.first,
    receiverName: '',
    receiverType: due.kind,
    tag: words.tag,
    // Of a conversation that is gone, nothing tells with whom it was.
    conversationId: due.isOfRemoved ? '' : conversationId(due.kind, due.first, due.second),
    sentAt: words.sentAt,
    unread: known.unread.get(due.uid) ?? 0,
  }
  if (from.avatar) notification.senderAvatar = from.avatar
  nameReceiver(notification, due, known)
  if (words.message !== undefined) notification.message = words.message
  if (action === undefined) notification.sound = settings.sound.chat
  else notification.action = action
  if (Object.keys(customJson).length > 0) notification.custom = customJson
  return notification
}

type Mutable<Row> = { -readonly [Name in keyof Row]: Row[Name] }

/** Of events of members, the group is shown by its name alone. */
function nameReceiver(notification: Mutable<Notification>, due: DueNotification, { users, groups }: Known): void {
  if (due.kind === 'group') {
    const group = groups.get(due.first)
    notification.receiverName = group?.name ?? ''
    if (due.message !== null && group?.icon) notification.receiverAvatar = group.icon
    return
  }
  const to = faceOf(due.uid, users)
  notification.receiver = to.uid
  notification.receiverName = to.name
  if (to.avatar) notification.receiverAvatar = to.avatar
}

function faceOf(uid: string, users: Known['users']): Pick<UserRow, 'uid' | 'name' | 'avatar'> {
  return users.get(uid) ?? { ...showDeletedUser(uid), avatar: null }
}

const actionOf: Readonly<Partial<Record<NotificationTrigger, 'edited' | 'deleted'>>> = {
  message_edited: 'edited',
  message_deleted: 'deleted',
}

interface Described extends Words {
  readonly sender: string
  readonly tag: string
  readonly sentAt: number
  readonly message?: Partial<Message>
}

interface Reading {
  readonly templates: NotificationSettings['templates']
  readonly isPrivate: boolean
  readonly isGroup: boolean
}

function describe(due: DueNotification, known: Known, reading: Reading): Described | undefined {
  const { by, uid, members = [], reaction } = dataOf(due)
  const name = (of: string) => faceOf(of, known.users).name
  if (due.message === null) {
    const group = known.groups.get(due.first)
    const sender = by ?? members[0]?.uid
    if (due.event === null || group === undefined || sender === undefined) return undefined
    const named = members.map((one) => name(one.uid)).join(', ')
    const words = wordsOfMembers(due.event, group.name, named, by === undefined ? undefined : name(by))
    return { ...words, sender, tag: due.first, sentAt: due.createdAt }
  }
  const message = known.messages.get(due.message)
  if (due.trigger === 'message_deleted') return describeDeletion(due, known, message)
  // What was deleted meanwhile is covered by its deletion.
  if (message === undefined || message.deletedAt !== undefined) return undefined
  const object = forPush(message, known.app.settings.preferences.push)
  const common = { sentAt: message.sentAt * 1000, tag: message.id, ...(!reading.isPrivate && object) }
  if (due.trigger !== 'message_reaction_added') {
    return { ...wordsOfMessage(message, due.uid, reading), ...common, sender: message.sender }
  }
  if (uid === undefined) return undefined
  const shown = reading.isPrivate ? undefined : reaction
  return {
    ...wordsOfReaction(name(uid), message.sender === due.uid, shown),
    ...common,
    sender: uid,
    sentAt: due.createdAt,
  }
}

/** Takes the place of what is shown of a message that is deleted. Of one that is gone for good nobody knows who wrote it in a group. */
function describeDeletion(due: DueNotification, known: Known, message: Message | undefined): Described | undefined {
  const other = [due.first, due.second].find((uid) => uid !== due.uid)
  const sender = message?.sender ?? (due.kind === 'user' ? other : (due.actedBy ?? ''))
  if (sender === undefined) return undefined
  const title = due.kind === 'group' ? (known.groups.get(due.first)?.name ?? '') : faceOf(sender, known.users).name
  return { title, body: deletedBody, sender, tag: String(due.message), sentAt: due.createdAt }
}
