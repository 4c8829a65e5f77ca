import type { ErrorCode, ErrorDetail } from './errors.ts'
import type { ImportFlaw } from './import-flaws.ts'
import { checkImportMessage } from './import-messages.ts'
import { checkImportGroup, checkImportMember, checkImportUser, type ImportContext } from './import-profiles.ts'

export { type ImportFlaw, readEpochSeconds, readOptionalTime } from './import-flaws.ts'
export { checkImportMessage, ImportMessage } from './import-messages.ts'
export {
  checkImportGroup,
  checkImportMember,
  checkImportUser,
  type ImportContext,
  ImportGroup,
  ImportGroupDetails,
  ImportMember,
  ImportUser,
} from './import-profiles.ts'

/** The four kinds of records that can be imported, in the order in which they build on each other. */
export const importKinds = ['users', 'groups', 'members', 'messages'] as const
export type ImportKind = (typeof importKinds)[number]

/** The check of a kind of record, for those who handle all four alike. */
export const importChecks: Record<ImportKind, (record: unknown, context: ImportContext) => ImportFlaw[]> = {
  users: checkImportUser,
  groups: checkImportGroup,
  members: checkImportMember,
  messages: checkImportMessage,
}

/**
 * Sums up the flaws of one record as the error it is refused with: a wrong shape weighs more than an impossible time
 * of joining, and that more than any other wrong value.
 */
export function summariseImportFlaws(flaws: readonly ImportFlaw[]): {
  code: ErrorCode
  devMessage: string
  details: ErrorDetail[]
} {
  const weigh = ({ code }: ImportFlaw) =>
    code === 'ERR_BAD_REQUEST' ? 0 : code === 'ERR_IMPORT_INVALID_JOINEDAT' ? 1 : 2
  const worst = flaws.reduce((a, b) => (weigh(b) > weigh(a) ? b : a))
  const devMessage = flaws.map(({ path, message }) => `${path === '' ? 'the record' : path} ${message}`).join('; ')
  return { code: worst.code, devMessage, details: flaws.map(({ path, message }) => ({ path, message })) }
}
