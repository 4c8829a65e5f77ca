import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { Secrets } from '../../store/secrets.ts'

/** What can be replaced in an entry when a person is erased. */
const erasableFields = ['uid', 'target', 'address', 'details'] as const
type ErasableField = (typeof erasableFields)[number]

/** An entry, as it is kept. */
export interface SealedText extends Readonly<Record<ErasableField, string | null>> {
  readonly createdAt: number
  readonly action: string
  readonly caller: string
  readonly key: string | null
  readonly operator: number | null
  readonly token: number | null
  readonly type: string
}

type Digests = Pick<Secrets, 'digest'>

const nonceBytes = 16
const commitmentBytes = 16
const macAt = nonceBytes + erasableFields.length * commitmentBytes

/**
 * What only the service can make of an entry: a number drawn for it, a digest of each field that an erasure may replace, and a MAC
 * over these and the rest. So the seal holds, whatever is erased.
 */
export function seal(secrets: Digests, appId: number, entry: SealedText, nonce = randomBytes(nonceBytes)): Buffer {
  const commitments = erasableFields.map((field) => commit(secrets, nonce, field, entry[field]))
  const open = Buffer.concat([nonce, ...commitments])
  return Buffer.concat([open, macOf(secrets, appId, entry, open)])
}

/** What is wrong with an entry; undefined where it is as the service wrote it. */
export function flawOf(
  secrets: Digests,
  appId: number,
  entry: SealedText,
  { seal, redaction }: { readonly seal: Buffer | null; readonly redaction: Buffer | null },
): string | undefined {
  if (seal === null || seal.length <= macAt) return 'has no seal'
  const open = seal.subarray(0, macAt)
  const nonce = seal.subarray(0, nonceBytes)
  if (!isEqual(seal.subarray(macAt), macOf(secrets, appId, entry, open))) return 'is not as it was written'
  const isKept = erasableFields.every((field, place) => {
    const from = nonceBytes + place * commitmentBytes
    const commitment = open.subarray(from, from + commitmentBytes)
    return [entry[field], withoutFormer(entry[field])].some((text) =>
      isEqual(commitment, commit(secrets, nonce, field, text)),
    )
  })
  if (isKept || (redaction !== null && isEqual(redaction, redact(secrets, entry, seal)))) return undefined
  return 'is not as it was written'
}

/** Says that what stands in an entry now is what an erasure left. */
export function redact(secrets: Digests, entry: SealedText, seal: Buffer): Buffer {
  const left = JSON.stringify(erasableFields.map((field) => entry[field]))
  return secrets.digest(`audit redaction ${seal.toString('hex')} ${left}`)
}

/** What makes two seals those of the same entry. */
export function nonceOf(seal: Buffer): string {
  return seal.subarray(0, nonceBytes).toString('base64')
}

/** The link of an entry to the one before it. */
export function linkOf(secrets: Digests, appId: number, before: Buffer, seq: number, seal: Buffer | null): Buffer {
  return secrets.digest(`audit link ${appId} ${seq} ${before.toString('hex')} ${seal?.toString('hex') ?? ''}`)
}

/** Where the chain of an app begins and ends. */
export interface Chain {
  readonly seq: number
  readonly link: Buffer
  /** The last entry that was removed for its age. */
  readonly sinceSeq: number
  readonly sinceLink: Buffer
  /** Entries up to this id were there before there were seals. */
  readonly adoptedTo: number
}

export function macOfChain(secrets: Digests, appId: number, chain: Chain): Buffer {
  const { seq, link, sinceSeq, sinceLink, adoptedTo } = chain
  const places = `${sinceSeq} ${sinceLink.toString('hex')} ${seq} ${link.toString('hex')} ${adoptedTo}`
  return secrets.digest(`audit chain ${appId} ${places}`)
}

export function isEqual(one: Buffer, other: Buffer): boolean {
  return one.length === other.length && timingSafeEqual(one, other)
}

/** A uid that was given to somebody else has a mark since then, which says nothing new. */
function withoutFormer(text: string | null): string | null {
  return text === null ? null : text.replaceAll(/~\d+(?=$|_user_|")/g, '')
}

function commit(secrets: Digests, nonce: Buffer, field: ErasableField, text: string | null): Buffer {
  const said = text === null ? 'nothing' : `:${text}`
  return secrets.digest(`audit ${field} ${nonce.toString('hex')} ${said}`).subarray(0, commitmentBytes)
}

function macOf(secrets: Digests, appId: number, entry: SealedText, open: Buffer): Buffer {
  const { createdAt, action, caller, key, operator, token, type } = entry
  const fixed = JSON.stringify([appId, createdAt, action, caller, key, operator, token, type])
  return secrets.digest(`audit entry ${open.toString('hex')} ${fixed}`)
}
