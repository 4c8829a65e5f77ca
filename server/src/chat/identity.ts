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
  | { readonly kind: 'app'; readonly keyDigest: Buffer; readonly scope: 'fullAccess' | 'authOnly' }
  | ({ readonly kind: 'user'; readonly uid: string; readonly via: 'key' } & Device)
  | ({ readonly kind: 'user'; readonly uid: string; readonly via: 'token'; readonly authToken: string } & Device)

interface Device {
  /** The device or browser tab that acts (header `resource`); its socket is not notified of what it did itself. */
  readonly device?: string
}

/** The device that acts, where it is a user's and the request names it. */
export function actingDevice(caller: Caller): string | undefined {
  return caller.kind === 'user' ? caller.device : undefined
}
