import { ApiError } from '@parley/contract'
import { deployment } from '../../chat/audit/audit.ts'
import type { Context } from '../../context.ts'
import { TooManyRequests } from '../../limits/errors.ts'
import type { Transaction } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'
import { requirePassword } from './account.ts'
import { type Account, accountColumns, type Operator } from './accounts.ts'
import {
  accountIsLinked,
  addressHasAccount,
  addressNotVerified,
  identityIsLinked,
  noSignInProvider,
  notInvited,
  notLinked,
  operatorDisabled,
  unknownSignIn,
} from './errors.ts'
import { type Link, takeInvitationOf } from './links.ts'
import type { Attempt, Person, Return, SignInProvider } from './provider.ts'
import { createSecret, digestOf } from './sessions.ts'
import { createAccount, grantsOf, operatorOf } from './sign-in.ts'

/** Somebody has so long to sign in at the provider. */
export const attemptSeconds = 600
/** Sign-ins that wait at a time: from one address, and in all. Beyond that the oldest is forgotten. */
const mostOfClient = 20
const most = 5_000

/** Where the browser is, and what comes back to it. */
interface Caller {
  readonly origin: string
  readonly client: string | undefined
}

/** What the browser brings back, with the cookie that it was given. */
export interface Answer extends Return {
  readonly state: string
  readonly browser: string | undefined
}

/** The provider of this deployment. @throws 404 `ERR_NO_SIGN_IN_PROVIDER` */
function providerOf({ signInProvider }: Context): SignInProvider {
  if (signInProvider === undefined) throw noSignInProvider()
  return signInProvider
}

const removeTooMany = statement(`
  delete from operator_sign_ins
  where expires_at <= $1
  or sign_in_id in (
    select sign_in_id
    from operator_sign_ins
    where client = $2
    order by sign_in_id desc
    offset ${mostOfClient - 1})
  or sign_in_id in (
    select sign_in_id
    from operator_sign_ins
    order by sign_in_id desc
    offset ${most - 1})`)

const insert = statement(`
  insert into operator_sign_ins (state, browser, redirect_uri, return_to, operator_id, client, expires_at)
  values ($1, $2, $3, $4, $5, $6, $7)`)

/** Of those who come with a state at the same time, one gets it; whoever has not the cookie leaves it where it is. */
const take = statement(`
  delete from operator_sign_ins
  where state = $1
  and browser = $2
  and operator_id is not distinct from $3
  and expires_at > $4
  returning redirect_uri as "redirectUri", return_to as "returnTo"`)

/**
 * Nonce and PKCE's secret are drawn from the state by a key that the service alone has, so they need not be kept. What tells a
 * link from a sign-in stands before it: whoever is led back is either signed in or not.
 */
function attemptOf(context: Context, state: string, redirectUri: string): Attempt {
  const draw = (purpose: 'nonce' | 'verifier') => digestOf(context, purpose, state).toString('base64url')
  return { redirectUri, state, nonce: draw('nonce'), verifier: draw('verifier') }
}

async function begin(
  context: Context,
  { origin, client }: Caller,
  { operatorId = null, returnTo }: { operatorId?: number | null; returnTo?: string | undefined },
): Promise<{ address: string; browser: string }> {
  const state = `${operatorId === null ? 'sign-in' : 'link'}.${createSecret()}`
  const browser = createSecret()
  const redirectUri = `${origin}/console/sign-in`
  const address = await providerOf(context).addressOf(attemptOf(context, state, redirectUri))
  const now = Math.floor(Date.now() / 1000)
  const digests = [digestOf(context, 'state', state), digestOf(context, 'browser', browser)]
  await context.database.query(removeTooMany, [now, client ?? null])
  const values = [...digests, redirectUri, returnTo ?? null, operatorId, client ?? null, now + attemptSeconds]
  await context.database.query(insert, values)
  return { address, browser }
}

/**
 * Who was led back, by a state that this browser was given and that nobody has used.
 * @throws 404 `ERR_SIGN_IN_NOT_FOUND`; 401, 503 of the provider; 429 for whoever tries too often
 */
async function finish(
  context: Context,
  { state, browser, ...from }: Answer,
  client: string | undefined,
  operatorId: number | null,
): Promise<{ person: Person; returnTo: string | null }> {
  const provider = providerOf(context)
  const { operatorSignIns, onRefused } = context.limits
  const key = client === undefined ? undefined : `provider ${client}`
  const waitMs = key === undefined ? 0 : await operatorSignIns.attempt(key)
  if (waitMs > 0) {
    onRefused('operators')
    throw new TooManyRequests('Too many attempts to sign in were wrong.', waitMs)
  }
  const digests = [digestOf(context, 'state', state), digestOf(context, 'browser', browser ?? '')]
  const now = Math.floor(Date.now() / 1000)
  const [row] = await context.database.query<{ redirectUri: string; returnTo: string | null }>(take, [
    ...digests,
    operatorId,
    now,
  ])
  if (row === undefined) {
    throw unknownSignIn()
  }
  try {
    const person = await provider.redeem(attemptOf(context, state, row.redirectUri), from)
    if (key !== undefined) await operatorSignIns.succeeded(key)
    return { person, returnTo: row.returnTo }
  } catch (error) {
    const isOutage = error instanceof ApiError && error.code === 'ERR_SIGN_IN_PROVIDER_UNAVAILABLE'
    if (isOutage && key !== undefined) await operatorSignIns.wasUnchecked(key)
    throw error
  }
}

const selectByIdentity = statement(`
  select ${accountColumns}
  from operators o
  join operator_identities i on i.operator_id = o.operator_id
  where i.issuer = $1
  and i.subject = $2`)

const selectByEmail = statement('select operator_id from operators where email = $1')

const insertIdentity = statement(`
  insert into operator_identities (operator_id, issuer, subject, created_at)
  values ($1, $2, $3, $4)
  on conflict do nothing
  returning operator_id`)

const removeIdentity = statement('delete from operator_identities where operator_id = $1 returning issuer')

/** Begins a sign-in. @returns the page of the provider, and what the cookie holds */
export function beginSignIn(context: Context, caller: Caller, returnTo: string | undefined) {
  return begin(context, caller, { returnTo })
}

/**
 * Signs in whoever was led back. Nobody becomes an operator by it who was not invited.
 * @throws as `finish`; 403 `ERR_NOT_INVITED`, `ERR_OPERATOR_DISABLED`
 */
export async function finishSignIn(
  context: Context,
  answer: Answer,
  client: string | undefined,
): Promise<{ operator: Operator; issuer: string; returnTo: string | null }> {
  const { person, returnTo } = await finish(context, answer, client, null)
  const { issuer, subject } = person
  const [known] = await context.database.query<Account>(selectByIdentity, [issuer, subject])
  if (known !== undefined && known.disabledAt !== null) {
    await context.audit.record(context.database, deployment, {
      ...{ action: 'operator_sign_in_refused', type: 'operator', target: String(known.id), details: { issuer } },
    })
    throw operatorDisabled()
  }
  const account = known ?? (await claimInvitation(context, person))
  return { operator: operatorOf(account), issuer, returnTo }
}

/** Makes the account that somebody was invited to by the address that the provider has verified. @throws 403 `ERR_NOT_INVITED` */
function claimInvitation(context: Context, person: Person): Promise<Account> {
  const { email, name } = person
  if (email === undefined) {
    throw addressNotVerified()
  }
  return context.database.transaction(async (tx) => {
    if ((await tx.query(selectByEmail, [email])).length > 0) {
      throw addressHasAccount()
    }
    const link: Link | undefined = await takeInvitationOf(tx, email)
    if (link === undefined) throw notInvited()
    const account = await createAccount(context, tx, {
      ...{ ...grantsOf(link), email, name: name ?? email.slice(0, 100), password: null },
    })
    await bind(context, tx, account.id, person)
    return { ...account, issuer: person.issuer }
  })
}

/** From now on the operator signs in as this person. @throws 409 `ERR_IDENTITY_ALREADY_EXISTS` */
async function bind({ audit }: Context, tx: Transaction, operatorId: number, { issuer, subject }: Person) {
  const bound = await tx.query(insertIdentity, [operatorId, issuer, subject, Math.floor(Date.now() / 1000)])
  if (bound.length === 0) {
    throw identityIsLinked()
  }
  await audit.record(tx, deployment, {
    ...{ action: 'operator_linked', type: 'operator', target: String(operatorId), details: { issuer } },
  })
}

/** Begins to link an account. @throws 401 `ERR_WRONG_PASSWORD`, 409 `ERR_IDENTITY_ALREADY_EXISTS` */
export async function beginOwnLink(context: Context, operator: Operator, password: string, caller: Caller) {
  providerOf(context)
  await requirePassword(context, operator, password)
  if (operator.account.issuer !== null) throw accountIsLinked()
  return begin(context, caller, { operatorId: operator.account.id })
}

/** @throws as `finish`; 409 `ERR_IDENTITY_ALREADY_EXISTS` */
export async function confirmOwnLink(
  context: Context,
  { account }: Operator,
  answer: Answer,
  client: string | undefined,
): Promise<void> {
  const { person } = await finish(context, answer, client, account.id)
  await context.database.transaction((tx) => bind(context, tx, account.id, person))
}

/** @throws 401 `ERR_WRONG_PASSWORD`, 404 `ERR_IDENTITY_NOT_FOUND` */
export async function endOwnLink(context: Context, operator: Operator, password: string): Promise<void> {
  await requirePassword(context, operator, password)
  const target = String(operator.account.id)
  await context.database.transaction(async (tx) => {
    const [removed] = await tx.query<{ issuer: string }>(removeIdentity, [operator.account.id])
    if (removed === undefined) throw notLinked()
    await context.audit.record(tx, deployment, {
      ...{ action: 'operator_unlinked', type: 'operator', target, details: { issuer: removed.issuer } },
    })
  })
}
