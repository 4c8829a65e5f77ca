/** What a conversation is called on the wire: a name, not a key (`a` with `b_user_c` and `a_user_b` with `c` look alike). */
export function conversationId(kind: 1 | 2, a: string, b: string): string {
  if (kind === 2) return `group_${a}`
  // Identifiers are ASCII, so this is byte order.
  return a <= b ? `${a}_user_${b}` : `${b}_user_${a}`
}
