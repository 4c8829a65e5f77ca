import { timingSafeEqual } from 'node:crypto'
import type { Queryable, Transaction } from '../../store/database.ts'
import type { Secrets } from '../../store/secrets.ts'
import { statement } from '../../store/statement.ts'
import type { App } from '../identity.ts'
import { type ConversationKind, readKind } from '../kind.ts'

/** Stands above what e-mails of ours say, where they take replies: what is below is no part of a reply. */
export const replyMarker = '--- Reply above this line ---'

/** A person and the conversation that they were written to about. */
export interface Correspondence {
  readonly appId: number
  readonly uid: string
  /** Key of the conversation. */
  readonly conversation: number
}

/** For how many days a reply is taken. */
export const replyDays = 30

const lengths = { app: 4, id: 6, end: 4, mac: 10 }
const endAt = lengths.app + lengths.id
const tokenBytes = endAt + lengths.end + lengths.mac
/** Letters of a token. */
const tokenLength = Math.ceil((tokenBytes * 8) / 5)
/** The user is held until the row is there: whoever deactivates or removes them finds it. */
const correspond = statement(`
  insert into notification_correspondences (app_id, uid, conversation)
  select u.app_id, u.uid, c.key
  from users u
  join conversations c on c.app_id = u.app_id and c.key = $3
  where u.app_id = $1
  and u.uid = $2
  and u.deactivated_at is null
  for share of u
  for key share of c
  on conflict (app_id, uid, conversation) do update
  set uid = excluded.uid
  returning id`)

/**
 * The address by which one person can reply to an e-mail about one conversation, for 30 days.
 * @param mailbox where replies go: `reply@example.com` becomes `reply+<token>@example.com`
 * @param now epoch milliseconds
 * @returns undefined for somebody who was deactivated, or a conversation that is gone
 */
export async function replyAddressOf(
  on: Queryable,
  secrets: Pick<Secrets, 'digest'>,
  mailbox: string,
  { appId, uid, conversation }: Correspondence,
  now: number,
): Promise<string | undefined> {
  const [row] = await on.query<{ id: number }>(correspond, [appId, uid, conversation])
  if (row === undefined) return undefined
  const at = mailbox.lastIndexOf('@')
  const token = write(secrets, appId, row.id, Math.floor(now / 1000) + replyDays * 86_400)
  return `${mailbox.slice(0, at)}+${token}${mailbox.slice(at)}`
}

const tokenIn = new RegExp(`\\+([a-z2-7]{${tokenLength}})@[^@]+$`, 'i')

/** What a token says: a correspondence by its id. */
export interface ReplyToken {
  readonly appId: number
  readonly id: number
}

/** The token of the address that a reply went to; undefined where there is none of ours, or its time is over. */
export function readReplyToken(secrets: Pick<Secrets, 'digest'>, address: string, now: number): ReplyToken | undefined {
  const [, text] = tokenIn.exec(address) ?? []
  if (text === undefined) return undefined
  const bytes = fromBase32(text.toLowerCase())
  const appId = bytes.readUInt32BE(0)
  const id = bytes.readUIntBE(lengths.app, lengths.id)
  const end = bytes.readUInt32BE(endAt)
  const expected = macOf(secrets, appId, id, end)
  if (!timingSafeEqual(expected, bytes.subarray(tokenBytes - lengths.mac))) return undefined
  return now > end * 1000 ? undefined : { appId, id }
}

/** @param end epoch seconds */
function write(secrets: Pick<Secrets, 'digest'>, appId: number, id: number, end: number): string {
  const bytes = Buffer.alloc(tokenBytes)
  bytes.writeUInt32BE(appId, 0)
  bytes.writeUIntBE(id, lengths.app, lengths.id)
  bytes.writeUInt32BE(end, endAt)
  macOf(secrets, appId, id, end).copy(bytes, tokenBytes - lengths.mac)
  return toBase32(bytes)
}

function macOf({ digest }: Pick<Secrets, 'digest'>, appId: number, id: number, end: number): Buffer {
  return digest(JSON.stringify(['reply', appId, id, end])).subarray(0, lengths.mac)
}

/** Mail programs and servers do not always keep the case of an address. */
const alphabet = 'abcdefghijklmnopqrstuvwxyz234567'

function toBase32(bytes: Buffer): string {
  const bits = Array.from(bytes, (byte) => byte.toString(2).padStart(8, '0')).join('')
  return (bits.match(/.{1,5}/g) ?? []).map((five) => alphabet[Number.parseInt(five.padEnd(5, '0'), 2)]).join('')
}

function fromBase32(text: string): Buffer {
  const bits = Array.from(text, (letter) => alphabet.indexOf(letter).toString(2).padStart(5, '0')).join('')
  return Buffer.from((bits.slice(0, tokenBytes * 8).match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)))
}

const select = statement(`
  select a.app_id as "appId", a.name, a.region, n.uid, c.kind, c.first, c.second
  from notification_correspondences n
  join conversations c on c.app_id = n.app_id and c.key = n.conversation
  join apps a on a.app_id = n.app_id
  where n.app_id = $1
  and n.id = $2`)

interface Row extends App {
  readonly uid: string
  readonly kind: number
  readonly first: string
  readonly second: string
}

/** Who replies, and where what they say belongs. */
export interface Correspondent {
  readonly app: App
  readonly uid: string
  readonly kind: ConversationKind
  /** The uid of the other one, or the guid. */
  readonly receiver: string
}

/** @returns undefined where the person was deactivated or removed since, or has another address, or the conversation is gone */
export async function readCorrespondent(on: Queryable, token: ReplyToken): Promise<Correspondent | undefined> {
  const [row] = await on.query<Row>(select, [token.appId, token.id])
  if (row === undefined) return undefined
  const { uid, first, second, ...app } = row
  const kind = readKind(row.kind)
  const other = kind === 'user' && first === uid ? second : first
  return { app: { appId: app.appId, name: app.name, region: app.region }, uid, kind, receiver: other }
}

const forget = statement(`
  delete from notification_correspondences
  where app_id = $1
  and uid = any($2::text[])`)

/** Ends what users could reply to, for good. In the transaction that deactivates them, or changes their address. */
export async function endCorrespondences(tx: Transaction, appId: number, uids: readonly string[]): Promise<void> {
  if (uids.length > 0) await tx.query(forget, [appId, uids])
}
