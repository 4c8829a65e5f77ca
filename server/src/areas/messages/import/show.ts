import type { Message } from '@parley/contract'
import type { JsonText } from '../../../chat/json.ts'
import { createBetweenWriter, type Entities } from '../../../chat/messages/entities.ts'
import { type MessageView, writeMessage } from '../../../chat/messages/render.ts'
import type { ImportRow } from './row.ts'
import type { ImportResult } from './write.ts'

/** Writes out imported messages for answers, with the times that their records gave. */
export function createImportedWriter(
  entities: Entities,
): (stored: Extract<ImportResult, { id: number }>) => JsonText<Message> {
  const between = createBetweenWriter(entities)
  // Actions of group events carry their own entities.
  const around = (row: ImportRow) => {
    const written = between(row)
    return row.category === 'action' && row.subjectMuid === null ? { ...written, entities: undefined } : written
  }
  return ({ row, id, parentId, quotedId }) => {
    // One literal, as in `viewOfNew`: to spread the row costs more than all the rest of its answer.
    const view: MessageView<JsonText> = {
      id,
      muid: row.muid,
      sender: row.sender,
      kind: row.kind,
      receiver: row.receiver,
      category: row.category,
      type: row.type,
      data: row.data,
      parentId,
      quotedId,
      tags: row.tags,
      sentAt: row.sentAt,
      updatedAt: Math.max(row.sentAt, row.editedAt ?? 0, row.deletedAt ?? 0),
      deliveredAt: row.deliveredAt,
      readAt: row.readAt,
      editedAt: row.editedAt,
      editedBy: row.editedBy,
      deletedAt: row.deletedAt,
      deletedBy: row.deletedBy,
    }
    return writeMessage(view, around(row), { withTags: true })
  }
}
