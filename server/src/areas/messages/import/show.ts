import type { Message } from '@parley/contract'
import { type Entities, showMessage } from '../show.ts'
import type { ImportRow } from './row.ts'
import type { ImportResult } from './write.ts'

/** A message that was just imported, as answers show it, with the times that its record gave. */
export function showImported(
  row: ImportRow,
  { id, conversation, parentId }: Extract<ImportResult, { id: number }>,
  entities: Entities,
): Message {
  const { editedAt, deletedAt, sentAt, sender, kind } = row
  return showMessage(
    {
      ...row,
      id,
      conversation,
      parentId,
      quotedId: null,
      subjectId: null,
      tags: [...row.tags],
      mentioned: [...row.mentioned],
      updatedAt: Math.max(sentAt, editedAt ?? 0, deletedAt ?? 0),
      editedBy: editedAt === null ? null : sender,
      deletedBy: deletedAt === null || kind === 2 ? null : sender,
    },
    entities,
    { withTags: true },
  )
}
