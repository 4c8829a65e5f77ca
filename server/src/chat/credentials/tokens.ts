import type { Queryable } from '../../store/database.ts'
import { lookup } from '../../store/lookups.ts'
import type { Secrets } from '../../store/secrets.ts'
import { statement } from '../../store/statement.ts'
import type { App } from '../identity.ts'

const select = lookup<{ digest: Buffer }>(
  statement(`
  select t.digest, t.uid
  from auth_tokens t
  join users u on u.app_id = t.app_id
    and u.uid = t.uid
  where t.app_id = $1
  and t.digest = any($2::bytea[])
  and u.deactivated_at is null`),
  ({ digest }) => [digest],
)

/** Whose token this is. @returns undefined for an unknown token, and for one whose user is deactivated */
export async function findTokenOwner(
  on: Queryable,
  secrets: Secrets,
  app: App,
  token: string,
): Promise<string | undefined> {
  const [row] = await on.query<{ uid: string }>(select, [app.appId, [secrets.digest(token)]])
  return row?.uid
}

const selectValid = statement(`
  select t.digest
  from auth_tokens t
  join users u on u.app_id = t.app_id
    and u.uid = t.uid
  where t.app_id = $1
  and t.digest = any($2::bytea[])
  and u.deactivated_at is null`)

/** Those of some tokens, by digest (base64), that still open something. */
export async function findValidTokens(
  on: Queryable,
  appId: number,
  digests: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await on.query<{ digest: Buffer }>(selectValid, [appId, digests.map((d) => Buffer.from(d, 'base64'))])
  return new Set(rows.map(({ digest }) => digest.toString('base64')))
}
