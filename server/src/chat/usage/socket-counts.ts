import type { Queryable } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'
import { minuteMs, type SharedClock, secondMs } from './clock.ts'

/** Open sockets of this process, by app and second. */
export interface SocketCounts {
  /** Once a second. */
  sample(appId: number, open: number): void
  write(on: Queryable): Promise<void>
}

interface Minute {
  readonly appId: number
  readonly minute: number
  readonly counts: number[]
  isWritten: boolean
}

const upsert = statement(`
  insert into usage_sockets (app_id, minute, process, counts)
  select c.app_id, c.minute, $1::uuid, c.counts
  from json_to_recordset($2::json) as c(app_id int, minute bigint, counts int[])
  order by c.app_id, c.minute
  on conflict (app_id, minute, process) do update
  set counts = excluded.counts`)

export function createSocketCounts(clock: SharedClock, process: string): SocketCounts {
  const minutes = new Map<string, Minute>()

  return {
    sample(appId, open) {
      const now = clock.now()
      const number = Math.floor(now / minuteMs)
      const second = Math.floor((now % minuteMs) / secondMs)
      const key = `${appId} ${number}`
      let minute = minutes.get(key)
      if (minute === undefined) {
        if (open === 0) return
        minute = { appId, minute: number, counts: Array<number>(60).fill(0), isWritten: false }
        minutes.set(key, minute)
      }
      // Two looks within a second: the greater one counts.
      minute.counts[second] = Math.max(minute.counts[second] as number, open)
      minute.isWritten = false
    },
    async write(on) {
      const due = [...minutes.values()].filter(({ isWritten }) => !isWritten)
      if (due.length > 0) {
        for (const minute of due) minute.isWritten = true
        const rows = due.map(({ appId, minute, counts }) => ({ app_id: appId, minute, counts }))
        try {
          await on.query(upsert, [process, JSON.stringify(rows)])
        } catch (error) {
          for (const minute of due) minute.isWritten = false
          throw error
        }
      }
      const present = Math.floor(clock.now() / minuteMs)
      for (const [key, { minute, isWritten }] of minutes) if (isWritten && minute < present) minutes.delete(key)
    },
  }
}
