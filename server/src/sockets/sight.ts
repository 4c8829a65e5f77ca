import type { GroupScope, Message, Permissions } from '@parley/contract'
import { readGroupPermissions } from '../chat/groups/permissions.ts'
import type { ConversationKind } from '../chat/kind.ts'
import { isHeld, traits } from '../chat/messages/traits.ts'
import type { PolicyMap } from '../chat/roles/policies.ts'
import type { MessageFacts, Position } from '../chat/sight/condition.ts'
import { hasCleared, joinedColumns } from '../chat/sight/participation.ts'
import { visibleReactions } from '../chat/sight/reactions.ts'
import { sees } from '../chat/sight/sight.ts'
import type { Context } from '../context.ts'
import type { Place } from '../events/types.ts'
import { statement } from '../store/statement.ts'
import { type Audience, audienceOf } from './audiences.ts'
import type { Broadcast } from './broadcast.ts'
import type { AppSockets } from './registry.ts'

/** The messages that a frame shows. */
export interface Shown {
  /** Key of their conversation. */
  readonly conversation: number
  /** Who does not see all of these is not sent the frame: a message, and the one that an edit or a deletion is about. */
  readonly messages: readonly MessageFacts[]
  /** Who does not see this one is sent the frame without it. */
  readonly quoted?: MessageFacts | undefined
}

/** What somebody is sent of a frame. @param hidesBlocked on a socket that hides users whom they have blocked */
export type Sight = (uid: string, hidesBlocked?: boolean) => 'all' | 'withoutQuote' | 'nothing'

type ScopePermissions = Readonly<Partial<Record<GroupScope, Permissions>>>

/** What the frame of a message shows: the message, the one that it is about, and the one that it quotes. */
export function shownOf({ conversation, kind }: Place, message: Message): Shown {
  const about = message.data.entities as { on?: { entity?: Partial<Message> } } | undefined
  const quoted = factsOf(kind, message.quotedMessage as Partial<Message> | undefined)
  const messages = [message, about?.on?.entity].flatMap((one) => factsOf(kind, one) ?? [])
  return { conversation, messages, quoted }
}

/** Who alone may be sent a frame, since moderation holds a message that it shows. */
export function keptFor({ messages }: Shown): string | undefined {
  return messages.find(isHeld)?.sender
}

function factsOf(kind: ConversationKind, message: Partial<Message> | undefined): MessageFacts | undefined {
  const { id, sentAt, sender, category, type } = message ?? {}
  if (id === undefined || sentAt === undefined || sender === undefined) return undefined
  if (category === undefined || type === undefined) return undefined
  return { id: Number(id), sentAt, kind, sender, category, type, traits: heldTraitsOf(message ?? {}) }
}

/** What shows that moderation holds a message, of one that is shown. */
function heldTraitsOf({ data }: Partial<Message>): number {
  const { status } = (data?.moderation ?? {}) as { readonly status?: unknown }
  return status === 'pending' || status === 'disapproved' ? traits[status] : 0
}

/** Nothing is set that narrows what those who take part may see, as far as is known without asking. */
export function isPlain(
  { policies }: Context,
  sockets: AppSockets,
  { place: { kind, first }, revision }: Pick<Broadcast, 'place' | 'revision'>,
): boolean {
  if (policies.known(sockets.app.appId)?.size !== 0) return false
  const scopes = kind === 'group' ? sockets.audiences.get(first)?.scopes : undefined
  return kind === 'user' || (areKnown(scopes, revision) && Object.keys(scopes.permissions).length === 0)
}

function areKnown(scopes: Audience['scopes'], revision = 0): scopes is NonNullable<Audience['scopes']> {
  return scopes !== undefined && scopes.revision >= revision
}

/** Somebody who may be sent a frame, as far as that decides what they see of it. */
interface ViewerRow {
  readonly uid: string
  readonly role: string
  readonly scope: GroupScope | null
  /** Of the senders of what the frame shows. */
  readonly friends: string[]
  readonly clearedSentAt: number
  readonly clearedId: number
  /** Null for who is no member. */
  readonly joinedSentAt: number | null
  readonly joinedId: number
}

const selectViewers = statement(`
  select u.uid, u.role, m.scope,
    array(
      select f.friend from friends f where f.app_id = u.app_id and f.uid = u.uid and f.friend = any($5::text[])
    ) as friends,
    coalesce(s.cleared_sent_at, 0) as "clearedSentAt", coalesce(s.cleared_id, 0) as "clearedId",
    ${joinedColumns}
  from users u
  left join group_members m on m.app_id = u.app_id and m.guid = $3 and m.uid = u.uid
  left join conversation_states s on s.app_id = u.app_id and s.uid = u.uid and s.conversation = $4
  where u.app_id = $1
  and u.uid = any($2::text[])`)

/** Where nothing is set, a message is only hidden from those who have reset the history that it stands in. */
const selectCleared = statement(`
  select s.uid, s.cleared_sent_at as "sentAt", s.cleared_id as id
  from conversation_states s
  where s.app_id = $1
  and s.uid = any($2::text[])
  and s.conversation = $3
  and ${hasCleared('($4::bigint, $5::bigint)')}`)

type Seen = Pick<Broadcast, 'place' | 'revision' | 'actor' | 'isReaction'>

/** Live as in lists: what is hidden from somebody there (`chat/sight/`) is not sent to them. */
export async function readSight(
  context: Context,
  sockets: AppSockets,
  { place: { kind, first: guid }, revision, actor, isReaction = false }: Seen,
  uids: Iterable<string>,
  shown: Shown,
): Promise<Sight> {
  const narrowing = await context.policies.ofApp(sockets.app.appId)
  const scopes = kind === 'group' ? await scopesOf(context, sockets, guid, revision) : {}
  const { appId } = sockets.app
  const all = [...shown.messages, ...(shown.quoted === undefined ? [] : [shown.quoted])]
  if (narrowing.size + Object.keys(scopes).length === 0) {
    const oldest = all.reduce((a, b) => (b.sentAt < a.sentAt || (b.sentAt === a.sentAt && b.id < a.id) ? b : a))
    const values = [appId, [...uids], shown.conversation, oldest.sentAt, oldest.id]
    const rows = await context.database.query<Position & { uid: string }>(selectCleared, values)
    const cleared = new Map(rows.map((row) => [row.uid, row]))
    return sightOf(shown, (uid, message) => {
      const participation = { takesPart: true, cleared: cleared.get(uid) ?? nowhere }
      return sees({ uid, policy: undefined }, participation, message, { role: undefined, isFriend: false })
    })
  }
  const senders = all.map(({ sender }) => sender)
  const wanted = [...new Set([...uids, ...senders, actor])]
  const values = [appId, wanted, kind === 'group' ? guid : '', shown.conversation, senders]
  const rows = await context.database.query<ViewerRow>(selectViewers, values)
  const viewers = new Map(rows.map((row) => [row.uid, row]))
  const sight = sightOf(shown, (uid, message) => {
    const viewer = viewers.get(uid)
    if (viewer === undefined) return false
    const sender = { role: viewers.get(message.sender)?.role, isFriend: viewer.friends.includes(message.sender) }
    return sees({ uid, policy: narrowing.get(viewer.role) }, participationOf(viewer, scopes), message, sender)
  })
  if (!isReaction) return sight
  const giverScope = viewers.get(actor)?.scope ?? ''
  return (uid) => (showsReaction(viewers.get(uid), narrowing, scopes, giverScope) ? sight(uid) : 'nothing')
}

const nowhere: Position = { sentAt: 0, id: 0 }

function sightOf({ messages, quoted }: Shown, seesOne: (uid: string, message: MessageFacts) => boolean): Sight {
  return (uid) => {
    if (!messages.every((message) => seesOne(uid, message))) return 'nothing'
    return quoted === undefined || seesOne(uid, quoted) ? 'all' : 'withoutQuote'
  }
}

/** Who is sent a frame takes part, or hears as the last thing that they do no longer: the audience decides that. */
function participationOf(viewer: ViewerRow, scopes: ScopePermissions) {
  const permissions = viewer.scope === null ? undefined : scopes[viewer.scope]
  const joined = { sentAt: viewer.joinedSentAt ?? 0, id: viewer.joinedId }
  return {
    takesPart: true,
    cleared: { sentAt: viewer.clearedSentAt, id: viewer.clearedId },
    scope: permissions && { permissions, joined },
  }
}

function showsReaction(
  viewer: ViewerRow | undefined,
  narrowing: PolicyMap,
  scopes: ScopePermissions,
  giverScope: string,
): boolean {
  if (viewer === undefined) return false
  const visible = visibleReactions(narrowing.get(viewer.role), viewer.scope === null ? undefined : scopes[viewer.scope])
  return visible === null || visible.includes(giverScope)
}

/** What is set on the scopes of a group, as of a revision of it at least: setting it gives the group another one. */
async function scopesOf(
  { database }: Context,
  sockets: AppSockets,
  guid: string,
  revision: number | undefined,
): Promise<ScopePermissions> {
  const audience = audienceOf(sockets, guid)
  const known = audience.scopes
  if (areKnown(known, revision)) return known.permissions
  const found = await readGroupPermissions(database, sockets.app.appId, guid)
  const permissions: ScopePermissions = found?.scopes ?? {}
  // Of a group that is gone, nothing newer will be known.
  audience.scopes = { permissions, revision: found?.revision ?? Number.MAX_SAFE_INTEGER }
  return permissions
}
