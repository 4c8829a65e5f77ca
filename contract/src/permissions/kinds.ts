export type GroupScope = 'admin' | 'moderator' | 'participant'

/** The value of a permission. For a list key, a string is one value or several separated by commas. */
export type PermissionValue = string | readonly string[]

/** The kind of values a permission takes; several keys share one kind. */
export interface PermissionKind {
  readonly dataType: 'string' | 'stringArray' | 'rolesStringArray' | 'customStringArray'
  /** The possible values; empty if any value is allowed (role ids, custom types, MIME types). */
  readonly availableValues: readonly string[]
  readonly defaultValue: PermissionValue
  /** The second half of the description that the API shows. */
  readonly explanation: string
}

/** A row of a table of permissions: its title and the values it takes. */
export type PermissionRow = readonly [title: string, kind: PermissionKind]

export const allowOrDeny = {
  dataType: 'string',
  availableValues: ['allow', 'deny'],
  defaultValue: 'allow',
  explanation: 'allow or deny.',
} as const satisfies PermissionKind

/** Like `allowOrDeny`, with a third choice: with friends only. */
export const allowFriendsOrDeny = {
  dataType: 'string',
  availableValues: ['allow', 'deny', 'friends'],
  defaultValue: 'allow',
  explanation: 'allow, deny, or friends (allowed with friends only).',
} as const satisfies PermissionKind

export const allOrFriends = {
  dataType: 'string',
  availableValues: ['all', 'friends'],
  defaultValue: 'all',
  explanation: 'all or friends.',
} as const satisfies PermissionKind

export const whiteOrBlackList = {
  dataType: 'string',
  availableValues: ['allow', 'deny'],
  defaultValue: 'allow',
  explanation: 'allow: only the listed MIME types are allowed. deny: all others are allowed.',
} as const satisfies PermissionKind

export const roles = {
  dataType: 'rolesStringArray',
  availableValues: [],
  defaultValue: [],
  explanation: 'A list of role IDs; an empty list restricts nothing.',
} as const satisfies PermissionKind

export const customTypes = {
  dataType: 'customStringArray',
  availableValues: [],
  defaultValue: [],
  explanation: 'A list of custom types; an empty list restricts nothing.',
} as const satisfies PermissionKind

export const mimeTypes = {
  dataType: 'customStringArray',
  availableValues: [],
  defaultValue: [],
  explanation: 'A list of MIME types such as image/png, or image/* for all images; an empty list restricts nothing.',
} as const satisfies PermissionKind

export const receiverTypes = oneOrMoreOf('user', 'group')
export const messageCategories = oneOrMoreOf('message', 'custom')
export const messageTypes = oneOrMoreOf('text', 'image', 'audio', 'video', 'file')
export const callTypes = oneOrMoreOf('audio', 'video')
export const groupTypes = oneOrMoreOf('public', 'password', 'private')
/** Private groups cannot be joined: a member has to add the user. */
export const joinableGroupTypes = oneOrMoreOf('public', 'password')
export const scopes = oneOrMoreOf('admin', 'moderator', 'participant')

function oneOrMoreOf(...availableValues: string[]): PermissionKind {
  return {
    dataType: 'stringArray',
    availableValues,
    defaultValue: [],
    explanation: `One or more of ${availableValues.join(', ')}; an empty list restricts nothing.`,
  }
}
