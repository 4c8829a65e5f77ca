import { timingSafeEqual } from 'node:crypto'
import { type AppSettings, badRequest } from '@parley/contract'
import type { AppSettingsStore } from '../chat/app-settings.ts'
import type { App as AnyApp } from '../chat/identity.ts'
import type { Secrets } from '../store/secrets.ts'
import type { FileOrigins } from './origins.ts'
import { readOwnAddress } from './own-address.ts'

/**
 * Addresses of files that expire, in apps whose setting `fileLinks` is `signed`; those of other apps stay as they are. An
 * address is ours if it begins as the file was uploaded: whoever could name a host of theirs would learn signatures.
 */
export interface FileLinks {
  /** Signs the addresses of files in JSON text. */
  inText(app: App, text: string): Promise<string>
  /** The same for a value that is about to be written as JSON. */
  inValue<Value extends object>(app: App, value: Value): Promise<Value>
  /** Signs the address of a file that has yet to come. */
  ofNew(app: App, address: string, key: string): Promise<string>
  /**
   * Takes signatures out of what somebody wants to store, in place.
   * @param mustProve whoever writes it may name a file of ours only by an address that is valid now
   * @returns undefined where nothing is signed and there is nothing to wait for, as for nearly all requests
   * @throws 400 naming the first that is not
   */
  strip(app: App, value: unknown, mustProve: boolean): Promise<void> | undefined
  /** Seconds for which an address may still be used; undefined where it may not, infinite in apps that sign none. */
  secondsLeft(app: App, key: string, query: Readonly<Record<string, unknown>>): Promise<number | undefined>
}

type App = Pick<AnyApp, 'appId' | 'name'>

/** Members of messages, answers, frames and webhooks that may name a file, wherever they stand. */
export const fileMembers: readonly string[] = ['url', 'avatar', 'icon', 'thumbnail', 'senderAvatar', 'receiverAvatar']
/** The same members in JSON text. A name that ends like one of these has its quote escaped: \"url". */
const namingMembers = new RegExp(`(?<!\\\\)("(?:${fileMembers.join('|')})"\\s*:\\s*")([^"\\\\]*)"`, 'g')
const signatureAtEnd = /\?expires=\d{1,12}&signature=[\w-]{1,64}$/

/** The address of a file without what is new each time that it is shown, where addresses expire. */
export function unsigned(address: string): string {
  return address.replace(signatureAtEnd, '')
}

export function createFileLinks(
  secrets: Pick<Secrets, 'digest'>,
  settings: AppSettingsStore,
  origins: FileOrigins,
): FileLinks {
  const signedSettings = async ({ appId }: App) => {
    const set = await settings.of(appId)
    return set.fileLinks === 'signed' ? set : undefined
  }

  const inText: FileLinks['inText'] = async (app, text) => {
    if (!text.includes('/media/')) return text
    const set = await signedSettings(app)
    if (set === undefined) return text
    const keys = Array.from(text.matchAll(namingMembers), ([, , named = '']) => readOwnAddress(app.name, named)?.key)
    const ours = keys.filter((key) => key !== undefined)
    if (ours.length === 0) return text
    const known = await origins.of(app, ours)
    const expires = expiryOf(set, Date.now())
    return text.replace(namingMembers, (whole, before: string, named: string) => {
      const own = readOwnAddress(app.name, named)
      if (own === undefined || !isOurs(known.get(own.key), own.origin)) return whole
      return `${before}${own.address}?${signLink(secrets, app, own.key, expires)}"`
    })
  }

  const stripSigned = async (app: App, value: object, mustProve: boolean) => {
    if ((await signedSettings(app)) === undefined) return
    const keys: string[] = []
    replaceWithin(value, 'body', (text) => {
      const own = readOwnAddress(app.name, text)
      if (own !== undefined) keys.push(own.key)
      return text
    })
    if (keys.length === 0) return
    const known = await origins.of(app, keys)
    replaceWithin(value, 'body', (text, path) => {
      const own = readOwnAddress(app.name, text)
      if (own === undefined) return text
      const { address, origin, key } = own
      const query = Object.fromEntries(new URLSearchParams(text.slice(address.length)))
      // A file that has yet to come is named by whoever uploads it.
      const isElsewhere = known.has(key) && !isOurs(known.get(key), origin)
      if (mustProve && (isElsewhere || validFor(secrets, app, key, query) === undefined)) throw notProven(path)
      return address
    })
  }

  return {
    inText,
    async inValue(app, value) {
      if ((await signedSettings(app)) === undefined) return value
      const text = JSON.stringify(value)
      const signed = await inText(app, text)
      return signed === text ? value : JSON.parse(signed)
    },
    async ofNew(app, address, key) {
      const set = await signedSettings(app)
      return set === undefined ? address : `${address}?${signLink(secrets, app, key, expiryOf(set, Date.now()))}`
    },
    strip(app, value, mustProve) {
      if (typeof value !== 'object' || value === null) return undefined
      const known = settings.known(app.appId)
      return known !== undefined && known.fileLinks !== 'signed' ? undefined : stripSigned(app, value, mustProve)
    },
    async secondsLeft(app, key, query) {
      if ((await signedSettings(app)) === undefined) return Number.POSITIVE_INFINITY
      return validFor(secrets, app, key, query)
    },
  }
}

/** @param known where the file came in; null where nobody wrote that down, undefined where there is no such file */
function isOurs(known: string | null | undefined, origin: string): boolean {
  return known === null ? /^https?:\/\/[^/]+$/.test(origin) : known === origin
}

/** The query of an address that may be used until `expires`, in epoch seconds. */
export function signLink(
  secrets: Pick<Secrets, 'digest'>,
  { name }: Pick<AnyApp, 'name'>,
  key: string,
  expires: number,
): string {
  const digest = secrets.digest(JSON.stringify(['file', name, key, expires])).toString('base64url')
  return `expires=${expires}&signature=${digest}`
}

function validFor(
  secrets: Pick<Secrets, 'digest'>,
  app: Pick<AnyApp, 'name'>,
  key: string,
  query: Readonly<Record<string, unknown>>,
): number | undefined {
  const expires = Number(query.expires)
  const given = Buffer.from(`expires=${query.expires}&signature=${query.signature}`)
  const expected = Buffer.from(signLink(secrets, app, key, expires))
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined
  const left = expires - Math.ceil(Date.now() / 1000)
  return left > 0 ? left : undefined
}

/** Rounded, so that an address stays the same for half its lifetime and browsers keep the file that long. */
function expiryOf({ fileLinkSeconds }: Pick<AppSettings, 'fileLinkSeconds'>, now: number): number {
  const step = Math.floor(fileLinkSeconds / 2)
  return (Math.floor(now / 1000 / step) + 2) * step
}

/** Deeper than any body that is taken. */
const maxDepth = 64

/** What stands in the members that may name a file, each with its name, what holds it, and that one's path. */
export function* namedIn(
  value: object,
  path = '',
  depth = 0,
): Generator<[text: string, name: string, holder: object, path: string]> {
  if (depth >= maxDepth) return
  for (const [name, member] of Object.entries(value)) {
    if (typeof member === 'object' && member !== null) yield* namedIn(member, `${path}/${name}`, depth + 1)
    else if (typeof member === 'string' && fileMembers.includes(name)) yield [member, name, value, path]
  }
}

function replaceWithin(value: object, path: string, replace: (text: string, path: string) => string): void {
  for (const [text, name, holder, at] of namedIn(value, path)) {
    ;(holder as Record<string, unknown>)[name] = replace(text, `${at}/${name}`)
  }
}

function notProven(path: string) {
  return badRequest([{ path, message: 'names a file by an address that is not valid or has expired' }])
}
