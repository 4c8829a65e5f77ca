/** The address of a file of an app, by whatever host. */
export interface OwnAddress {
  /** Without what signs it. */
  readonly address: string
  /** Where it begins. */
  readonly origin: string
  readonly key: string
}

const whole = /^([^"\\?#]*)(?:\?expires=\d{1,12}&signature=[\w-]{1,64})?$/
const keyAndSlash = /[0-9a-f]{32}\//y

/**
 * Reads a text that may be the address of a file of an app, signed or not. Whoever sends a request has a say in it, before anything
 * limits its length: so it is looked through from behind, once.
 */
export function readOwnAddress(appName: string, text: string): OwnAddress | undefined {
  const address = whole.exec(text)?.[1]
  if (address === undefined) return undefined
  const folder = `/media/${appName}/`
  for (let end = address.length; end > 0; ) {
    const at = address.lastIndexOf(folder, end - 1)
    if (at < 0) return undefined
    keyAndSlash.lastIndex = at + folder.length
    const key = keyAndSlash.exec(address)?.[0].slice(0, -1)
    if (key !== undefined) return { address, origin: address.slice(0, at), key }
    end = at
  }
  return undefined
}
