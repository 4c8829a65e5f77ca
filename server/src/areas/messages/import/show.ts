import type { Message } from '@parley/contract'
import { createBetween, type Entities } from '../../../chat/messages/entities.ts'
import { renderMessage } from '../../../chat/messages/render.ts'
import type { ImportRow } from './row.ts'
import type { ImportResult } from './write.ts'

/** Makes the answers for imported messages, with the times that their records gave. */
export function createImportedView(
  entities: Entities,
): (row: ImportRow, stored: Extract<ImportResult, { id: number }>) => Message {
  const between = createBetween(entities)
  return (row, { id, parentId }) => {
    const view = {
      ...row,
      id,
      parentId,
      quotedId: null,
      updatedAt: Math.max(row.sentAt, row.editedAt ?? 0, row.deletedAt ?? 0),
      editedBy: row.editedAt === null ? null : row.sender,
      // In groups others may have deleted it.
      deletedBy: row.deletedAt === null || row.kind === 2 ? null : row.sender,
    }
    return renderMessage(view, between(row), { withTags: true })
  }
}
