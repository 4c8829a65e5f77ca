import { ApiError } from '@parley/contract'
import type { Queryable, Transaction } from '../../store/database.ts'
import type { Secrets } from '../../store/secrets.ts'
import { statement } from '../../store/statement.ts'

/** What was erased, and must not come back by itself. */
export type ErasedKind = 'uid' | 'muid'

const storedKinds = { uid: 1, muid: 2 } as const satisfies Record<ErasedKind, number>

/** Long enough that no two names meet. */
const digestBytes = 16
const atOnce = 5000

const insert = statement(`
  insert into erased_digests (app_id, kind, digest)
  select $1, $2, unnest($3::bytea[])
  on conflict do nothing`)

const hasAny = statement(`
  select true as any
  from erased_digests
  where app_id = $1
  and kind = $2
  limit 1`)

const select = statement(`
  select digest
  from erased_digests
  where app_id = $1
  and kind = $2
  and digest = any($3::bytea[])`)

/** The digest of an erased uid or muid, under the master key: the same name has another one in another app. */
export function digestOf(secrets: Secrets, appId: number, kind: ErasedKind, name: string): Buffer {
  return secrets.digest(`erased ${appId} ${kind} ${name}`).subarray(0, digestBytes)
}

/** Keeps digests of names that are erased in this transaction. */
export async function keepErased(
  tx: Transaction,
  secrets: Secrets,
  appId: number,
  kind: ErasedKind,
  names: readonly string[],
): Promise<void> {
  for (let from = 0; from < names.length; from += atOnce) {
    const digests = names.slice(from, from + atOnce).map((name) => digestOf(secrets, appId, kind, name))
    await tx.query(insert, [appId, storedKinds[kind], digests])
  }
}

/** Which of some names were erased. @param names uids in lower case, or muids */
export async function readErased(
  on: Queryable,
  secrets: Secrets,
  appId: number,
  kind: ErasedKind,
  names: Iterable<string>,
): Promise<ReadonlySet<string>> {
  const wanted = [...new Set(names)]
  if (wanted.length === 0) return new Set()
  // Most apps have erased nobody, and need no digests.
  if ((await on.query(hasAny, [appId, storedKinds[kind]])).length === 0) return new Set()
  const byDigest = new Map(wanted.map((name) => [digestOf(secrets, appId, kind, name).toString('hex'), name]))
  const digests = [...byDigest.keys()].map((digest) => Buffer.from(digest, 'hex'))
  const rows = await on.query<{ digest: Buffer }>(select, [appId, storedKinds[kind], digests])
  return new Set(rows.flatMap(({ digest }) => byDigest.get(digest.toString('hex')) ?? []))
}

/** 409: the person was erased, and does not come back with what an import brings along. */
export function userErased(uid: string): ApiError {
  const devMessage = `The user ${uid} was erased. A user record with "recreate": true makes somebody new with this uid.`
  return new ApiError('ERR_IMPORT_UID_ERASED', devMessage)
}

/** 409: the message was erased with its sender or receiver. */
export function messageErased(muid: string): ApiError {
  return new ApiError('ERR_IMPORT_MUID_ERASED', `The message with the muid ${muid} was erased with a user.`)
}
