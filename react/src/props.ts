import type { ConversationSummary, PendingMessage, ShownMessage } from '@parley/client'

export interface AvatarProps {
  readonly name: string
  readonly src?: string | undefined
  readonly isOnline?: boolean
}

export interface MessageProps {
  readonly message: ShownMessage
  readonly isOwn: boolean
  /** The one before is of the same sender and of the same minutes. */
  readonly isContinued: boolean
  readonly actions: MessageActions
}

/** What can be done with a message; missing where it cannot. */
export interface MessageActions {
  readonly react: (reaction: string, isOn: boolean) => void
  readonly quote?: () => void
  readonly openThread?: () => void
  readonly edit?: () => void
  readonly delete?: () => void
}

export interface PendingProps {
  readonly pending: PendingMessage
}

export interface ConversationItemProps {
  readonly summary: ConversationSummary
  readonly isSelected: boolean
}

export interface AttachmentProps {
  readonly attachment: {
    readonly url: string
    readonly name?: string
    readonly mimeType?: string
    readonly size?: number
  }
}
