import { listAuditLog } from '@parley/contract'
import { serve } from '../../call.ts'
import { listEntries } from './list.ts'

export const operations = [
  serve(listAuditLog, ({ app, query }, { database }) => listEntries(database, app.appId, query)),
]
