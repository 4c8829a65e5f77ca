/** What tests use of it; it comes without types. */
declare module 'http_ece' {
  import type { ECDH } from 'node:crypto'
  export function decrypt(
    message: Buffer,
    options: { readonly version: 'aes128gcm'; readonly privateKey: ECDH; readonly authSecret: string },
  ): Buffer
}
