import type { Database } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'
import type { EndpointKey, Endpoints } from './endpoints.ts'
import { type LeaseStatements, leaseMsOf, leaseStatements } from './lease-statements.ts'

/** How delivering to an endpoint has gone so far. */
export interface Health {
  /** Attempts that failed one after the other, up to now. */
  readonly failures: number
  /** Epoch milliseconds; null when the last attempt succeeded. */
  readonly failingSince: number | null
}

/** The right to deliver to one endpoint, that one process at a time has. */
export interface Lease<Row> {
  /** Who has it. */
  readonly holder: string
  /** Health at the beginning. */
  readonly health: Health
  /** False once it was not renewed in time: another process may have it soon. It does not come back. */
  readonly isHeld: boolean
  /** The endpoint as it is now, and how often it was asked to deliver; undefined when the lease or the endpoint is gone, or the app is paused. */
  look(): Promise<(Row & { readonly asked: number }) | undefined>
  writeHealth(health: Health): Promise<void>
  /** Ends it where nothing is due. @returns false when something has become due since `asked` was read */
  release(asked: number): Promise<boolean>
  /** Ends it where something is left to do. @param pauseMs how long nobody shall try */
  interrupt(pauseMs: number): Promise<void>
  /** Stops renewing it. */
  close(): void
}

/** Gives out the leases of a sort of endpoint. */
export interface Leases<Row> {
  /**
   * @returns undefined when another process has it, or it is paused; then a job begins when the pause is over. Also where its app
   * is paused: what waits is found again once that goes on
   */
  take(database: Database, key: EndpointKey, holder: string): Promise<Lease<Row> | undefined>
}

const renewMs = 2_000

/** @typeParam Row what the columns of the endpoints hold */
export function createLeases<Row>(endpoints: Endpoints): Leases<Row> {
  const statements = leaseStatements(endpoints)
  return {
    async take(database, { appId, endpoint }, holder) {
      const takenAt = performance.now()
      const [health] = await database.query<Health>(statements.take, [appId, endpoint, holder])
      if (health !== undefined) {
        return holdLease(database, endpoints, statements, [appId, endpoint, holder], health, takenAt)
      }
      await database.query(statements.wait, [appId, endpoint])
      return undefined
    },
  }
}

function holdLease<Row>(
  database: Database,
  endpoints: Endpoints,
  statements: LeaseStatements,
  names: readonly [appId: number, endpoint: number, holder: string],
  health: Health,
  takenAt: number,
): Lease<Row> {
  const leaseMs = leaseMsOf(endpoints)
  let validUntil = takenAt + leaseMs
  let isLost = false
  const renewing = setInterval(async () => {
    const startedAt = performance.now()
    // What fails here is tried again, and noticed by the lease running out.
    const renewed = await database.query(statements.renew, [...names]).catch(() => [])
    if (renewed.length > 0) validUntil = startedAt + leaseMs
  }, renewMs).unref()
  // What was left out meanwhile must not be overtaken by what comes later, so there is no way back.
  const isHeld = () => {
    isLost ||= performance.now() >= validUntil - endpoints.attemptMs
    return !isLost
  }
  return {
    health,
    holder: names[2],
    get isHeld() {
      return isHeld()
    },
    async look() {
      if (!isHeld()) return undefined
      const [row] = await database.query<Row & { asked: number }>(statements.look, [...names])
      return row
    },
    async writeHealth({ failures, failingSince }) {
      const [appId, endpoint] = names
      await database.query(statements.writeHealth, [appId, endpoint, failures, failingSince])
    },
    async release(asked) {
      const [row] = await database.query<{ released: number }>(statements.release, [...names, asked])
      return row?.released === 1
    },
    async interrupt(pauseMs) {
      await database.query(statements.interrupt, [...names, Math.ceil(pauseMs)])
    },
    close: () => clearInterval(renewing),
  }
}

/** Frees all leases of a sort of endpoint, whoever holds them. */
export async function dropLeasesOf(database: Database, { states, name }: Endpoints): Promise<void> {
  await database.query(
    statement(`
  update ${states}
  set leased_by = null,
    leased_until = 0
  where leased_by is not null
  returning ${name}`),
  )
}
