import type { MeShown } from '@parley/contract'
import { deployment } from '../../chat/audit/audit.ts'
import type { Context } from '../../context.ts'
import { TooManyRequests } from '../../limits/errors.ts'
import type { Queryable, Transaction } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'
import {
  type Account,
  type AppNames,
  accountColumns,
  emailOf,
  type Grants,
  type Operator,
  rightsOf,
  showGrants,
} from './accounts.ts'
import { codeRequired, operatorExists, wrongCode, wrongPassword } from './errors.ts'
import { requireLink, takeLink } from './links.ts'
import { beginSession, type Origin } from './sessions.ts'
import { stepOfCode } from './totp.ts'

const selectAppNames = statement(`
  select app_id as "appId", name
  from apps
  where $1::int[] is null
  or app_id = any($1)`)

/** The names of apps. @param keys of these; of all without it */
export async function readAppNames(on: Queryable, keys: readonly number[] | null = null): Promise<AppNames> {
  const rows = await on.query<{ appId: number; name: string }>(selectAppNames, [keys])
  return new Map(rows.map(({ appId, name }) => [appId, name]))
}

/** An operator as they see themselves. */
export function showMe({ account, rights, apps, sessionId }: Operator, names: AppNames): MeShown {
  const { id, email, name, hasTotp, hasPassword, issuer } = account
  return {
    ...{ id: String(id), email, name, ...showGrants({ ...account, apps }, names), hasTotp, hasPassword },
    ...(issuer !== null && { issuer }),
    rights: [...rights],
    ...(sessionId !== undefined && { sessionId: String(sessionId) }),
  }
}

const selectForSignIn = statement(`
  select ${accountColumns}, o.password, o.totp_secret as "totpSecret", o.totp_step as "totpStep"
  from operators o
  where o.email = $1
  and o.disabled_at is null`)

const useStep = statement(`
  update operators
  set totp_step = $2
  where operator_id = $1
  and totp_step < $2
  returning operator_id`)

interface Candidate extends Account {
  readonly password: Buffer | null
  readonly totpSecret: Buffer | null
  readonly totpStep: number
}

/** What somebody signs in with. */
export interface Credentials {
  readonly email: string
  readonly password: string
  readonly code?: string | undefined
}

/**
 * Signs in by password, and by a code where the account has an authenticator app. An unknown address is answered as a wrong
 * password is, and takes as long.
 * @throws 401 `ERR_WRONG_PASSWORD`, `ERR_OPERATOR_CODE_REQUIRED`, `ERR_WRONG_OPERATOR_CODE`; 429 for whoever guesses
 */
export async function signInByPassword(
  context: Context,
  { email: text, password, code }: Credentials,
  client: string | undefined,
): Promise<{ operator: Operator; password: Buffer }> {
  const { database, limits, secrets, operatorPasswords } = context
  const email = emailOf(text)
  // Whoever guesses from one place does not keep the owner out who comes from another, until they come from everywhere.
  const guesses = [
    [limits.operatorSignIns, `${client ?? 'local'} ${email}`],
    [limits.operatorAccounts, email],
  ] as const
  for (const [counter, key] of guesses) {
    const waitMs = await counter.attempt(key)
    if (waitMs > 0) {
      limits.onRefused('operators')
      throw new TooManyRequests('Too many attempts to sign in were wrong.', waitMs)
    }
  }
  const [found] = await database.query<Candidate>(selectForSignIn, [email])
  const isRight = await operatorPasswords
    .matches(password, found?.password ?? undefined)
    .catch(async (error: unknown) => {
      // It was not looked at, since too many others wait.
      for (const [counter, key] of guesses) await counter.wasUnchecked(key)
      throw error
    })
  if (!isRight || found === undefined || found.password === null) {
    if (found !== undefined) recordRefusal(context, found, 'password')
    throw wrongPassword()
  }
  const { password: compared, totpSecret, totpStep, ...account } = found
  if (totpSecret !== null) {
    if (code === undefined) {
      // The password was right: that this is asked is no guess.
      for (const [counter, key] of guesses) await counter.wasUnchecked(key)
      throw codeRequired()
    }
    const step = stepOfCode(secrets.unseal(totpSecret), code, totpStep, Date.now() / 1000)
    const used = step === undefined ? [] : await database.query(useStep, [account.id, step])
    if (used.length === 0) {
      recordRefusal(context, account, 'code')
      throw wrongCode()
    }
  }
  for (const [counter, key] of guesses) await counter.succeeded(key)
  return { operator: operatorOf(account), password: compared }
}

/**
 * Somebody tried an account in vain. There are few of these: whoever guesses has to wait. The answer does not wait for it, since it would tell by
 * its time that there is such an account.
 * @param reason what was wrong
 */
function recordRefusal({ audit, database, log }: Context, { id }: Account, reason: 'password' | 'code'): void {
  const details = { reason }
  const record = { action: 'operator_sign_in_refused', type: 'operator', target: String(id), details } as const
  audit
    .record(database, deployment, record)
    .catch((err: unknown) => log.error({ err }, 'could not record a refused sign-in in the audit log'))
}

/** Whoever changes it ends the sessions that there are by then, so that none may begin meanwhile. */
const holdPassword = statement(`
  select operator_id
  from operators
  where operator_id = $1
  and password = $2
  for no key update`)

/** How somebody has shown who they are, if not by having an account made: by the password kept, or by a provider. */
export type Proof = { readonly password: Buffer } | { readonly issuer: string }

/**
 * Begins the session of somebody who has shown who they are.
 * @returns what the cookie holds
 * @throws 401 `ERR_WRONG_PASSWORD` where the password was changed meanwhile
 */
export async function openSession(
  context: Context,
  operator: Operator,
  from: Origin,
  proof?: Proof,
): Promise<{ operator: Operator; cookie: string }> {
  const { id: account } = operator.account
  const audit = context.audit.by({ caller: 'operator', operator: account, address: from.address })
  const password = proof !== undefined && 'password' in proof ? proof.password : undefined
  const details = proof !== undefined && 'issuer' in proof ? proof : undefined
  const { id, cookie } = await context.database.transaction(async (tx) => {
    if (password !== undefined && (await tx.query(holdPassword, [account, password])).length === 0) {
      throw wrongPassword()
    }
    await audit.record(tx, deployment, {
      ...{ action: 'operator_signed_in', type: 'operator', target: String(account), details },
    })
    return beginSession(context, tx, account, from)
  })
  return { operator: { ...operator, sessionId: id }, cookie }
}

const lockOperators = statement('lock table operators in share row exclusive mode')
const countOperators = statement('select count(*) as count from operators')
const removeSetups = statement(`delete from operator_links where kind = 'setup'`)

const insertAccount = statement(`
  insert into operators (email, name, role, apps, may_read, password, created_at)
  values ($1, $2, $3, $4, $5, $6, $7)
  on conflict (email) do nothing
  returning operator_id as id, email, name, role, apps, may_read as "mayRead", false as "hasTotp",
    password is not null as "hasPassword", null as issuer, created_at as "createdAt", seen_at as "seenAt", disabled_at as "disabledAt"`)

/** A new account. */
export interface NewAccount extends Grants {
  readonly email: string
  readonly name: string
  /** null: they sign in by OpenID Connect. */
  readonly password: Buffer | null
}

/** @throws 409 `ERR_OPERATOR_ALREADY_EXISTS` */
export async function createAccount(
  { audit }: Pick<Context, 'audit'>,
  tx: Transaction,
  account: NewAccount,
): Promise<Account> {
  const { email, name, role, apps, mayRead, password } = account
  const values = [email, name, role, apps, mayRead, password, Math.floor(Date.now() / 1000)]
  const [made] = await tx.query<Account>(insertAccount, values)
  if (made === undefined) throw operatorExists(email)
  await tx.query(removeSetups)
  const details = { role, ...(apps !== null && { apps: apps.length }) }
  await audit.record(tx, deployment, {
    ...{ action: 'operator_created', type: 'operator', target: String(made.id), details },
  })
  return made
}

/** How many operators there are; nobody makes one meanwhile. */
export async function countLocked(tx: Transaction): Promise<number> {
  await tx.query(lockOperators)
  const [row] = await tx.query<{ count: number }>(countOperators)
  return Number(row?.count)
}

/**
 * Makes the owner that a one-time address is for.
 * @throws 404 `ERR_LINK_NOT_FOUND`, 409 `ERR_OPERATOR_ALREADY_EXISTS`
 */
export async function claimSetup(
  context: Context,
  token: string,
  { email, name, password }: { email: string; name: string; password: string },
): Promise<Operator> {
  await requireLink(context, ['setup', 'owner'], token)
  const hash = await context.operatorPasswords.hash(password)
  const account = await context.database.transaction(async (tx) => {
    const others = await countLocked(tx)
    const link = await takeLink(context, tx, others === 0 ? ['setup', 'owner'] : ['owner'], token)
    return createAccount(context, tx, { ...grantsOf(link), email: emailOf(email), name, password: hash })
  })
  return operatorOf(account)
}

/** Makes the account that an invitation is for. @throws as `claimSetup` */
export async function claimInvitation(
  context: Context,
  token: string,
  { name, password }: { name: string; password: string },
): Promise<Operator> {
  await requireLink(context, ['invitation'], token)
  const hash = await context.operatorPasswords.hash(password)
  const account = await context.database.transaction(async (tx) => {
    const link = await takeLink(context, tx, ['invitation'], token)
    return createAccount(context, tx, { ...grantsOf(link), email: link.email as string, name, password: hash })
  })
  return operatorOf(account)
}

export const grantsOf = ({ role, apps, mayRead }: Grants): Grants => ({ role, apps, mayRead })

/** Somebody who has just shown that an account is theirs. */
export function operatorOf(account: Account): Operator {
  return { account, rights: rightsOf(account), apps: account.apps, sessionId: undefined, tokenId: undefined }
}
