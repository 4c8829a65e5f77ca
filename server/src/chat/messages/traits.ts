import type { fileKinds } from '@parley/contract'

/**
 * Bits of `messages.traits`: what the filters of message lists ask for, and what hangs on a message in other tables, so
 * that a page asks them only for messages that have any.
 */
export const traits = {
  attachments: 1,
  image: 2,
  video: 4,
  audio: 8,
  file: 16,
  links: 32,
  mentions: 64,
  reactions: 128,
  replies: 256,
  pinned: 512,
  saved: 1024,
  /** Somebody follows, or followed, its thread. */
  followed: 2048,
  /** Moderation looked at it. Without one of the next two it was approved. */
  moderated: 4096,
  /** Moderation holds it until somebody has decided: it exists for its sender alone. */
  pending: 8192,
  /** Moderation stopped it: it exists for its sender alone. */
  disapproved: 16_384,
  /** Moderation held it for a while; `message_moderation` tells since when. */
  released: 32_768,
} as const

/** The bits of what moderation keeps from everybody but the sender. */
export const heldTraits = traits.pending | traits.disapproved

/** Whether moderation holds a message. */
export function isHeld(message: { readonly traits: number }): boolean {
  return (message.traits & heldTraits) !== 0
}

/** The bits that come from what a message says; the others stay when it is edited. */
export const contentTraits =
  traits.attachments | traits.image | traits.video | traits.audio | traits.file | traits.links | traits.mentions

export type AttachmentKind = (typeof fileKinds)[number]

/** What bits depend on: the type of a message, its `data`, and the uids that it mentions. */
interface Saying {
  readonly type: string
  readonly data: Readonly<Record<string, unknown>>
  readonly mentioned: readonly string[]
}

const link = /\b(?:https?:\/\/|www\.)[^\s]/i

/** The bits of a message with this content. */
export function traitsOf({ type, data, mentioned }: Saying): number {
  let bits = mentioned.length > 0 ? traits.mentions : 0
  for (const attachment of attachmentsOf(data)) bits |= traits.attachments | traits[kindOf(type, attachment)]
  if (typeof data.text === 'string' && link.test(data.text)) bits |= traits.links
  return bits
}

/** The attachments of a message that are objects; what else stands there is no attachment. */
export function attachmentsOf(data: Readonly<Record<string, unknown>>): ReadonlyArray<Record<string, unknown>> {
  if (!Array.isArray(data.attachments)) return []
  return data.attachments.filter((attachment) => typeof attachment === 'object' && attachment !== null)
}

/** By the attachment's MIME type, else by the type of the message. */
function kindOf(type: string, attachment: Readonly<Record<string, unknown>>): AttachmentKind {
  const { mimeType } = attachment
  const major = typeof mimeType === 'string' ? mimeType.split('/')[0]?.toLowerCase() : type
  return major === 'image' || major === 'video' || major === 'audio' ? major : 'file'
}
