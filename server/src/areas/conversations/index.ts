export { type FoundConversation, findGroupConversation, findNamedConversations, findUserConversation } from './find.ts'
export {
  createGroupConversation,
  type GroupSide,
  joinConversation,
  leaveConversation,
  lockConversation,
  lockConversations,
  resumeMembers,
  settle,
  settleGroupReceipts,
  suspendMembers,
} from './membership.ts'
export { conversationId } from './naming.ts'
