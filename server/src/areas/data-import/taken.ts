import { createMuidsById, type ImportKind, takeListed } from '@parley/contract'

/** A record of a request, as the import takes it. */
export interface Taken {
  readonly record: unknown
  /** Its members that an import does not know. */
  readonly ignored: readonly string[]
}

/** Records of one kind as the import takes them, also those that lists of the API have answered. */
export function takeAll(kind: ImportKind, given: readonly unknown[]): Taken[] {
  const muids = createMuidsById()
  if (kind === 'messages') for (const record of given) if (isJsonObject(record)) muids.add(record)
  return given.map((record) =>
    isJsonObject(record) ? takeListed(kind, record, muids.muidOf) : { record, ignored: [] },
  )
}

export function isJsonObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
