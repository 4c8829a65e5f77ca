import { describe, expect, it } from 'vitest'
import { createGroup, dataOf, refusal } from '../support/chat.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'

const settings = '/notifications/v1/settings'
const preferences = '/notifications/v1/preferences?uid=alice'
const own = '/notifications/push/v1/preferences'
const patch = (world: World, path: string, body: object, options = {}) => world.call('PATCH', path, body, options)

async function worldOf(...uids: string[]): Promise<World> {
  const world = await createWorld()
  await createUsers(world, ...uids)
  return world
}

async function logIn(world: World, uid: string) {
  return { token: dataOf(await world.post(`/users/${uid}/auth_tokens`, {})).authToken as string }
}

describe('the notification settings of an app', () => {
  it('have the defaults of the contract, change in part and are reset', async () => {
    const [world, other] = [await createWorld(), await createWorld()]
    const before = dataOf(await world.get(settings))
    expect(before.preferences.group).toMatchObject({ messagesSetting: 2, messagesOverride: true, memberLeftSetting: 1 })
    expect(before.preferences.email).toMatchObject({
      notifyForUnreadOnly: true,
      intervalInSeconds: 7200,
      maxPerDay: 20,
    })
    expect(before.preferences.call).toMatchObject({ initiatedSetting: 2, initiatedOverride: false })
    const change = {
      preferences: {
        group: { messagesSetting: 3, nothing: 1 },
        mute: { schedulePreferenceSetting: { monday: { from: 930 } } },
        push: { customJson: { mine: { a: null } } },
      },
      templates: { textMessageTemplatePrivacy: { body: 'Something happened' } },
    }
    expect(await patch(world, settings, change)).toMatchObject({ status: 200, body: { data: { success: true } } })
    dataOf(await patch(world, settings, { preferences: { push: { trimTextFieldSetting: true } } }))
    const after = dataOf(await world.get(settings))
    expect(after.preferences.group).toEqual({ ...before.preferences.group, messagesSetting: 3 })
    const { monday, tuesday } = after.preferences.mute.schedulePreferenceSetting
    expect([monday, tuesday]).toEqual([
      { from: 930, to: 2359, dnd: false },
      { from: 0, to: 2359, dnd: false },
    ])
    expect(after.preferences.push).toMatchObject({ customJson: { mine: { a: null } }, trimTextFieldSetting: true })
    expect(after.templates.textMessageTemplatePrivacy).toEqual({
      ...before.templates.textMessageTemplatePrivacy,
      body: 'Something happened',
    })
    expect(dataOf(await other.get(settings))).toEqual(before)
    dataOf(await world.delete(settings))
    expect(dataOf(await world.get(settings))).toEqual(before)
  })

  it.each([
    [{ preferences: { group: { messagesSetting: 0 } } }],
    [{ preferences: { group: { memberLeftSetting: 3 } } }],
    [{ preferences: { group: { messagesOverride: 1 } } }],
    [{ preferences: { email: { intervalInSeconds: 59 } } }],
    [{ preferences: { sms: { intervalInSeconds: 86_401 } } }],
    [{ preferences: { email: { maxPerDay: -1 } } }],
    [{ preferences: { sms: { maxPerDayPerConversation: 1.5 } } }],
    [{ preferences: { sms: { notifyForUnreadOnly: 'true' } } }],
    [{ templates: { emailSubjectTemplateDefault: { subjectGroup: 'Unread\r\nBcc: eve@example.com' } } }],
    [{ templates: { emailSubjectTemplatePrivacy: { subjectOneOnOne: 'Unread\u2028' } } }],
    [{ templates: { smsContentTemplateDefault: { bodyGroup: 7 } } }],
    [{ preferences: { mute: { schedulePreferenceSetting: { monday: { from: 2360 } } } } }],
    [{ preferences: { mute: { schedulePreferenceSetting: { monday: { to: 1260 } } } } }],
    [{ preferences: { push: { customJson: [] } } }],
    [{ preferences: { push: { customJson: { long: 'x'.repeat(2048) } } } }],
    [{ templates: { usePrivacyTemplate: 4 } }],
    [{ templates: { textMessageTemplateDefault: { body: '{{message.data.text' } } }],
    [{ templates: { textMessageTemplateDefault: 'text' } }],
    [{ preferences: [] }],
    [{ sound: { chat: 1 } }],
  ])('are refused: %j', async (change) => {
    const world = await createWorld()
    expect(refusal(await patch(world, settings, change))).toBe('400 ERR_BAD_REQUEST')
    expect(dataOf(await world.get(settings))).toEqual(dataOf(await (await createWorld()).get(settings)))
  })

  it('are not looked at beyond the members that there are', async () => {
    const world = await createWorld()
    const before = dataOf(await world.get(settings))
    const unknown = { templates: { emailSubjectTemplateDefault: { x: '{{ not closed' }, y: { body: '{{' } } }
    dataOf(await patch(world, settings, unknown))
    expect(dataOf(await world.get(settings))).toEqual(before)
  })

  it('are set for e-mail and SMS apart, with their templates', async () => {
    const world = await createWorld()
    const before = dataOf(await world.get(settings))
    const email = { notifyForUnreadOnly: false, intervalInSeconds: 60, maxPerDay: 0, includeMessageObjectSetting: true }
    const sms = { intervalInSeconds: 86_400, maxPerDayPerConversation: 5, includeSenderMetadataSetting: false }
    const templates = {
      emailSubjectTemplateDefault: { subjectGroup: '{{messages.length}} in {{groupDetails.name}}' },
      smsContentTemplatePrivacy: { bodyOneOnOne: 'Unread:\n{{messages.length}}' },
    }
    dataOf(await patch(world, settings, { preferences: { email, sms }, templates }))
    const after = dataOf(await world.get(settings))
    expect(after.preferences.email).toEqual({ ...before.preferences.email, ...email })
    expect(after.preferences.sms).toEqual({ ...before.preferences.sms, ...sms })
    for (const [name, changed] of Object.entries(templates)) {
      expect(after.templates[name]).toEqual({ ...before.templates[name], ...changed })
    }
  })

  it('lose nothing when they change twice at the same time', async () => {
    const world = await createWorld()
    const changes = [{ messagesSetting: 1 }, { repliesSetting: 1 }, { reactionsSetting: 1 }, { memberLeftSetting: 2 }]
    await Promise.all(changes.map((group) => patch(world, settings, { preferences: { group } }).then(dataOf)))
    expect(dataOf(await world.get(settings)).preferences.group).toMatchObject(Object.assign({}, ...changes))
  })
})

describe('the notification preferences of a user', () => {
  it('are answered in both namings, change in part, and always have seven days', async () => {
    const world = await worldOf('alice', 'bob')
    const change = {
      groupPreferences: { groupMessages: 3, groupReplies: 4 },
      mutePreferences: { dnd: 2, schedule: { sunday: { dnd: true } } },
      usePrivacyTemplate: true,
    }
    const answer = dataOf(await patch(world, preferences, change))
    expect(answer.preferences.group).toMatchObject({ messagesSetting: 3, messagesOverride: true, repliesSetting: 4 })
    expect(answer.preferences.mute.dndPreferenceSetting).toBe(2)
    expect(answer).toMatchObject({ usePrivacyTemplate: true, sound: { chat: 'default' } })
    expect(answer.templates).toHaveProperty('textMessageTemplateDefault')
    expect(answer.templates).not.toHaveProperty('emailSubjectTemplateDefault')
    expect(dataOf(await world.get(preferences))).toEqual(answer)

    const shown = dataOf(await world.get(own, { as: 'alice' }))
    expect(shown.groupPreferences).toMatchObject({ groupMessages: 3, groupReplies: 4, groupReactions: 2 })
    expect(shown.mutePreferences.dnd).toBe(2)
    expect(Object.keys(shown.mutePreferences.schedule)).toHaveLength(7)
    expect(shown.mutePreferences.schedule.sunday).toEqual({ from: 0, to: 2359, dnd: true })
    expect(shown.usePrivacyTemplate).toBe(true)
    expect(dataOf(await world.get(own, { as: 'bob' })).groupPreferences.groupMessages).toBe(2)

    // What front ends send for "unchanged".
    const unchanged = dataOf(
      await patch(world, own, { mutePreferences: { schedule: {} } }, await logIn(world, 'alice')),
    )
    expect(unchanged).toEqual(shown)

    expect(dataOf(await world.delete(preferences)).groupPreferences.groupMessages).toBe(2)
    expect(dataOf(await world.get(own, { as: 'alice' }))).toEqual(dataOf(await world.get(own, { as: 'bob' })))
  })

  it('count only where the app lets users choose, and are ignored elsewhere', async () => {
    const world = await worldOf('alice')
    const locked = {
      preferences: { oneOnOne: { messagesSetting: 1, messagesOverride: false } },
      templates: { usePrivacyTemplate: 1 },
    }
    dataOf(await patch(world, settings, locked))
    const change = { oneOnOnePreferences: { oneOnOneMessages: 2, oneOnOneReplies: 1 }, usePrivacyTemplate: true }
    const { preferences: held, usePrivacyTemplate } = dataOf(await patch(world, preferences, change))
    expect(held.oneOnOne).toMatchObject({ messagesSetting: 1, messagesOverride: false, repliesSetting: 1 })
    expect(usePrivacyTemplate).toBe(false)
  })

  it('are refused', async () => {
    const world = await worldOf('alice')
    const token = await logIn(world, 'alice')
    expect(refusal(await world.get('/notifications/v1/preferences'))).toBe('400 ERR_BAD_REQUEST')
    expect(refusal(await world.get('/notifications/v1/preferences?uid=nobody'))).toBe('404 ERR_UID_NOT_FOUND')
    expect(refusal(await world.get(preferences, token))).toBe('403 AUTH_ERR_NO_ACCESS')
    expect(refusal(await world.get(own))).toBe('400 ERR_BAD_REQUEST')
    const wrong = [
      { groupPreferences: { groupMessages: 4 } },
      { groupPreferences: { groupReplies: 5 } },
      { groupPreferences: [] },
      { mutePreferences: { dnd: true } },
      { mutePreferences: { schedule: { monday: { from: 1199 } } } },
      { usePrivacyTemplate: 1 },
    ]
    for (const change of wrong) expect(refusal(await patch(world, preferences, change))).toBe('400 ERR_BAD_REQUEST')
    const other = await createWorld()
    expect(refusal(await other.get(preferences))).toBe('404 ERR_UID_NOT_FOUND')
  })

  it('are gone with a user who is deleted for good, as their mutes are', async () => {
    const world = await worldOf('alice', 'bob')
    dataOf(await patch(world, preferences, { groupPreferences: { groupMessages: 1 } }))
    dataOf(await patch(world, '/notifications/v1/preferences/timezone?uid=alice', { timezone: 'Asia/Tokyo' }))
    const mutes = '/notifications/v1/preferences/mute?uid='
    dataOf(await world.put(`${mutes}alice`, { conversations: [{ id: 'bob', type: 'oneOnOne' }] }))
    dataOf(await world.put(`${mutes}bob`, { conversations: [{ id: 'alice', type: 'oneOnOne' }] }))
    dataOf(await world.delete('/users/alice', { permanent: true }))
    await createUsers(world, 'alice')
    expect(dataOf(await world.get(preferences)).preferences.group.messagesSetting).toBe(2)
    expect(dataOf(await world.get('/notifications/v1/preferences/timezone?uid=alice')).timezone).toBe('UTC')
    expect(dataOf(await world.get(`${mutes}alice`))).toEqual({ mutedConversations: [] })
    expect(dataOf(await world.get(`${mutes}bob`))).toEqual({ mutedConversations: [] })
  })
})

describe('muted conversations', () => {
  const path = '/notifications/v1/preferences/mute?uid=alice'
  const ownPath = '/notifications/push/v1/preferences/mute'

  it('are muted, prolonged, unmuted and listed, by both paths', async () => {
    const world = await worldOf('alice', 'bob')
    await createGroup(world, 'team', 'alice')
    const token = await logIn(world, 'alice')
    const until = Date.now() + 3_600_000
    dataOf(
      await world.put(path, {
        conversations: [
          { id: 'Team', type: 'group', until },
          { id: 'bob', type: 'oneOnOne' },
        ],
      }),
    )
    const expected = [
      { id: 'bob', type: 'oneOnOne' },
      { id: 'team', type: 'group', until },
    ]
    expect(dataOf(await world.get(ownPath, token))).toEqual({ mutedConversations: expected })
    dataOf(await world.put(ownPath, { conversations: [{ id: 'team', type: 'group', until: until + 1 }] }, token))
    dataOf(await world.delete(ownPath, { conversations: [{ id: 'bob', type: 'oneOnOne' }] }, token))
    dataOf(
      await world.delete(path, {
        conversations: [
          { id: 'bob', type: 'oneOnOne' },
          { id: 'bob', type: 'group' },
        ],
      }),
    )
    expect(dataOf(await world.get(path)).mutedConversations).toEqual([{ id: 'team', type: 'group', until: until + 1 }])
    dataOf(await world.delete('/groups/team'))
    expect(dataOf(await world.get(path)).mutedConversations).toEqual([])
  })

  it('are refused', async () => {
    const world = await worldOf('alice')
    const wrong = [
      { conversations: [] },
      {},
      { conversations: [{ id: 'bob', type: 'user' }] },
      { conversations: [{ type: 'group' }] },
      { conversations: [{ id: 'bob', type: 'oneOnOne', until: Date.now() - 1 }] },
      { conversations: [{ id: 'bob', type: 'oneOnOne', until: 'soon' }] },
      { conversations: Array.from({ length: 101 }, (_, i) => ({ id: `u${i}`, type: 'oneOnOne' })) },
    ]
    for (const body of wrong)
      expect(refusal(await world.put(path, body)), JSON.stringify(body)).toBe('400 ERR_BAD_REQUEST')
    expect(dataOf(await world.get(path)).mutedConversations).toEqual([])
  })
})

describe('a time zone', () => {
  const path = '/notifications/v1/preferences/timezone'

  it('is that of the user, else that of the app', async () => {
    const world = await worldOf('alice', 'bob')
    const token = await logIn(world, 'alice')
    expect(dataOf(await world.get(path, token))).toEqual({ timezone: 'UTC', success: true })
    const appSettings = `/apps/${world.app.name}/settings`
    expect(refusal(await patch(world, appSettings, { timezone: 'Mars/Olympus' }))).toBe('400 ERR_BAD_REQUEST')
    dataOf(await patch(world, appSettings, { timezone: 'Asia/Kolkata' }))
    expect(dataOf(await world.get(path, token)).timezone).toBe('Asia/Kolkata')
    const answer = await patch(world, path, { timezone: 'Europe/Oslo' }, token)
    expect(dataOf(answer)).toEqual({ timezone: 'Europe/Oslo', success: true })
    expect(dataOf(await world.get(`${path}?uid=Alice`)).timezone).toBe('Europe/Oslo')
    expect(dataOf(await world.get(`${path}?uid=bob`)).timezone).toBe('Asia/Kolkata')
  })

  it('is refused', async () => {
    const world = await worldOf('alice', 'bob')
    const token = await logIn(world, 'alice')
    for (const timezone of ['Mars/Olympus', '', '+05:30', 5]) {
      expect(refusal(await patch(world, `${path}?uid=alice`, { timezone }))).toBe('400 ERR_BAD_REQUEST')
    }
    expect(refusal(await world.get(path))).toBe('400 ERR_BAD_REQUEST')
    expect(refusal(await world.get(`${path}?uid=bob`, token))).toBe('403 AUTH_ERR_NO_ACCESS')
    expect(refusal(await world.get(`${path}?uid=nobody`))).toBe('404 ERR_UID_NOT_FOUND')
  })
})
