import {
  type AnswerOf,
  badRequest,
  type FeatureKey,
  featureName,
  type Restriction,
  readFeature,
  restrictedFeatures,
  type restrictFeatures as restrictOperation,
} from '@parley/contract'
import { lockRole, type RoleRow } from '../../chat/roles/rows.ts'
import type { Context } from '../../context.ts'
import type { Transaction } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'
import { notifyOfChange } from '../roles/index.ts'

const store = statement(`
  update roles
  set restricted_features = $3
  where app_id = $1
  and role = $2`)

/**
 * Restricts what there is of some features to a role, and answers for each key; one that is restricted already stays so,
 * with its time.
 * @throws 404 `ERR_ROLE_NOT_FOUND`
 */
export function restrictFeatures(
  context: Context,
  appId: number,
  role: string,
  sent: readonly string[],
): Promise<AnswerOf<typeof restrictOperation>['data']> {
  return context.database.transaction(async (tx) => {
    const row = await lockRole(tx, appId, role)
    const now = Math.floor(Date.now() / 1000)
    const restricted: Record<string, number> = { ...row.restrictedFeatures }
    const outcomes = sent.map((name) => {
      const key = readFeature(name)
      if (key === undefined)
        return [name, { success: false, message: `${name} is not a feature that can be restricted` }] as const
      restricted[key] ??= now
      return [featureName(key), { success: true, message: `${featureName(key)} is now restricted` }] as const
    })
    await change(context, tx, appId, row, restricted)
    return Object.fromEntries(outcomes)
  })
}

/** The restrictions of a role, the newest first, those of one second in the order of the contract's table. */
export function describeRestrictions({
  restrictedFeatures: since,
}: Pick<RoleRow, 'restrictedFeatures'>): Restriction[] {
  return [...restrictedFeatures]
    .flatMap(([key, { title, description, path }]) => {
      const createdAt = since[key]
      return createdAt === undefined ? [] : [{ title, description, key: featureName(key), path, createdAt }]
    })
    .sort((a, b) => b.createdAt - a.createdAt)
}

/**
 * Lifts restrictions of a role, of some features or of all.
 * @throws 400 for a feature that does not exist, 404 `ERR_ROLE_NOT_FOUND`
 */
export async function allowFeatures(
  context: Context,
  appId: number,
  role: string,
  sent: readonly string[],
  allowAll: boolean,
): Promise<void> {
  const keys = sent.map(readFeature)
  const unknown = keys.flatMap((key, i) => (key === undefined ? [i] : []))
  await context.database.transaction(async (tx) => {
    const row = await lockRole(tx, appId, role)
    if (unknown.length > 0) {
      throw badRequest(
        unknown.map((i) => ({ path: `body/featuresToAllow/${i}`, message: 'is not a feature that can be restricted' })),
      )
    }
    const allowed = new Set<string>(keys as FeatureKey[])
    const remaining = Object.entries(row.restrictedFeatures).filter(([key]) => !allowAll && !allowed.has(key))
    await change(context, tx, appId, row, Object.fromEntries(remaining))
  })
}

async function change(
  context: Context,
  tx: Transaction,
  appId: number,
  row: RoleRow,
  restricted: Readonly<Record<string, number>>,
): Promise<void> {
  if (Object.keys(restricted).length === Object.keys(row.restrictedFeatures).length) return
  await tx.query(store, [appId, row.role, JSON.stringify(restricted)])
  const details = {
    before: { restricted: Object.keys(row.restrictedFeatures) },
    after: { restricted: Object.keys(restricted) },
  }
  await context.audit.record(tx, appId, { action: 'role_features_updated', type: 'role', target: row.role, details })
  await notifyOfChange(context, tx, appId)
}
