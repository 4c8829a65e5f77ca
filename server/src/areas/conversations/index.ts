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
export {
  publishRisen,
  type RisenRow,
  settle,
  settleAndTell,
  settleGroupReceipts,
  type ToldOfAll,
  toldOfAllBy,
} from './settle.ts'
