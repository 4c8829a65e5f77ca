import type { ErrorCode, ErrorDetail } from './errors.ts'
import type { ImportFlaw } from './import-flaws.ts'
import { checkImportMessage } from './import-messages.ts'
import { checkImportGroup, checkImportMember, checkImportUser, type ImportContext } from './import-profiles.ts'

export { type ImportFlaw, readEpochSeconds, readOptionalTime } from './import-flaws.ts'
export { createMuidsById, takeListed } from './import-listed.ts'
export { checkImportMessage, ImportMessage, importedId, isPreviousId } from './import-messages.ts'
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

/** The four kinds of records that can be imported; each kind may refer to the ones before it. */
export const importKinds = ['users', 'groups', 'members', 'messages'] as const
export type ImportKind = (typeof importKinds)[number]

/** The check of each kind of record, for callers that treat all four alike. */
export const importChecks: Record<ImportKind, (record: unknown, context: ImportContext) => ImportFlaw[]> = {
  users: checkImportUser,
  groups: checkImportGroup,
  members: checkImportMember,
  messages: checkImportMessage,
}

/**
 * Turns the flaws of one record into its error. The code is that of the most serious flaw: a wrong shape first, then an
 * impossible join time, then any other wrong value.
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
