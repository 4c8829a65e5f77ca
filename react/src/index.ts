/** Chat for React: hooks over the live store of `@parley/client`, and components with a look of their own. */
export { Announcer } from './Announcer.tsx'
export { Avatar } from './Avatar.tsx'
export { Chat, type ChatProps, ConversationView } from './Chat.tsx'
export { Composer, type ComposerProps } from './Composer.tsx'
export { ConnectionBar } from './ConnectionBar.tsx'
export { ConversationItem, ConversationList, type ConversationListProps, previewOf } from './ConversationList.tsx'
export { type Components, ParleyProvider, type ParleyProviderProps } from './context.tsx'
export { type Piece, piecesOf } from './format.ts'
export * from './hooks.ts'
export { MessageItem, PendingItem } from './MessageItem.tsx'
export { MessageList, type MessageListProps, type Sought } from './MessageList.tsx'
export { NotificationsButton, type NotificationsButtonProps } from './NotificationsButton.tsx'
export {
  MembersView,
  NewChat,
  Panel,
  SearchView,
  type SearchViewProps,
  ThreadView,
  type ThreadViewProps,
} from './Panels.tsx'
export type * from './props.ts'
export { english, type Texts } from './texts.ts'
