import type { AnswerOf, AuditEntry, listAuditLog, QueryOf } from '@parley/contract'
import { sql } from 'kysely'
import { appKey } from '../../store/app-key.ts'
import type { Database } from '../../store/database.ts'
import { allOf, type Fragment } from '../../store/statement.ts'

interface Row {
  readonly id: number
  readonly action: AuditEntry['action']
  readonly createdAt: number
  readonly caller: AuditEntry['actor']['caller']
  readonly key: string | null
  readonly uid: string | null
  readonly operator: number | null
  readonly token: number | null
  readonly address: string | null
  readonly type: AuditEntry['target']['type']
  readonly target: string
  readonly details: Record<string, unknown> | null
}

const defaultLimit = 100

/** A page of an app's audit log, newest first. */
export async function listEntries(
  database: Database,
  appId: number,
  query: QueryOf<typeof listAuditLog>,
): Promise<AnswerOf<typeof listAuditLog>> {
  const limit = query.limit ?? defaultLimit
  const rows = await database.run<Row>(sql`
    select id, action, created_at as "createdAt", caller, key, uid, operator, token, address, target_type as type, target, details
    from audit_log
    where ${allOf(conditionsOf(appId, query))}
    order by created_at desc, id desc
    limit ${limit + 1}`)
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  return {
    data: page.map(showEntry),
    meta: {
      current: { limit, count: page.length },
      ...(rows.length > limit && last && { next: { before: `${last.createdAt}_${last.id}` } }),
    },
  }
}

/** Kinds of targets whose ids can have upper case. */
const asGiven: readonly AuditEntry['target']['type'][] = ['webhook', 'provider', 'rule', 'list', 'reason']

function conditionsOf(
  appId: number,
  { action, key, uid, operator, targetType, target, from, to, before }: QueryOf<typeof listAuditLog>,
): Fragment[] {
  const conditions: Fragment[] = [sql`app_id = ${appKey(appId)}`]
  if (action !== undefined) conditions.push(sql`action = ${action}`)
  if (key !== undefined) conditions.push(sql`key = ${key}`)
  if (uid !== undefined) conditions.push(sql`uid = ${uid.toLowerCase()}`)
  if (operator !== undefined) conditions.push(sql`operator = ${Number(operator)}`)
  if (targetType !== undefined) conditions.push(sql`target_type = ${targetType}`)
  if (target !== undefined) {
    // Ids of users, groups and roles are in lower case.
    const lower = target.toLowerCase()
    conditions.push(sql`target in (${target}, ${lower})`)
    conditions.push(
      sql`target = case when target_type = any(${asGiven}::text[]) then ${target}::text else ${lower}::text end`,
    )
  }
  if (from !== undefined) conditions.push(sql`created_at >= ${from}`)
  if (to !== undefined) conditions.push(sql`created_at <= ${to}`)
  if (before !== undefined) {
    const [createdAt, id] = before.split('_').map(Number)
    conditions.push(sql`(created_at, id) < (${createdAt}::bigint, ${id}::bigint)`)
  }
  return conditions
}

function showEntry({
  id,
  action,
  createdAt,
  caller,
  key,
  uid,
  operator,
  token,
  address,
  type,
  target,
  details,
}: Row): AuditEntry {
  return {
    id: String(id),
    action,
    createdAt,
    actor: {
      caller,
      ...(key !== null && { key }),
      ...(uid !== null && { uid }),
      ...(operator !== null && { operator: String(operator) }),
      ...(token !== null && { token: String(token) }),
      ...(address !== null && { address }),
    },
    target: { type, id: target },
    ...(details !== null && { details }),
  }
}
