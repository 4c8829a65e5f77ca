import type { Message } from '@parley/contract'
import { type Entities, messageEntities } from '../../../chat/messages/show.ts'
import { conversationId } from '../../../chat/naming.ts'
import type { ImportRow } from './row.ts'
import type { ImportResult } from './write.ts'

/**
 * Makes the answers for imported messages: as `showMessage` would, with the times that their records gave. Written for
 * a thousand messages at a time between the same people, whose entities are made once.
 */
export function createImportedView(
  entities: Entities,
): (row: ImportRow, stored: Extract<ImportResult, { id: number }>) => Message {
  const made = new Map<string, { conversation: string; entities: object }>()
  const between = (row: ImportRow) => {
    const key = `${row.kind} ${row.sender} ${row.receiver}`
    const known = made.get(key)
    if (known !== undefined) return known
    const conversation = conversationId(row.kind, row.kind === 2 ? row.receiver : row.sender, row.receiver)
    const fresh = { conversation, entities: messageEntities(row, entities, conversation) }
    made.set(key, fresh)
    return fresh
  }
  return (row, { id, parentId }) => {
    const place = between(row)
    const message: Message = {
      id: String(id),
      muid: row.muid,
      conversationId: place.conversation,
      sender: row.sender,
      receiverType: row.kind === 1 ? 'user' : 'group',
      receiver: row.receiver,
      category: row.category,
      type: row.type,
      data: { ...row.data, entities: place.entities },
      sentAt: row.sentAt,
      updatedAt: Math.max(row.sentAt, row.editedAt ?? 0, row.deletedAt ?? 0),
    }
    if (parentId !== null) message.parentId = String(parentId)
    if (row.tags.length > 0) message.tags = [...row.tags]
    if (row.deliveredAt !== null) message.deliveredAt = row.deliveredAt
    if (row.readAt !== null) message.readAt = row.readAt
    if (row.editedAt !== null) {
      message.editedAt = row.editedAt
      message.editedBy = row.sender
    }
    if (row.deletedAt !== null) {
      message.deletedAt = row.deletedAt
      // In groups others may have deleted it.
      if (row.kind === 1) message.deletedBy = row.sender
    }
    return message
  }
}
