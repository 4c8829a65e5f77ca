import type { ConversationKind } from './kind.ts'
/** What names a conversation: the two uids of a one-to-one one in byte order, or the guid and ''. */
export type ConversationParts = readonly [first: string, second: string]

/** Two uids in the order in which they name their conversation: that of bytes. */
export function orderPair(a: string, b: string): ConversationParts {
  // Identifiers are ASCII, so comparing UTF-16 code units is comparing bytes.
  return a <= b ? [a, b] : [b, a]
}

/** The conversation in which a user writes to a user or a group. */
export function partsOf({
  kind,
  sender,
  receiver,
}: {
  readonly kind: ConversationKind
  readonly sender: string
  readonly receiver: string
}): ConversationParts {
  return kind === 'group' ? [receiver, ''] : orderPair(sender, receiver)
}

/** What a conversation is called on the wire: a name, not a key (`a` with `b_user_c` and `a_user_b` with `c` look alike). */
export function conversationId(kind: ConversationKind, a: string, b: string): string {
  return kind === 'group' ? `group_${a}` : orderPair(a, b).join('_user_')
}

/** Stands in no uid. */
const ofTheFormer = '~'

const longestUid = 100

/**
 * What a uid becomes where its former holder left something that stays, once the uid is somebody else's: nobody can have
 * it, so nobody is taken for them.
 * @param times how often the uid was removed for good
 */
export function formerUid(uid: string, times: number): string {
  return `${uid}${ofTheFormer}${times}`
}

/** A uid as somebody can have it, made of that of a former holder; others stay as they are. */
export function givableUid(uid: string): string {
  const end = uid.indexOf(ofTheFormer)
  if (end === -1) return uid
  const suffix = `-former-${uid.slice(end + 1)}`
  return `${uid.slice(0, Math.min(end, longestUid - suffix.length))}${suffix}`
}

/** The uid as it was and is shown, also of its former holders. */
export function shownUid(uid: string): string {
  const end = uid.indexOf(ofTheFormer)
  return end === -1 ? uid : uid.slice(0, end)
}
