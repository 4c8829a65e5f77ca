import type { PermissionValue } from './kinds.ts'

/** The explicitly set permissions of a role, or of a scope in a group: value by key. */
export type Permissions = Readonly<Record<string, PermissionValue>>

/** The properties of a message that permissions depend on. */
export interface MessageKind {
  readonly category: string
  readonly type: string
  /** One per file; an empty string for an attachment without one, and for a file that is named by `data.url` alone. */
  readonly mimeTypes: readonly string[]
}

/**
 * Whether a permission allows something. An explicit value overrides the default. `friends` counts as allowed; the
 * caller checks the friendship. Any other value denies.
 */
export function permissionAllows(explicit: Permissions, key: string, defaultValue: PermissionValue): boolean {
  const value = explicit[key] ?? defaultValue
  return value === 'allow' || value === 'friends'
}

/**
 * The values that a list permission allows, or null if it restricts nothing (not set, or an empty list). A string is
 * split at commas. Role ids are returned in lower case, as they are stored; everything else as it was set.
 */
export function permissionList(explicit: Permissions, key: string): string[] | null {
  const value = explicit[key]
  if (value === undefined) return null
  const values = splitValues(value)
  if (values.length === 0) return null
  return key.endsWith('Roles') ? values.map((role) => role.toLowerCase()) : values
}

/** The individual values of a permission: the elements of an array, or the comma-separated parts of a string. */
export function splitValues(value: PermissionValue): string[] {
  if (typeof value !== 'string') return [...value]
  return value
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
}

/**
 * The key that forbids sending a message, or undefined if none does. `prefix` selects the family of keys (replies in
 * threads have their own), `defaultAllow` applies if the plain key is not set.
 */
export function messageSendDenial(
  explicit: Permissions,
  prefix: 'sendMessage' | 'sendThreadedMessage',
  message: MessageKind,
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

/** Ignores parameters (`; charset=utf-8`) and case; `image/*` matches every image. */
function isListed(mimeType: string, listed: readonly string[]): boolean {
  const essence = (mimeType.split(';')[0] ?? '').trim().toLowerCase()
  const anyOfItsKind = `${essence.split('/')[0]}/*`
  return listed.some((entry) => [essence, anyOfItsKind].includes(entry.toLowerCase()))
}
