/** Whose a conversation is: of two users, or of a group. Tables keep it as a smallint, 1 or 2. */
export type ConversationKind = 'user' | 'group'

/** The kind as tables keep it. */
export function storedKind(kind: ConversationKind): 1 | 2 {
  return kind === 'user' ? 1 : 2
}

/** The kind that a table keeps. */
export function readKind(stored: unknown): ConversationKind {
  return stored === 1 ? 'user' : 'group'
}

/** The kind that a column keeps, as SQL. */
export function kindSql(column: string): string {
  return `case ${column} when 1 then 'user' when 2 then 'group' end`
}
