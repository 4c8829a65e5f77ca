import type { Log } from '../../log.ts'
import type { Database } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'
import { createUpkeep, type Upkeep } from '../outbound/upkeep.ts'
import { webhookEndpoints } from './endpoints.ts'

const removeOld = statement(`
  delete from webhook_deliveries
  where ctid in (
    select ctid
    from webhook_deliveries
    where created_at < $1
    limit 2000
    for update skip locked
  )
  returning id`)

/** @param retention seconds that deliveries are kept */
export function createWebhookUpkeep(database: Database, log: Log, retention: number): Upkeep {
  return createUpkeep({
    ...{ database, log, endpoints: webhookEndpoints },
    async removeSome() {
      return (await database.query(removeOld, [Math.floor(Date.now() / 1000) - retention])).length
    },
  })
}
