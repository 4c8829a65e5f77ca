import { erasable, untouched } from '../../chat/erasure.ts'

export const tables = [
  erasable('group_retention', { guid: 'guid' }),
  erasable('retention_holds', { uids: ['uid'], conversation: 'conversation' }),
  untouched('retention_progress', 'it holds positions'),
]
