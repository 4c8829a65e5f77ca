import type { Context } from '../context.ts'
import type { Place } from '../events/types.ts'
import type { Span } from '../tracing/tracing.ts'
import { currentAudience, isCurrent } from './audiences.ts'
import { areApart, type BlockBook } from './blocks.ts'
import type { Connection } from './connection.ts'
import { encodeFrame, encodeText } from './frames.ts'
import type { AppSockets } from './registry.ts'
import { withoutQuote } from './show.ts'
import { isPlain, readSight, type Shown, type Sight } from './sight.ts'

/** One frame for those who take part in a conversation. */
export interface Broadcast {
  readonly place: Omit<Place, 'conversation'>
  /** Who did it. Their other devices get the frame too, the one they used does not. */
  readonly actor: string
  readonly device?: string | undefined
  /**
   * Whom blocks keep it from. `pair`: one-to-one, the other side. `everywhere`: in groups too, members who stand in a block
   * with the actor. `nothing`: a rule has looked already. In groups, sockets that hide blocked users are spared either way.
   */
  readonly blocksKeep: 'nothing' | 'pair' | 'everywhere'
  /** Revision of the group as of which its members and its scopes must be known, or `asOfNow`. */
  readonly revision?: number
  /** Of a group's members, these only. */
  readonly only?: readonly string[]
  /** Not this user. */
  readonly exceptFor?: string | undefined
  /** This user alone, member of the group or not. */
  readonly to?: string
  /** Messages that it shows, or gives a reaction to, which may be hidden from somebody; undefined when they are gone. */
  readonly shows?: () => Shown | Promise<Shown | undefined>
  /** Some of them are older than itself: also where nothing else hides anything, whoever has reset the history may not see them. */
  readonly refersBack?: boolean
  readonly isReaction?: boolean
  /** A client has written it and nothing of it is stored: addresses in it are passed on as they are. */
  readonly isClients?: boolean
  /** What it is about is stored, so whoever may have missed it must connect again and list what is new. */
  readonly isStored: boolean
  /** The work of publishing it, where that is traced; it ends with that. */
  readonly span?: Span | undefined
  /** The frame; undefined when what it is about is gone. */
  readonly frame: () => object | undefined | Promise<object | undefined>
}

export interface BroadcastParts {
  readonly context: Context
  readonly blocks: BlockBook
}

/**
 * Publishes it. What must be read is read first; who gets it is decided at the last moment and in one go, so nobody hears of a
 * group of which the bus has said that they left it.
 */
export async function sendBroadcast(parts: BroadcastParts, sockets: AppSockets, broadcast: Broadcast): Promise<void> {
  const { kind, first, second } = broadcast.place
  if (kind === 'user' && sockets.connectionsOf(first).length + sockets.connectionsOf(second).length === 0) return
  const blocks = await blocksOf(parts, sockets, broadcast)
  const shown = await broadcast.frame()
  if (shown === undefined) return
  const frame = broadcast.isClients ? shown : await parts.context.fileLinks.inValue(sockets.app, shown)
  if (broadcast.to !== undefined) {
    const sight = await sightOf(parts, sockets, broadcast, [broadcast.to])
    sendTo(sockets, [broadcast.to], broadcast, encodings(frame, sight))
    return
  }
  if (kind === 'user') {
    const other = broadcast.actor === first ? second : first
    const uids = blocks !== undefined && areApart(blocks, other) ? [broadcast.actor] : new Set([first, second])
    const sight = await sightOf(parts, sockets, broadcast, uids)
    sendTo(sockets, uids, broadcast, encodings(frame, sight))
    return
  }
  const { audience, sight } = await audienceWithSight(parts, sockets, broadcast)
  // It may have been forgotten since it was returned, if only for an instant: nothing may come between this look and sending.
  if (sockets.audiences.get(first) !== audience) return sendBroadcast(parts, sockets, broadcast)
  const uids = broadcast.only?.filter((uid) => audience.members.has(uid)) ?? audience.members
  sendTo(sockets, uids, broadcast, encodings(frame, sight), (uid, connection) => {
    if (blocks === undefined || uid === broadcast.actor) return false
    if (broadcast.blocksKeep === 'everywhere') return areApart(blocks, uid)
    return connection.login?.hidesBlocked === true && blocks.blockers.has(uid)
  })
  for (const uid of audience.members) if (sockets.connectionsOf(uid).length === 0) audience.members.delete(uid)
}

/** Who of a group may be notified, and what they see of it. An audience that is forgotten meanwhile has no members: it is read anew. */
async function audienceWithSight(parts: BroadcastParts, sockets: AppSockets, broadcast: Broadcast) {
  const guid = broadcast.place.first
  for (;;) {
    const audience = await currentAudience(parts.context.database, sockets, guid, broadcast.revision)
    const sight = await sightOf(parts, sockets, broadcast, audience.members)
    if (sockets.audiences.get(guid) === audience) return { audience, sight }
  }
}

/** Can it be sent at once? Then nothing waits that could be sent in a wrong order. */
export function broadcastAtOnce(context: Context, sockets: AppSockets, broadcast: Broadcast): boolean {
  const { kind, first } = broadcast.place
  if (broadcast.blocksKeep !== 'nothing' || broadcast.refersBack === true || !isPlain(context, sockets, broadcast))
    return false
  const frame = broadcast.frame()
  if (frame === undefined || frame instanceof Promise) return false
  const text = JSON.stringify(frame)
  // Addresses of files may have to be signed, which is decided by what the app has set.
  if (broadcast.isClients !== true && text.includes('/media/')) return false
  let encoded: Buffer | undefined
  const whole = () => {
    encoded ??= encodeText(text)
    return encoded
  }
  if (broadcast.to !== undefined) {
    sendTo(sockets, [broadcast.to], broadcast, whole)
    return true
  }
  if (kind === 'user') {
    sendTo(sockets, new Set([first, broadcast.place.second]), broadcast, whole)
    return true
  }
  const audience = sockets.audiences.get(first)
  if (audience === undefined || !isCurrent(sockets, audience) || sockets.hiding > 0) return false
  if (audience.revision < (broadcast.revision ?? 0)) return false
  audience.usedAt = performance.now()
  sendTo(sockets, audience.members, broadcast, whole)
  return true
}

type Concern = Pick<Broadcast, 'place' | 'to' | 'only'>

/** Those who may have missed something connect again, and list what is new. */
export function disconnectToResync(sockets: AppSockets, about: Concern): void {
  for (const uid of [...concernedBy(sockets, about)]) {
    for (const connection of [...sockets.connectionsOf(uid)]) connection.close('tryAgain')
  }
}

/** Everybody who may have to hear of it. */
function concernedBy(sockets: AppSockets, { place: { kind, first, second }, to, only }: Concern): Iterable<string> {
  if (to !== undefined) return [to]
  if (kind === 'user') return [first, second]
  if (only !== undefined) return only
  const audience = sockets.audiences.get(first)
  if (audience === undefined || audience.checked < 0) return sockets.users.keys()
  return [...audience.members, ...sockets.arrivedSince(audience.checked)]
}

async function sightOf(
  { context, blocks }: BroadcastParts,
  sockets: AppSockets,
  broadcast: Broadcast,
  uids: Iterable<string>,
): Promise<Sight | undefined> {
  const { place, shows, refersBack = false, to } = broadcast
  if (shows === undefined || (!refersBack && isPlain(context, sockets, broadcast))) return undefined
  const shown = await shows()
  if (shown === undefined) return undefined
  const sight = await readSight(context, sockets, broadcast, uids, shown)
  const isHiding = place.kind === 'group' && to === undefined && sockets.hiding > 0
  return isHiding ? hidingBlocked(blocks, sockets, shown, sight) : sight
}

/** Sockets that hide blocked users are not sent what these wrote with what others do: not quoted, edited or pinned. */
async function hidingBlocked(
  blocks: BlockBook,
  { app: { appId } }: AppSockets,
  { messages, quoted }: Shown,
  sight: Sight,
): Promise<Sight> {
  const senders = new Set([...messages, ...(quoted === undefined ? [] : [quoted])].map(({ sender }) => sender))
  const found = await Promise.all([...senders].map(async (uid) => [uid, await blocks.of(appId, uid)] as const))
  const blocksOf = new Map(found)
  const isBlocked = (uid: string, sender: string) => blocksOf.get(sender)?.blockers.has(uid) === true
  return (uid, hidesBlocked = false) => {
    const part = sight(uid)
    if (!hidesBlocked) return part
    if (messages.some(({ sender }) => isBlocked(uid, sender))) return 'nothing'
    return part === 'all' && quoted !== undefined && isBlocked(uid, quoted.sender) ? 'withoutQuote' : part
  }
}

/** What each is sent, encoded once for all who are sent the same; undefined if they are sent nothing. */
function encodings(frame: object, sight?: Sight): EncodedFor {
  const whole = encodeFrame(frame)
  if (sight === undefined) return () => whole
  let unquoted: Buffer | undefined
  return (uid, hidesBlocked) => {
    const part = sight(uid, hidesBlocked)
    if (part !== 'withoutQuote') return part === 'all' ? whole : undefined
    unquoted ??= encodeFrame(withoutQuote(frame))
    return unquoted
  }
}

async function blocksOf({ blocks }: BroadcastParts, sockets: AppSockets, { place, blocksKeep, actor }: Broadcast) {
  const isAsked = place.kind === 'user' ? blocksKeep !== 'nothing' : blocksKeep === 'everywhere' || sockets.hiding > 0
  return isAsked ? blocks.of(sockets.app.appId, actor) : undefined
}

type EncodedFor = (uid: string, hidesBlocked: boolean) => Buffer | undefined

function sendTo(
  sockets: AppSockets,
  uids: Iterable<string>,
  { actor, device, exceptFor, span }: Broadcast,
  encodedFor: EncodedFor,
  isSpared?: (uid: string, connection: Connection) => boolean,
): void {
  let frames = 0
  for (const uid of uids) {
    if (uid === exceptFor) continue
    const connections = sockets.connectionsOf(uid)
    const toAll = connections.length === 0 ? undefined : encodedFor(uid, false)
    if (toAll === undefined) continue
    // One that is too slow leaves the list only once it is closed.
    for (const connection of connections) {
      if (uid === actor && device !== undefined && connection.login?.info.deviceId === device) continue
      if (isSpared?.(uid, connection) === true) continue
      const encoded = connection.login?.hidesBlocked === true ? encodedFor(uid, true) : toAll
      if (encoded === undefined) continue
      connection.send(encoded)
      frames++
    }
  }
  span?.setAttributes({ 'parley.frames': frames })
}
