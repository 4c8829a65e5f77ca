import type { FeatureKey, Permissions, RoleSettings } from '@parley/contract'
import type { Database } from '../../store/database.ts'
import type { Invalidation } from '../../store/invalidation.ts'
import { createMemory } from '../../store/memory.ts'
import { statement } from '../../store/statement.ts'

/** What is set on a role, as far as it can deny something. */
export interface RolePolicy {
  readonly role: string
  readonly permissions: Permissions
  readonly settings: RoleSettings
  readonly restricted: ReadonlySet<FeatureKey>
}

/** The policies of an app by role; roles on which nothing is set are not among them. */
export type PolicyMap = ReadonlyMap<string, RolePolicy>

/**
 * What the roles of an app deny, kept in memory and dropped when changed: every call of a user asks for it. Most apps
 * restrict nothing; then the map is empty and nobody has to look further.
 */
export interface RolePolicies {
  ofApp(appId: number): Promise<PolicyMap>
  /** The same, where nobody has to be asked for it. */
  known(appId: number): PolicyMap | undefined
  /** The policy of one role; undefined where nothing is set on it. */
  of(appId: number, role: string): Promise<RolePolicy | undefined>
  /** Forgets what is known of one app's roles, in this process; other processes hear of it by `rolesTopic`. */
  forget(appId: number): void
}

/** Announced with the app's surrogate key when what is set on one of its roles has changed. */
export const rolesTopic = 'roles'

interface PolicyRow {
  readonly role: string
  readonly permissions: Permissions
  readonly settings: RoleSettings | null
  readonly restricted: Readonly<Record<FeatureKey, number>>
}

const select = statement(`
  select role, permissions, settings, restricted_features as restricted
  from roles
  where app_id = $1
  and (
    permissions::text <> '{}'
    or restricted_features::text <> '{}'
    or 'friendsOnly' in (settings ->> 'listUsers', settings ->> 'sendMessagesTo')
  )`)

const maxApps = 10_000

export function createRolePolicies(database: Database, invalidation: Invalidation): RolePolicies {
  const { recall, known, forget, forgetAll } = createMemory<number, PolicyMap>({
    max: maxApps,
    read: (appId) => readPolicies(database, appId),
  })
  invalidation.onChange(rolesTopic, (appId) => (appId === undefined ? forgetAll() : forget(Number(appId))))
  return {
    ofApp: recall,
    known,
    of: async (appId, role) => (await recall(appId)).get(role),
    forget,
  }
}

const nothingSet: PolicyMap = new Map()

async function readPolicies(database: Database, appId: number): Promise<PolicyMap> {
  const rows = await database.query<PolicyRow>(select, [appId])
  const policies = rows.map(
    ({ role, permissions, settings, restricted }): RolePolicy => ({
      role,
      permissions,
      settings: settings ?? {},
      restricted: new Set(Object.keys(restricted) as FeatureKey[]),
    }),
  )
  return policies.length === 0 ? nothingSet : new Map(policies.map((policy) => [policy.role, policy]))
}
