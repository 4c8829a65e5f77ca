import type { Message, NotificationReason, NotificationSettings, NotificationTrigger } from '@parley/contract'
import { type GroupRow, readGroups } from '../../chat/groups/rows.ts'
import type { App } from '../../chat/identity.ts'
import { readMessages, type StoredMessage } from '../../chat/messages/rows.ts'
import { showMessages } from '../../chat/messages/show.ts'
import { isHeld } from '../../chat/messages/traits.ts'
import { conversationId } from '../../chat/naming.ts'
import { decidedGone, type Gate } from '../../chat/notifications/decide.ts'
import { privacyOf } from '../../chat/notifications/preferences.ts'
import type { AppNotifications } from '../../chat/notifications/settings.ts'
import { readUnreadTotals } from '../../chat/notifications/unread.ts'
import { readUsers, showUserOrDeleted, type UserRow } from '../../chat/users/rows.ts'
import type { Queryable } from '../../store/database.ts'
import { type AskOptions, askAgain } from './ask-again.ts'
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
  | { readonly told: Notification }
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
  // What it is about is read along with what decides: hardly anything is stopped this late.
  const [decisions, contents] = await Promise.all([
    askAgain(options, app.appId, due),
    readContents(options.database, app.appId, due),
  ])
  const rendered = new Map<number, Rendered>()
  const open: DueNotification[] = []
  for (const one of due) {
    const decision = decisions.get(one.id) ?? decidedGone('event')
    if (decision === 'later') rendered.set(one.id, decision)
    else if (decision.reason === undefined) open.push(one)
    else rendered.set(one.id, { lapse: decision.reason, gates: decision.gates })
  }
  if (open.length === 0) return rendered
  const known = await read(options, app.appId, open, contents)
  for (const one of open) {
    const notification = render(one, known)
    // It has gone since it was asked for.
    const { gates } = decidedGone('message')
    rendered.set(one.id, notification === undefined ? { lapse: 'NOT_FOUND', gates } : { told: notification })
  }
  return rendered
}

interface Contents extends Pick<Known, 'groups' | 'unread'> {
  readonly stored: ReadonlyMap<number, StoredMessage>
}

async function readContents(database: Queryable, appId: number, due: readonly DueNotification[]): Promise<Contents> {
  const ids = due.flatMap(({ message }) => message ?? [])
  const guids = due.flatMap(({ kind, first }) => (kind === 'group' ? first : []))
  const uids = due.map(({ uid }) => uid)
  const [stored, groups, unread] = await Promise.all([
    readMessages(database, appId, ids),
    readGroups(database, appId, guids),
    readUnreadTotals(database, appId, uids),
  ])
  return { stored, groups, unread }
}

async function read(
  { database, notificationSettings }: RenderOptions,
  appId: number,
  due: readonly DueNotification[],
  { stored, groups, unread }: Contents,
): Promise<Known> {
  const wanted = new Set(due.map(({ message }) => message))
  const rows = [...stored.values()].filter((row) => wanted.has(row.id) && !isHeld(row))
  const uids = due.flatMap((one) => [...(one.kind === 'user' ? [one.first, one.second] : []), ...namedIn(one)])
  const [app, users] = await Promise.all([
    notificationSettings.of(appId),
    readUsers(database, appId, [...uids, ...rows.map(({ sender }) => sender)]),
  ])
  // What a message quotes may be hidden from who is notified.
  const withQuoted = false
  const known = { users: [...users.values()], groups: [...groups.values()] }
  const shown = await showMessages(database, appId, rows, { withQuoted, known })
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

function namedIn(due: DueNotification): string[] {
  const { uid, by, members = [] } = dataOf(due)
  return [...(uid === undefined ? [] : [uid]), ...(by === undefined ? [] : [by]), ...members.map((one) => one.uid)]
}

/** @returns undefined where what it is about is gone */
function render(due: DueNotification, known: Known): Notification | undefined {
  const { settings } = known.app
  const isPrivate = privacyOf(known.app, due.preferences ?? {}).value
  const told = tell(due, known, { templates: settings.templates, isPrivate, isGroup: due.kind === 'group' })
  if (told === undefined) return undefined
  const { customJson } = settings.preferences.push
  const action = actionOf[due.trigger]
  return {
    ...told,
    ...between(due, told.sender, known),
    uid: due.uid,
    conversationId: conversationId(due.kind, due.first, due.second),
    unread: known.unread.get(due.uid) ?? 0,
    ...(action === undefined ? { sound: settings.sound.chat } : { action }),
    ...(Object.keys(customJson).length > 0 && { custom: customJson }),
  }
}

const actionOf: Readonly<Partial<Record<NotificationTrigger, 'edited' | 'deleted'>>> = {
  message_edited: 'edited',
  message_deleted: 'deleted',
}

interface Told extends Words {
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

function tell(due: DueNotification, known: Known, reading: Reading): Told | undefined {
  const { by, uid, members = [], reaction } = dataOf(due)
  const name = (of: string) => showUserOrDeleted(of, known.users.get(of)).name
  if (due.message === null) {
    const group = known.groups.get(due.first)
    const sender = by ?? members[0]?.uid
    if (due.event === null || group === undefined || sender === undefined) return undefined
    const named = members.map((one) => name(one.uid)).join(', ')
    const words = wordsOfMembers(due.event, group.name, named, by === undefined ? undefined : name(by))
    return { ...words, sender, tag: due.first, sentAt: due.createdAt }
  }
  const message = known.messages.get(due.message)
  if (due.trigger === 'message_deleted') return tellDeletion(due, known, message)
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

/** Takes the place of what is shown of a message that is deleted; of one that is gone for good, only its place is known. */
function tellDeletion(due: DueNotification, known: Known, message: Message | undefined): Told | undefined {
  const sender =
    message?.sender ?? (due.kind === 'user' ? [due.first, due.second].find((uid) => uid !== due.uid) : due.first)
  if (sender === undefined) return undefined
  const title =
    due.kind === 'group'
      ? (known.groups.get(due.first)?.name ?? '')
      : showUserOrDeleted(sender, known.users.get(sender)).name
  return { title, body: deletedBody, sender, tag: String(due.message), sentAt: due.createdAt }
}

type Between = Pick<
  Notification,
  'sender' | 'senderName' | 'senderAvatar' | 'receiver' | 'receiverName' | 'receiverAvatar' | 'receiverType'
>

function between(due: DueNotification, sender: string, { users, groups }: Known): Between {
  const from = showUserOrDeleted(sender, users.get(sender))
  const avatar = (url: string | null | undefined, name: string) => (url ? { [name]: url } : {})
  const ofSender = { sender: from.uid, senderName: from.name, ...avatar(from.avatar, 'senderAvatar') }
  if (due.kind === 'group') {
    const group = groups.get(due.first)
    const icon = due.message === null ? {} : avatar(group?.icon, 'receiverAvatar')
    return { ...ofSender, receiver: due.first, receiverName: group?.name ?? '', ...icon, receiverType: 'group' }
  }
  const to = showUserOrDeleted(due.uid, users.get(due.uid))
  return {
    ...ofSender,
    ...{ receiver: to.uid, receiverName: to.name, ...avatar(to.avatar, 'receiverAvatar') },
    receiverType: 'user',
  }
}
