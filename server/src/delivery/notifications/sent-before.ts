import { mayBeShownSql } from '../../chat/notifications/shown.ts'
import { nowMs } from '../../store/clock.ts'
import type { Queryable } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'
import { takenBackSql } from './take-backs/shown.ts'

/** One device of a user, or, where the provider finds users by itself, the user. */
export interface Place {
  readonly uid: string
  readonly provider: number
  readonly digest: Buffer | null
}

interface Row extends Place {
  readonly id: number
  readonly message: number
  readonly hasArrived: boolean
  readonly isUnderWay: boolean
}

/** What was taken back is not shown. */
const select = statement(`
  select d.id, d.message, d.uid, d.provider, d.digest, d.status = 'delivered' or d.attempts > 0 as "hasArrived",
    coalesce(d.due_at <= ${nowMs}, false) as "isUnderWay"
  from notification_deliveries d
  where d.app_id = $1
  and d.message = any($2::bigint[])
  and d.channel = 'push'
  and d.reaction is null
  and ${mayBeShownSql}
  and not ${takenBackSql(`b.status = 'delivered'`)}`)

/** Where messages were sent to, so that something of them may be shown there. */
export interface SentBefore {
  /** Whether it was sent or waits to be. */
  isPlanned(message: number, place: Place): boolean
  /**
   * Whether something may be shown there; undefined while that is not known, since it is just being sent.
   * @param id of a later notification of the message
   */
  isShown(message: number, place: Place, id: number): boolean | undefined
}

export async function readSentBefore(on: Queryable, appId: number, messages: Iterable<number>): Promise<SentBefore> {
  const ids = [...new Set(messages)]
  const rows = ids.length === 0 ? [] : await on.query<Row>(select, [appId, ids])
  const byName = new Map<string, Row[]>()
  for (const row of rows) {
    const name = nameOf(row.message, row)
    byName.set(name, [...(byName.get(name) ?? []), row])
  }
  const find = (message: number, place: Place) => byName.get(nameOf(message, place)) ?? []
  return {
    isPlanned: (message, place) => find(message, place).length > 0,
    isShown(message, place, id) {
      const earlier = find(message, place).filter((row) => row.id < id)
      if (earlier.some(({ hasArrived }) => hasArrived)) return true
      return earlier.some(({ isUnderWay }) => isUnderWay) ? undefined : false
    },
  }
}

function nameOf(message: number, { uid, provider, digest }: Place): string {
  return `${message} ${provider} ${uid} ${digest?.toString('base64') ?? ''}`
}
