export { purgeConversation } from './delete.ts'
export { writeGroupAction } from './actions.ts'
export { createMessageWriter, type MessageWriter } from './write/writer.ts'
