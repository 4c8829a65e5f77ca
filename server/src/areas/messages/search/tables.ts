import { untouched } from '../../../chat/erasure.ts'

export const tables = [
  untouched('search_entries', 'triggers take out what is edited or deleted'),
  untouched('search_progress', 'names no message'),
]
