import { checkImport } from '@parley/contract'
import { checkRecords } from '../data-import/index.ts'
import { type AdminRoute, serveAdmin } from './call.ts'

export const operations: readonly AdminRoute[] = [
  serveAdmin(checkImport, async ({ app, body: { kind, records } }, { database, secrets }) => ({
    data: await checkRecords(database, secrets, app.appId, kind, records),
  })),
]
