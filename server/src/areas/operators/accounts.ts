import {
  deploymentRights,
  type OperatorRight,
  type OperatorRole,
  type OperatorShown,
  rightsOfRoles,
} from '@parley/contract'
import { statement } from '../../store/statement.ts'

/** What an account may do, and for which apps. */
export interface Grants {
  readonly role: OperatorRole
  /** Surrogate keys; null for all apps. */
  readonly apps: readonly number[] | null
  /** null: as the role has it. */
  readonly mayRead: boolean | null
}

/** An account, as it is kept. */
export interface Account extends Grants {
  readonly id: number
  readonly email: string
  readonly name: string
  readonly hasTotp: boolean
  readonly hasPassword: boolean
  /** The OpenID Connect provider that the account is linked with. */
  readonly issuer: string | null
  readonly createdAt: number
  readonly seenAt: number | null
  readonly disabledAt: number | null
}

/** Somebody who acts as an operator: by a session, or by a personal token, which may have less. */
export interface Operator {
  readonly account: Account
  readonly rights: ReadonlySet<OperatorRight>
  /** As in `Grants`. */
  readonly apps: readonly number[] | null
  readonly sessionId: number | undefined
  readonly tokenId: number | undefined
}

/** The columns of an account, for `select`; the table is `o`. */
export const accountColumns = `o.operator_id as id, o.email, o.name, o.role, o.apps, o.may_read as "mayRead",
    o.totp_secret is not null as "hasTotp", o.password is not null as "hasPassword",
    (select i.issuer from operator_identities i where i.operator_id = o.operator_id) as issuer, o.created_at as "createdAt", o.seen_at as "seenAt",
    o.disabled_at as "disabledAt"`

export const selectAccount = statement(`
  select ${accountColumns}
  from operators o
  where o.operator_id = $1`)

export const selectAccounts = statement(`
  select ${accountColumns}
  from operators o
  order by o.operator_id`)

/** What grants come to: reading can be given and taken apart from the role, and the deployment is nobody's who has some apps. */
export function rightsOf({ role, apps, mayRead }: Grants): Set<OperatorRight> {
  const rights = new Set(rightsOfRoles[role])
  if (mayRead === true) rights.add('read')
  if (mayRead === false) rights.delete('read')
  if (apps !== null) for (const right of deploymentRights) rights.delete(right)
  return rights
}

/** Does the operator have to do with the app at all? */
export function isOfApp({ apps }: Pick<Operator, 'apps'>, appId: number): boolean {
  return apps === null || apps.includes(appId)
}

export function emailOf(text: string): string {
  return text.trim().toLowerCase()
}

/** Names of apps by their keys; those that are gone are left out. */
export type AppNames = ReadonlyMap<number, string>

export function showGrants(grants: Grants, names: AppNames) {
  return {
    role: grants.role,
    apps: grants.apps?.flatMap((key) => names.get(key) ?? []) ?? null,
    mayRead: rightsOf(grants).has('read'),
  }
}

export function showAccount(account: Account, names: AppNames): OperatorShown {
  const { id, email, name, hasTotp, issuer, createdAt, seenAt, disabledAt } = account
  return {
    ...{ id: String(id), email, name, ...showGrants(account, names), hasTotp, createdAt },
    ...(issuer !== null && { issuer }),
    ...(seenAt !== null && { lastSeenAt: seenAt }),
    ...(disabledAt !== null && { disabledAt }),
  }
}
