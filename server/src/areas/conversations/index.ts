export { type FoundConversation, findGroupConversation, findNamedConversations, findUserConversation } from './find.ts'
export {
  createGroupConversation,
  joinConversation,
  leaveConversation,
  lockConversation,
  settleGroupReceipts,
} from './membership.ts'
export { conversationId } from './naming.ts'
