import type { AdminBodyOf, createToken, OperatorRight } from '@parley/contract'
import { deployment } from '../../chat/audit/audit.ts'
import type { Context } from '../../context.ts'
import { statement } from '../../store/statement.ts'
import type { AppNames, Operator } from './accounts.ts'
import { lacksRight, tooManyGuesses, unknownOwnSession, unknownOwnToken, wrongCode, wrongPassword } from './errors.ts'
import { appKeysOf } from './manage.ts'
import { createTokenText, digestOf, idleSeconds } from './sessions.ts'
import { createTotpSecret, stepOfCode, totpAddress } from './totp.ts'

const selectPassword = statement('select password from operators where operator_id = $1')
const setPassword = statement('update operators set password = $2 where operator_id = $1')
const removeOthers = statement('delete from operator_sessions where operator_id = $1 and session_id <> $2')

/** @throws 401 `ERR_WRONG_PASSWORD`; 429 for whoever guesses */
export async function requirePassword(context: Context, { account }: Operator, password: string): Promise<void> {
  const { database, limits, operatorPasswords } = context
  const waitMs = await limits.operatorSignIns.attempt(`own ${account.id}`)
  if (waitMs > 0) {
    throw tooManyGuesses(waitMs)
  }
  const [row] = await database.query<{ password: Buffer | null }>(selectPassword, [account.id])
  const isRight = await operatorPasswords
    .matches(password, row?.password ?? undefined)
    .catch(async (error: unknown) => {
      // It was not looked at, since too many others wait.
      await limits.operatorSignIns.wasUnchecked(`own ${account.id}`)
      throw error
    })
  if (!isRight) throw wrongPassword()
  await limits.operatorSignIns.succeeded(`own ${account.id}`)
}

/** Changes the password of an operator; all other sessions end. */
export async function changeOwnPassword(
  context: Context,
  operator: Operator,
  { current, password }: { current: string; password: string },
): Promise<void> {
  await requirePassword(context, operator, current)
  const hash = await context.operatorPasswords.hash(password)
  const { id } = operator.account
  await context.database.transaction(async (tx) => {
    await tx.query(setPassword, [id, hash])
    await tx.query(removeOthers, [id, operator.sessionId])
    await context.audit.record(tx, deployment, {
      ...{ action: 'operator_password_changed', type: 'operator', target: String(id) },
    })
  })
}

const selectSessions = statement(`
  select session_id as id, created_at as "createdAt", used_at as "usedAt", expires_at as "expiresAt", address, agent
  from operator_sessions
  where operator_id = $1
  and expires_at > $2
  and used_at > $2 - ${idleSeconds}
  order by session_id desc`)

const removeSession = statement(`
  delete from operator_sessions
  where operator_id = $1
  and session_id = $2
  returning session_id`)

interface SessionRow {
  readonly id: number
  readonly createdAt: number
  readonly usedAt: number
  readonly expiresAt: number
  readonly address: string | null
  readonly agent: string | null
}

export async function listOwnSessions({ database }: Context, { account, sessionId }: Operator) {
  const rows = await database.query<SessionRow>(selectSessions, [account.id, Math.floor(Date.now() / 1000)])
  return rows.map(({ id, createdAt, usedAt, expiresAt, address, agent }) => ({
    ...{ id: String(id), createdAt, usedAt, expiresAt },
    ...(address !== null && { address }),
    ...(agent !== null && { agent }),
    isThis: id === sessionId,
  }))
}

/** @throws 404 `ERR_SESSION_NOT_FOUND` */
export async function endOwnSession(context: Context, { account }: Operator, id: string): Promise<void> {
  await context.database.transaction(async (tx) => {
    const ended = await tx.query(removeSession, [account.id, id])
    if (ended.length === 0) throw unknownOwnSession(id)
    await context.audit.record(tx, deployment, { action: 'operator_session_ended', type: 'session', target: id })
  })
}

const setPending = statement('update operators set totp_pending = $2 where operator_id = $1')
const selectPending = statement('select totp_pending as pending from operators where operator_id = $1')
const confirmPending = statement(`
  update operators
  set totp_secret = totp_pending, totp_pending = null, totp_step = $2
  where operator_id = $1
  and totp_pending = $3
  returning operator_id`)
const removeTotp = statement(`
  update operators
  set totp_secret = null, totp_pending = null
  where operator_id = $1`)

/** Draws a secret for an authenticator app; the one in use stays until the new one is confirmed. */
export async function beginOwnTotp(context: Context, operator: Operator, password: string) {
  await requirePassword(context, operator, password)
  const secret = createTotpSecret()
  await context.database.query(setPending, [operator.account.id, context.secrets.seal(secret)])
  return { secret, address: totpAddress(secret, operator.account.email) }
}

/** @throws 401 `ERR_WRONG_OPERATOR_CODE` */
export async function confirmOwnTotp(context: Context, { account }: Operator, code: string): Promise<void> {
  await context.database.transaction(async (tx) => {
    const [row] = await tx.query<{ pending: Buffer | null }>(selectPending, [account.id])
    const pending = row?.pending ?? null
    const step = pending === null ? undefined : stepOfCode(context.secrets.unseal(pending), code, 0, Date.now() / 1000)
    const confirmed = step === undefined ? [] : await tx.query(confirmPending, [account.id, step, pending])
    if (confirmed.length === 0) throw wrongCode()
    await context.audit.record(tx, deployment, {
      ...{ action: 'operator_totp_enabled', type: 'operator', target: String(account.id) },
    })
  })
}

export async function endOwnTotp(context: Context, operator: Operator, password: string): Promise<void> {
  await requirePassword(context, operator, password)
  const { id } = operator.account
  await context.database.transaction(async (tx) => {
    await tx.query(removeTotp, [id])
    await context.audit.record(tx, deployment, {
      ...{ action: 'operator_totp_disabled', type: 'operator', target: String(id) },
    })
  })
}

const tokenColumns = `token_id as id, name, rights, apps, created_at as "createdAt", expires_at as "expiresAt",
    used_at as "usedAt"`

const selectTokens = statement(`
  select ${tokenColumns}
  from operator_tokens
  where operator_id = $1
  order by token_id desc`)

const insertToken = statement(`
  insert into operator_tokens (digest, operator_id, name, rights, apps, created_at, expires_at)
  values ($1, $2, $3, $4, $5, $6, $7)
  returning ${tokenColumns}`)

const removeToken = statement(`
  delete from operator_tokens
  where operator_id = $1
  and token_id = $2
  returning token_id`)

interface TokenRow {
  readonly id: number
  readonly name: string
  readonly rights: OperatorRight[]
  readonly apps: number[] | null
  readonly createdAt: number
  readonly expiresAt: number
  readonly usedAt: number | null
}

function showToken({ id, name, rights, apps, createdAt, expiresAt, usedAt }: TokenRow, names: AppNames) {
  return {
    ...{ id: String(id), name, rights, apps: apps?.flatMap((key) => names.get(key) ?? []) ?? null },
    ...{ createdAt, expiresAt },
    ...(usedAt !== null && { usedAt }),
  }
}

export async function listOwnTokens({ database }: Context, { account }: Operator, names: AppNames) {
  const rows = await database.query<TokenRow>(selectTokens, [account.id])
  return rows.map((row) => showToken(row, names))
}

/** @throws 403 for a right or an app that the operator does not have; 404 `ERR_APP_NOT_FOUND` */
export async function createOwnToken(
  context: Context,
  operator: Operator,
  { name, rights, apps, days }: AdminBodyOf<typeof createToken>,
  names: AppNames,
) {
  const missing = rights.find((right) => !operator.rights.has(right))
  if (missing !== undefined) {
    throw lacksRight(missing)
  }
  const keys = apps === undefined ? operator.apps : appKeysOf(apps, names, operator)
  const now = Math.floor(Date.now() / 1000)
  const token = createTokenText()
  return context.database.transaction(async (tx) => {
    const digest = digestOf(context, 'token', token)
    const values = [digest, operator.account.id, name, rights, keys, now, now + days * 86_400]
    const [made] = await tx.query<TokenRow>(insertToken, values)
    const shown = showToken(made as TokenRow, names)
    const target = String(operator.account.id)
    const details = { token: shown.id, rights, days }
    await context.audit.record(tx, deployment, { action: 'operator_token_created', type: 'operator', target, details })
    return { ...shown, token }
  })
}

/** @throws 404 `ERR_TOKEN_NOT_FOUND` */
export async function deleteOwnToken(context: Context, { account }: Operator, id: string): Promise<void> {
  await context.database.transaction(async (tx) => {
    const removed = await tx.query(removeToken, [account.id, id])
    if (removed.length === 0) throw unknownOwnToken(id)
    const target = String(account.id)
    await context.audit.record(tx, deployment, {
      ...{ action: 'operator_token_deleted', type: 'operator', target, details: { token: id } },
    })
  })
}
