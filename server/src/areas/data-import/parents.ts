import type { ImportMessage } from '@parley/contract'
import type { Queryable } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'
import * as errors from './errors.ts'
import { type Failure, refuse } from './outcomes.ts'

const select = statement(`
  select m.muid, m.parent_id is not null as "isReply", c.kind, c.first, c.second
  from unnest($2::text[]) as wanted(muid)
  join messages m on m.app_id = $1 and m.muid = wanted.muid
  join conversations c on c.app_id = m.app_id and c.key = m.conversation`)

interface Stored {
  readonly muid: string
  readonly isReply: boolean
  readonly kind: 1 | 2
  readonly first: string
  readonly second: string
}

/**
 * Which messages cannot be replies to what they name, so that nothing is made for them. The writer decides under its
 * locks; this is for those that bring users or groups along, which are made before.
 */
export async function refuseOrphans(
  on: Queryable,
  appId: number,
  records: readonly ImportMessage[],
): Promise<ReadonlyMap<number, Failure>> {
  const refused = new Map<number, Failure>()
  const wanted = records.flatMap(({ parentMuid }) => parentMuid ?? [])
  if (wanted.length === 0) return refused
  const stored = await on.query<Stored>(select, [appId, [...new Set(wanted)]])
  for (const [place, record] of records.entries()) {
    const { muid, parentMuid } = record
    if (parentMuid === undefined) continue
    const here = stored.find((message) => message.muid === parentMuid && isIn(message, record))
    if (here?.isReply === true) refused.set(place, refuse(errors.parentIsReply(parentMuid)))
    if (here !== undefined) continue
    const sent = records.find((other) => other.muid === parentMuid)
    if (sent === undefined || !stored.every((message) => message.muid !== parentMuid)) {
      refused.set(place, refuse(errors.parentElsewhere(muid, parentMuid)))
    }
  }
  return refused
}

function isIn({ kind, first, second }: Stored, { sender, receiver, receiverType }: ImportMessage): boolean {
  const [from, to] = [sender.toLowerCase(), receiver.toLowerCase()]
  if (receiverType === 'group') return kind === 2 && first === to
  return kind === 1 && ((first === from && second === to) || (first === to && second === from))
}
