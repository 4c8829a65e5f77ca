import { availableParallelism } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import type { PaceName } from '../config/backup.ts'
import type { Pace } from '../media/steps.ts'
import type { ConnectionSettings } from '../store/connection.ts'
import { statement } from '../store/statement.ts'
import { connect } from './snapshot.ts'

/** What others have kept the database busy with so far, in milliseconds. */
export type ReadBusy = () => Promise<number>

/** As fast as it goes, whoever waits. */
const bytesAtFullPace = 1 << 20
/**
 * About a millisecond of reading or packing. A low priority does not help whoever wants the processor meanwhile: Linux lets what runs go on
 * to the end of its slice, some milliseconds.
 */
const bytesWhileGivingWay = 64 << 10

export const fullPace: Pace = { bytesAtOnce: bytesAtFullPace, step: (work) => work() }

/** Others are busy who keep the database busy for more than this of the time. A service that is at rest stays far below it. */
const busyShare = 0.05
const lookEveryMs = 1_000
/** Looks in a row at which others are at rest, before it goes as fast as it can. */
const calmLooks = 3

/**
 * What is taken of the machine while it gives way, but of one processor at most the half. More is over sooner, and costs others more: that
 * it takes long costs them next to nothing.
 */
const shareOfMachine = 0.1
/** The longest rest after a step: what had to wait for the processor took long, and did little. */
const longestRestMs = 25

interface PaceOptions {
  /** Absent: it does not look, and always gives way. */
  readonly readBusy?: ReadBusy | undefined
  readonly processors?: number
  readonly now?: () => number
  readonly rest?: (ms: number) => Promise<unknown>
  /** Ends the work at its next step. */
  readonly signal?: AbortSignal | undefined
}

/**
 * A pace that gives way: in small steps, with a rest after each, so that whoever is served finds a processor and a disk that are free. With
 * `readBusy` it does so only while others are busy, and at first, since it is not yet known whether they are.
 */
export function givingWay({
  readBusy,
  processors = availableParallelism(),
  now = () => performance.now(),
  rest = delay,
  signal,
}: PaceOptions): Pace {
  const share = Math.min(0.5, shareOfMachine * processors)
  let givesWay = true
  let calm = 0
  let seen: { readonly at: number; readonly busy: number } | undefined
  let looking: Promise<void> | undefined
  let turn: Promise<unknown> = Promise.resolve()

  const look = async (read: ReadBusy) => {
    const [before, at] = [seen, now()]
    seen = { at, busy: await read() }
    if (before === undefined) return
    calm = (seen.busy - before.busy) / (at - before.at) > busyShare ? 0 : calm + 1
    givesWay = calm < calmLooks
  }
  const lookWhereDue = (): Promise<void> | undefined => {
    if (looking !== undefined || readBusy === undefined) return looking
    if (seen !== undefined && now() - seen.at < lookEveryMs) return undefined
    looking = look(readBusy).finally(() => {
      looking = undefined
    })
    return looking
  }
  const inTurn = <Result>(work: () => Promise<Result>): Promise<Result> => {
    const done = turn.then(async () => {
      const from = now()
      try {
        return await work()
      } finally {
        if (givesWay) await rest(Math.min(longestRestMs, (now() - from) * (1 / share - 1)))
      }
    })
    turn = done.catch(() => {})
    return done
  }
  return {
    get bytesAtOnce() {
      return givesWay ? bytesWhileGivingWay : bytesAtFullPace
    },
    async step(work) {
      signal?.throwIfAborted()
      await lookWhereDue()
      return givesWay ? inTurn(work) : work()
    },
  }
}

const selectBusy = statement(`
  select active_time as busy
  from pg_stat_database
  where datname = current_database()`)

/**
 * Does something at the pace that was asked for. `auto` goes by how long statements ran in the database: whoever reads in one long
 * transaction is not counted before its end, and so does not take itself for somebody else.
 * @param signal ends the work at its next step
 */
export async function atPace<Result>(
  connection: ConnectionSettings,
  name: PaceName,
  work: (pace: Pace) => Promise<Result>,
  signal?: AbortSignal,
): Promise<Result> {
  if (name === 'full') return work(fullPace)
  if (name === 'gentle') return work(givingWay({ signal }))
  const client = await connect(connection, 'parley pace')
  try {
    return await work(givingWay({ readBusy: () => readBusy(client), signal }))
  } finally {
    await client.end()
  }
}

/** How long statements ran in this database so far, but for transactions that are not over, in milliseconds. */
export async function readBusy(client: pg.ClientBase): Promise<number> {
  const { rows } = await client.query<{ busy: number }>({ ...selectBusy })
  return rows[0]?.busy ?? 0
}
