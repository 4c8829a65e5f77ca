import { systemUid } from '../../../chat/apps.ts'
import { toJson } from '../../../chat/json.ts'
import { readErased } from '../../../chat/users/erased.ts'
import { showDeletedUser } from '../../../chat/users/rows.ts'
import type { Transaction } from '../../../store/database.ts'
import type { Secrets } from '../../../store/secrets.ts'
import type { ImportRow } from './row.ts'

const none: readonly never[] = []

type Shown = Readonly<Record<string, { readonly entity: Readonly<Record<string, unknown>> }>>

/**
 * Whom a row names beside those without whom it is not admitted: who edited, deleted and pinned the message, and whom an action
 * message shows. They may be unknown here.
 */
export function handsOf(
  {
    sender,
    category,
    editedBy,
    deletedBy,
    pin,
  }: Pick<ImportRow, 'sender' | 'category' | 'editedBy' | 'deletedBy' | 'pin'>,
  { entities }: { readonly entities?: Shown },
): readonly string[] {
  if (editedBy === null && deletedBy === null && pin === null && category !== 'action') return none
  const shown = ['by', 'on'].map((side) => uidOf(entities?.[side]?.entity))
  const named = [editedBy, deletedBy, pin?.by, ...shown].filter((uid) => typeof uid === 'string')
  return [...new Set(named)].filter((uid) => uid !== sender && uid !== systemUid)
}

function uidOf(entity: Readonly<Record<string, unknown>> | undefined): string | undefined {
  return typeof entity?.uid === 'string' ? entity.uid.toLowerCase() : undefined
}

/**
 * What rows are stored as where somebody in `hands` was erased: as an erasure leaves it. The message is somebody else's and comes.
 * @param isPresent whether somebody is there; they are held
 */
export async function forgetErased(
  tx: Transaction,
  secrets: Secrets,
  rows: readonly ImportRow[],
  isPresent: (appId: number, uid: string) => boolean,
): Promise<(row: ImportRow) => ImportRow> {
  const absent = new Map<number, string[]>()
  for (const { appId, hands } of rows) {
    if (hands.length === 0) continue
    const missing = hands.filter((uid) => !isPresent(appId, uid))
    if (missing.length > 0) absent.set(appId, [...(absent.get(appId) ?? []), ...missing])
  }
  const erased = new Map<number, ReadonlySet<string>>()
  for (const [appId, uids] of absent) erased.set(appId, await readErased(tx, secrets, appId, 'uid', uids))
  return (row) => withoutErased(row, erased.get(row.appId))
}

function withoutErased(row: ImportRow, erased: ReadonlySet<string> | undefined): ImportRow {
  if (erased === undefined || !row.hands.some((uid) => erased.has(uid))) return row
  const { editedBy, deletedBy, pin } = row
  return {
    ...row,
    editedBy: editedBy !== null && erased.has(editedBy) ? systemUid : editedBy,
    deletedBy: deletedBy !== null && erased.has(deletedBy) ? systemUid : deletedBy,
    pin: pin !== null && erased.has(pin.by) ? { ...pin, by: systemUid } : pin,
    data: row.category === 'action' ? toJson(showErased(JSON.parse(row.data), erased)) : row.data,
  }
}

function showErased(data: { readonly entities?: Shown }, erased: ReadonlySet<string>): Record<string, unknown> {
  if (data.entities === undefined) return data
  const sides = Object.entries(data.entities).map(([side, shown]) => {
    const uid = side === 'for' ? undefined : uidOf(shown.entity)
    return [side, uid !== undefined && erased.has(uid) ? { ...shown, entity: showDeletedUser(uid) } : shown] as const
  })
  return { ...data, entities: Object.fromEntries(sides) }
}
