import type { AdminBodyOf, invite, updateOperator } from '@parley/contract'
import { unknownApp } from '../../chat/apps.ts'
import { deployment } from '../../chat/audit/audit.ts'
import type { Context } from '../../context.ts'
import type { Transaction } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'
import {
  type Account,
  type AppNames,
  emailOf,
  isOfApp,
  type Operator,
  selectAccount,
  selectAccounts,
  showAccount,
  showGrants,
} from './accounts.ts'
import { lastOwner, operatorExists, unknownInvitation, unknownOperator } from './errors.ts'
import { createLink, invitationSeconds, type Link, removeLink, selectLinks } from './links.ts'
import { countLocked } from './sign-in.ts'

/** Keys of apps by their names, as far as the operator has to do with them. @throws 404 `ERR_APP_NOT_FOUND` */
export function appKeysOf(
  apps: readonly string[] | null,
  names: AppNames,
  operator: Pick<Operator, 'apps'>,
): readonly number[] | null {
  if (apps === null) return operator.apps
  const keys = new Map([...names].map(([key, name]) => [name, key]))
  return apps.map((name) => {
    const key = keys.get(name.toLowerCase())
    if (key === undefined || !isOfApp(operator, key)) throw unknownApp(name)
    return key
  })
}

export async function listAccounts({ database }: Context, names: AppNames) {
  return (await database.query<Account>(selectAccounts)).map((account) => showAccount(account, names))
}

const update = statement(`
  update operators
  set role = $2, apps = $3, may_read = $4, disabled_at = $5
  where operator_id = $1`)

const removeSessions = statement('delete from operator_sessions where operator_id = $1')
const removeTokens = statement('delete from operator_tokens where operator_id = $1')
const removeReadings = statement('delete from operator_readings where operator_id = $1')
const removeReads = statement('delete from operator_reads where operator_id = $1')
const removeIdentity = statement('delete from operator_identities where operator_id = $1')
const removeAccount = statement('delete from operators where operator_id = $1')

const countOwners = statement(`
  select count(*) as count
  from operators
  where role = 'owner'
  and apps is null
  and disabled_at is null`)

/** @throws 404 `ERR_OPERATOR_NOT_FOUND` */
async function readLocked(tx: Transaction, id: string): Promise<Account> {
  await countLocked(tx)
  const [account] = await tx.query<Account>(selectAccount, [id])
  if (account === undefined) throw unknownOperator(id)
  return account
}

/** Somebody must always be able to change operators. @throws 409 `ERR_LAST_OWNER` */
async function requireOwner(tx: Transaction): Promise<void> {
  const [row] = await tx.query<{ count: number }>(countOwners)
  if (Number(row?.count) === 0) throw lastOwner()
}

/** Changes what an operator may do. */
export async function changeAccount(
  context: Context,
  operator: Operator,
  id: string,
  { role, apps, mayRead, disabled }: AdminBodyOf<typeof updateOperator>,
  names: AppNames,
) {
  return context.database.transaction(async (tx) => {
    const before = await readLocked(tx, id)
    const isDisabled = disabled ?? before.disabledAt !== null
    const after: Account = {
      ...before,
      role: role ?? before.role,
      apps: apps === undefined ? before.apps : appKeysOf(apps, names, operator),
      mayRead: mayRead ?? before.mayRead,
      disabledAt: isDisabled ? (before.disabledAt ?? Math.floor(Date.now() / 1000)) : null,
    }
    await tx.query(update, [id, after.role, after.apps, after.mayRead, after.disabledAt])
    await requireOwner(tx)
    // What was taken away must not wake up when the account is enabled again. Older versions left it where it was.
    if (isDisabled || before.disabledAt !== null) {
      for (const remove of [removeSessions, removeTokens, removeReadings]) await tx.query(remove, [id])
    }
    const grantsOf = (account: Account) => ({ ...showGrants(account, names), disabled: account.disabledAt !== null })
    const details = { before: grantsOf(before), after: grantsOf(after) }
    await context.audit.record(tx, deployment, { action: 'operator_updated', type: 'operator', target: id, details })
    return showAccount(after, names)
  })
}

/** Removes an account with its sessions, tokens and readings. */
export async function deleteAccount(context: Context, id: string): Promise<void> {
  await context.database.transaction(async (tx) => {
    await readLocked(tx, id)
    for (const remove of [removeSessions, removeTokens, removeReadings, removeReads, removeIdentity, removeAccount]) {
      await tx.query(remove, [id])
    }
    await requireOwner(tx)
    await context.audit.record(tx, deployment, { action: 'operator_deleted', type: 'operator', target: id })
  })
}

function showInvitation(link: Link, names: AppNames) {
  const { id, email, invitedBy, createdAt, expiresAt } = link
  return {
    ...{ id: String(id), email: email as string, ...showGrants(link, names) },
    ...(invitedBy !== null && { invitedBy: String(invitedBy) }),
    ...{ createdAt, expiresAt },
  }
}

export async function listOpenInvitations({ database }: Context, names: AppNames) {
  const links = await database.query<Link>(selectLinks, ['invitation', Math.floor(Date.now() / 1000)])
  return links.map((link) => showInvitation(link, names))
}

const selectByEmail = statement('select operator_id from operators where email = $1')

/** @throws 409 `ERR_OPERATOR_ALREADY_EXISTS` */
export async function createInvitation(
  context: Context,
  operator: Operator,
  { email: text, role, apps, mayRead }: AdminBodyOf<typeof invite>,
  names: AppNames,
) {
  const email = emailOf(text)
  return context.database.transaction(async (tx) => {
    if ((await tx.query(selectByEmail, [email])).length > 0) {
      throw operatorExists(email)
    }
    const { link, token } = await createLink(context, tx, {
      ...{ kind: 'invitation', email, role, mayRead: mayRead ?? null, invitedBy: operator.account.id },
      apps: apps === undefined ? null : appKeysOf(apps, names, operator),
      seconds: invitationSeconds,
    })
    const shown = showInvitation(link, names)
    const details = { role, apps: shown.apps, mayRead: shown.mayRead }
    await context.audit.record(tx, deployment, {
      ...{ action: 'operator_invited', type: 'operator', target: `invitation ${shown.id}`, details },
    })
    return { ...shown, token }
  })
}

/** @throws 404 `ERR_LINK_NOT_FOUND` */
export async function removeInvitation(context: Context, id: string): Promise<void> {
  await context.database.transaction(async (tx) => {
    const [link] = await tx.query<Link>(removeLink, [id])
    if (link === undefined) throw unknownInvitation(id)
    await context.audit.record(tx, deployment, {
      ...{ action: 'operator_invitation_withdrawn', type: 'operator', target: `invitation ${id}` },
    })
  })
}
