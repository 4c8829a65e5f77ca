import type { Database } from '../store/database.ts'
import { providerEndpoints } from './notifications/index.ts'
import { dropLeasesOf } from './outbound/lease.ts'
import { webhookEndpoints } from './webhooks/index.ts'

/**
 * Frees what processes held that are gone. Only for one who knows that no others serve this database, as at the start of
 * a service with a database of its own.
 */
export async function dropLeases(database: Database): Promise<void> {
  await Promise.all([webhookEndpoints, providerEndpoints].map((endpoints) => dropLeasesOf(database, endpoints)))
}
