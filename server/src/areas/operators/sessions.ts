import { randomBytes } from 'node:crypto'
import type { OperatorRight } from '@parley/contract'
import { deployment } from '../../chat/audit/audit.ts'
import type { Context } from '../../context.ts'
import type { Queryable } from '../../store/database.ts'
import type { Secrets } from '../../store/secrets.ts'
import { statement } from '../../store/statement.ts'
import { type Account, accountColumns, type Operator, rightsOf } from './accounts.ts'

/** A session ends so many seconds after it was last used ... */
export const idleSeconds = 12 * 3600
/** ... and so many after it began. */
const sessionSeconds = 7 * 86_400
/** Personal tokens begin with this, so that scanners for secrets know them. */
const tokenPrefix = 'parley_op_'
/** Use is noted to the minute. */
const noteEverySeconds = 60

const insertSession = statement(`
  insert into operator_sessions (digest, operator_id, created_at, used_at, expires_at, address, agent)
  values ($1, $2, $3, $3, $4, $5, $6)
  returning session_id as id`)

const selectSession = statement(`
  select s.session_id as "sessionId", s.used_at as "usedAt", ${accountColumns}
  from operator_sessions s
  join operators o on o.operator_id = s.operator_id
  where s.digest = $1
  and s.expires_at > $2
  and s.used_at > $2 - ${idleSeconds}
  and o.disabled_at is null`)

const selectToken = statement(`
  select t.token_id as "tokenId", coalesce(t.used_at, 0) as "usedAt", t.rights, t.apps as "tokenApps", ${accountColumns}
  from operator_tokens t
  join operators o on o.operator_id = t.operator_id
  where t.digest = $1
  and t.expires_at > $2
  and o.disabled_at is null`)

const noteSession = statement('update operator_sessions set used_at = $2 where session_id = $1')
const noteToken = statement('update operator_tokens set used_at = $2 where token_id = $1')
const noteSeen = statement('update operators set seen_at = $2 where operator_id = $1')

const removeEnded = statement(`
  delete from operator_sessions
  where operator_id = $1
  and (expires_at <= $2 or used_at <= $2 - ${idleSeconds})`)

type Store = { readonly secrets: Secrets }

/** Where a session began. */
export interface Origin {
  readonly address: string | undefined
  readonly agent: string | undefined
}

/** What stands in a cookie, an address or a header: 32 random bytes. Only its digest is kept. */
export function createSecret(): string {
  return randomBytes(32).toString('base64url')
}

type SecretPurpose = 'session' | 'token' | 'link' | 'state' | 'browser' | 'nonce' | 'verifier'

/** @param purpose keeps what is for one thing from being taken for another */
export function digestOf({ secrets }: Store, purpose: SecretPurpose, secret: string): Buffer {
  return secrets.digest(`operator ${purpose}:${secret}`)
}

/** Begins a session. @returns its id, and what the cookie holds */
export async function beginSession(
  store: Store,
  on: Queryable,
  operatorId: number,
  { address, agent }: Origin,
): Promise<{ id: number; cookie: string }> {
  const now = Math.floor(Date.now() / 1000)
  const cookie = createSecret()
  const digest = digestOf(store, 'session', cookie)
  await on.query(removeEnded, [operatorId, now])
  const values = [digest, operatorId, now, now + sessionSeconds, address ?? null, agent?.slice(0, 300) ?? null]
  const [row] = await on.query<{ id: number }>(insertSession, values)
  await on.query(noteSeen, [operatorId, now])
  return { id: (row as { id: number }).id, cookie }
}

/** Who has this session; undefined where it has ended. */
export async function findBySession(store: Store, on: Queryable, cookie: string): Promise<Operator | undefined> {
  const now = Math.floor(Date.now() / 1000)
  const [row] = await on.query<Account & { sessionId: number; usedAt: number }>(selectSession, [
    digestOf(store, 'session', cookie),
    now,
  ])
  if (row === undefined) return undefined
  const { sessionId, usedAt, ...account } = row
  if (usedAt <= now - noteEverySeconds) {
    await Promise.all([on.query(noteSession, [sessionId, now]), on.query(noteSeen, [account.id, now])])
  }
  return { account, rights: rightsOf(account), apps: account.apps, sessionId, tokenId: undefined }
}

const endSession = statement('delete from operator_sessions where session_id = $1')

/** Ends the session that an operator acts by. */
export async function endSessionById(
  { database, audit }: Pick<Context, 'database' | 'audit'>,
  { account, sessionId }: Operator,
): Promise<void> {
  await database.transaction(async (tx) => {
    await tx.query(endSession, [sessionId])
    const target = String(account.id)
    await audit.record(tx, deployment, { action: 'operator_signed_out', type: 'operator', target })
  })
}

/** A personal token, as scripts send it. */
export function createTokenText(): string {
  return `${tokenPrefix}${createSecret()}`
}

/** Whose personal token this is. It may do what both it and its operator may. */
export async function findByToken(store: Store, on: Queryable, token: string): Promise<Operator | undefined> {
  if (!token.startsWith(tokenPrefix)) return undefined
  const now = Math.floor(Date.now() / 1000)
  const [row] = await on.query<TokenOwner>(selectToken, [digestOf(store, 'token', token), now])
  if (row === undefined) return undefined
  const { tokenId, usedAt, rights, tokenApps, ...account } = row
  if (usedAt <= now - noteEverySeconds) {
    await Promise.all([on.query(noteToken, [tokenId, now]), on.query(noteSeen, [account.id, now])])
  }
  const apps = tokenApps === null ? account.apps : tokenApps.filter((app) => account.apps?.includes(app) ?? true)
  const own = rightsOf({ ...account, apps })
  const shared = new Set(rights.filter((right) => own.has(right)))
  return { account, rights: shared, apps, sessionId: undefined, tokenId }
}

type TokenOwner = Account & { tokenId: number; usedAt: number; rights: OperatorRight[]; tokenApps: number[] | null }
