import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Log } from '../../log.ts'
import { isConnectionFailure } from '../../store/connection.ts'
import type { Database } from '../../store/database.ts'
import { type DeliverOptions, deliver } from './deliver-round.ts'
import type { EndpointKey } from './endpoints.ts'
import type { Lease, Leases } from './lease.ts'
import type { AnyTarget, DueItem, Round } from './round.ts'

export interface DrainOptions<Row, Target, Item extends DueItem, Result> extends DeliverOptions {
  readonly database: Database
  readonly log: Log
  readonly leases: Leases<Row>
  /** As the log calls it. */
  readonly work: string
  begin(key: EndpointKey): Round<Row, Target, Item, Result>
}

/** How long to wait after a fault of our own. */
const afterFaultMs = 1_000

/**
 * Delivers what is due to one endpoint, until nothing is, it is paused or disabled, its turn is over, or `signal` says
 * stop. Somebody else who does so already is left alone.
 */
export async function drain<
  Row,
  Target extends AnyTarget,
  Item extends DueItem,
  Result extends { readonly id: number },
>(options: DrainOptions<Row, Target, Item, Result>, key: EndpointKey, signal: AbortSignal): Promise<void> {
  const lease = await options.leases.take(options.database, key, randomUUID())
  if (lease === undefined) return
  try {
    await deliver(options, options.begin(key), lease, signal)
  } catch (error) {
    if (!isConnectionFailure(error)) options.log.error({ err: error }, `${options.work} was interrupted`)
    await letGo(lease, signal)
  } finally {
    lease.close()
  }
}

/** While the database is away this cannot be written; otherwise nobody could go on before the lease runs out. */
async function letGo(lease: Lease<unknown>, signal: AbortSignal): Promise<void> {
  for (;;) {
    try {
      return await lease.interrupt(afterFaultMs)
    } catch (error) {
      if (signal.aborted || !lease.isHeld) throw error
      await delay(afterFaultMs)
    }
  }
}
