import type { Transaction } from '../../../store/database.ts'
import type { Secrets } from '../../../store/secrets.ts'
import { statement } from '../../../store/statement.ts'
import { type SecretRecord, sealedColumns } from '../../export/secrets.ts'

const insertKey = statement(`
  insert into api_keys (app_id, digest, sealed, name, scope, created_at, origin)
  values ($1, $2, $3, $4, $5, $6, $7)
  on conflict do nothing`)

const insertToken = statement(`
  insert into auth_tokens (app_id, digest, sealed, uid, platform, user_agent, app_info, created_at, used_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
  on conflict do nothing`)

const insertPushToken = statement(`
  insert into push_tokens (app_id, provider, digest, sealed, uid, auth_digest, platform, type, created_at, updated_at)
  select $1, n.key, $5, $6, $7, $8, $9, $10, $11, $12
  from notification_providers n
  where n.app_id = $1
  and n.channel = $2
  and n.kind = $3
  and n.id = $4
  on conflict do nothing`)

const writeCreator = statement('update users set created_by_key = $3 where app_id = $1 and uid = $2')

/** Stores an opened secret, sealed under the master key of this service. */
export async function storeSecret(
  tx: Transaction,
  secrets: Secrets,
  appId: number,
  record: SecretRecord,
): Promise<void> {
  switch (record.kind) {
    case 'apiKey': {
      const { apiKey, name, scope, createdAt } = record
      const origin = record.origin === undefined ? null : secrets.digest(record.origin)
      await tx.query(insertKey, [appId, secrets.digest(apiKey), secrets.seal(apiKey), name, scope, createdAt, origin])
      return
    }
    case 'authToken': {
      const { uid, authToken, platform, userAgent, appInfo, createdAt, usedAt } = record
      const kept = [secrets.digest(authToken), secrets.seal(authToken), uid, platform, userAgent]
      await tx.query(insertToken, [
        appId,
        ...kept,
        appInfo === null ? null : JSON.stringify(appInfo),
        ...[createdAt, usedAt],
      ])
      return
    }
    case 'pushToken': {
      const { provider, token, authToken, uid, platform, type, createdAt, updatedAt } = record
      // Devices of browsers are known by their endpoint.
      const name = platform === 'web_push' ? (JSON.parse(token) as { endpoint: string }).endpoint : token
      await tx.query(insertPushToken, [
        ...[appId, ...provider, secrets.digest(name), secrets.seal(token), uid, secrets.digest(authToken)],
        ...[platform, type, createdAt, updatedAt],
      ])
      return
    }
    case 'createdBy':
      await tx.query(writeCreator, [appId, record.uid, secrets.digest(record.apiKey)])
      return
    case 'sealed':
      await writeSealed(tx, secrets, appId, record)
  }
}

async function writeSealed(
  tx: Transaction,
  secrets: Secrets,
  appId: number,
  { table, key, column, value }: Extract<SecretRecord, { kind: 'sealed' }>,
): Promise<void> {
  // Names of tables and columns come out of a file: they must be among those that are known.
  const known = sealedColumns.find((sealed) => sealed.table === table)
  if (known === undefined || !known.columns.includes(column)) throw new Error(`${table}.${column} holds no secrets`)
  const conditions = known.key.map((name, i) => `and "${name}"::text = $${i + 3}`).join(' ')
  await tx.query(statement(`update ${table} set ${column} = $2 where app_id = $1 ${conditions}`), [
    ...[appId, secrets.seal(value)],
    ...known.key.map((name) => key[name] ?? ''),
  ])
}
