import type { JsonRecord } from '../../import/records.ts'
import { digestOf } from '../digests.ts'
import { messageFacts, subjectOf } from '../facts.ts'
import { each, forEach } from '../for-each.ts'
import { noCounterpart } from '../ids.ts'
import { readSpan } from '../lists.ts'
import type { MoveState } from '../state.ts'
import { type Agreements, reconcile } from './both-ways.ts'
import { bring, takeNew } from './messages.ts'
import type { Sides } from './sides.ts'
import { isEcho, writtenBack } from './write-back.ts'

export interface Looking {
  readonly sides: Sides
  readonly state: MoveState
  readonly agreements: Agreements
  /** What was taken of messages that later looks will meet again, by their ids. */
  readonly taken: Map<string, { readonly digest: bigint; readonly at: number }>
}

/**
 * Takes messages that are new since a moment, and brings those that changed into their present state.
 * @param since epoch seconds
 * @returns how many messages were new, and taken
 */
export async function look({ sides, state, agreements, taken }: Looking, since: number): Promise<number> {
  const { source, ids, concurrency } = sides
  const hasCutOver = state.cutOver !== undefined
  const began = sides.now()
  const until = began + 60
  let found = 0
  const take = async (rows: JsonRecord[]) => {
    const fresh: JsonRecord[] = []
    const changed: JsonRecord[] = []
    for (const row of rows) {
      const id = String(row.id)
      const digest = digestOf([messageFacts(row), row.updatedAt, row.editedAt])
      const isKnown = taken.get(id)?.digest === digest
      taken.set(id, { digest, at: began })
      if (isKnown) continue
      if (ids.to(id) !== undefined) changed.push(row)
      else if (!hasCutOver || !(await isNoNews(sides, state, row))) fresh.push(row)
    }
    const refused = await takeNew(sides, fresh)
    found += fresh.length - refused.size
    // What it needs may come: the next look takes it for new again.
    for (const id of refused) taken.delete(id)
    await forEach(each(changed), concurrency, (row) =>
      hasCutOver
        ? reconcile(sides, agreements, String(row.id), state.cutOver as number)
        : bring(sides, row, ids.to(String(row.id)) as string),
    )
  }
  await readSpan(source, { from: since, to: until, done: false }, '&withTags=true', take)
  await readSpan(source, { from: 0, to: until, done: false }, `&withTags=true&updatedAt[from]=${since}`, take)
  for (const [id, { at }] of taken) if (at < began) taken.delete(id)
  return found
}

/** Once people write on both sides, the source tells of what the target did itself. */
async function isNoNews(sides: Sides, state: MoveState, row: JsonRecord): Promise<boolean> {
  const from = String(row.id)
  const back = await writtenBack(sides, state, row)
  if (back !== undefined) await sides.addIds([{ from, to: back }])
  else if (subjectOf(row) !== undefined || isEcho(state, row)) await sides.addIds([{ from, to: noCounterpart }])
  else return false
  return true
}
