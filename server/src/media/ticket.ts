import { timingSafeEqual } from 'node:crypto'
import type { Secrets } from '../store/secrets.ts'
import type { MediaFile } from './library.ts'

/** Leave to upload one file: carried by the address, signed, and good for a while. */
export interface UploadTicket extends MediaFile {
  readonly app: string
  /** Who uploads; absent: the app itself. */
  readonly uid: string | undefined
  /** Epoch seconds. */
  readonly expiresAt: number
}

/** How long an upload may take to begin. */
export const ticketSeconds = 900

/** The query of an upload address. */
export function signTicket(secrets: Pick<Secrets, 'digest'>, ticket: UploadTicket): string {
  const query = new URLSearchParams({
    ...{ size: String(ticket.size), type: ticket.mimeType, expires: String(ticket.expiresAt) },
    ...(ticket.uid !== undefined && { uid: ticket.uid }),
  })
  query.set('signature', signatureOf(secrets, ticket))
  return query.toString()
}

/** @returns undefined where the address is not one of ours, was changed, or has expired */
export function readTicket(
  secrets: Pick<Secrets, 'digest'>,
  { app, key, name }: Pick<UploadTicket, 'app' | 'key' | 'name'>,
  query: Readonly<Record<string, unknown>>,
): UploadTicket | undefined {
  const text = (member: string) => (typeof query[member] === 'string' ? query[member] : '')
  const ticket: UploadTicket = {
    ...{ app, key, name, mimeType: text('type'), size: Number(text('size')) },
    ...{ uid: text('uid') || undefined, expiresAt: Number(text('expires')) },
  }
  const [given, expected] = [Buffer.from(text('signature')), Buffer.from(signatureOf(secrets, ticket))]
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined
  return ticket.expiresAt * 1000 > Date.now() ? ticket : undefined
}

function signatureOf(secrets: Pick<Secrets, 'digest'>, ticket: UploadTicket): string {
  const { app, key, name, mimeType, size, uid, expiresAt } = ticket
  const signed = JSON.stringify(['upload', app, key, name, mimeType, size, uid ?? null, expiresAt])
  return secrets.digest(signed).toString('base64url')
}
