import { ApiError, type Permissions, type Role, type RoleSettings } from '@parley/contract'
import type { Queryable, Transaction } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'

/** A role as the database keeps it. */
export interface RoleRow {
  readonly role: string
  readonly name: string
  readonly description: string | null
  readonly metadata: Record<string, unknown> | null
  readonly settings: RoleSettings | null
  readonly permissions: Permissions
  /** Keys of restricted features without their prefix, each with the time (epoch seconds) since when. */
  readonly restrictedFeatures: Readonly<Record<string, number>>
  readonly createdAt: number
  readonly updatedAt: number | null
}

/** Columns of `RoleRow`, of the table `roles`. */
export const roleColumns = `role, name, description, metadata, settings, permissions,
  restricted_features as "restrictedFeatures", created_at as "createdAt", updated_at as "updatedAt"`

const select = statement(`
  select ${roleColumns}
  from roles
  where app_id = $1
  and role = $2`)

const selectForUpdate = statement(`
  select ${roleColumns}
  from roles
  where app_id = $1
  and role = $2
  for no key update`)

/** The role, by its id in whatever case. @throws 404 `ERR_ROLE_NOT_FOUND` */
export async function requireRole(on: Queryable, appId: number, role: string): Promise<RoleRow> {
  const [row] = await on.query<RoleRow>(select, [appId, role.toLowerCase()])
  if (row === undefined) throw unknownRole(role)
  return row
}

/** The role as it stands once nobody else is changing it. @throws 404 `ERR_ROLE_NOT_FOUND` */
export async function lockRole(tx: Transaction, appId: number, role: string): Promise<RoleRow> {
  const [row] = await tx.query<RoleRow>(selectForUpdate, [appId, role.toLowerCase()])
  if (row === undefined) throw unknownRole(role)
  return row
}

export function unknownRole(role: string): ApiError {
  return new ApiError('ERR_ROLE_NOT_FOUND', `There is no role with the id ${role}.`)
}

/** A role as answers show it. */
export function showRole(row: RoleRow): Role {
  return {
    role: row.role,
    name: row.name,
    ...(row.description !== null && { description: row.description }),
    ...(row.metadata !== null && { metadata: row.metadata }),
    ...(row.settings !== null && { settings: row.settings }),
    createdAt: row.createdAt,
    ...(row.updatedAt !== null && { updatedAt: row.updatedAt }),
  }
}
