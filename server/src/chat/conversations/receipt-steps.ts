/**
 * `uid` of the receipt steps of a group as a whole: every member of it. The column is part of the key of a table that every
 * mark writes to, so it cannot be null, and a column that says it besides would widen each row; no user's uid is empty.
 */
export const everyMember = ''

/** What a step says of everything up to it, as its table keeps that. */
export const stepKinds = { delivered: 1, read: 2 } as const

export type StepKind = (typeof stepKinds)[keyof typeof stepKinds]
