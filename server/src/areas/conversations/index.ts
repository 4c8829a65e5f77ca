export { type FoundConversation, findGroupConversation, findNamedConversations, findUserConversation } from './find.ts'
export {
  createGroupConversation,
  createGroupConversations,
  type GroupSide,
  joinConversation,
  joinConversations,
  leaveConversation,
  lockConversation,
  lockConversations,
  resumeMembers,
  startConversations,
  suspendMembers,
} from './membership.ts'
export { conversationId } from './naming.ts'
export { settle, settleGroupReceipts } from './settle.ts'
