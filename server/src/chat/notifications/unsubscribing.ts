import type { Channel } from '@parley/contract'
import type { Queryable } from '../../store/database.ts'
import type { Secrets } from '../../store/secrets.ts'
import { statement } from '../../store/statement.ts'
import { readFormerUsers } from '../users/former.ts'

/** What somebody no longer wants: all of a channel, or what it says of one conversation. */
export interface Unsubscription {
  readonly appId: number
  readonly uid: string
  readonly channel: Exclude<Channel, 'push'>
  /** Key of the conversation; absent: of all. */
  readonly conversation?: number
}

/** Where the page is that a link leads to. */
export const unsubscribePath = '/unsubscribe'

const purpose = 'unsubscribe'

/**
 * The link by which one person ends e-mails (or SMS), without a login. It has no end, but somebody else who is given the uid
 * later is out of its reach.
 * @param origin such as `https://chat.example.com`
 */
export async function unsubscribeLinkOf(
  on: Queryable,
  secrets: Pick<Secrets, 'seal'>,
  origin: string,
  { appId, uid, channel, conversation }: Unsubscription,
): Promise<string> {
  const times = await timesGiven(on, appId, uid)
  const token = secrets.seal(JSON.stringify([purpose, appId, uid, times, channel, conversation ?? null]))
  return `${origin}${unsubscribePath}?token=${token.toString('base64url')}`
}

/** The headers by which mail programs offer to unsubscribe with one click (RFC 8058). */
export function unsubscribeHeadersOf(link: string): Readonly<Record<string, string>> {
  return { 'List-Unsubscribe': `<${link}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' }
}

/** What the token of a link is for; undefined where it is none of ours, or for somebody who is gone. */
export async function readUnsubscribeToken(
  on: Queryable,
  secrets: Pick<Secrets, 'unseal'>,
  token: string,
): Promise<Unsubscription | undefined> {
  const content = unsealed(secrets, token)
  if (!Array.isArray(content) || content[0] !== purpose) return undefined
  const [, appId, uid, times, channel, conversation] = content
  const [user] = await on.query(selectUser, [appId, uid])
  if (user === undefined || (await timesGiven(on, appId, uid)) !== times) return undefined
  return { appId, uid, channel, ...(conversation !== null && { conversation }) }
}

function unsealed(secrets: Pick<Secrets, 'unseal'>, token: string): unknown {
  try {
    return JSON.parse(secrets.unseal(Buffer.from(token, 'base64url')))
  } catch {
    // Whatever does not open was not made here.
    return undefined
  }
}

/** How often the uid was somebody else's before. */
async function timesGiven(on: Queryable, appId: number, uid: string): Promise<number> {
  return (await readFormerUsers(on, appId, [uid])).get(uid)?.times ?? 0
}

const selectUser = statement(`
  select uid
  from users
  where app_id = $1
  and uid = $2`)

/** The user is held, so that nothing is written of somebody who is being removed. */
const write = statement(`
  insert into notification_unsubscriptions (app_id, uid, channel, conversation, since)
  select u.app_id, u.uid, $3, $4, $5
  from users u
  where u.app_id = $1
  and u.uid = $2
  and ($4::bigint is null or exists (select from conversations c where c.app_id = $1 and c.key = $4))
  for key share of u
  on conflict do nothing`)

const remove = statement(`
  delete from notification_unsubscriptions
  where app_id = $1
  and uid = $2
  and channel = $3
  and ($4::bigint is null or conversation = $4)`)

const valuesOf = ({ appId, uid, channel, conversation }: Unsubscription) => [appId, uid, channel, conversation ?? null]

export async function unsubscribe(on: Queryable, unwanted: Unsubscription, now: number): Promise<void> {
  await on.query(write, [...valuesOf(unwanted), now])
}

/** Takes it back; without a conversation, all of the channel. */
export async function subscribeAgain(on: Queryable, wanted: Unsubscription): Promise<void> {
  await on.query(remove, valuesOf(wanted))
}

const selectAmong = statement(`
  select distinct uid
  from notification_unsubscriptions
  where app_id = $1
  and channel = $2
  and uid = any($3::text[])
  and (conversation is null or conversation = $4)`)

/** Who of some users wants nothing of a channel, or nothing of this conversation. */
export async function readUnsubscribed(
  on: Queryable,
  { appId, channel, conversation }: Pick<Unsubscription, 'appId' | 'channel'> & { readonly conversation: number },
  uids: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await on.query<{ uid: string }>(selectAmong, [appId, channel, uids, conversation])
  return new Set(rows.map(({ uid }) => uid))
}
