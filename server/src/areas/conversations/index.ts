export {
  createGroupConversation,
  joinConversation,
  leaveConversation,
  lockConversation,
  settleGroupReceipts,
} from './membership.ts'
export { conversationId } from './naming.ts'
