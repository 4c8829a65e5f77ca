import type { Message } from '@parley/contract'
import { createBetween, type Entities } from '../../../chat/messages/entities.ts'
import { type MessageView, renderMessage } from '../../../chat/messages/render.ts'
import type { ImportRow } from './row.ts'
import type { ImportResult } from './write.ts'

/** Makes the answers for imported messages, with the times that their records gave. */
export function createImportedView(
  entities: Entities,
): (row: ImportRow, stored: Extract<ImportResult, { id: number }>) => Message {
  const between = createBetween(entities)
  return (row, { id, parentId }) => {
    // One literal, as in `viewOfNew`: to spread the row costs more than all the rest of its answer.
    const view: MessageView = {
      id,
      muid: row.muid,
      sender: row.sender,
      kind: row.kind,
      receiver: row.receiver,
      category: row.category,
      type: row.type,
      data: row.data,
      parentId,
      quotedId: null,
      tags: row.tags,
      sentAt: row.sentAt,
      updatedAt: Math.max(row.sentAt, row.editedAt ?? 0, row.deletedAt ?? 0),
      deliveredAt: row.deliveredAt,
      readAt: row.readAt,
      editedAt: row.editedAt,
      editedBy: row.editedAt === null ? null : row.sender,
      deletedAt: row.deletedAt,
      // In groups others may have deleted it.
      deletedBy: row.deletedAt === null || row.kind === 2 ? null : row.sender,
    }
    return renderMessage(view, between(row), { withTags: true })
  }
}
