import type { AppSettings, NotificationCategory, NotificationReason, UnreadChannel } from '@parley/contract'
import {
  type ConversationKind,
  dndOf,
  levelOf,
  privacyOf,
  type SetBy,
  type StoredPreferences,
  scheduleOf,
  timezoneOf,
} from './preferences.ts'
import { firstKnown, isOpenAt, localTime } from './schedule.ts'
import type { AppNotifications } from './settings.ts'

/** Something happened that somebody may be notified of, as far as that decides. */
export interface Happening {
  readonly kind: ConversationKind
  readonly category: NotificationCategory
  /** The users that the message mentions. */
  readonly mentioned: readonly string[]
  readonly mentionsAll: boolean
  /** Who wrote the message that was reacted to. */
  readonly author: string | undefined
  /** Who wrote the message that is quoted. */
  readonly quoted: string | undefined
}

/** One user who may be notified of it, as far as that decides. */
export interface Recipient {
  readonly uid: string
  readonly stored: StoredPreferences
  /** Epoch milliseconds; null: for ever; undefined: not muted. */
  readonly mutedUntil: number | null | undefined
  readonly followsThread: boolean
  /** One of the two, the user and who did it, has blocked the other. */
  readonly isBlocked: boolean
  /** Has read it already. */
  readonly hasRead: boolean
  /** Is connected; looked at only when a push is planned. */
  readonly isOnline?: boolean | undefined
  /** What is looked at only when it is about to be sent: those who are planned for are there. */
  readonly atSending?: AtSending
}

/** What may have happened to a notification between planning and sending. */
export interface AtSending {
  /** Neither deactivated nor deleted. */
  readonly isActive: boolean
  readonly takesPart: boolean
  /** Of pushes: the device is still registered, by the same user. */
  readonly hasDevice: boolean | undefined
  /** Hidden: by a reset, or by what is set on a role or a scope. */
  readonly message: 'there' | 'deleted' | 'hidden'
  /** Of edits and deletions: whether the message was sent to the device, so that something is shown there. */
  readonly isShown: boolean | undefined
  /** Its time to live is not over. */
  readonly isInTime: boolean
}

/** What decides besides whether an e-mail or an SMS is sent. */
export interface MailFacts {
  readonly channel: UnreadChannel
  /** `notNeeded`: the provider finds users by itself. `refused`: by the provider, for good. */
  readonly address: 'stored' | 'missing' | 'refused' | 'notNeeded'
  readonly isUnsubscribed: boolean
  /** How many were sent on this day of the user, and how many of them of this conversation. */
  readonly sentToday: number
  readonly sentTodayHere: number
}

/** One thing that was looked at: what it said, who said so, and whether it lets the notification pass. */
export interface Gate {
  readonly gate: string
  readonly value: string | number | boolean | null
  readonly by: SetBy | 'chat'
  readonly passes: boolean
  /** Why nothing is sent, where this is the first gate that is closed; undefined: it is never closed. */
  readonly reason: NotificationReason | undefined
}

/** A gate as it is kept. */
export type StoredGate = readonly [gate: string, value: Gate['value'], setBy: Gate['by'], passes: boolean]

export function storedGate({ gate, value, by, passes }: Gate): StoredGate {
  return [gate, value, by, passes]
}

export interface Decision {
  /** Undefined: it is to be sent. */
  readonly reason: NotificationReason | undefined
  /** Everything that was looked at, in the order in which it counts. */
  readonly gates: readonly Gate[]
}

const reasonOf: Readonly<Record<string, NotificationReason>> = {
  messages: 'MESSAGES_PREFERENCE',
  replies: 'REPLIES_PREFERENCE',
  quotedReplies: 'QUOTED_REPLIES_PREFERENCE',
  messageEdited: 'MESSAGE_ACTIONS_PREFERENCE',
  messageDeleted: 'MESSAGE_ACTIONS_PREFERENCE',
  reactions: 'REACTIONS_PREFERENCE',
}

/**
 * Whether a user is notified of something. The one place that decides it: whatever plans, sends, explains or previews
 * notifications asks here. Looks at the clock only as `now`, epoch milliseconds.
 */
export function decide(
  happening: Happening,
  recipient: Recipient,
  app: AppNotifications,
  defaults: Pick<AppSettings, 'timezone' | 'pushWaitOnlineSeconds'>,
  now: number,
  mail?: MailFacts,
): Decision {
  const { preferences } = app.settings
  if (happening.category === 'messageDeleted') return decided(takeBackGates(happening, recipient, app))
  const isNamed = happening.mentioned.includes(recipient.uid)
  const isAddressed = isNamed || happening.mentionsAll
  const bypasses =
    (isNamed && preferences.bypassPreferencesForMentions) ||
    (!isNamed && happening.mentionsAll && preferences.bypassPreferencesForGroupMentions)
  const gates = [
    categoryGate(happening, recipient, app, isAddressed),
    dndGate(recipient, app, bypasses),
    muteGate(happening, recipient, app, bypasses, now),
    scheduleGate(recipient, app, defaults, bypasses, now),
    privacyGate(recipient, app),
    ...(mail === undefined ? [] : mailGates(mail, app)),
    gate('blocks', recipient.isBlocked, 'chat', !recipient.isBlocked, 'BLOCKED'),
    ...timeGates(recipient.atSending),
    ...sendingGates(recipient.atSending),
    ...onlineGates(recipient, defaults),
    gate('read', recipient.hasRead, 'chat', !recipient.hasRead || listsRead(mail, app), 'ALREADY_READ'),
  ]
  return decided(gates)
}

/** Why nothing is sent of what is gone altogether, so that nothing else can be looked at but the clock. */
export function decidedGone(
  what: 'event' | 'message',
  { isInTime }: Pick<AtSending, 'isInTime'>,
): Decision & { readonly reason: NotificationReason } {
  const gone = gate(what, what === 'message' ? 'deleted' : false, 'chat', false, 'NOT_FOUND')
  return { reason: isInTime ? 'NOT_FOUND' : 'TIMED_OUT', gates: [...timeGates({ isInTime }), gone] }
}

/** What decides whether something that was read elsewhere is taken back on a device. */
export interface TakeBackFacts extends Pick<AtSending, 'isActive' | 'hasDevice' | 'isInTime'> {
  /** How many of the messages that were read may be shown there. */
  readonly shown: number
}

/** Whether what was read elsewhere is taken back on a device: it makes no sound, so nothing that a user chooses is asked. */
export function decideTakeBack(
  { isActive, hasDevice, isInTime, shown }: TakeBackFacts,
  { pushTakeBackRead: isOn }: Pick<AppSettings, 'pushTakeBackRead'>,
): Decision {
  return decided([
    gate('pushTakeBackRead', isOn, 'app', isOn, 'MESSAGE_ACTIONS_PREFERENCE'),
    ...timeGates({ isInTime }),
    gate('account', isActive, 'chat', isActive, 'NOT_FOUND'),
    gate('device', hasDevice ?? true, 'chat', hasDevice ?? true, 'NOT_FOUND'),
    gate('shown', shown, 'chat', shown > 0, 'NOT_SHOWN'),
  ])
}

/** Of messages that are all hidden from the one who is notified, which is looked at last. */
export const hiddenGate: Gate = gate('message', 'hidden', 'chat', false, 'NOT_VISIBLE')

function decided(gates: readonly Gate[]): Decision {
  return { reason: firstClosed(gates), gates }
}

function firstClosed(gates: readonly Gate[]): NotificationReason | undefined {
  return gates.find(({ passes }) => !passes)?.reason
}

/** What may be otherwise by the time at which a window ends. */
const ofTheMoment: readonly string[] = ['dnd', 'mute', 'schedule', 'quota']

/** Why something opens no window; undefined where it does. What is of the moment only is looked at when the window ends. */
export function reasonToOpenNone({ gates }: Decision): NotificationReason | undefined {
  return firstClosed(gates.filter((one) => !ofTheMoment.includes(one.gate)))
}

function listsRead(mail: MailFacts | undefined, { settings }: AppNotifications): boolean {
  return mail !== undefined && !settings.preferences[mail.channel].notifyForUnreadOnly
}

function mailGates(mail: MailFacts, { settings, set }: AppNotifications): Gate[] {
  const { channel, address, isUnsubscribed, sentToday, sentTodayHere } = mail
  const { maxPerDay, maxPerDayPerConversation, intervalInSeconds } = settings.preferences[channel]
  const chosen = set.preferences?.[channel]
  const isSet = chosen?.maxPerDay !== undefined || chosen?.maxPerDayPerConversation !== undefined
  const quota = `${sentToday} of ${maxPerDay} today, ${sentTodayHere} of ${maxPerDayPerConversation} here`
  const isWithin = sentToday < maxPerDay && sentTodayHere < maxPerDayPerConversation
  const isReachable = address === 'stored' || address === 'notNeeded'
  const subscriber = isUnsubscribed ? 'user' : 'default'
  return [
    gate('window', intervalInSeconds, chosen?.intervalInSeconds === undefined ? 'default' : 'app', true),
    gate('quota', quota, isSet ? 'app' : 'default', isWithin, 'QUOTA_PREFERENCE'),
    gate('address', address, 'chat', isReachable, channel === 'email' ? 'MISSING_EMAIL' : 'MISSING_PHNO'),
    gate('unsubscribed', isUnsubscribed, subscriber, !isUnsubscribed, 'UNSUBSCRIBED'),
  ]
}

/** What is taken back makes no sound and says nothing: it is asked only whether the app wants it and something is shown. */
function takeBackGates(happening: Happening, recipient: Recipient, app: AppNotifications): Gate[] {
  const { atSending } = recipient
  return [
    categoryGate(happening, recipient, app, false),
    ...timeGates(atSending),
    ...(atSending === undefined ? [] : reachGates(atSending)),
  ]
}

function sendingGates(now: AtSending | undefined): Gate[] {
  if (now === undefined) return []
  const { takesPart, message } = now
  const reason = message === 'deleted' ? 'NOT_FOUND' : 'NOT_VISIBLE'
  return [
    gate('membership', takesPart, 'chat', takesPart, 'NOT_FOUND'),
    gate('message', message, 'chat', message === 'there', reason),
    ...reachGates(now),
  ]
}

function reachGates({ isActive, hasDevice, isShown }: AtSending): Gate[] {
  return [
    gate('account', isActive, 'chat', isActive, 'NOT_FOUND'),
    ...(hasDevice === undefined ? [] : [gate('device', hasDevice, 'chat', hasDevice, 'NOT_FOUND')]),
    ...(isShown === undefined ? [] : [gate('shown', isShown, 'chat', isShown, 'NOT_SHOWN')]),
  ]
}

/** In the contract, `TIMED_OUT` comes before `NOT_FOUND`: what is too late and gone is too late. */
function timeGates(now: Pick<AtSending, 'isInTime'> | undefined): Gate[] {
  return now === undefined ? [] : [gate('timeToLive', now.isInTime, 'chat', now.isInTime, 'TIMED_OUT')]
}

function gate(name: string, value: Gate['value'], by: Gate['by'], passes: boolean, reason?: NotificationReason): Gate {
  return { gate: name, value, by, passes, reason }
}

/** It keeps nothing back: it says which templates the words come from. */
function privacyGate({ stored }: Recipient, app: AppNotifications): Gate {
  const { value, by } = privacyOf(app, stored.preferences)
  return gate('privacyTemplate', value, by, true)
}

/** Whoever is connected is given time to read it: what they have read by then is stopped by that gate. */
function onlineGates(
  { isOnline }: Recipient,
  { pushWaitOnlineSeconds: seconds }: Pick<AppSettings, 'pushWaitOnlineSeconds'>,
): Gate[] {
  if (isOnline === undefined || seconds === 0) return []
  return [gate('online', isOnline && `waits ${seconds} s`, 'app', true)]
}

function categoryGate(
  { kind, category, author, quoted }: Happening,
  { uid, stored, followsThread }: Recipient,
  app: AppNotifications,
  isAddressed: boolean,
): Gate {
  const { value, by } = levelOf(app, stored.preferences, kind, category)
  const passes = (): boolean => {
    if (value === 1) return false
    if (category === 'reactions') return value === 3 || author === uid
    if (value === 3) return isAddressed
    if (value === 4) return category === 'replies' ? followsThread : quoted === uid
    return true
  }
  return gate(category, value, by, passes(), reasonOf[category] ?? 'GROUP_ACTIONS_PREFERENCE')
}

function dndGate({ stored }: Recipient, app: AppNotifications, bypasses: boolean): Gate {
  const { value, by } = dndOf(app, stored.preferences)
  return gate('dnd', value, by, value === 1 || bypasses, 'DND_PREFERENCE')
}

function muteGate(
  { kind }: Happening,
  { mutedUntil }: Recipient,
  { settings }: AppNotifications,
  bypasses: boolean,
  now: number,
): Gate {
  const { mutedGroupsOverride, mutedOneOnOnesOverride } = settings.preferences.mute
  const mayMute = kind === 'group' ? mutedGroupsOverride : mutedOneOnOnesOverride
  const isMuted = mayMute && mutedUntil !== undefined && (mutedUntil === null || mutedUntil > now)
  const by = mutedUntil === undefined ? 'default' : mayMute ? 'user' : 'app'
  return gate('mute', isMuted ? (mutedUntil ?? true) : false, by, !isMuted || bypasses, 'MUTE_PREFERENCE')
}

function scheduleGate(
  { stored }: Recipient,
  app: AppNotifications,
  defaults: Pick<AppSettings, 'timezone'>,
  bypasses: boolean,
  now: number,
): Gate {
  const { value, by } = scheduleOf(app, stored.preferences)
  const timezone = firstKnown([timezoneOf(stored, defaults), defaults.timezone])
  const time = localTime(now, timezone)
  const { from, to, dnd } = value[time.weekday]
  const said = dnd ? 'never' : `${from}-${to}`
  const shown = `${time.weekday} ${said}, it is ${time.hhmm} in ${timezone}`
  return gate('schedule', shown, by, isOpenAt(value, time) || bypasses, 'SCHEDULE_PREFERENCE')
}
