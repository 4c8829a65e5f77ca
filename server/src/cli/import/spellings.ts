import type { ImportKind } from '@parley/contract'
import { createDigestSet } from './digest.ts'
import { idFields, type RecordError } from './records.ts'

/** Codes of records that are there already. */
export const existsCodes = {
  users: 'ERR_UID_ALREADY_EXISTS',
  groups: 'ERR_GUID_ALREADY_EXISTS',
  members: 'ERR_ALREADY_JOINED',
  messages: 'ERR_IMPORT_MUID_ALREADY_EXISTS',
} as const satisfies Record<ImportKind, string>

/** Whether an earlier record of the files has an id: as it is, or in other upper and lower case. */
export type Seen = 'no' | 'same' | 'otherSpelling'

/**
 * Remembers the ids of users, groups and members. The service compares them without regard to case: two that differ in
 * nothing else are one for it.
 */
export function createSpellings(): (kind: ImportKind, id: string) => Seen {
  const ids = createDigestSet()
  const spelled = createDigestSet()
  return (kind, id) => {
    const isNew = ids.add(`${kind}/${id.toLowerCase()}`)
    if (isNew) spelled.add(`${kind}/${id}`)
    if (isNew) return 'no'
    return spelled.has(`${kind}/${id}`) ? 'same' : 'otherSpelling'
  }
}

/** The error of a record whose id an earlier one has in another spelling. */
export function spelledOtherwise(kind: ImportKind): RecordError {
  const message = 'differs from the id of an earlier record in upper and lower case only'
  return {
    code: existsCodes[kind],
    message: `${idFields[kind]} ${message}`,
    details: [{ path: idFields[kind], message }],
  }
}
