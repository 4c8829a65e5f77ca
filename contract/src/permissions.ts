import { limits } from './limits.ts'
import { splitValues } from './permissions/evaluation.ts'
import {
  type GroupScope,
  mimeTypes,
  type PermissionKind,
  type PermissionRow,
  type PermissionValue,
} from './permissions/kinds.ts'
import { roleTable } from './permissions/role.ts'
import { deniedByDefault, scopeTable } from './permissions/scope.ts'

export {
  type MessageKind,
  messageSendDenial,
  type Permissions,
  permissionAllows,
  permissionList,
} from './permissions/evaluation.ts'
export type { GroupScope, PermissionValue } from './permissions/kinds.ts'

export type RolePermissionKey = keyof typeof roleTable
export type ScopePermissionKey = keyof typeof scopeTable

/** A permission as `GET .../permissions` describes it, without its times and its current value. */
export interface PermissionDefinition {
  readonly id: string
  readonly type: 'role' | 'scope'
  readonly title: string
  readonly description: string
  readonly dataType: PermissionKind['dataType']
  readonly availableValues: readonly string[]
  readonly defaultValue: PermissionValue
}

/** Every permission that a role can have, by id. */
export const rolePermissions: ReadonlyMap<string, PermissionDefinition> = defineAll('role', roleTable)

/** Every permission that a scope of a group can have, by id; the scopes differ in their defaults. */
export const scopePermissions: Readonly<Record<GroupScope, ReadonlyMap<string, PermissionDefinition>>> = {
  admin: defineAll('scope', scopeTable, deniedByDefault.admin),
  moderator: defineAll('scope', scopeTable, deniedByDefault.moderator),
  participant: defineAll('scope', scopeTable, deniedByDefault.participant),
}

/** The default of a permission for a scope of a group. */
export function defaultScopePermission(key: ScopePermissionKey, scope: GroupScope): PermissionValue {
  return deniedByDefault[scope].includes(key) ? 'deny' : scopeTable[key][1].defaultValue
}

/**
 * Returns why a permission cannot be set, or undefined if it can: the key must exist, and it must take the value. List
 * keys take an array of strings, or a string with one or several values separated by commas; the others take one of
 * their values. Values are stored in the form given.
 */
export function checkPermissionValue(type: 'role' | 'scope', key: string, value: unknown): string | undefined {
  const table: Readonly<Record<string, PermissionRow>> = type === 'role' ? roleTable : scopeTable
  const kind = Object.hasOwn(table, key) ? table[key]?.[1] : undefined
  if (!kind) return `${clip(key)} is not a permission of a ${type}`
  return kind.dataType === 'string' ? checkChoice(key, kind, value) : checkList(key, kind, value)
}

function checkChoice(key: string, kind: PermissionKind, value: unknown): string | undefined {
  if (typeof value === 'string' && kind.availableValues.includes(value)) return undefined
  return `${key} takes one of ${kind.availableValues.join(', ')}`
}

function checkList(key: string, kind: PermissionKind, value: unknown): string | undefined {
  if (!isPermissionValue(value)) return `${key} takes a string or an array of strings`
  const values = splitValues(value)
  if (typeof value === 'string' && values.length === 0) {
    return `${key} takes at least one value; set an empty array to restrict nothing`
  }
  if (values.length > limits.permissionValues) return `${key} takes at most ${limits.permissionValues} values`

  const wrong = values.find((single) => !takes(kind, single))
  if (wrong === undefined) return undefined
  return `${key} takes ${describeValues(kind)}, not ${JSON.stringify(clip(wrong))}`
}

function isPermissionValue(value: unknown): value is PermissionValue {
  return typeof value === 'string' || (Array.isArray(value) && value.every((single) => typeof single === 'string'))
}

function takes(kind: PermissionKind, value: string): boolean {
  if (kind.availableValues.length > 0) return kind.availableValues.includes(value)
  if (value.trim() === '' || value.includes('\0') || value.length > limits.permissionValueLength) return false
  return kind !== mimeTypes || /^[^\s/]+\/[^\s/]+$/.test(value)
}

function describeValues(kind: PermissionKind): string {
  if (kind.availableValues.length > 0) return `one or more of ${kind.availableValues.join(', ')}`
  if (kind === mimeTypes) return 'mime types'
  return `texts of 1 to ${limits.permissionValueLength} characters`
}

function clip(text: string): string {
  return text.length > 100 ? `${text.slice(0, 100).toWellFormed()}…` : text
}

function defineAll(
  type: 'role' | 'scope',
  table: Readonly<Record<string, PermissionRow>>,
  denied: readonly string[] = [],
): ReadonlyMap<string, PermissionDefinition> {
  return new Map(
    Object.entries(table).map(([id, [title, { dataType, availableValues, defaultValue, explanation }]]) => [
      id,
      {
        id,
        type,
        title,
        description: `${title}. ${explanation}`,
        dataType,
        availableValues,
        defaultValue: denied.includes(id) ? 'deny' : defaultValue,
      },
    ]),
  )
}
