import { defaultNotificationSettings, type NotificationSettingsIn, type UserPreferencesIn } from '@parley/contract'
import { describe, expect, it } from 'vitest'
import { decide, type Happening, type Recipient } from '../../src/chat/notifications/decide.ts'
import { type AppNotifications, merge } from '../../src/chat/notifications/settings.ts'

const noon = Date.parse('2026-07-01T12:00:00Z')

interface Case {
  readonly happening?: Partial<Happening>
  readonly own?: UserPreferencesIn
  readonly timezone?: string | null
  readonly timezoneOfApp?: string
  readonly waitOnline?: number
  readonly app?: object
  readonly recipient?: Partial<Recipient>
  readonly now?: number
}

function appWith(set: object): AppNotifications {
  return { set: set as NotificationSettingsIn, settings: merge(defaultNotificationSettings, set) }
}

function decideOn(given: Case) {
  const {
    happening,
    own = {},
    timezone,
    timezoneOfApp = 'UTC',
    waitOnline = 0,
    app = {},
    recipient,
    now = noon,
  } = given
  return decide(
    {
      ...{
        kind: 'group',
        category: 'messages',
        mentioned: [],
        mentionsAll: false,
        author: undefined,
        quoted: undefined,
      },
      ...happening,
    },
    {
      ...{ uid: 'bob', mutedUntil: undefined, followsThread: false, isBlocked: false, hasRead: false },
      stored: { preferences: own, timezone: timezone ?? null },
      ...recipient,
    },
    appWith(app),
    { timezone: timezoneOfApp, pushWaitOnlineSeconds: waitOnline },
    now,
  )
}

const group = (groupPreferences: object) => ({ groupPreferences }) as UserPreferencesIn
const schedule = (days: object) => ({ mutePreferences: { schedule: days } }) as UserPreferencesIn
const everyDay = (day: object) =>
  Object.fromEntries(
    ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'].map((name) => [name, day]),
  )

const cases: ReadonlyArray<readonly [string, Case, string | undefined]> = [
  ['by default', {}, undefined],
  ['messages: never', { own: group({ groupMessages: 1 }) }, 'MESSAGES_PREFERENCE'],
  [
    'one-to-one is asked apart from groups',
    { own: group({ groupMessages: 1 }), happening: { kind: 'oneOnOne' } },
    undefined,
  ],
  ['only mentions, not mentioned', { own: group({ groupMessages: 3 }) }, 'MESSAGES_PREFERENCE'],
  [
    'only mentions, another one is',
    { own: group({ groupMessages: 3 }), happening: { mentioned: ['eve'] } },
    'MESSAGES_PREFERENCE',
  ],
  ['only mentions, mentioned', { own: group({ groupMessages: 3 }), happening: { mentioned: ['bob'] } }, undefined],
  ['only mentions, everybody is', { own: group({ groupMessages: 3 }), happening: { mentionsAll: true } }, undefined],
  [
    'replies in threads that they follow',
    { own: group({ groupReplies: 4 }), happening: { category: 'replies' }, recipient: { followsThread: true } },
    undefined,
  ],
  [
    'replies in other threads',
    { own: group({ groupReplies: 4 }), happening: { category: 'replies' } },
    'REPLIES_PREFERENCE',
  ],
  [
    'quotes of their own',
    { own: group({ groupQuotedReplies: 4 }), happening: { category: 'quotedReplies', quoted: 'bob' } },
    undefined,
  ],
  [
    'quotes of others',
    { own: group({ groupQuotedReplies: 4 }), happening: { category: 'quotedReplies', quoted: 'eve' } },
    'QUOTED_REPLIES_PREFERENCE',
  ],
  ['reactions to their own message', { happening: { category: 'reactions', author: 'bob' } }, undefined],
  ['reactions to messages of others', { happening: { category: 'reactions', author: 'eve' } }, 'REACTIONS_PREFERENCE'],
  [
    'all reactions',
    { own: group({ groupReactions: 3 }), happening: { category: 'reactions', author: 'eve' } },
    undefined,
  ],
  ['group actions by default', { happening: { category: 'memberJoined' } }, 'GROUP_ACTIONS_PREFERENCE'],
  [
    'group actions that they want',
    { own: group({ groupMemberJoined: 2 }), happening: { category: 'memberJoined' } },
    undefined,
  ],
  [
    'edits, which only the app can turn off',
    { app: { preferences: { group: { messageEditedSetting: 1 } } }, happening: { category: 'messageEdited' } },
    'MESSAGE_ACTIONS_PREFERENCE',
  ],
  [
    'what the app does not let them choose',
    { own: group({ groupMessages: 1 }), app: { preferences: { group: { messagesOverride: false } } } },
    undefined,
  ],
  ['do not disturb', { own: { mutePreferences: { dnd: 2 } } }, 'DND_PREFERENCE'],
  [
    'do not disturb, where it may not be chosen',
    { own: { mutePreferences: { dnd: 2 } }, app: { preferences: { mute: { dndPreferenceOverride: false } } } },
    undefined,
  ],
  [
    'a mention goes through do not disturb only if set',
    { own: { mutePreferences: { dnd: 2 } }, happening: { mentioned: ['bob'] } },
    'DND_PREFERENCE',
  ],
  [
    'a mention that may',
    {
      own: { mutePreferences: { dnd: 2 } },
      happening: { mentioned: ['bob'] },
      app: { preferences: { bypassPreferencesForMentions: true } },
    },
    undefined,
  ],
  [
    'everybody is mentioned, which may not',
    {
      own: { mutePreferences: { dnd: 2 } },
      happening: { mentionsAll: true },
      app: { preferences: { bypassPreferencesForMentions: true } },
    },
    'DND_PREFERENCE',
  ],
  [
    'everybody is mentioned, which may',
    {
      own: { mutePreferences: { dnd: 2 } },
      happening: { mentionsAll: true },
      app: { preferences: { bypassPreferencesForGroupMentions: true } },
    },
    undefined,
  ],
  [
    'a mention does not go through "never"',
    {
      own: group({ groupMessages: 1 }),
      happening: { mentioned: ['bob'] },
      app: { preferences: { bypassPreferencesForMentions: true } },
    },
    'MESSAGES_PREFERENCE',
  ],
  ['muted', { recipient: { mutedUntil: noon + 1 } }, 'MUTE_PREFERENCE'],
  ['muted for ever', { recipient: { mutedUntil: null } }, 'MUTE_PREFERENCE'],
  ['no longer muted', { recipient: { mutedUntil: noon } }, undefined],
  [
    'muted, where groups may not be',
    { recipient: { mutedUntil: null }, app: { preferences: { mute: { mutedGroupsOverride: false } } } },
    undefined,
  ],
  ['blocked', { recipient: { isBlocked: true } }, 'BLOCKED'],
  ['read already', { recipient: { hasRead: true } }, 'ALREADY_READ'],
  [
    'a category counts before a mute',
    { own: group({ groupMessages: 1 }), recipient: { mutedUntil: null } },
    'MESSAGES_PREFERENCE',
  ],
  ['a day off', { own: schedule(everyDay({ dnd: true })) }, 'SCHEDULE_PREFERENCE'],
]

describe('a notification is decided:', () => {
  it.each(cases)('%s', (_, given, reason) => {
    expect(decideOn(given).reason).toBe(reason)
  })

  it('with every gate, its value and who set it', () => {
    const { gates } = decideOn({
      own: group({ groupMessages: 3 }),
      app: { preferences: { mute: { dndPreferenceSetting: 2 } } },
      timezone: 'Asia/Kathmandu',
    })
    expect(gates.map(({ gate, value, by, passes }) => [gate, value, by, passes])).toEqual([
      ['messages', 3, 'user', false],
      ['dnd', 2, 'app', false],
      ['mute', false, 'default', true],
      ['schedule', 'wednesday 0-2359, it is 1745 in Asia/Kathmandu', 'default', true],
      ['privacyTemplate', false, 'default', true],
      ['blocks', false, 'chat', true],
      ['read', false, 'chat', true],
    ])
  })
})

describe('what keeps nothing back is told all the same:', () => {
  const gatesOf = (given: Case) => decideOn(given).gates.map(({ gate, value, by, passes }) => [gate, value, by, passes])

  it('which templates the words come from', () => {
    const choice = { templates: { usePrivacyTemplate: 3 } }
    expect(gatesOf({ app: { templates: { usePrivacyTemplate: 2 } } })).toContainEqual([
      ...['privacyTemplate', true, 'app', true],
    ])
    expect(gatesOf({ app: choice, own: { usePrivacyTemplate: true } as UserPreferencesIn })).toContainEqual([
      ...['privacyTemplate', true, 'user', true],
    ])
  })

  it('how long a push waits for those who are connected, where the app wants that', () => {
    expect(gatesOf({ waitOnline: 10, recipient: { isOnline: true } })).toContainEqual([
      ...['online', 'waits 10 s', 'app', true],
    ])
    expect(gatesOf({ waitOnline: 10, recipient: { isOnline: false } })).toContainEqual(['online', false, 'app', true])
    expect(gatesOf({ recipient: { isOnline: true } }).map(([name]) => name)).not.toContain('online')
  })
})

const office = schedule(everyDay({ from: 900, to: 1729 }))
const night = schedule(everyDay({ from: 2200, to: 559 }))

/** UTC, zone, schedule, open? */
const clock: ReadonlyArray<readonly [string, string, UserPreferencesIn, boolean]> = [
  // Oslo puts its clocks forward at 01:00 UTC on 29 March 2026, and back at 01:00 UTC on 25 October.
  ['2026-03-28T08:00:00Z', 'Europe/Oslo', office, true],
  ['2026-03-28T07:59:59Z', 'Europe/Oslo', office, false],
  ['2026-03-29T07:00:00Z', 'Europe/Oslo', office, true],
  ['2026-03-29T06:59:59Z', 'Europe/Oslo', office, false],
  ['2026-10-25T07:30:00Z', 'Europe/Oslo', office, false],
  ['2026-10-25T08:00:00Z', 'Europe/Oslo', office, true],
  ['2026-10-25T16:29:59Z', 'Europe/Oslo', office, true],
  ['2026-10-25T16:30:00Z', 'Europe/Oslo', office, false],
  // The hour from 2 to 3 happens twice, and is open both times.
  ['2026-10-25T00:30:00Z', 'Europe/Oslo', schedule(everyDay({ from: 230, to: 245 })), true],
  ['2026-10-25T01:30:00Z', 'Europe/Oslo', schedule(everyDay({ from: 230, to: 245 })), true],
  // Lord Howe moves by half an hour: +10:30, in summer +11.
  ['2026-04-04T22:00:00Z', 'Australia/Lord_Howe', office, false],
  ['2026-04-04T22:30:00Z', 'Australia/Lord_Howe', office, true],
  ['2026-10-03T22:00:00Z', 'Australia/Lord_Howe', office, true],
  // Half and quarter hours.
  ['2026-01-05T03:15:00Z', 'Asia/Kathmandu', office, true],
  ['2026-01-05T03:14:59Z', 'Asia/Kathmandu', office, false],
  ['2026-01-05T03:30:00Z', 'Asia/Kolkata', office, true],
  // A window over midnight.
  ['2026-01-05T21:59:59Z', 'UTC', night, false],
  ['2026-01-05T22:00:00Z', 'UTC', night, true],
  ['2026-01-06T00:00:00Z', 'UTC', night, true],
  ['2026-01-06T05:59:59Z', 'UTC', night, true],
  ['2026-01-06T06:00:00Z', 'UTC', night, false],
  // The night of a day off does not reach into the next one, nor does one reach into a day off.
  ['2026-01-06T01:00:00Z', 'UTC', schedule({ ...everyDay({ from: 2200, to: 559 }), monday: { dnd: true } }), false],
  ['2026-01-06T01:00:00Z', 'UTC', schedule({ ...everyDay({ from: 2200, to: 559 }), tuesday: { dnd: true } }), false],
  // The whole day, and its last minute.
  ['2026-01-05T23:59:59Z', 'UTC', {}, true],
  // A zone that is not known here: the app's holds.
  ['2026-01-05T10:00:00Z', 'Mars/Olympus', office, true],
  ['2026-01-05T20:00:00Z', 'Mars/Olympus', office, false],
  // A window that begins or ends in the hour that is left out (2 to 3 on 29 March) has the rest; one within it, nothing.
  ['2026-03-29T00:59:59Z', 'Europe/Oslo', schedule(everyDay({ from: 159, to: 230 })), true],
  ['2026-03-29T01:00:00Z', 'Europe/Oslo', schedule(everyDay({ from: 159, to: 230 })), false],
  ['2026-03-29T00:59:59Z', 'Europe/Oslo', schedule(everyDay({ from: 230, to: 300 })), false],
  ['2026-03-29T01:00:00Z', 'Europe/Oslo', schedule(everyDay({ from: 230, to: 300 })), true],
  ['2026-03-29T00:59:59Z', 'Europe/Oslo', schedule(everyDay({ from: 210, to: 250 })), false],
  ['2026-03-29T01:00:00Z', 'Europe/Oslo', schedule(everyDay({ from: 210, to: 250 })), false],
  // The night of each change: 22:00 to 5:59, an hour shorter and an hour longer than others.
  ['2026-03-28T20:59:59Z', 'Europe/Oslo', night, false],
  ['2026-03-28T21:00:00Z', 'Europe/Oslo', night, true],
  ['2026-03-29T03:59:59Z', 'Europe/Oslo', night, true],
  ['2026-03-29T04:00:00Z', 'Europe/Oslo', night, false],
  ['2026-10-24T20:00:00Z', 'Europe/Oslo', night, true],
  ['2026-10-25T00:30:00Z', 'Europe/Oslo', night, true],
  ['2026-10-25T01:30:00Z', 'Europe/Oslo', night, true],
  ['2026-10-25T04:59:59Z', 'Europe/Oslo', night, true],
  ['2026-10-25T05:00:00Z', 'Europe/Oslo', night, false],
  // New York: forward at 07:00 UTC on 8 March, back at 06:00 UTC on 1 November.
  ['2026-03-07T14:00:00Z', 'America/New_York', office, true],
  ['2026-03-08T13:00:00Z', 'America/New_York', office, true],
  ['2026-03-08T12:59:59Z', 'America/New_York', office, false],
  ['2026-11-01T13:59:59Z', 'America/New_York', office, false],
  ['2026-11-01T14:00:00Z', 'America/New_York', office, true],
  // In the south it is the other way round: Adelaide is +10:30 in January and +9:30 in July.
  ['2026-01-05T22:30:00Z', 'Australia/Adelaide', office, true],
  ['2026-01-05T22:29:59Z', 'Australia/Adelaide', office, false],
  ['2026-07-05T23:30:00Z', 'Australia/Adelaide', office, true],
  ['2026-07-05T23:29:59Z', 'Australia/Adelaide', office, false],
  // Newfoundland: -3:30, in summer -2:30.
  ['2026-01-05T12:30:00Z', 'America/St_Johns', office, true],
  ['2026-01-05T12:29:59Z', 'America/St_Johns', office, false],
  ['2026-07-06T11:30:00Z', 'America/St_Johns', office, true],
  ['2026-07-06T11:29:59Z', 'America/St_Johns', office, false],
  // Havana changes at midnight: on 8 March its first hour is left out, on 1 November there are two.
  ['2026-03-08T04:59:59Z', 'America/Havana', schedule(everyDay({ from: 0, to: 59 })), false],
  ['2026-03-08T05:00:00Z', 'America/Havana', schedule(everyDay({ from: 0, to: 59 })), false],
  ['2026-11-01T04:30:00Z', 'America/Havana', schedule(everyDay({ from: 0, to: 59 })), true],
  ['2026-11-01T05:30:00Z', 'America/Havana', schedule(everyDay({ from: 0, to: 59 })), true],
  // The day is that of the user: a Monday in UTC is still Sunday in Pago Pago, and a Sunday already Monday in Kiritimati.
  ['2026-01-05T10:30:00Z', 'Pacific/Pago_Pago', schedule({ ...everyDay({ dnd: true }), sunday: {} }), true],
  ['2026-01-05T11:00:00Z', 'Pacific/Pago_Pago', schedule({ ...everyDay({ dnd: true }), sunday: {} }), false],
  ['2026-01-04T09:59:59Z', 'Pacific/Kiritimati', schedule({ ...everyDay({ dnd: true }), monday: {} }), false],
  ['2026-01-04T10:00:00Z', 'Pacific/Kiritimati', schedule({ ...everyDay({ dnd: true }), monday: {} }), true],
  // One minute, and over midnight from Sunday to Monday.
  ['2026-01-05T12:00:59Z', 'UTC', schedule(everyDay({ from: 1200, to: 1200 })), true],
  ['2026-01-05T12:01:00Z', 'UTC', schedule(everyDay({ from: 1200, to: 1200 })), false],
  [
    '2026-01-05T00:30:00Z',
    'UTC',
    schedule({ ...everyDay({ from: 900, to: 1000 }), sunday: { from: 2330, to: 30 } }),
    true,
  ],
  [
    '2026-01-05T00:31:00Z',
    'UTC',
    schedule({ ...everyDay({ from: 900, to: 1000 }), sunday: { from: 2330, to: 30 } }),
    false,
  ],
  // No summer time, whatever New York does.
  ['2026-07-06T14:00:00Z', 'EST', office, true],
  ['2026-07-06T13:30:00Z', 'EST', office, false],
]

describe('a schedule goes by the clock on the wall:', () => {
  it.each([
    ['of the app, where the user has said nothing', null, 'Asia/Kolkata', '2026-01-05T03:30:00Z'],
    ['of the app, where that of the user is not known here', 'Mars/Olympus', 'Asia/Kolkata', '2026-01-05T03:30:00Z'],
    ['of the user, whatever the app is set to', 'Asia/Kathmandu', 'Europe/Oslo', '2026-01-05T03:15:00Z'],
    ['UTC, where none of both is known here', 'Mars/Olympus', 'Venus/Lakshmi', '2026-01-05T09:00:00Z'],
    ['UTC, where an empty name was stored', '', '', '2026-01-05T09:00:00Z'],
  ])('%s', (_, timezone, timezoneOfApp, opensAt) => {
    const at = (now: number) => decideOn({ own: office, timezone, timezoneOfApp, now }).reason
    expect(at(Date.parse(opensAt))).toBeUndefined()
    expect(at(Date.parse(opensAt) - 1)).toBe('SCHEDULE_PREFERENCE')
  })

  it.each(clock)('%s in %s', (at, timezone, own, isOpen) => {
    const { reason } = decideOn({ own, timezone, now: Date.parse(at) })
    expect(reason).toBe(isOpen ? undefined : 'SCHEDULE_PREFERENCE')
  })
})
