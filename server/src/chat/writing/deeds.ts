import {
  type FeatureKey,
  type MessageKind,
  messageSendDenial,
  type Permissions,
  permissionAllows,
} from '@parley/contract'
import { attachmentsOf } from '../messages/traits.ts'

/** Which family of permissions a message needs: replies in threads have one of their own. */
export type SendKey = 'sendMessage' | 'sendThreadedMessage'

/** What somebody wants to do in a conversation: the permission that it needs, and what a message says. */
export type Deed =
  | {
      readonly key: SendKey
      /** Absent for what has no content of its own: typing, transient messages, pins. Then the plain permission counts. */
      readonly says?: MessageKind
    }
  | { readonly key: 'addReaction' }

/** The family of permissions of a message that stands in a thread, or does not. */
export function sendKeyOf(parentId: number | null | undefined): SendKey {
  return parentId == null ? 'sendMessage' : 'sendThreadedMessage'
}

/** What a message shows to those who judge it. */
export function messageKindOf(content: {
  readonly category: string
  readonly type: string
  readonly data: Readonly<Record<string, unknown>>
}): MessageKind {
  const { category, type, data } = content
  const attachments = attachmentsOf(data)
  // Without attachments, a media message names its file by `data.url` alone, which says nothing of its type.
  const isFileByUrl = category === 'message' && type !== 'text' && attachments.length === 0
  const mimeTypes = isFileByUrl
    ? ['']
    : attachments.map(({ mimeType }) => (typeof mimeType === 'string' ? mimeType : ''))
  return { category, type, mimeTypes }
}

/** Features that can be restricted by role and are the same as a permission. */
export const featureOf: Readonly<Partial<Record<Deed['key'], FeatureKey>>> = {
  sendMessage: 'createMessage',
  sendThreadedMessage: 'createMessageThread',
}

/** Does what is set on a role, or on a scope of a group, refuse it? By default all of it is allowed. */
export function isDenied(explicit: Permissions, deed: Deed): boolean {
  if (deed.key !== 'addReaction' && deed.says !== undefined) {
    return messageSendDenial(explicit, deed.key, deed.says, true) !== undefined
  }
  return !permissionAllows(explicit, deed.key, 'allow')
}
