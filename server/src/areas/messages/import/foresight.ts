import { kindSql } from '../../../chat/kind.ts'
import { partsOf } from '../../../chat/naming.ts'
import type { Queryable } from '../../../store/database.ts'
import { statement } from '../../../store/statement.ts'
import { readKnown } from './known.ts'
import { type ImportRefusal, idsByMuid, type NamedConversation, nameOf, planImport } from './plan.ts'
import type { ImportRow } from './row.ts'

/** What the writer would refuse of some of the rows, by row, as things stood when they were read. */
export interface Foresight {
  (rows: readonly ImportRow[]): ReadonlyMap<ImportRow, ImportRefusal>
  /** The id of the message that has the muid of a row already. */
  holderOf(row: ImportRow): number | undefined
}

/**
 * Reads what the writer will decide by. Nothing is locked and the writer decides again: this is for messages that bring
 * users or groups along, which are made before.
 * @param rows of one app
 */
export async function readForesight(on: Queryable, appId: number, rows: readonly ImportRow[]): Promise<Foresight> {
  const known = await readKnown(on, rows)
  const stored = await readConversations(on, appId, [...new Set(known.map(({ conversation }) => conversation))])
  const byName = new Map(stored.map((found) => [nameOf(found, [found.first, found.second]), found]))
  for (const row of rows) {
    const [first, second] = partsOf(row)
    const name = nameOf(row, [first, second])
    // Those in which no message is known need no more than a key that no other has.
    if (!byName.has(name)) byName.set(name, { appId, key: -byName.size - 1, kind: row.kind, first, second })
  }
  const conversations = [...byName.values()]
  const foresee = (some: readonly ImportRow[]) => {
    const plan = planImport(some, conversations, known)
    return new Map(
      some.flatMap((row, place): Array<[ImportRow, ImportRefusal]> => {
        const planned = plan[place]
        return typeof planned === 'string' ? [[row, planned]] : []
      }),
    )
  }
  return Object.assign(foresee, { holderOf: idsByMuid(known) })
}

const select = statement(`
  select c.app_id as "appId", c.key, ${kindSql('c.kind')} as kind, c.first, c.second
  from conversations c
  where c.app_id = $1
  and c.key = any($2::bigint[])`)

async function readConversations(on: Queryable, appId: number, keys: readonly number[]): Promise<NamedConversation[]> {
  return keys.length === 0 ? [] : on.query<NamedConversation>(select, [appId, keys])
}
