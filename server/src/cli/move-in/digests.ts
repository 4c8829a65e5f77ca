import { createHash } from 'node:crypto'
import { isJsonObject } from '../import/records.ts'

/** 128 bits of a record. */
export function digestOf(record: unknown): bigint {
  const bytes = createHash('sha256').update(canonical(record)).digest()
  return bytes.readBigUInt64BE(0) * 2n ** 64n + bytes.readBigUInt64BE(8)
}

/** Adds the digest of a record to one of many that does not depend on their order. */
export function addDigest(digest: bigint, record: bigint): bigint {
  return BigInt.asUintN(128, digest + record)
}

/** JSON with members in one order: services may store them in another. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    isJsonObject(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([one], [other]) => (one < other ? -1 : 1)))
      : inner,
  )
}
