export type GroupScope = 'admin' | 'moderator' | 'participant'

/** What a permission is set to. A string under a list key is one value or several joined by commas. */
export type PermissionValue = string | readonly string[]

/** What kind of values a permission takes; several keys share one. */
export interface PermissionKind {
  readonly dataType: 'string' | 'stringArray' | 'rolesStringArray' | 'customStringArray'
  /** What can be chosen; empty where values are free (roles of the app, custom types, mime types). */
  readonly availableValues: readonly string[]
  readonly defaultValue: PermissionValue
  /** Second half of a description, for those who set permissions. */
  readonly explanation: string
}

/** A row of a table of permissions: the title, and what values it takes. */
export type PermissionRow = readonly [title: string, kind: PermissionKind]

export const allowOrDeny = {
  dataType: 'string',
  availableValues: ['allow', 'deny'],
  defaultValue: 'allow',
  explanation: 'Either allow or deny.',
} as const satisfies PermissionKind

/** Also stands for "only with friends". */
export const allowFriendsOrDeny = {
  dataType: 'string',
  availableValues: ['allow', 'deny', 'friends'],
  defaultValue: 'allow',
  explanation: 'Either allow or deny; friends allows it with friends only.',
} as const satisfies PermissionKind

export const allOrFriends = {
  dataType: 'string',
  availableValues: ['all', 'friends'],
  defaultValue: 'all',
  explanation: 'Either all or friends.',
} as const satisfies PermissionKind

export const whiteOrBlackList = {
  dataType: 'string',
  availableValues: ['allow', 'deny'],
  defaultValue: 'allow',
  explanation: 'With allow only the listed ones pass, with deny all but these.',
} as const satisfies PermissionKind

export const roles = {
  dataType: 'rolesStringArray',
  availableValues: [],
  defaultValue: [],
  explanation: 'Ids of roles; an empty list restricts nothing.',
} as const satisfies PermissionKind

export const customTypes = {
  dataType: 'customStringArray',
  availableValues: [],
  defaultValue: [],
  explanation: 'Types of your own; an empty list restricts nothing.',
} as const satisfies PermissionKind

export const mimeTypes = {
  dataType: 'customStringArray',
  availableValues: [],
  defaultValue: [],
  explanation: 'Such as image/png, or image/* for all images; an empty list restricts nothing.',
} as const satisfies PermissionKind

export const receiverTypes = oneOrMoreOf('user', 'group')
export const messageCategories = oneOrMoreOf('message', 'custom')
export const messageTypes = oneOrMoreOf('text', 'image', 'audio', 'video', 'file')
export const callTypes = oneOrMoreOf('audio', 'video')
export const groupTypes = oneOrMoreOf('public', 'password', 'private')
/** Private groups are not joined, one is added to them. */
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
