import { statsBucketMs } from '@parley/contract'
import type { Queryable } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'
import type { SharedClock } from './clock.ts'

/** Messages and receipts of this process, counted in memory by app and five minutes. */
export interface MessageCounts {
  sent(appId: number): void
  /** Marks rose. */
  received(appId: number, rose: { readonly delivered: boolean; readonly read: boolean }): void
  /** Writes what has changed. Where it fails, it is written the next time. */
  write(on: Queryable): Promise<void>
}

interface Counted {
  readonly appId: number
  readonly bucket: number
  sent: number
  delivered: number
  read: number
  isWritten: boolean
}

/** As they stand: what an earlier write left is of the same process. */
const upsert = statement(`
  insert into usage_messages (app_id, bucket, process, sent, delivered, read)
  select c.app_id, c.bucket, $1::uuid, c.sent, c.delivered, c.read
  from unnest($2::int[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[]) as c(app_id, bucket, sent, delivered, read)
  order by c.app_id, c.bucket
  on conflict (app_id, bucket, process) do update
  set sent = excluded.sent,
    delivered = excluded.delivered,
    read = excluded.read`)

/** @param process names this process */
export function createMessageCounts(clock: SharedClock, process: string): MessageCounts {
  const counts = new Map<string, Counted>()

  const countOf = (appId: number): Counted => {
    const bucket = Math.floor(clock.now() / statsBucketMs)
    const key = `${appId} ${bucket}`
    let counted = counts.get(key)
    if (counted === undefined) {
      counted = { appId, bucket, sent: 0, delivered: 0, read: 0, isWritten: false }
      counts.set(key, counted)
    }
    counted.isWritten = false
    return counted
  }
  const forgetPast = () => {
    const present = Math.floor(clock.now() / statsBucketMs)
    for (const [key, { bucket, isWritten }] of counts) if (isWritten && bucket < present) counts.delete(key)
  }

  return {
    sent(appId) {
      countOf(appId).sent++
    },
    received(appId, { delivered, read }) {
      if (!delivered && !read) return
      const counted = countOf(appId)
      if (delivered) counted.delivered++
      if (read) counted.read++
    },
    async write(on) {
      const due = [...counts.values()].filter(({ isWritten }) => !isWritten)
      if (due.length > 0) {
        for (const counted of due) counted.isWritten = true
        try {
          const column = (of: (counted: Counted) => number) => due.map(of)
          await on.query(upsert, [
            process,
            ...[column(({ appId }) => appId), column(({ bucket }) => bucket), column(({ sent }) => sent)],
            ...[column(({ delivered }) => delivered), column(({ read }) => read)],
          ])
        } catch (error) {
          for (const counted of due) counted.isWritten = false
          throw error
        }
      }
      forgetPast()
    },
  }
}
