import { access, rm } from 'node:fs/promises'
import path from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { takeListed } from '@parley/contract'
import type { JsonRecord } from '../import/records.ts'
import { errorOf } from '../import/request.ts'
import { withReactions } from './collect.ts'
import { filesOf, type SourceFile } from './files.ts'
import type { Journal } from './journal.ts'
import { readReactions, readSpan } from './lists.ts'
import { readLines } from './ndjson.ts'
import type { Notices } from './notices.ts'
import { importable, subjectOf } from './prepare.ts'
import type { Remote } from './remote.ts'
import { forEach } from './settle.ts'
import type { MoveState } from './state.ts'
import {
  type ComparedMessage,
  comparable,
  readGroups,
  readMessages,
  readRelations,
  readRoom,
  readUsers,
} from './verify.ts'

export interface Following {
  readonly source: Remote
  readonly target: Remote
  readonly folder: string
  readonly journal: Journal<MoveState>
  readonly notices: Notices
  readonly without: readonly string[]
  readonly concurrency: number
  /** Milliseconds between two looks at the source. */
  readonly interval: number
  /** Seconds that each look goes back beyond the one before: what is written late appears behind the newest. */
  readonly overlap: number
  /** Milliseconds between two sweeps, which compare sets of ids. */
  readonly sweepEvery: number
  /** Aborted to cut over. */
  readonly cutOver: AbortSignal
  /** Copies files, and knows their new addresses. */
  copy(files: AsyncIterable<SourceFile>): Promise<ReadonlyMap<string, string>>
  note(text: string): void
  /** Milliseconds. */
  now(): number
  sleep(milliseconds: number): Promise<void>
}

/** What following did, by name. */
export type Followed = Record<string, number>

const refusals = [400, 403, 404, 409]
const batch = 200

/**
 * Brings what changes in the source to the target until cut-over. Each look takes new messages by their time and changed
 * ones by `updatedAt`; sweeps find what leaves no trace in either: messages, users, groups and members that are gone, bans, blocks and
 * friendships that ended. At cut-over it looks once more, and sweeps completely.
 */
export async function follow(following: Following): Promise<Followed> {
  const { source, target, folder, journal, notices, note, now } = following
  const counts: Followed = {}
  const count = (name: string, by = 1) => {
    counts[name] = (counts[name] ?? 0) + by
  }
  const seconds = () => Math.floor(now() / 1000)
  /** In an app that had data of its own, nobody knows whether what the source lacks is gone or was never there. */
  const removes = journal.state.targetWasEmpty === true
  /** Ids in the target by the muid that messages have there. */
  const ids = new Map<string, string>()
  const names = new Map<string, string>()
  for await (const { id, muid } of readLines(path.join(folder, 'muids.ndjson'))) names.set(String(id), String(muid))
  const keyOf = (row: JsonRecord): string => {
    const id = String(row.id)
    const key = names.get(id) ?? (typeof row.muid === 'string' ? row.muid : id)
    if (key !== id) names.set(id, key)
    return key
  }
  const nameOf = (id: string) => names.get(id) ?? id
  await readSpan(target, { from: 0, to: seconds() + 60, done: false }, '', async (rows) => {
    for (const { muid, id } of rows) if (typeof muid === 'string') ids.set(muid, String(id))
  })
  let addresses = await following.copy(each([]))

  /** Does something in the name of somebody, or of the app where they may not. */
  const act = async (method: 'POST' | 'PUT' | 'DELETE', at: string, body: object, as?: unknown): Promise<boolean> => {
    const who = typeof as === 'string' && as !== 'app_system' ? as : undefined
    const answer = await target.send(method, at, body, { expected: refusals, ...(who !== undefined && { as: who }) })
    if (answer.status === 200) return true
    if (who !== undefined && !/\/(reactions|conversation)\//.test(at)) return act(method, at, body)
    notices.add('relation-refused', `${method} ${at}: ${errorOf(answer.body).code}`)
    return false
  }
  const importInto = async (kind: 'users' | 'groups' | 'members' | 'messages', records: readonly JsonRecord[]) => {
    const { body } = await target.send('POST', `/data_import/${kind}`, { [kind]: records })
    return body.data as Record<string, { success: boolean; data?: { id?: unknown }; error?: { code: string } }>
  }

  /** Imports messages that are new, with the people and groups that are new with them. */
  const takeNew = async (rows: readonly JsonRecord[]): Promise<void> => {
    const whole = await withReactions(source, rows)
    if (whole.some((row) => filesOf(row).length > 0))
      addresses = await following.copy(each(whole.flatMap((row) => filesOf(row))))
    for (let at = 0; at < whole.length; at += batch) {
      let waiting = whole.slice(at, at + batch)
      for (let attempt = 1; waiting.length > 0; attempt++) {
        const records = waiting.map((row) => ({
          ...importable(takeListed('messages', row, nameOf).record, addresses),
          muid: keyOf(row),
        }))
        const outcomes = await importInto('messages', records)
        const later: JsonRecord[] = []
        for (const row of waiting) {
          const outcome = outcomes[keyOf(row)]
          if (outcome?.success) {
            ids.set(keyOf(row), String(outcome.data?.id))
            count('new messages')
          } else if (attempt === 1 && /_NOT_FOUND$/.test(outcome?.error?.code ?? '')) later.push(row)
          else if (outcome?.error?.code !== 'ERR_IMPORT_MUID_ALREADY_EXISTS')
            notices.add('message-refused', `${row.id}: ${outcome?.error?.code}`)
        }
        for (const row of later) await takeCast(row)
        waiting = later
      }
    }
  }
  /** Users and groups that a message names and the target does not know yet. */
  const takeCast = async (row: JsonRecord): Promise<void> => {
    const uids = [row.sender, ...(row.receiverType === 'user' ? [row.receiver] : [])]
    for (const uid of uids) {
      const { status, body } = await source.get(`/users/${encodeURIComponent(String(uid))}`, { expected: [404] })
      if (status === 200) await importInto('users', [body.data as JsonRecord])
      else await importInto('users', [{ uid, name: 'Deleted user', deactivatedAt: seconds() }])
    }
    if (row.receiverType !== 'group') return
    const { status, body } = await source.get(`/groups/${encodeURIComponent(String(row.receiver))}`, {
      expected: [404],
    })
    if (status === 200) await takeGroup(body.data as JsonRecord)
  }
  const takeGroup = async (group: JsonRecord): Promise<void> => {
    const { owner, ...rest } = group
    const password = group.type === 'password' ? { password: crypto.randomUUID() } : {}
    await importInto('groups', [{ ...rest, ...(owner !== 'app_system' && { owner }), ...password }])
  }

  /** Brings a message of the target into the state that it has in the source. */
  const bring = async (row: JsonRecord, id: string): Promise<void> => {
    const { status, body } = await target.get(`/messages/${id}`, { expected: [404] })
    if (status === 404) return
    const there = body.data as JsonRecord
    const [ours, theirs] = [comparable(row, null, addresses), comparable(there, null, new Map())]
    const differs = (name: string) => !isDeepStrictEqual(ours[name], theirs[name])
    const at = `/messages/${id}`
    if (ours.isDeleted === true) {
      if (theirs.isDeleted === false && (await act('DELETE', at, {}, row.deletedBy))) count('deleted messages')
      return
    }
    if (differs('data') || differs('tags')) {
      const data = importable(takeListed('messages', row, nameOf).record, addresses).data
      if (await act('PUT', at, { data, tags: row.tags ?? [] }, row.sender)) count('edited messages')
    }
    if (differs('reactions')) await bringReactions(row, id)
    if (differs('isPinned')) {
      const done =
        ours.isPinned === true ? await act('POST', `${at}/pin`, {}, row.pinnedBy) : await act('DELETE', `${at}/pin`, {})
      if (done) count(ours.isPinned === true ? 'pins' : 'removed pins')
    }
    const mark =
      ours.isRead === true && theirs.isRead === false
        ? 'read'
        : ours.isDelivered === true && theirs.isDelivered === false
          ? 'delivered'
          : undefined
    const sender = encodeURIComponent(String(row.sender))
    if (
      mark !== undefined &&
      (await act('POST', `/users/${sender}/conversation/${mark}`, { messageId: id }, row.receiver))
    )
      count('receipts')
  }
  const bringReactions = async (row: JsonRecord, id: string): Promise<void> => {
    const read = async (side: Remote, of: string) =>
      new Map(
        ((await readReactions(side, of, Number.POSITIVE_INFINITY)) ?? []).map(({ reaction, uid }) => [
          `${reaction} ${uid}`,
          { reaction: encodeURIComponent(String(reaction)), uid },
        ]),
      )
    const [ours, theirs] = await Promise.all([read(source, String(row.id)), read(target, id)])
    for (const [key, { reaction, uid }] of ours)
      if (!theirs.has(key) && (await act('POST', `/messages/${id}/reactions/${reaction}`, {}, uid))) count('reactions')
    for (const [key, { reaction, uid }] of theirs)
      if (!ours.has(key) && (await act('DELETE', `/messages/${id}/reactions/${reaction}`, {}, uid)))
        count('removed reactions')
  }

  /** Takes what is new or changed since a moment. @returns how many messages there were */
  const look = async (since: number): Promise<number> => {
    const until = seconds() + 60
    let found = 0
    const take = async (rows: JsonRecord[]) => {
      const fresh = rows.filter((row) => !ids.has(keyOf(row)) && isTaken(row))
      const changed = rows.filter((row) => ids.has(keyOf(row)) && isTaken(row))
      found += fresh.length
      await takeNew(fresh)
      await forEach(each(changed), following.concurrency, (row) => bring(row, ids.get(keyOf(row)) as string))
    }
    await readSpan(source, { from: since, to: until, done: false }, '&withTags=true', take)
    await readSpan(source, { from: 0, to: until, done: false }, `&withTags=true&updatedAt[from]=${since}`, take)
    return found
  }

  /** Compares everything of both sides by sets, and mends what differs. */
  const sweep = async (): Promise<void> => {
    await sweepPeople()
    const [ours, theirs] = await Promise.all([
      readMessages(source, names, addresses, seconds()),
      readMessages(target, new Map(), new Map(), seconds(), true),
    ])
    const wanted = [...ours].filter(([key, message]) => differsFrom(message, theirs.get(key))).map(([, { id }]) => id)
    await forEach(each(wanted), following.concurrency, async (id) => {
      const { status, body } = await source.get(`/messages/${id}?withTags=true`, { expected: [400, 404] })
      if (status !== 200) return
      const row = body.data as JsonRecord
      const known = ids.get(keyOf(row))
      if (known === undefined) await takeNew([row])
      else await bring(row, known)
    })
    if (!removes) return
    for (const [key, { id, record }] of theirs) {
      if (ours.has(key) || record.category === 'action') continue
      if (!(await act('DELETE', `/messages/${id}`, { permanent: true }))) continue
      count('messages removed that were gone')
      ids.delete(key)
    }
  }
  const sweepPeople = async (): Promise<void> => {
    const user = (uid: string) => `/users/${encodeURIComponent(uid)}`
    const group = (guid: string) => `/groups/${encodeURIComponent(guid)}`
    const [users, newUsers] = await Promise.all([readUsers(source), readUsers(target)])
    for (const [uid, ours] of users) {
      const theirs = newUsers.get(uid)
      if (theirs === undefined) {
        const { status, body } = await source.get(user(uid), { expected: [404] })
        if (status === 200) await importInto('users', [body.data as JsonRecord])
        count('new users')
      } else if (!isDeepStrictEqual(ours, theirs)) {
        const { name, avatar, link, role, metadata, tags, isDeactivated } = ours
        const profile = Object.fromEntries(
          Object.entries({ name, avatar, link, role, metadata, tags }).filter(([, value]) => value !== null),
        )
        if (isDeactivated === false && theirs.isDeactivated === true)
          await act('PUT', '/users', { uidsToActivate: [uid] })
        else if (isDeactivated === true && theirs.isDeactivated === false) await act('DELETE', user(uid), {})
        else await act('PUT', user(uid), profile)
        count('changed users')
      }
    }
    for (const [uid, theirs] of newUsers) {
      if (!removes || users.has(uid) || (theirs.name === 'Deleted user' && theirs.isDeactivated === true)) continue
      if (await act('DELETE', user(uid), { permanent: true })) count('users removed that were gone')
    }
    const [groups, newGroups] = await Promise.all([readGroups(source), readGroups(target)])
    for (const [guid, ours] of groups) {
      const theirs = newGroups.get(guid)
      if (theirs === undefined) {
        const { status, body } = await source.get(group(guid), { expected: [404] })
        if (status === 200) await takeGroup(body.data as JsonRecord)
        count('new groups')
      } else if (!isDeepStrictEqual({ ...ours, membersCount: 0 }, { ...theirs, membersCount: 0 })) {
        const { name, icon, description, metadata, tags } = ours
        const profile = Object.fromEntries(
          Object.entries({ name, icon, description, metadata, tags }).filter(([, value]) => value !== null),
        )
        if (ours.owner !== theirs.owner) await act('PUT', `${group(guid)}/owner`, { owner: ours.owner })
        await act('PUT', group(guid), profile)
        count('changed groups')
      }
      await sweepRoom(guid, group(guid))
    }
    for (const guid of newGroups.keys())
      if (removes && !groups.has(guid) && (await act('DELETE', group(guid), {}))) count('groups removed that were gone')
    await forEach(each(users.keys()), following.concurrency, async (uid) => {
      const [ours, theirs] = await Promise.all(
        [source, target].map((side) => readRelations(side, uid, following.without)),
      )
      for (const key of ours!.keys()) {
        const [, kind, other] = key.split(' ')
        if (theirs!.has(key)) continue
        if (kind === 'friend') await act('POST', `${user(uid)}/friends`, { accepted: [other] })
        else await act('POST', `${user(uid)}/blockedusers`, { blockedUids: [other] })
        count('relations')
      }
      for (const key of theirs!.keys()) {
        const [, kind, other] = key.split(' ')
        if (!removes || ours!.has(key)) continue
        // The other side of a friendship may have ended it a moment ago.
        if (kind === 'friend')
          await target.send('DELETE', `${user(uid)}/friends`, { friends: [other] }, { expected: refusals })
        else await act('DELETE', `${user(uid)}/blockedusers`, { blockedUids: [other] })
        count('relations removed that had ended')
      }
    })
  }
  const sweepRoom = async (guid: string, at: string): Promise<void> => {
    const [ours, theirs] = await Promise.all([readRoom(source, guid), readRoom(target, guid)])
    for (const key of theirs.keys()) {
      const [, uid, banned] = key.split(' ')
      if (!removes || ours.has(key)) continue
      if (banned !== undefined) await act('DELETE', `${at}/bannedusers/${uid}`, {})
      else if (!ours.has(`${key} banned`)) await act('DELETE', `${at}/members/${uid}`, {})
      count(banned === undefined ? 'members removed that had left' : 'bans removed that were lifted')
    }
    for (const [key, { scope, joinedAt }] of ours) {
      const [, uid, banned] = key.split(' ')
      const there = theirs.get(key)
      if (there === undefined && banned !== undefined) {
        await act('POST', `${at}/bannedusers/${uid}`, {})
        count('bans')
      } else if (there === undefined) {
        await importInto('members', [{ memberId: `${guid}_member_${uid}`, guid, uid, scope, joinedAt }])
        count('new members')
      } else if (there.scope !== scope) {
        await act('PUT', `${at}/members/${uid}`, { scope })
        count('changed scopes')
      }
    }
  }

  const { state } = journal
  const hasCutOver = state.cutOver !== undefined
  const flag = path.join(folder, 'cut-over')
  const isAsked = async () => {
    if (following.cutOver.aborted) return true
    return access(flag).then(
      () => true,
      () => false,
    )
  }
  /** One look, after which a run that is killed goes on. */
  const lookOnce = async (): Promise<number> => {
    const began = now()
    const since = (state.followed ?? state.started) - following.overlap
    const found = await look(since)
    state.followed = Math.floor(began / 1000)
    note(`${((now() - began) / 1000).toFixed(1)} s behind: ${found} new messages since the last look`)
    return found
  }
  const pause = () => Promise.race([following.sleep(following.interval), untilAborted(following.cutOver)])
  if (hasCutOver) note('Cut over before: only what is new or changed is taken, nothing is removed.')
  else if (!removes) note('The app had data of its own before: what is gone in the source is not removed.')

  let swept = now()
  while (await lookOnce().then(async () => !(await isAsked()))) {
    if (!hasCutOver && now() - swept >= following.sweepEvery) {
      await sweep()
      swept = now()
    }
    await pause()
  }
  note('Cutting over: what is left is taken, and everything is compared by its ids.')
  const drain = async () => {
    for (let found = await lookOnce(); found > 0; found = await lookOnce()) {
      note('The old service is still written to.')
      await following.sleep(following.interval)
    }
  }
  await drain()
  if (!hasCutOver) {
    await sweep()
    await drain()
    state.cutOver = Math.floor(now() / 1000)
  }
  await rm(flag, { force: true })
  await journal.save()
  note('Cut over: nothing is left.')
  return counts
}

/** Messages that tell of an edit or a deletion are made by the target, which is told of it. */
function isTaken(row: JsonRecord): boolean {
  return subjectOf(row) === undefined
}

function differsFrom({ record }: ComparedMessage, other: ComparedMessage | undefined): boolean {
  return other === undefined || !isDeepStrictEqual(record, other.record)
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

async function* each<Item>(items: Iterable<Item>): AsyncGenerator<Item> {
  yield* items
}
