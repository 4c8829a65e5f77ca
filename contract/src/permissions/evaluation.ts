import type { PermissionValue } from './kinds.ts'

/** Explicitly set permissions of one role, or of one scope in one group: value by key. */
export type Permissions = Readonly<Record<string, PermissionValue>>

/** What a message shows to those who decide whether it may be sent. */
export interface MessageTraits {
  readonly category: string
  readonly type: string
  /** One per attachment; an empty string where an attachment names none. */
  readonly mimeTypes: readonly string[]
}

/**
 * Whether a permission lets something happen: what is set beats the default. Anything but `allow` refuses, except
 * `friends`, which allows it and leaves it to the caller to ask for a friend.
 */
export function permissionAllows(explicit: Permissions, key: string, defaultValue: PermissionValue): boolean {
  const value = explicit[key] ?? defaultValue
  return value === 'allow' || value === 'friends'
}

/**
 * The values that a list permission is narrowed to, or null where it restricts nothing (not set, or an empty list).
 * A string is split at commas. Ids of roles come in lower case, as they are stored; all else as it was set.
 */
export function permissionList(explicit: Permissions, key: string): string[] | null {
  const value = explicit[key]
  if (value === undefined) return null
  const values = splitValues(value)
  if (values.length === 0) return null
  return key.endsWith('Roles') ? values.map((role) => role.toLowerCase()) : values
}

/** The single values of a permission: those of an array, or the parts of a string between its commas. */
export function splitValues(value: PermissionValue): string[] {
  if (typeof value !== 'string') return [...value]
  return value
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
}

/**
 * The key that forbids sending a message, or undefined where none does. `prefix` is the family of keys that counts
 * (replies in threads have one of their own), `defaultAllow` what goes when the plain key is not set.
 */
export function messageSendDenial(
  explicit: Permissions,
  prefix: 'sendMessage' | 'sendThreadedMessage',
  message: MessageTraits,
  defaultAllow: boolean,
): string | undefined {
  if (!permissionAllows(explicit, prefix, defaultAllow ? 'allow' : 'deny')) return prefix

  const excludes = (subKey: string, value: string) =>
    permissionList(explicit, `${prefix}.${subKey}`)?.includes(value) === false
  if (excludes('allowedMessageCategories', message.category)) return `${prefix}.allowedMessageCategories`
  if (message.category === 'message' && excludes('allowedMessageTypes', message.type)) {
    return `${prefix}.allowedMessageTypes`
  }
  if (message.category === 'custom' && excludes('allowedCustomTypes', message.type)) {
    return `${prefix}.allowedCustomTypes`
  }
  return mimeTypeDenial(explicit, prefix, message.mimeTypes)
}

function mimeTypeDenial(explicit: Permissions, prefix: string, mimeTypes: readonly string[]): string | undefined {
  const listed = permissionList(explicit, `${prefix}.mimeTypes`)
  const isBlackList = explicit[`${prefix}.mimeTypeAccessControl`] === 'deny'
  if (listed && mimeTypes.some((mimeType) => isListed(mimeType, listed) === isBlackList)) return `${prefix}.mimeTypes`

  const allowed = permissionList(explicit, `${prefix}.allowedMimeTypes`)
  if (allowed && !mimeTypes.every((mimeType) => isListed(mimeType, allowed))) return `${prefix}.allowedMimeTypes`
  return undefined
}

/** Compares without parameters (`; charset=utf-8`) and case; `image/*` stands for every image. */
function isListed(mimeType: string, listed: readonly string[]): boolean {
  const essence = (mimeType.split(';')[0] ?? '').trim().toLowerCase()
  const anyOfItsKind = `${essence.split('/')[0]}/*`
  return listed.some((entry) => [essence, anyOfItsKind].includes(entry.toLowerCase()))
}
