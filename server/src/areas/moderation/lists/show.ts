import { createHash } from 'node:crypto'
import type { KeywordList, KeywordListRevision } from '@parley/contract'
import type { App } from '../../../chat/identity.ts'
import { type JsonText, toJson } from '../../../chat/json.ts'
import type { ListRow } from '../../../chat/moderation/lists.ts'
import { revisionId } from '../revision-id.ts'

/** The member of an answer that holds the terms. */
const memberOf = {
  word: 'searchTerms',
  pattern: 'searchTerms',
  'sentence-similarity': 'disallowedSentences',
  prompt: 'prompts',
} as const

/** All of a revision but its terms. */
function describe(app: App, row: ListRow) {
  const { id, name, description, category, isCsv, username, password, createdAt, updatedAt, active, predefined } = row
  const url = category === 'custom-api' ? (JSON.parse(row.terms) as string[])[0] : undefined
  return {
    ...{ id, name },
    ...(description !== null && { description }),
    ...{ category, isCSV: isCsv },
    ...(url !== undefined && { url, basicAuthEnabled: password !== null }),
    ...(username !== null && { username }),
    ...{ createdAt, updatedAt, revisionId: revisionId(app, row), active },
    ...(predefined && { default: true }),
  }
}

/** A revision among others. */
export function showRevision(app: App, row: ListRow): KeywordListRevision {
  return { ...describe(app, row), terms: row.count }
}

/** A revision of a list in a response, written out: its terms are stored as they are answered, and may be very many. */
export function writeList(app: App, row: ListRow, more: object = {}): JsonText<KeywordList> {
  const { category } = row
  const text = toJson({ ...describe(app, row), ...more })
  if (category === 'custom-api') return text as JsonText<KeywordList>
  return `${text.slice(0, -1)},"${memberOf[category]}":${row.terms}}` as JsonText<KeywordList>
}

/** The same among others, where the contract shows more of how it is stored. */
export function writeListed(app: App, row: ListRow): JsonText<KeywordList> {
  const hash = createHash('sha256').update(`${app.appId} ${row.id}`).digest('hex')
  return writeList(app, row, { _id: hash.slice(0, 24), appId: row.predefined ? 'default' : app.name, __v: 0 })
}
