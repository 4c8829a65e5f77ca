import { type Static, type TProperties, Type } from 'typebox'

/** A preference as a number: 1 is never. What the others mean is said with each. */
const level = (max: 2 | 3 | 4, description: string) => Type.Integer({ minimum: 1, maximum: max, description })

const messages = level(3, '1 never, 2 every message, 3 only messages that mention the user')
const replies = level(4, '1 never, 2 every reply, 3 only replies that mention the user, 4 only in threads they follow')
const quotedReplies = level(
  4,
  '1 never, 2 every quoting message, 3 only those that mention the user, 4 only those that quote the user',
)
const reactions = level(3, "1 never, 2 reactions to the user's own messages, 3 all reactions")
const onOff = level(2, '1 never, 2 always')

/** What users can choose for one-to-one conversations; for groups, there are also `memberCategories`. */
export const messageCategories = { messages, replies, quotedReplies, reactions } as const
export const memberCategories = {
  memberLeft: onOff,
  memberAdded: onOff,
  memberJoined: onOff,
  memberKicked: onOff,
  memberBanned: onOff,
  memberUnbanned: onOff,
  memberScopeChanged: onOff,
} as const
/** What only the app decides. */
export const actionCategories = { messageEdited: onOff, messageDeleted: onOff } as const

export type MessageCategory = keyof typeof messageCategories
export type MemberCategory = keyof typeof memberCategories
export type ActionCategory = keyof typeof actionCategories
export type NotificationCategory = MessageCategory | MemberCategory | ActionCategory

export const callEvents = ['initiated', 'ongoing', 'cancelled', 'busy', 'rejected', 'unanswered', 'ended'] as const

/** One day of a weekly schedule; times as HHMM numbers. */
const clock = Type.Integer({ minimum: 0, maximum: 2359, description: 'HHMM as a number: 930 is 09:30' })
const dayTimes = { from: clock, to: clock, dnd: Type.Boolean({ description: 'true: nothing on this day' }) }
export const ScheduleDay = Type.Object(dayTimes, { additionalProperties: false })
export type ScheduleDay = Static<typeof ScheduleDay>

export const weekdays = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const
export type Weekday = (typeof weekdays)[number]

const week = <T extends TProperties[string]>(day: T) =>
  Object.fromEntries(weekdays.map((name) => [name, day])) as { [Day in Weekday]: T }

/** The seven days, in the user's time zone. */
export const Schedule = Type.Object(week(ScheduleDay), { additionalProperties: false })
export type Schedule = Static<typeof Schedule>

/** A change of a schedule: what is left out stays. Front ends send `{}` for "unchanged". */
export const ScheduleIn = Type.Partial(Type.Object(week(Type.Partial(Type.Object(dayTimes)))))

type Named<Names extends string, T> = { [Name in Names]: T }

/** `messages` -> `messagesSetting` and `messagesOverride`, the names of the app's settings. */
export function settingNames<const Categories extends Record<string, TProperties[string]>>(categories: Categories) {
  const entries = Object.entries(categories).flatMap(([name, schema]) => [
    [`${name}Setting`, schema],
    [`${name}Override`, Type.Boolean({ description: `Whether users can choose ${name} themselves` })],
  ])
  return Object.fromEntries(entries) as Named<`${keyof Categories & string}Setting`, typeof onOff> &
    Named<`${keyof Categories & string}Override`, ReturnType<typeof Type.Boolean>>
}

const capital = (name: string) => name.charAt(0).toUpperCase() + name.slice(1)

/** `messages` -> `groupMessages`, the names of a user's preferences. */
function userNames<const Prefix extends string, const Categories extends Record<string, TProperties[string]>>(
  prefix: Prefix,
  categories: Categories,
) {
  return Object.fromEntries(
    Object.entries(categories).map(([name, schema]) => [`${prefix}${capital(name)}`, schema]),
  ) as Named<`${Prefix}${Capitalize<keyof Categories & string>}`, typeof onOff>
}

const groupPreferences = userNames('group', { ...messageCategories, ...memberCategories })
const oneOnOnePreferences = userNames('oneOnOne', messageCategories)
const dnd = level(2, '1 do not disturb is off, 2 it is on: nothing is sent')
const privacy = Type.Boolean({ description: 'true: notifications do not show what was written' })

/** A user's preferences as they hold, in the naming of front ends. */
export const UserPreferences = Type.Object(
  {
    groupPreferences: Type.Object(groupPreferences, { additionalProperties: false }),
    oneOnOnePreferences: Type.Object(oneOnOnePreferences, { additionalProperties: false }),
    mutePreferences: Type.Object({ dnd, schedule: Schedule }, { additionalProperties: false }),
    usePrivacyTemplate: privacy,
  },
  { additionalProperties: false },
)
export type UserPreferences = Static<typeof UserPreferences>

/** A change of a user's preferences: what is left out stays. */
export const UserPreferencesIn = Type.Object({
  groupPreferences: Type.Optional(Type.Partial(Type.Object(groupPreferences))),
  oneOnOnePreferences: Type.Optional(Type.Partial(Type.Object(oneOnOnePreferences))),
  mutePreferences: Type.Optional(Type.Object({ dnd: Type.Optional(dnd), schedule: Type.Optional(ScheduleIn) })),
  usePrivacyTemplate: Type.Optional(privacy),
})
export type UserPreferencesIn = Static<typeof UserPreferencesIn>

/** The group and one-to-one parts of the app's settings, without what only the app decides. */
export const groupSettings = settingNames({ ...messageCategories, ...memberCategories })
export const oneOnOneSettings = settingNames(messageCategories)
export const actionSettings = { messageEditedSetting: onOff, messageDeletedSetting: onOff }
export const callSettings = Object.fromEntries(callEvents.map((name) => [`${name}Setting`, onOff])) as Named<
  `${(typeof callEvents)[number]}Setting`,
  typeof onOff
>
export const callOverrides = Object.fromEntries(callEvents.map((name) => [`${name}Override`, Type.Boolean()])) as Named<
  `${(typeof callEvents)[number]}Override`,
  ReturnType<typeof Type.Boolean>
>
export const dndSetting = dnd
