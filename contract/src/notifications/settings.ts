import { type Static, Type } from 'typebox'
import { JsonObject } from '../schemas.ts'
import {
  actionSettings,
  callOverrides,
  callSettings,
  dndSetting,
  groupSettings,
  oneOnOneSettings,
  Schedule,
  ScheduleIn,
  weekdays,
} from './preferences.ts'
import { defaultTemplates, Templates, TemplatesIn } from './templates.ts'

const seconds = (minimum: number, maximum: number) => Type.Integer({ minimum, maximum })
const count = Type.Integer({ minimum: 0, maximum: 100_000 })

const includes = {
  includeMessageObjectSetting: Type.Boolean({ description: 'Whether the message itself is sent along' }),
  includeSenderMetadataSetting: Type.Boolean({ description: 'Whether that has the metadata of its sender' }),
  includeReceiverMetadataSetting: Type.Boolean({ description: 'Whether that has the metadata of its receiver' }),
  includeMessageMetadataSetting: Type.Boolean({ description: 'Whether that has the metadata of the message' }),
}
const push = {
  ...includes,
  trimTextFieldSetting: Type.Boolean({ description: 'Whether long texts are shortened in it' }),
  customJson: JsonObject,
}
const unreadMail = {
  notifyForUnreadOnly: Type.Boolean({ description: 'false: messages that were read are listed, too' }),
  intervalInSeconds: seconds(60, 86_400),
  maxPerDay: count,
  maxPerDayPerConversation: count,
  ...includes,
}
const overrides = {
  dndPreferenceOverride: Type.Boolean(),
  schedulePreferenceOverride: Type.Boolean(),
  mutedGroupsOverride: Type.Boolean(),
  mutedOneOnOnesOverride: Type.Boolean(),
}
const mute = { dndPreferenceSetting: dndSetting, schedulePreferenceSetting: Schedule, ...overrides }
const bypass = { bypassPreferencesForMentions: Type.Boolean(), bypassPreferencesForGroupMentions: Type.Boolean() }
const soundName = Type.String({ maxLength: 255 })

/** Everything that an app decides about its notifications. */
export const NotificationSettings = Type.Object(
  {
    preferences: Type.Object(
      {
        group: Type.Object({ ...groupSettings, ...actionSettings }, { additionalProperties: false }),
        oneOnOne: Type.Object({ ...oneOnOneSettings, ...actionSettings }, { additionalProperties: false }),
        ...bypass,
        call: Type.Object({ ...callSettings, ...callOverrides }, { additionalProperties: false }),
        mute: Type.Object(mute, { additionalProperties: false }),
        email: Type.Object(unreadMail, { additionalProperties: false }),
        sms: Type.Object(unreadMail, { additionalProperties: false }),
        push: Type.Object(push, { additionalProperties: false }),
      },
      { additionalProperties: false },
    ),
    sound: Type.Object({ chat: soundName, call: soundName }, { additionalProperties: false }),
    templates: Templates,
  },
  { additionalProperties: false },
)
export type NotificationSettings = Omit<Static<typeof NotificationSettings>, 'templates'> & {
  readonly templates: typeof defaultTemplates
}

/** A change of them: what is left out stays. */
export const NotificationSettingsIn = Type.Partial(
  Type.Object({
    preferences: Type.Partial(
      Type.Object({
        group: Type.Partial(Type.Object({ ...groupSettings, ...actionSettings })),
        oneOnOne: Type.Partial(Type.Object({ ...oneOnOneSettings, ...actionSettings })),
        ...bypass,
        call: Type.Partial(Type.Object(callSettings)),
        mute: Type.Partial(Type.Object({ ...mute, schedulePreferenceSetting: ScheduleIn })),
        email: Type.Partial(Type.Object(unreadMail)),
        sms: Type.Partial(Type.Object(unreadMail)),
        push: Type.Partial(Type.Object(push)),
      }),
    ),
    sound: Type.Partial(Type.Object({ chat: soundName, call: soundName })),
    templates: TemplatesIn,
  }),
)
export type NotificationSettingsIn = Static<typeof NotificationSettingsIn>

/** Each `...Setting` at its value, each `...Override` allowed. */
function open(values: Readonly<Record<string, number>>): Record<string, number | boolean> {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => [
      [`${name}Setting`, value],
      [`${name}Override`, true],
    ]),
  )
}

const messageDefaults = { messages: 2, replies: 2, quotedReplies: 2, reactions: 2 }
const memberDefaults = {
  ...{ memberLeft: 1, memberAdded: 1, memberJoined: 1, memberKicked: 1 },
  ...{ memberBanned: 1, memberUnbanned: 1, memberScopeChanged: 1 },
}
const actions = { messageEditedSetting: 2, messageDeletedSetting: 2 }
const included = {
  includeMessageObjectSetting: false,
  includeSenderMetadataSetting: true,
  includeReceiverMetadataSetting: true,
  includeMessageMetadataSetting: true,
}
const unreadOnly = {
  ...{ notifyForUnreadOnly: true, intervalInSeconds: 7200, maxPerDay: 20, maxPerDayPerConversation: 2 },
  ...included,
}
const always = Object.fromEntries(weekdays.map((day) => [day, { from: 0, to: 2359, dnd: false }])) as Schedule

/** What holds until an app sets something else. */
export const defaultNotificationSettings = {
  preferences: {
    group: { ...open({ ...messageDefaults, ...memberDefaults }), ...actions },
    oneOnOne: { ...open(messageDefaults), ...actions },
    bypassPreferencesForMentions: false,
    bypassPreferencesForGroupMentions: false,
    call: {
      ...Object.fromEntries(Object.keys(callSettings).map((name) => [name, 2])),
      ...Object.fromEntries(Object.keys(callOverrides).map((name) => [name, false])),
    },
    mute: {
      dndPreferenceSetting: 1,
      schedulePreferenceSetting: always,
      ...Object.fromEntries(Object.keys(overrides).map((name) => [name, true])),
    },
    email: unreadOnly,
    sms: unreadOnly,
    push: { ...included, trimTextFieldSetting: false, customJson: {} },
  },
  sound: { chat: 'default', call: 'default' },
  templates: defaultTemplates,
} as unknown as NotificationSettings
