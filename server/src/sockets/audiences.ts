import type { GroupScope, Permissions } from '@parley/contract'
import type { Database } from '../store/database.ts'
import { statement } from '../store/statement.ts'
import type { AppSockets } from './registry.ts'

/**
 * The members of one group that are connected to this process. Read when something is said there, then kept current by what
 * hears of joining and leaving; who connects later is looked up with the next thing said. Read anew after a while, since
 * imports publish nothing.
 */
export interface Audience {
  readonly guid: string
  readonly members: Set<string>
  /** How many arrivals of the app have been looked up. */
  checked: number
  /** Of the group when all were looked up: it changes with the members. */
  revision: number
  /** When all were looked up, as `performance.now()` has it. */
  readAt: number
  /** uids whose membership changed while others are being looked up: what was heard of them counts. */
  changed: Set<string> | undefined
  reading: Promise<void> | undefined
  /** What is set on the scopes of the group, as of a revision of it. */
  scopes:
    | { readonly permissions: Readonly<Partial<Record<GroupScope, Permissions>>>; readonly revision: number }
    | undefined
  /** As `performance.now()` has it. */
  usedAt: number
}

/** Who of some users is a member; one row at least, of a group that exists. */
const selectMembersOf = statement(`
  select m.uid, g.revision, g.members_count as size
  from groups g
  left join group_members m on m.app_id = g.app_id and m.guid = g.guid and m.uid = any($3::text[])
  where g.app_id = $1
  and g.guid = $2`)

/** Everybody who is a member. */
const selectMembers = statement(`
  select m.uid, g.revision, g.members_count as size
  from groups g
  left join group_members m on m.app_id = g.app_id and m.guid = g.guid
  where g.app_id = $1
  and g.guid = $2`)

interface MemberRow {
  readonly uid: string | null
  readonly revision: number
  readonly size: number
}

/** In place of a revision: as the members are now, not as far as they are known. */
export const asOfNow = Number.POSITIVE_INFINITY

const maxAudiences = 20_000
const forgetAfterMs = 300_000
const readAnewAfterMs = 60_000

/** What is known of a group, current or not. */
export function audienceOf(sockets: AppSockets, guid: string): Audience {
  let audience = sockets.audiences.get(guid)
  if (audience === undefined) {
    if (sockets.audiences.size >= maxAudiences) forgetOldest(sockets)
    audience = {
      guid,
      members: new Set(),
      checked: -1,
      revision: 0,
      readAt: Number.NEGATIVE_INFINITY,
      changed: undefined,
      reading: undefined,
      scopes: undefined,
      usedAt: 0,
    }
    sockets.audiences.set(guid, audience)
  }
  audience.usedAt = performance.now()
  return audience
}

/** Everybody who is connected has been looked up, and not too long ago. */
export function isCurrent(sockets: AppSockets, audience: Audience): boolean {
  return audience.checked === sockets.arrived && performance.now() - audience.readAt < readAnewAfterMs
}

/**
 * The audience of a group, once everybody who is connected has been looked up.
 * @param revision of the group as of which it must be known, at least: what happened there may be heard of before the change
 *   of members that came first
 */
export async function currentAudience(
  database: Database,
  sockets: AppSockets,
  guid: string,
  revision = 0,
): Promise<Audience> {
  for (let isReadNow = false; ; ) {
    const audience = audienceOf(sockets, guid)
    const isKnown = revision === asOfNow ? isReadNow : audience.revision >= revision
    if (isKnown && isCurrent(sockets, audience)) return audience
    if (audience.reading === undefined) {
      isReadNow = true
      audience.reading = lookUp(database, sockets, audience, !isKnown).finally(() => {
        audience.reading = undefined
      })
    }
    await audience.reading
  }
}

async function lookUp(
  database: Database,
  sockets: AppSockets,
  audience: Audience,
  isWholeAsked: boolean,
): Promise<void> {
  const upTo = sockets.arrived
  const startedAt = performance.now()
  const isKnown = audience.checked >= 0
  const isOld = startedAt - audience.readAt >= readAnewAfterMs
  const of = [sockets.app.appId, audience.guid]
  const changed = new Set<string>()
  audience.changed = changed
  try {
    const came = isKnown ? sockets.arrivedSince(audience.checked) : []
    const rows = await database.query<MemberRow>(selectMembersOf, [...of, came])
    const [group] = rows
    const isSame = isKnown && !isOld && (!isWholeAsked || group?.revision === audience.revision)
    if (isSame) keep(audience, came, rows, changed)
    else await readWhole(database, sockets, audience, { of, size: group?.size ?? 0, startedAt })
    audience.checked = upTo
  } finally {
    audience.changed = undefined
  }
}

/** Whichever are fewer are asked for: members of the group, or those who are connected. */
async function readWhole(
  database: Database,
  sockets: AppSockets,
  audience: Audience,
  { of, size, startedAt }: { of: readonly unknown[]; size: number; startedAt: number },
): Promise<void> {
  const connected = [...sockets.users.keys()]
  const rows =
    size <= connected.length
      ? await database.query<MemberRow>(selectMembers, [...of])
      : await database.query<MemberRow>(selectMembersOf, [...of, connected])
  keep(audience, connected, rows, audience.changed)
  audience.readAt = startedAt
  // Of a group that is gone, nothing newer will be known.
  audience.revision = rows[0]?.revision ?? Number.MAX_SAFE_INTEGER
}

/** What was found of some users; what was heard of them meanwhile counts. */
function keep(
  { members }: Audience,
  uids: readonly string[],
  rows: readonly MemberRow[],
  changed: ReadonlySet<string> | undefined,
): void {
  const found = new Set(rows.map(({ uid }) => uid))
  for (const uid of uids) {
    if (changed?.has(uid)) continue
    if (found.has(uid)) members.add(uid)
    else members.delete(uid)
  }
}

/** Members came or went. */
export function changeMembers(sockets: AppSockets, guid: string, uids: readonly string[], areMembers: boolean): void {
  const audience = sockets.audiences.get(guid)
  if (audience === undefined) return
  for (const uid of uids) {
    audience.changed?.add(uid)
    if (!areMembers) audience.members.delete(uid)
    else if (sockets.connectionsOf(uid).length > 0) audience.members.add(uid)
  }
}

/** A group is gone, or what is known of it is in doubt: it is read anew when something is said there. */
export function forgetAudience(sockets: AppSockets, guid: string): void {
  const audience = sockets.audiences.get(guid)
  // Whoever waits for it must not take it for current.
  if (audience !== undefined) {
    audience.members.clear()
    audience.checked = -1
  }
  sockets.audiences.delete(guid)
}

/** As `forgetAudience`, of all groups of an app. */
export function forgetAudiences(sockets: AppSockets): void {
  for (const guid of [...sockets.audiences.keys()]) forgetAudience(sockets, guid)
}

/** Forgets groups in which nothing has been said for long. */
export function forgetIdle(sockets: AppSockets, now: number): void {
  for (const [guid, { usedAt, reading }] of sockets.audiences) {
    if (reading === undefined && now - usedAt > forgetAfterMs) sockets.audiences.delete(guid)
  }
}

function forgetOldest(sockets: AppSockets): void {
  for (const [guid, { reading }] of sockets.audiences) {
    if (reading !== undefined) continue
    sockets.audiences.delete(guid)
    return
  }
}
