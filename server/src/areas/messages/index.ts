export { writeGroupAction } from './actions.ts'
export { purgeConversation } from './delete.ts'
export { createMessageWriter, type MessageWriter } from './write/writer.ts'
