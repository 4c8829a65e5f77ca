export { createHookJudge } from './before.ts'
export { purgeConversation } from './delete.ts'
export { type ImportRow, toImportRow } from './import/row.ts'
export { createImportedView } from './import/show.ts'
export type { ImportResult } from './import/write.ts'

export { createMessageSearch, type MessageSearch } from './search/search.ts'
export { createMessageWriter, type MessageWriter } from './write/writer.ts'
