import type { SealedText } from './seal.ts'

/** An entry with its place in the chain. */
export interface ChainedEntry extends SealedText {
  readonly id: number
  readonly seal: Buffer | null
  readonly redaction: Buffer | null
  readonly seq: number | null
  readonly link: Buffer | null
}

/** The columns of an entry, for `select`; details as the text that was sealed. */
export const chainedColumns = `id, created_at as "createdAt", action, caller, key, uid, operator, token, address,
    target_type as type, target, details::text as details, seal, redaction, seq, link`
