import {
  type GroupScope,
  governanceOf,
  type Message,
  type Permissions,
  permissionAllows,
  permissionList,
} from '@parley/contract'
import { systemUid } from '../chat/apps.ts'
import { readGroupPermissions } from '../chat/groups/permissions.ts'
import type { RolePolicy } from '../chat/roles/policies.ts'
import { isFriendsMode, roleList } from '../chat/roles/rules.ts'
import type { Context } from '../context.ts'
import { statement } from '../store/statement.ts'
import { type Audience, audienceOf } from './audiences.ts'
import type { Broadcast } from './broadcast.ts'
import type { AppSockets } from './registry.ts'

/** What decides who may see a message. */
export interface Shown {
  readonly category: string
  readonly type: string
  readonly sender: string
}

/** Who may see what is told; undefined where nobody is denied anything. */
export type Sight = (uid: string) => boolean

type ScopePermissions = Readonly<Partial<Record<GroupScope, Permissions>>>

interface Viewer {
  readonly uid: string
  readonly role: string
  readonly scope: GroupScope | null
  readonly isFriend: boolean
}

/** Permissions of groups are not announced when they change; for so long they may be out of date. */
const scopesKeptMs = 1_000

const governance = {
  1: governanceOf('user-list-user-messages'),
  2: governanceOf('user-list-group-messages'),
  reactions: governanceOf('get-message-reactions'),
}

/** What a message shows: itself, and the one that an edit or a deletion is about. */
export function shownOf({ category, type, sender, data }: Message): Shown[] {
  const subject = (data.entities as { on?: { entity?: Partial<Shown> } } | undefined)?.on?.entity
  const isMessage = subject?.category !== undefined && subject.type !== undefined && subject.sender !== undefined
  return [{ category, type, sender }, ...(isMessage ? [subject as Shown] : [])]
}

/** Nothing narrows what those who take part may see, as far as is known without asking. */
export function isPlain(sockets: AppSockets, { kind, first }: Broadcast['place']): boolean {
  if (sockets.narrowing?.size !== 0) return false
  const scopes = kind === 2 ? sockets.audiences.get(first)?.scopes : undefined
  return kind === 1 || (scopes !== undefined && !scopes.areSet && Date.now() - scopes.readAt < scopesKeptMs)
}

const selectViewers = statement(`
  select u.uid, u.role, m.scope,
    exists (select from friends f where f.app_id = u.app_id and f.uid = u.uid and f.friend = $4) as "isFriend"
  from users u
  left join group_members m on m.app_id = u.app_id and m.guid = $3 and m.uid = u.uid
  where u.app_id = $1
  and u.uid = any($2::text[])`)

/** Live as in lists: a role or a scope that hides messages there (`listMessages`, `listReactions`) hides them here. */
export async function readSight(
  context: Context,
  sockets: AppSockets,
  broadcast: Pick<Broadcast, 'place' | 'actor'>,
  uids: Iterable<string>,
  shown: readonly Shown[],
  isReaction: boolean,
): Promise<Sight | undefined> {
  const { kind, first: guid } = broadcast.place
  const narrowing = await narrowingOf(context, sockets)
  const scopes = kind === 2 ? await scopesOf(context, sockets, guid) : {}
  if (narrowing.size + Object.keys(scopes).length === 0) return undefined
  const sender = shown.at(-1)?.sender ?? ''
  const wanted = [...uids, sender, broadcast.actor]
  const rows = await context.database.query<Viewer>(selectViewers, [
    sockets.app.appId,
    wanted,
    kind === 2 ? guid : '',
    sender,
  ])
  const viewers = new Map(rows.map((row) => [row.uid, row]))
  const roleOf = (uid: string) => viewers.get(uid)?.role
  const giverScope = viewers.get(broadcast.actor)?.scope ?? undefined
  return (uid) => {
    const viewer = viewers.get(uid)
    if (viewer === undefined) return false
    const policy = narrowing.get(viewer.role)
    const explicit = viewer.scope === null ? undefined : scopes[viewer.scope]
    if (policy !== undefined && !shown.every((one) => roleShows(policy, kind, viewer, one, roleOf(one.sender))))
      return false
    if (explicit !== undefined && !shown.every((one) => contentShows(explicit, one))) return false
    return !isReaction || showsReactions(policy, explicit, giverScope)
  }
}

function roleShows(
  policy: RolePolicy,
  kind: 1 | 2,
  viewer: Viewer,
  shown: Shown,
  senderRole: string | undefined,
): boolean {
  if (isDenied(policy, governance[kind]) || !contentShows(policy.permissions, shown)) return false
  if (roleList(policy, 'listMessages.allowedReceiverTypes')?.includes(kind === 1 ? 'user' : 'group') === false)
    return false
  if (shown.sender === viewer.uid || shown.sender === systemUid) return true
  const senderRoles = roleList(policy, 'listMessages.allowedSenderRoles')
  if (senderRoles !== null && !senderRoles.includes(senderRole ?? '')) return false
  return viewer.isFriend || !isFriendsMode(policy, 'listMessages.mode')
}

function contentShows(explicit: Permissions, { category, type }: Shown): boolean {
  if (permissionList(explicit, 'listMessages.allowedMessageCategories')?.includes(category) === false) return false
  return (
    category !== 'message' || permissionList(explicit, 'listMessages.allowedMessageTypes')?.includes(type) !== false
  )
}

function showsReactions(
  policy: RolePolicy | undefined,
  explicit: Permissions | undefined,
  giverScope: GroupScope | undefined,
): boolean {
  if (policy !== undefined && isDenied(policy, governance.reactions)) return false
  if (explicit === undefined) return true
  if (!permissionAllows(explicit, 'listReactions', 'allow')) return false
  return permissionList(explicit, 'listReactions.allowedScopes')?.includes(giverScope ?? '') !== false
}

function isDenied({ restricted, permissions }: RolePolicy, governed: ReturnType<typeof governanceOf>): boolean {
  if (governed === undefined) return false
  return (
    governed.features.some((feature) => restricted.has(feature)) ||
    governed.permissions.some((key) => !permissionAllows(permissions, key, 'allow'))
  )
}

/** The roles of an app on which anything is set; kept until one changes. */
async function narrowingOf({ policies }: Context, sockets: AppSockets): Promise<ReadonlyMap<string, RolePolicy>> {
  sockets.narrowing ??= await policies.ofApp(sockets.app.appId)
  return sockets.narrowing
}

async function scopesOf({ database }: Context, sockets: AppSockets, guid: string): Promise<ScopePermissions> {
  const audience: Audience = audienceOf(sockets, guid)
  const known = audience.scopes
  if (known !== undefined && Date.now() - known.readAt < scopesKeptMs) return known.permissions
  const permissions: ScopePermissions = (await readGroupPermissions(database, sockets.app.appId, guid))?.scopes ?? {}
  audience.scopes = { permissions, areSet: Object.keys(permissions).length > 0, readAt: Date.now() }
  return permissions
}
