import { isDeepStrictEqual } from 'node:util'
import type { JsonRecord } from '../../import/records.ts'
import { standInOf } from '../../import/stand-ins.ts'
import { keyOf, takeRecords, tokenOf } from '../carry-over.ts'
import { compareLists, type Found, type Keyed } from '../compare.ts'
import {
  chosen,
  groupFacts,
  groupsOf,
  isStandIn,
  readAppPins,
  readKeys,
  readPerson,
  readRoles,
  readRoom,
  readScopes,
  readTokens,
  refused,
  usersOf,
} from '../facts.ts'
import { each, forEach } from '../for-each.ts'
import { readRecord, rowsOf } from '../lists.ts'
import { bringNotifications, bringSettings, type Doing, readSettings } from '../notifications.ts'
import type { Remote } from '../remote.ts'
import { groupAt, refusals, type Sides, userAt } from './sides.ts'

/** What ends somebody's part in something, to be done once what they did before is brought over in their name. */
export type Endings = Array<() => Promise<void>>

/**
 * Brings users, groups and members into the state that they have in the source, but for what ends: departures, bans,
 * deactivations. In the name of somebody who has left, or sees no more what they have cleared, nothing can be done.
 * @returns does the rest: what ends, and what is each user's own. It is given what removes the messages by which the target tells of
 * endings: they would bring back conversations that users have cleared
 */
export async function sweepPeople(
  sides: Sides,
  isComplete: boolean,
): Promise<(removeNotes: () => Promise<void>) => Promise<void>> {
  const { source, target, concurrency } = sides
  const endings: Endings = []
  await sweepRoles(sides)
  const users = await compareLists(
    () => usersOf(source),
    () => usersOf(target),
  )
  const [gone, others] = [users.filter(isGone), users.filter((user) => !isGone(user))]
  await forEach(each(others), concurrency, (user) => sweepUser(sides, user, endings))
  const groups = await compareLists(
    () => withoutCounts(groupsOf(source)),
    () => withoutCounts(groupsOf(target)),
  )
  await forEach(each(groups), concurrency, (group) => sweepGroup(sides, group))
  await forEach(keysOf(groupsOf(source)), concurrency, (guid) => sweepRoom(sides, guid, endings))
  return async (removeNotes) => {
    await forEach(each(endings), concurrency, (end) => end())
    await removeNotes()
    await sweepAppPins(sides)
    if (isComplete && !sides.without.includes('notifications')) await sweepSettings(sides)
    await forEach(keysOf(usersOf(source)), concurrency, (uid) => sweepPerson(sides, uid, isComplete))
    // Who is gone is removed after their groups have passed to others.
    await forEach(each(gone), concurrency, (user) => sweepUser(sides, user, []))
    if (gone.length > 0) await removeNotes()
  }
}

/**
 * Takes users, groups and members that are new since a moment. After the cut-over that is all that is known of them: what
 * differs otherwise may have changed on either side. Who was met before and is not there has been removed there since.
 * @param met when they came, by what they are and that time; brought up to date
 * @param since epoch seconds
 */
export async function takeAdditions(sides: Sides, met: Record<string, number>, since: number): Promise<void> {
  const { source, target, concurrency } = sides
  const meeting: Record<string, number> = {}
  /** Whether somebody came since then, and was not met before. */
  const isNew = (name: string, came: unknown): boolean => {
    const at = Number(came ?? 0)
    if (at < since) return false
    const key = `${name} ${at}`
    meeting[key] = at
    return met[key] === undefined
  }
  const missing = async (kind: string, listOf: (side: Remote) => Keyed): Promise<string[]> => {
    const fresh = new Set<string>()
    async function* noted(): Keyed {
      for await (const [key, record] of listOf(source)) {
        if (isNew(`${kind} ${key}`, record.createdAt)) fresh.add(key)
        yield [key, record]
      }
    }
    const found = await compareLists(noted, () => listOf(target))
    return found
      .filter(({ key, ours, theirs }) => ours !== undefined && theirs === undefined && fresh.has(key))
      .map(({ key }) => key)
  }
  const users = await missing('user', usersOf)
  await forEach(each(users), concurrency, async (uid) => void (await takeUser(sides, uid)))
  const groups = await missing('group', groupsOf)
  await forEach(each(groups), concurrency, (guid) => takeGroup(sides, guid))
  await forEach(keysOf(groupsOf(source)), concurrency, async (guid) => {
    const members = await readRoom(source, guid)
    const joined = [...members].filter(([uid, { joinedAt }]) => isNew(`member ${guid} ${uid}`, joinedAt))
    if (joined.length === 0) return
    const there = await readRoom(target, guid)
    for (const [uid, member] of joined) {
      if (there.has(uid) || there.has(`${uid} banned`)) continue
      await takeMember(sides, guid, uid, member)
    }
  })
  for (const [key, at] of Object.entries(met)) if (at < since) delete met[key]
  Object.assign(met, meeting)
}

const isGone = ({ ours }: Found) => ours === undefined

/** Takes a user of the source. @returns false where there is none */
async function takeUser(sides: Sides, uid: string): Promise<boolean> {
  const user = await readRecord(sides.source, `${userAt(uid)}?withTags=true`)
  if (user === undefined) return false
  const { [uid]: outcome } = await sides.importInto('users', [user])
  if (outcome?.success) sides.count('new users')
  return true
}

/** Takes a user of the source; where it has none any more, somebody who is deactivated takes their place. */
export async function takePerson(sides: Sides, uid: string): Promise<void> {
  const isThere = await takeUser(sides, uid)
  if (!isThere) await sides.importInto('users', [standInOf(uid, sides.now())])
}

/** Takes a group of the source, without its members but with its owner. Its password is in no list. */
export async function takeGroup(sides: Sides, guid: string): Promise<void> {
  const group = await readRecord(sides.source, `${groupAt(guid)}?withTags=true`)
  if (group === undefined) return
  const { owner, ...rest } = group
  const password = group.type === 'password' ? { password: crypto.randomUUID() } : {}
  const record = { ...rest, ...(owner !== 'app_system' && { owner }), ...password }
  const take = async () => (await sides.importInto('groups', [record]))[guid]
  let outcome = await take()
  if (outcome?.error?.code === 'ERR_UID_NOT_FOUND') {
    await takePerson(sides, String(owner))
    outcome = await take()
  }
  if (outcome?.success) sides.count('new groups')
}

async function sweepUser(sides: Sides, { key: uid, ours, theirs }: Found, endings: Endings): Promise<void> {
  const { act, count } = sides
  if (ours === undefined) {
    if (!sides.removes || isStandIn(theirs) || (await isInSource(sides, userAt(uid)))) return
    if (await act('DELETE', userAt(uid), { permanent: true })) count('users removed that were gone')
    return
  }
  if (theirs === undefined) {
    await takeUser(sides, uid)
    return
  }
  count('changed users')
  if (ours.isDeactivated === false && theirs.isDeactivated === true)
    await act('PUT', '/users', { uidsToActivate: [uid] })
  const profile = profileOf(ours, theirs, ['name', 'avatar', 'link', 'role', 'statusMessage', 'metadata', 'tags'])
  if (Object.keys(profile).length > 0) await act('PUT', userAt(uid), profile)
  if (ours.isDeactivated === true && theirs.isDeactivated === false)
    endings.push(async () => {
      const now = await readRecord(sides.source, userAt(uid))
      if (now === undefined || now.deactivatedAt !== undefined) await act('DELETE', userAt(uid), {})
    })
}

async function sweepGroup(sides: Sides, { key: guid, ours, theirs }: Found): Promise<void> {
  const { act, count } = sides
  if (ours === undefined) {
    if (!sides.removes || (await isInSource(sides, groupAt(guid)))) return
    if (await act('DELETE', groupAt(guid), {})) count('groups removed that were gone')
    return
  }
  if (theirs === undefined) {
    await takeGroup(sides, guid)
    return
  }
  count('changed groups')
  const profile = profileOf(ours, theirs, ['name', 'icon', 'description', 'metadata', 'tags', 'type'])
  if (profile.type === 'password') profile.password = crypto.randomUUID()
  if (Object.keys(profile).length > 0) await act('PUT', groupAt(guid), profile)
  if (ours.owner !== theirs.owner) await act('PUT', groupAt(guid), { owner: ours.owner })
}

/** What an update sets and unsets. */
function profileOf(ours: JsonRecord, theirs: JsonRecord, names: readonly string[]): Record<string, unknown> {
  const changed = names.filter((name) => !isDeepStrictEqual(ours[name], theirs[name]))
  const isCleared = (name: string) => name === 'statusMessage' && ours[name] === null
  const unset = changed.filter((name) => ours[name] === null && !isCleared(name))
  const profile: Record<string, unknown> = {}
  // There is no other way to clear it.
  if (changed.some(isCleared)) profile.statusMessage = ''
  for (const name of changed) if (ours[name] !== null) profile[name] = ours[name]
  if (unset.length > 0) profile.unset = unset
  return profile
}

/** What was missing in a list may only have moved while it was read. */
async function isInSource({ source }: Sides, at: string): Promise<boolean> {
  return (await readRecord(source, at)) !== undefined
}

/** Reads a group of the source again, which may be new, changed or gone, and its members. @param endings gets what ends */
export async function rereadGroup(sides: Sides, guid: string, endings: Endings): Promise<void> {
  const [ours, theirs] = await Promise.all(
    [sides.source, sides.target].map(async (side) => {
      const group = await readRecord(side, `${groupAt(guid)}?withTags=true`)
      return group && { ...groupFacts(group), membersCount: 0 }
    }),
  )
  if (!isDeepStrictEqual(ours, theirs)) await sweepGroup(sides, { key: guid, ours, theirs })
  if (ours !== undefined) await sweepRoom(sides, guid, endings)
}

/**
 * Brings the members of a group, its bans and the permissions of its scopes into the state that they have in the source.
 * @param endings gets departures and bans, for which the group is read again by then; undefined: they are done at once
 */
async function sweepRoom(sides: Sides, guid: string, endings?: Endings): Promise<void> {
  const { source, target, act, count, removes } = sides
  const at = groupAt(guid)
  const [ours, theirs] = await Promise.all([readRoom(source, guid), readRoom(target, guid)])
  const memberAt = (uid: string) => `${at}/members/${encodeURIComponent(uid)}`
  const banAt = (uid: string) => `${at}/bannedusers/${encodeURIComponent(uid)}`
  let ends = false
  // Those who are banned leave by it, and only who is not banned any more can join.
  for (const [key, there] of theirs) {
    const [uid = '', banned] = key.split(' ')
    if (!removes || (ours.has(key) && (banned !== undefined || ours.get(key)?.joinedAt === there.joinedAt))) continue
    if (banned !== undefined && (await act('DELETE', banAt(uid), {}))) count('bans removed that were lifted')
    if (banned !== undefined || ours.has(`${uid} banned`)) continue
    // Somebody who came back at another time goes and joins at once.
    if (endings !== undefined && !ours.has(key)) ends = true
    else if (await act('DELETE', memberAt(uid), {})) {
      theirs.delete(key)
      count('members removed that had left')
    }
  }
  for (const [key, member] of ours) {
    const [uid = '', banned] = key.split(' ')
    const there = theirs.get(key)
    if (there === undefined && banned !== undefined) {
      if (endings !== undefined) ends = true
      else if (await act('POST', banAt(uid), {})) count('bans')
    } else if (there === undefined) {
      await takeMember(sides, guid, uid, member)
    } else if (there.scope !== member.scope) {
      if (await act('PUT', memberAt(uid), { scope: member.scope })) count('changed scopes')
    }
  }
  if (ends) endings?.push(() => sweepRoom(sides, guid))
  await sweepScopes(sides, guid)
}

async function takeMember(sides: Sides, guid: string, uid: string, { scope, joinedAt }: JsonRecord): Promise<void> {
  const key = `${guid}_member_${uid}`
  const { [key]: outcome } = await sides.importInto('members', [{ memberId: key, guid, uid, scope, joinedAt }])
  if (outcome?.success) sides.count('new members')
  else sides.notices.add('relation-refused', `member ${uid} of ${guid}: ${outcome?.error?.code}`)
}

async function sweepScopes({ source, target, act, count, removes }: Sides, guid: string): Promise<void> {
  const [ours, theirs] = await Promise.all([readScopes(source, guid), readScopes(target, guid)])
  const at = (scope: string) => `${groupAt(guid)}/scopes/${scope}/permissions`
  for (const [key, { value }] of ours) {
    const [scope = '', permission = ''] = key.split(' ')
    if (isDeepStrictEqual(theirs.get(key)?.value, value)) continue
    if (await act('PUT', at(scope), { permissions: { [permission]: value } })) count('permissions')
  }
  for (const key of theirs.keys()) {
    const [scope = '', permission = ''] = key.split(' ')
    if (!removes || ours.has(key)) continue
    if (await act('DELETE', `${at(scope)}/${encodeURIComponent(permission)}`, {})) count('permissions')
  }
}

async function sweepRoles({ source, target, act, count, removes }: Sides): Promise<void> {
  const [ours, theirs] = await Promise.all([source, target].map(readRoles))
  const byName = new Map(theirs!.map((role) => [String(role.role.role), role]))
  for (const { role, permissions, restricted } of ours!) {
    const name = String(role.role)
    const at = `/roles/${encodeURIComponent(name)}`
    const there = byName.get(name)
    byName.delete(name)
    const profile = (of: JsonRecord) =>
      Object.fromEntries(['name', 'description', 'metadata', 'settings'].map((key) => [key, of[key]]))
    if (there === undefined) {
      if (await act('POST', '/roles', { role: name, ...profile(role) })) count('roles')
    } else if (!isDeepStrictEqual(profile(role), profile(there.role))) {
      if (await act('PUT', at, profile(role))) count('roles')
    }
    const known = there?.permissions ?? {}
    const changed = Object.entries(permissions).filter(([key, value]) => !isDeepStrictEqual(known[key], value))
    if (changed.length > 0 && (await act('PUT', `${at}/permissions`, { permissions: Object.fromEntries(changed) })))
      count('permissions', changed.length)
    const features = restricted.filter((key) => !there?.restricted.includes(key))
    if (features.length > 0 && (await act('POST', `${at}/restrictedfeatures`, { featuresToRestrict: features })))
      count('permissions', features.length)
    if (!removes) continue
    for (const key of Object.keys(known).filter((key) => !(key in permissions)))
      if (await act('DELETE', `${at}/permissions/${encodeURIComponent(key)}`, {})) count('permissions')
    const allowed = there?.restricted.filter((key) => !restricted.includes(key)) ?? []
    if (allowed.length > 0 && (await act('DELETE', `${at}/restrictedfeatures`, { featuresToAllow: allowed })))
      count('permissions', allowed.length)
  }
  for (const name of byName.keys())
    if (removes && (await act('DELETE', `/roles/${encodeURIComponent(name)}`, {})))
      count('roles removed that were gone')
}

async function sweepAppPins(sides: Sides): Promise<void> {
  const guids = async (side: Remote) =>
    (await readAppPins(side))
      .filter(({ conversationType }) => conversationType === 'group')
      .map(({ conversationId }) => String(conversationId).replace(/^group_/, ''))
  const [ours, theirs] = await Promise.all([sides.source, sides.target].map(guids))
  const wanted = sides.removes ? ours! : [...theirs!.filter((guid) => !ours!.includes(guid)), ...ours!]
  if (isDeepStrictEqual([...wanted].sort(), [...theirs!].sort())) return
  const pinnedConversations = wanted.map((guid) => ({ guid }))
  if (await sides.act('PUT', '/conversations/pinned', { pinnedConversations })) sides.count('pins for everybody')
}

const doing =
  ({ act }: Sides): Doing =>
  async (...args) =>
    (await act(...args)) !== undefined

async function sweepSettings(sides: Sides): Promise<void> {
  const [ours, theirs] = await Promise.all([sides.source, sides.target].map(readSettings))
  if (ours !== undefined && theirs !== undefined && (await bringSettings(ours, theirs, doing(sides))))
    sides.count('notification settings')
}

/** Brings friends, blocks, saved messages, tags and pins of conversations of a user into the state of the source. */
export async function sweepPerson(sides: Sides, uid: string, isComplete = false): Promise<void> {
  const { source, target, act, count, removes } = sides
  const [ours, theirs] = await Promise.all([
    readPerson(source, uid, sides.without, sides.ids.to, isComplete),
    readPerson(target, uid, sides.without, undefined, isComplete),
  ])
  const at = userAt(uid)
  for (const [key, wanted] of ours) {
    const [kind, one = '', other = ''] = key.split(' ')
    const there = theirs.get(key)
    if (kind === refused) continue
    if (kind === chosen) {
      if (there !== undefined && (await bringNotifications(uid, wanted, there, doing(sides), removes)))
        count('notifications of users')
    } else if (kind === 'conversation') {
      const conversation = `${one === 'group' ? groupAt(other) : userAt(other)}/conversation`
      const known = there ?? { tags: [], isPinned: false, unread: 0 }
      if (!isDeepStrictEqual(wanted.tags, known.tags))
        if (await act('PUT', conversation, { tags: wanted.tags }, uid)) count('tags of conversations')
      if (wanted.unread !== known.unread && (await bringUnread(sides, uid, { path: conversation, kind: one, other })))
        count('unread counts')
      if (isComplete && typeof wanted.first === 'string' && wanted.first !== there?.first)
        await bringReset(sides, uid, one, other, wanted.first)
      if (wanted.isPinned !== known.isPinned)
        if (await act(wanted.isPinned ? 'POST' : 'DELETE', `${conversation}/pin`, {}, uid))
          count('pinned conversations')
    } else if (there !== undefined) continue
    else if (kind === 'saved' || kind === 'thread') {
      const of = `/messages/${one}/${kind === 'saved' ? 'save' : 'thread/subscription'}`
      if (other === '' && (await act('POST', of, {}, uid))) count(`${kind === 'saved' ? 'saved' : 'followed'} messages`)
    } else {
      const body = kind === 'friend' ? { accepted: [one] } : { blockedUids: [one] }
      if (await act('POST', `${at}/${kind === 'friend' ? 'friends' : 'blockedusers'}`, body)) count('relations')
    }
  }
  for (const key of theirs.keys()) {
    const [kind, one = ''] = key.split(' ')
    if (!removes || ours.has(key) || kind === refused || kind === chosen) continue
    if (kind === 'conversation') {
      if (ours.has(refused)) continue
      const [, , other = ''] = key.split(' ')
      const conversation = `${one === 'group' ? groupAt(other) : userAt(other)}/conversation`
      if (await act('DELETE', conversation, {}, uid)) count('cleared conversations')
      continue
    }
    if (kind === 'saved' || kind === 'thread') {
      const of = `/messages/${one}/${kind === 'saved' ? 'save' : 'thread/subscription'}`
      if (await act('DELETE', of, {}, uid)) count(`${kind === 'saved' ? 'saved' : 'followed'} messages`)
      continue
    }
    // The other side of a friendship may have ended it a moment ago.
    if (kind === 'friend') await target.send('DELETE', `${at}/friends`, { friends: [one] }, { expected: refusals })
    else await act('DELETE', `${at}/blockedusers`, { blockedUids: [one] })
    count('relations removed that had ended')
  }
}

/**
 * Takes auth tokens and API keys that were made since the first time they were read: nobody logs in again. A user whom the
 * target does not know has none there, so all who are new come first.
 */
export async function takeCredentials(sides: Sides): Promise<void> {
  const { source, target, notices, count, concurrency } = sides
  const take = (records: readonly JsonRecord[]) =>
    takeRecords(target, records, notices, (name, wasThere) => {
      if (!wasThere) count(name)
    })
  if (!sides.without.includes('tokens'))
    await forEach(usersOf(source), concurrency, async ([uid, { isDeactivated }]) => {
      const tokens = isDeactivated === true ? [] : await readTokens(source, uid)
      if (tokens.length > 0) await take(tokens.map((token) => tokenOf(uid, token)))
    })
  const keys = await readKeys(source)
  if (keys.length > 0) await take(keys.map(keyOf))
}

/** Hides from a user what is before the first message that they see in the source. */
async function bringReset(sides: Sides, uid: string, type: string, receiver: string, first: string): Promise<void> {
  const { target } = sides
  const [a = '', b = ''] = [uid, receiver].sort()
  const id = type === 'group' ? `group_${receiver}` : `${a}_user_${b}`
  const at = `/messages?conversationId=${encodeURIComponent(id)}&affix=prepend&limit=1&id=${first}`
  const { status, body } = await target.get(at, { expected: refusals })
  const [before] = status === 200 ? rowsOf(target, at, body) : []
  if (before === undefined) return
  const reset = { messageId: before.id }
  const records = [{ kind: 'conversation', uid, receiverType: type, receiver, reset }]
  await target.send('POST', '/data_import/records', { records })
  sides.count('cleared conversations')
}

/** Moves a user's marks in a conversation to where they are in the source. */
async function bringUnread(
  { source, ids, act }: Sides,
  uid: string,
  { path, kind, other }: { readonly path: string; readonly kind: string; readonly other: string },
): Promise<boolean> {
  const list = kind === 'group' ? `${groupAt(other)}/messages` : `${userAt(other)}/messages`
  const first = async (filters: string): Promise<string | undefined> => {
    const at = `${list}?limit=1${filters}`
    const { status, body } = await source.get(at, { as: uid, expected: refusals })
    const [row] = status === 200 ? rowsOf(source, at, body) : []
    return row === undefined ? undefined : String(row.id)
  }
  const unread = await first('&unread=true&affix=append')
  const read = await first(`&affix=prepend${unread === undefined ? '' : `&id=${unread}`}`)
  const [unreadThere, readThere] = [unread, read].map((id) => (id === undefined ? undefined : ids.to(id)))
  // What was read is read; whoever marked something as unread has moved their own pointer back.
  const hasRead = readThere === undefined || (await act('POST', `${path}/read`, { messageId: readThere }, uid))
  if (!hasRead || unreadThere === undefined) return hasRead !== undefined
  return (await act('DELETE', `${path}/read`, { messageId: unreadThere }, uid)) !== undefined
}

async function* withoutCounts(groups: Keyed): Keyed {
  for await (const [guid, { membersCount: _, ...group }] of groups) yield [guid, group]
}

async function* keysOf(records: Keyed): AsyncGenerator<string> {
  for await (const [key] of records) yield key
}
