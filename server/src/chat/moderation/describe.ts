import type { Queryable } from '../../store/database.ts'
import { readMemberships } from '../groups/memberships.ts'
import { readGroups } from '../groups/rows.ts'
import type { ConversationKind } from '../kind.ts'
import { attachmentsOf } from '../messages/traits.ts'
import { readUsers } from '../users/rows.ts'
import type { Draft } from '../writing/judges.ts'
import type { JudgedFile, JudgedGroup, JudgedMessage, JudgedUser, RuleRevision } from './model.ts'

/** What the filters of rules look at, beside the ids of sender and receiver. */
export interface Asks {
  readonly sender: boolean
  readonly receiver: boolean
  /** That of the sender in the group. */
  readonly scope: boolean
}

const asksAll: Asks = { sender: true, receiver: true, scope: true }

/** What is to be read before these rules can judge a message. */
export function asksOf(rules: readonly Pick<RuleRevision, 'filters'>[]): Asks {
  const filters = rules.flatMap((rule) => rule.filters).filter(({ operand }) => operand !== 'uid' && operand !== 'guid')
  const isOfScope = ({ operand }: { operand: string }) => operand === 'scope'
  const others = filters.filter((filter) => !isOfScope(filter))
  return {
    sender: others.some(({ type, entity }) => type === 'sender' && entity === 'user'),
    receiver: others.some(({ type, entity }) => type === 'receiver' || entity === 'group'),
    scope: filters.some(isOfScope),
  }
}

/** A message that somebody wants to send, or that is stored: what there is to be judged, and between whom. */
export interface Described {
  readonly sender: string
  readonly kind: ConversationKind
  readonly receiver: string
  readonly category: string
  readonly type: string
  readonly data: Readonly<Record<string, unknown>>
}

/**
 * A draft as the rules of moderation look at it.
 * @param asks what the filters look at; the rest of sender and receiver is not read and left empty
 */
export function describeForEngine(on: Queryable, draft: Draft, asks: Asks = asksAll): Promise<JudgedMessage> {
  const { app, sender, kind, receiver, content } = draft
  const { category, type, data } = content
  return describeStored(on, app.appId, { sender, kind, receiver, category, type, data }, asks)
}

/** The same of a message that is stored, or made up. */
export async function describeStored(
  on: Queryable,
  appId: number,
  message: Described,
  asks: Asks = asksAll,
): Promise<JudgedMessage> {
  const { sender, kind, receiver } = message
  // Every send passes here, and few rules look at people.
  if (!asks.sender && !asks.receiver && !asks.scope) return judgedOf(message)
  const uids = [...(asks.sender ? [sender] : []), ...(asks.receiver && kind === 'user' ? [receiver] : [])]
  const isOfGroup = kind === 'group'
  const [users, groups, memberships] = await Promise.all([
    uids.length === 0 ? none : readUsers(on, appId, uids),
    asks.receiver && isOfGroup ? readGroups(on, appId, [receiver]) : none,
    asks.scope && isOfGroup ? readMemberships(on, appId, [{ guid: receiver, uid: sender }]) : none,
  ])
  const scope = memberships.get(`${receiver} ${sender}`)?.scope
  return judgedOf(message, {
    sender: users.get(sender),
    receiver: isOfGroup ? undefined : users.get(receiver),
    group: groups.get(receiver),
    scope,
  })
}

const none = new Map<string, never>()

/** What is known of sender and receiver. */
interface Known {
  readonly sender?: Omit<JudgedUser, 'uid'> | undefined
  readonly receiver?: Omit<JudgedUser, 'uid'> | undefined
  readonly group?: Omit<JudgedGroup, 'guid' | 'scope'> | undefined
  readonly scope?: string | undefined
}

/** A message as rules look at it. What is not known of sender and receiver is empty. */
export function judgedOf(message: Described, known: Known = {}): JudgedMessage {
  const { kind, category, type, data } = message
  const { sender, receiver, group, scope } = known
  return {
    kind,
    category,
    type,
    text: textOf(data),
    custom: customOf(message),
    files: filesOf(type, data),
    sender: userOf(message.sender, sender),
    receiver: kind === 'user' ? userOf(message.receiver, receiver) : groupOf(message.receiver, group, scope),
  }
}

const noTags: readonly string[] = []

function userOf(uid: string, user: Omit<JudgedUser, 'uid'> | undefined): JudgedUser {
  if (user === undefined) return { uid, name: '', role: '', tags: noTags, createdAt: 0 }
  const { name = '', role = '', tags = noTags, createdAt = 0 } = user
  return { uid, name, role, tags, createdAt }
}

function groupOf(
  guid: string,
  group: Omit<JudgedGroup, 'guid' | 'scope'> | undefined,
  scope: string | undefined,
): JudgedGroup {
  const { name = '', type = '', tags = [], createdAt = 0 } = group ?? {}
  return { guid, name, type, tags, createdAt, scope }
}

/** The text, or the caption of a file. */
function textOf({ text, caption }: Readonly<Record<string, unknown>>): string {
  const said = typeof text === 'string' ? text : ''
  const beside = typeof caption === 'string' ? caption : ''
  return said === '' || beside === '' ? said + beside : `${said}\n${beside}`
}

/** What others put into `metadata`, and clients cannot. Elsewhere it is a name like any other. */
const injected = '@injected'
/** That of a body of a request. */
const mostDepth = 32

/**
 * Every text in what is the app's own, however deep, and what interactive messages show. Names of members are the app's, and
 * what else stands in `data` is for front ends themselves: ids and numbers, which patterns would take for those of telephones.
 */
function customOf({ type, data }: Pick<Described, 'type' | 'data'>): string {
  const { customData, metadata, interactiveData } = data
  // What such a message shows stands in either of two places.
  const shown = type === 'customInteractive' ? data.data : undefined
  const sources = [customData, withoutInjected(metadata), interactiveData, shown].filter(
    (source) => source !== undefined,
  )
  if (sources.length === 0) return ''
  const texts: string[] = []
  const collect = (value: unknown, depth: number): void => {
    if (typeof value === 'string') {
      if (value !== '') texts.push(value)
    } else if (Array.isArray(value)) {
      if (depth < mostDepth) for (const item of value) collect(item, depth + 1)
    } else if (typeof value === 'object' && value !== null && depth < mostDepth) {
      for (const member of Object.values(value)) collect(member, depth + 1)
    }
  }
  for (const source of sources) collect(source, 0)
  return texts.join('\n')
}

function withoutInjected(metadata: unknown): unknown {
  if (typeof metadata !== 'object' || metadata === null || !Object.hasOwn(metadata, injected)) return metadata
  const { [injected]: _, ...others } = metadata as Record<string, unknown>
  return others
}

const noFiles: readonly JudgedFile[] = []
const shownKinds = ['image', 'video'] as const
/** Of anything else nothing is shown, and an engine that is asked about it fails. */
const showable: ReadonlySet<string> = new Set(['http:', 'https:', 'data:'])
/** Stands for the page of a front end, whose host is nobody's. */
const page = { address: 'https://front-end.invalid/', hostname: 'front-end.invalid' }

/**
 * The pictures and videos that front ends show: all that a message of their type carries, whatever its MIME types say, and
 * what the MIME type of any other file says that it is.
 */
function filesOf(type: string, data: Readonly<Record<string, unknown>>): readonly JudgedFile[] {
  if (data.url === undefined && data.attachments === undefined && data.interactiveData === undefined) return noFiles
  const { imageUrl } = (data.interactiveData ?? {}) as { imageUrl?: unknown }
  const files = [...attachmentsOf(data), data].flatMap((file) => fileOf(type, file))
  const known = new Set<string>()
  return [...files, ...fileOf('image', { url: imageUrl })].flatMap(({ shownAs, ...file }) => {
    const others = shownAs.filter((kind) => !known.has(`${kind} ${file.url}`))
    for (const kind of others) known.add(`${kind} ${file.url}`)
    return others.length === 0 ? [] : { ...file, shownAs: others }
  })
}

function fileOf(type: string, { url: written, mimeType }: Readonly<Record<string, unknown>>): JudgedFile[] {
  const url = typeof written === 'string' ? addressOf(written) : undefined
  if (url === undefined) return []
  const said = typeof mimeType === 'string' ? mimeType.trim().toLowerCase() : undefined
  const shownAs = shownKinds.filter((kind) => type === kind || said?.startsWith(`${kind}/`))
  return [{ url, shownAs, ...(said !== undefined && { mimeType: said }) }]
}

/**
 * The address that a browser opens, which can be written in many ways: with backslashes, with blanks around it and tabs in
 * it, and without its scheme.
 * @returns undefined where nothing is shown
 */
function addressOf(written: string): string | undefined {
  if (!URL.canParse(written, page.address)) return undefined
  const { protocol, hostname, href } = URL.canParse(written) ? new URL(written) : new URL(written, page.address)
  return showable.has(protocol) && hostname !== page.hostname ? href : undefined
}
