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
  settle,
  settleGroupReceipts,
  startConversations,
  suspendMembers,
} from './membership.ts'
export { conversationId } from './naming.ts'
