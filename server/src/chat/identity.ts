import type { TokenOwner } from './credentials/tokens.ts'

/** A tenant. Its users, groups and messages never meet those of another. */
export interface App {
  /** Surrogate key, leading every table. */
  readonly appId: number
  /** The app's id on the wire. */
  readonly name: string
  readonly region: string
}

/**
 * Who asks. `app`: an API key without `onBehalfOf`, no rule of roles, scopes, blocks or membership applies.
 * `user`: all of them do; they came with their own token, or an API key acts on their behalf.
 */
export type Caller =
  | ({ readonly kind: 'app' } & KeyUsed)
  | ({ readonly kind: 'user'; readonly uid: string; readonly via: 'key' } & Partial<KeyUsed> & Device)
  | ({ readonly kind: 'user'; readonly uid: string; readonly via: 'token' } & TokenUsed & Device)

interface KeyUsed {
  readonly keyDigest: Buffer
  /** What users are noted as created by: a key has those of all keys that it took the place of. */
  readonly keyOrigin: Buffer
  /** What processes of older versions may have noted instead: the key itself, and those that it took the place of. */
  readonly keyLine: readonly Buffer[]
  readonly scope: 'fullAccess' | 'authOnly'
}

interface TokenUsed {
  readonly authToken: string
  readonly login: Omit<TokenOwner, 'uid'>
}

interface Device {
  /** The device or browser tab that acts (header `resource`); its socket is not notified of what it did itself. */
  readonly device?: string
}

/** What stands for an API key where keys must not be seen: the start of its digest, in hexadecimal. */
export function keyFingerprint(digest: Buffer): string {
  return digest.toString('hex', 0, 4)
}

/** The device that acts, where it is a user's and the request names it. */
export function actingDevice(caller: Caller): string | undefined {
  return caller.kind === 'user' ? caller.device : undefined
}
