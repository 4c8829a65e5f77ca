import { isDeepStrictEqual } from 'node:util'
import { limits } from '@parley/contract'
import { isJsonObject, type JsonRecord } from '../import/records.ts'
import type { Method, Remote } from './remote.ts'

/** What users chose about their notifications, and what their app says where they did not choose. */

const settingsAt = '/notifications/v1/settings'
const preferencesAt = '/notifications/v1/preferences'
const contactsAt = '/notifications/v1/contact-details'

/** A service without notifications, or a key that may not read them. */
const none = [400, 403, 404]

const mutesAtOnce = limits.notifications.mutesPerRequest

/** Where there is no time zone yet. */
const defaultTimezone = 'UTC'

/** What an app has set; undefined where it has no such settings. */
export async function readSettings(side: Remote): Promise<JsonRecord | undefined> {
  const { status, body } = await side.get(settingsAt, { expected: none })
  return status === 200 && isJsonObject(body.data) ? body.data : undefined
}

/** What holds for a user; undefined where the service does not tell. A request for each of four lists. */
export async function readNotifications(side: Remote, uid: string): Promise<JsonRecord | undefined> {
  const of = `?uid=${encodeURIComponent(uid)}`
  const read = async (path: string, as?: string): Promise<JsonRecord | undefined> => {
    const { status, body } = await side.get(path, { ...(as !== undefined && { as }), expected: none })
    return status === 200 && isJsonObject(body.data) ? body.data : undefined
  }
  const [holding, muted, zone, contacts] = await Promise.all([
    read(`${preferencesAt}${of}`),
    read(`${preferencesAt}/mute${of}`),
    read(`${preferencesAt}/timezone${of}`),
    read(contactsAt, uid),
  ])
  if (holding === undefined) return undefined
  const rows = Array.isArray(muted?.mutedConversations) ? muted.mutedConversations.filter(isJsonObject) : []
  const mutes = rows.map(({ id, type, until }): [string, unknown] => [`${type} ${id}`, until ?? null])
  return {
    preferences: holdingOf(holding),
    mutes: Object.fromEntries(mutes.sort(([one], [other]) => (one < other ? -1 : 1))),
    timezone: zone?.timezone || defaultTimezone,
    email: contacts?.email ?? null,
    phno: contacts?.phno ?? null,
  }
}

/** What holds for a user for whom nothing is stored. */
export function untouched(settings: JsonRecord): JsonRecord {
  return { preferences: holdingOf(settings), mutes: {}, timezone: defaultTimezone, email: null, phno: null }
}

const partOf = (record: JsonRecord, name: string): JsonRecord => (isJsonObject(record[name]) ? record[name] : {})

/** Preferences in the names that a change of them has. Lists name them as the settings of an app. */
function holdingOf(listed: JsonRecord): JsonRecord {
  const preferences = partOf(listed, 'preferences')
  const chosen = (prefix: string) => {
    const part = partOf(preferences, prefix)
    const names = Object.keys(part).filter((name) => /Setting$/.test(name))
    return Object.fromEntries(
      names
        .map((name) => name.slice(0, -'Setting'.length))
        // What only the app decides nobody overrides.
        .filter((name) => part[`${name}Override`] !== undefined)
        .map((name) => [`${prefix}${name.charAt(0).toUpperCase()}${name.slice(1)}`, part[`${name}Setting`]]),
    )
  }
  const { dndPreferenceSetting: dnd, schedulePreferenceSetting: schedule } = partOf(preferences, 'mute')
  return {
    groupPreferences: chosen('group'),
    oneOnOnePreferences: chosen('oneOnOne'),
    mutePreferences: { dnd, schedule },
    usePrivacyTemplate: listed.usePrivacyTemplate === true,
  }
}

/** What has to be set for one record to become as another; undefined where nothing has. */
export function changeOf(from: unknown, to: JsonRecord): JsonRecord | undefined {
  const changed = Object.entries(to).flatMap(([name, wanted]): Array<[string, unknown]> => {
    const there = isJsonObject(from) ? from[name] : undefined
    if (isDeepStrictEqual(there, wanted)) return []
    if (!isJsonObject(wanted) || !isJsonObject(there)) return [[name, wanted]]
    const inner = changeOf(there, wanted)
    return inner === undefined ? [] : [[name, inner]]
  })
  return changed.length === 0 ? undefined : Object.fromEntries(changed)
}

/** Does something in the target in the name of somebody, or of the app; tells whether it was taken. */
export type Doing = (method: Method, path: string, body: object, as?: string) => Promise<boolean>

/**
 * Brings the settings of an app to those of another: what the other does not know is left out.
 * @returns whether anything was changed
 */
export async function bringSettings(ours: JsonRecord, theirs: JsonRecord, act: Doing): Promise<boolean> {
  let isDone = false
  for (const part of ['preferences', 'sound', 'templates']) {
    const change = changeOf(theirs[part], partOf(knownTo(theirs, ours), part))
    if (change !== undefined) isDone = (await act('PATCH', settingsAt, { [part]: change })) || isDone
  }
  return isDone
}

/** A record without the members that another of its kind does not have. */
export function knownTo(other: JsonRecord, record: JsonRecord): JsonRecord {
  return Object.fromEntries(
    Object.entries(record)
      .filter(([name]) => Object.hasOwn(other, name))
      .map(([name, value]) => {
        const there = other[name]
        // A record of an app's own has no members that are known beforehand.
        const isOwn = name === 'customJson'
        return [name, isJsonObject(value) && isJsonObject(there) && !isOwn ? knownTo(there, value) : value]
      }),
  )
}

/**
 * Brings what holds for a user to what holds for them in the source.
 * @param removes what only the target has is removed
 */
export async function bringNotifications(
  uid: string,
  ours: JsonRecord,
  theirs: JsonRecord,
  act: Doing,
  removes: boolean,
): Promise<boolean> {
  const of = `?uid=${encodeURIComponent(uid)}`
  const done: boolean[] = []
  const preferences = changeOf(theirs.preferences, knownTo(partOf(theirs, 'preferences'), partOf(ours, 'preferences')))
  if (preferences !== undefined) done.push(await act('PATCH', `${preferencesAt}${of}`, preferences))
  if (ours.timezone !== theirs.timezone)
    done.push(await act('PATCH', `${preferencesAt}/timezone${of}`, { timezone: ours.timezone }))
  const [mutes, mutesThere] = [partOf(ours, 'mutes'), partOf(theirs, 'mutes')]
  const named = (key: string) => {
    const [type, id] = key.split(' ')
    return { id, type }
  }
  const muted = Object.entries(mutes).filter(([key, until]) => mutesThere[key] !== until)
  for (let from = 0; from < muted.length; from += mutesAtOnce) {
    const some = muted.slice(from, from + mutesAtOnce)
    const conversations = some.map(([key, until]) => ({ ...named(key), ...(until !== null && { until }) }))
    done.push(await act('PUT', `${preferencesAt}/mute${of}`, { conversations }))
  }
  const unmuted = removes ? Object.keys(mutesThere).filter((key) => mutes[key] === undefined) : []
  for (let from = 0; from < unmuted.length; from += mutesAtOnce) {
    const conversations = unmuted.slice(from, from + mutesAtOnce).map(named)
    done.push(await act('DELETE', `${preferencesAt}/mute${of}`, { conversations }))
  }
  const addresses = ['email', 'phno'].filter((name) => ours[name] !== theirs[name] && (removes || ours[name] !== null))
  if (addresses.length > 0) {
    const change = Object.fromEntries(addresses.map((name) => [name, ours[name]]))
    done.push(await act('PATCH', contactsAt, change, uid))
  }
  return done.includes(true)
}
