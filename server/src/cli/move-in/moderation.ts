import path from 'node:path'
import { isJsonObject, type JsonRecord } from '../import/records.ts'
import { errorOf } from '../import/request.ts'
import type { Carrying } from './carry-over.ts'
import { readRecord } from './lists.ts'
import { readLines } from './ndjson.ts'
import type { Remote } from './remote.ts'
import { sourceFiles } from './state.ts'

/** What moderation of the source is made of, in the order in which it can be made: rules name lists. */
const kinds = [
  {
    kind: 'moderationList',
    at: '/moderation/keywords',
    members: ['id', 'name', 'description', 'category', 'searchTerms', 'disallowedSentences', 'prompts', 'url'],
  },
  { kind: 'moderationReason', at: '/moderation/reasons', members: ['id', 'name', 'description'] },
  {
    kind: 'moderationRule',
    at: '/moderation/rules',
    members: ['id', 'name', 'description', 'filters', 'conditions', 'exceptions', 'action'],
  },
] as const

/** Lists, reasons and rules of the app itself; those that every app has stay as they are here. */
export async function readModeration(source: Remote): Promise<JsonRecord[]> {
  const found: JsonRecord[] = []
  for (const { kind, at } of kinds) {
    const { status, body } = await source.get(`${at}?limit=100`, { expected: [400, 403, 404] })
    const rows = status === 200 && Array.isArray(body.data) ? body.data.filter(isJsonObject) : []
    for (const row of rows) {
      if (row.default === true || row.appId === 'default') continue
      // A list among others may leave its terms out.
      const whole = await readRecord(source, `${at}/${encodeURIComponent(String(row.id))}`)
      found.push({ kind, row: whole ?? row })
    }
  }
  return found
}

/** Makes them in the target. Rules are switched off, so that nothing is judged while the move follows. Can be repeated. */
export async function carryModeration({ target, folder, notices, counts }: Carrying): Promise<void> {
  const rows: { readonly kind: unknown; readonly row: JsonRecord }[] = []
  for await (const { kind, row } of readLines(path.join(folder, sourceFiles.app)))
    if (isJsonObject(row)) rows.push({ kind, row })
  for (const { kind, at, members } of kinds)
    for (const { row } of rows.filter((one) => one.kind === kind)) {
      const known = members.filter((name) => row[name] !== undefined).map((name) => [name, row[name]])
      const record = { ...Object.fromEntries(known), ...(kind === 'moderationRule' && { enabled: false }) }
      const answer = await target.send('POST', at, record, { expected: [400, 403, 404, 409] })
      const { code } = errorOf(answer.body)
      if (answer.status === 200 || /_ALREADY_EXISTS$/.test(code)) {
        counts[kind] = (counts[kind] ?? 0) + 1
        if (kind === 'moderationRule' && row.enabled === true) notices.add('rule-switched-off', String(row.id))
      } else notices.add('moderation-refused', `${kind} ${row.id}: ${code}`)
    }
}
