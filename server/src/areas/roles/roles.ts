import {
  agenticRole,
  appLimitReached,
  type BodyOf,
  type createRole,
  hasReached,
  type Role,
  type RoleSettings,
  type updateRole,
} from '@parley/contract'
import { lockApp } from '../../chat/apps.ts'
import { changesOf } from '../../chat/audit/changes.ts'
import { rolesTopic } from '../../chat/roles/policies.ts'
import { lockRole, type RoleRow, roleColumns, showRole, unknownRole } from '../../chat/roles/rows.ts'
import type { Context } from '../../context.ts'
import type { PageRequest } from '../../paging.ts'
import type { Queryable, Transaction } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'
import { builtIn, roleExists } from './errors.ts'

/** Every app starts with it; users without another role have it. */
const defaultRole = 'default'

type Store = Pick<Context, 'database' | 'invalidation' | 'policies' | 'settings' | 'audit'>

const selectIds = statement(`
  select role
  from roles
  where app_id = $1`)

const insert = statement(`
  insert into roles (app_id, role, name, description, metadata, settings, created_at)
  values ($1, $2, $3, $4, $5, $6, $7)
  returning ${roleColumns}`)

/**
 * Makes a role; those of one app one after the other, so that two cannot both be the last.
 * @throws 409 `ERR_ROLE_ALREADY_EXISTS`; 400 when the app has as many as it may have (setting `maxRoles`)
 */
export async function insertRole(store: Store, appId: number, body: BodyOf<typeof createRole>): Promise<Role> {
  const role = body.role.toLowerCase()
  const settings = readSettings(body.settings)
  const { maxRoles } = await store.settings.of(appId)
  const row = await store.database.transaction(async (tx) => {
    await lockApp(tx, appId)
    const existing = await tx.query<{ role: string }>(selectIds, [appId])
    if (existing.some((other) => other.role === role)) {
      throw roleExists(role)
    }
    const counted = existing.filter((other) => other.role !== agenticRole)
    if (hasReached(maxRoles, counted.length)) throw appLimitReached(maxRoles, 'roles, including the default role')
    const [inserted] = await tx.query<RoleRow>(insert, [
      appId,
      role,
      body.name,
      body.description || null,
      body.metadata === undefined ? null : JSON.stringify(body.metadata),
      settings === null ? null : JSON.stringify(settings),
      Math.floor(Date.now() / 1000),
    ])
    const details = changesOf(undefined, recorded(inserted as RoleRow))
    await store.audit.record(tx, appId, { action: 'role_created', type: 'role', target: role, details })
    if (settings !== null) await notifyOfChange(store, tx, appId)
    return inserted as RoleRow
  })
  return showRole(row)
}

/** Only the settings that there are; what else is in the object is ignored, and nothing is like none. */
function readSettings(sent: RoleSettings | undefined): RoleSettings | null {
  if (sent === undefined) return null
  const { listUsers, sendMessagesTo } = sent
  const settings = { ...(listUsers && { listUsers }), ...(sendMessagesTo && { sendMessagesTo }) }
  return Object.keys(settings).length === 0 ? null : settings
}

/** What the audit log has of a role. */
function recorded({ name, description, metadata, settings, permissions, restrictedFeatures }: RoleRow) {
  return { name, description, metadata, settings, permissions, restricted: Object.keys(restrictedFeatures) }
}

const selectPage = statement(`
  select ${roleColumns}
  from roles
  where app_id = $1
  order by ordinal desc`)

/** A page of an app's roles, newest first, and how many there are. */
export async function selectRoles(
  on: Queryable,
  appId: number,
  page: PageRequest,
): Promise<{ roles: Role[]; total: number }> {
  const rows = await on.query<RoleRow>(selectPage, [appId])
  return { roles: rows.slice(page.offset, page.offset + page.perPage).map(showRole), total: rows.length }
}

const update = statement(`
  update roles
  set name = $3,
    description = $4,
    metadata = $5,
    settings = $6,
    updated_at = $7
  where app_id = $1
  and role = $2
  returning ${roleColumns}`)

/**
 * Changes a role. A request without any field changes nothing, not even `updatedAt`.
 * @throws 404 `ERR_ROLE_NOT_FOUND`
 */
export async function changeRole(
  store: Store,
  appId: number,
  role: string,
  { unset = [], ...change }: BodyOf<typeof updateRole>,
): Promise<Role> {
  const row = await store.database.transaction(async (tx) => {
    const current = await lockRole(tx, appId, role)
    if (unset.length === 0 && Object.keys(change).length === 0) return current
    const metadata = unset.includes('metadata') ? null : (change.metadata ?? current.metadata)
    const settings = unset.includes('settings') ? null : readSettings({ ...current.settings, ...change.settings })
    const description = unset.includes('description') ? null : (change.description ?? current.description)
    const [changed] = await tx.query<RoleRow>(update, [
      appId,
      current.role,
      change.name ?? current.name,
      description || null,
      metadata === null ? null : JSON.stringify(metadata),
      settings === null ? null : JSON.stringify(settings),
      Math.floor(Date.now() / 1000),
    ])
    const details = changesOf(recorded(current), recorded(changed as RoleRow))
    await store.audit.record(tx, appId, { action: 'role_updated', type: 'role', target: current.role, details })
    await notifyOfChange(store, tx, appId)
    return changed as RoleRow
  })
  return showRole(row)
}

const remove = statement(`
  delete from roles
  where app_id = $1
  and role = $2
  returning ${roleColumns}`)

const reassignUsers = statement(`
  update users u
  set role = $3,
    updated_at = $4
  from (
    select uid
    from users
    where app_id = $1
    and role = $2
    order by uid
    for no key update
  ) found
  where u.app_id = $1
  and u.uid = found.uid`)

/**
 * Removes a role; users who hold it have the default role from then on. Whoever gives a role to a user holds the role
 * first and then the user, as here, so no user is left with a role that is gone.
 * @returns the id of the role
 * @throws 403 `ERR_ROLE_DELETE_DENIED` for built-in roles, 404 `ERR_ROLE_NOT_FOUND`
 */
export function removeRole(store: Store, appId: number, sent: string): Promise<string> {
  const role = sent.toLowerCase()
  if (role === defaultRole || role === agenticRole) throw builtIn(role)
  return store.database.transaction(async (tx) => {
    const [removed] = await tx.query<RoleRow>(remove, [appId, role])
    if (removed === undefined) throw unknownRole(sent)
    await tx.query(reassignUsers, [appId, role, defaultRole, Math.floor(Date.now() / 1000)])
    const details = changesOf(recorded(removed), undefined)
    await store.audit.record(tx, appId, { action: 'role_deleted', type: 'role', target: role, details })
    await notifyOfChange(store, tx, appId)
    return role
  })
}

/** Lets every process forget the policies of an app once this is committed. */
export async function notifyOfChange(
  { invalidation, policies }: Pick<Context, 'invalidation' | 'policies'>,
  tx: Transaction,
  appId: number,
): Promise<void> {
  await invalidation.announce(tx, rolesTopic, String(appId))
  tx.afterCommit(() => policies.forget(appId))
}
