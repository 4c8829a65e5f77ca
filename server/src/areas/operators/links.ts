import type { OperatorRole } from '@parley/contract'
import type { Context } from '../../context.ts'
import type { Queryable, Transaction } from '../../store/database.ts'
import type { Secrets } from '../../store/secrets.ts'
import { statement } from '../../store/statement.ts'
import type { Grants } from './accounts.ts'
import { unknownLink } from './errors.ts'
import { createSecret, digestOf } from './sessions.ts'

/** One-time addresses: of the first owner, and of invitations. */
export const setupSeconds = 3600
export const invitationSeconds = 7 * 86_400

/** `setup`: while there is no operator yet; `owner`: made by the command, at any time. */
export type LinkKind = 'setup' | 'owner' | 'invitation'

export interface Link extends Grants {
  readonly id: number
  readonly kind: LinkKind
  readonly email: string | null
  readonly invitedBy: number | null
  readonly createdAt: number
  readonly expiresAt: number
}

const columns = `link_id as id, kind, email, role, apps, may_read as "mayRead", invited_by as "invitedBy",
    created_at as "createdAt", expires_at as "expiresAt"`

const insert = statement(`
  insert into operator_links (digest, kind, email, role, apps, may_read, invited_by, created_at, expires_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
  returning ${columns}`)

const removeOfEmail = statement('delete from operator_links where email = $1')
const removeExpired = statement('delete from operator_links where expires_at <= $1')

const take = statement(`
  delete from operator_links
  where digest = $1
  and kind = any($2::text[])
  and expires_at > $3
  returning ${columns}`)

const selectLink = statement(`
  select true as found
  from operator_links
  where digest = $1
  and kind = any($2::text[])
  and expires_at > $3`)

const takeOfEmail = statement(`
  delete from operator_links
  where email = $1
  and kind = 'invitation'
  and expires_at > $2
  returning ${columns}`)

/** A link that can be taken now. */
export const selectLinks = statement(`
  select ${columns}
  from operator_links
  where kind = $1
  and expires_at > $2
  order by link_id desc`)

export const removeLink = statement(`
  delete from operator_links
  where link_id = $1
  and kind = 'invitation'
  returning ${columns}`)

/** Makes a one-time address. @returns the token that stands in it */
export async function createLink(
  store: { readonly secrets: Secrets },
  on: Queryable,
  link: Grants & { kind: LinkKind; email: string | null; invitedBy: number | null; seconds: number },
): Promise<{ link: Link; token: string }> {
  const now = Math.floor(Date.now() / 1000)
  const token = createSecret()
  await on.query(removeExpired, [now])
  if (link.email !== null) await on.query(removeOfEmail, [link.email])
  const { kind, email, role, apps, mayRead, invitedBy } = link
  const values = [digestOf(store, 'link', token), kind, email, role, apps, mayRead, invitedBy, now, now + link.seconds]
  const [made] = await on.query<Link>(insert, values)
  return { link: made as Link, token }
}

/** What an owner is given who sets the service up. */
export const setupGrants: Grants = { role: 'owner' satisfies OperatorRole, apps: null, mayRead: null }

/** Takes a link: of those who come with it at the same time, one gets it. @throws 404 `ERR_LINK_NOT_FOUND` */
export async function takeLink(
  store: { readonly secrets: Secrets },
  tx: Transaction,
  kinds: readonly LinkKind[],
  token: string,
): Promise<Link> {
  const [link] = await tx.query<Link>(take, [digestOf(store, 'link', token), kinds, Math.floor(Date.now() / 1000)])
  if (link === undefined) throw unknownLink()
  return link
}

/**
 * Looks whether there is a link, before what it is needed for: to hash a password takes long, and everybody may come with a made-up one.
 * @throws 404 `ERR_LINK_NOT_FOUND`
 */
export async function requireLink(
  { database, secrets }: Pick<Context, 'database' | 'secrets'>,
  kinds: readonly LinkKind[],
  token: string,
): Promise<void> {
  const values = [digestOf({ secrets }, 'link', token), kinds, Math.floor(Date.now() / 1000)]
  if ((await database.query(selectLink, values)).length === 0) throw unknownLink()
}

/** Takes the invitation of somebody who has shown that an address is theirs; undefined where there is none. */
export async function takeInvitationOf(tx: Transaction, email: string): Promise<Link | undefined> {
  const [link] = await tx.query<Link>(takeOfEmail, [email, Math.floor(Date.now() / 1000)])
  return link
}
