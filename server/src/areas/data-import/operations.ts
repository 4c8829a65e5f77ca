import { type ImportKind, importGroups, importMembers, importMessages, importUsers } from '@parley/contract'
import { serve } from '../../call.ts'
import type { App } from '../../chat/identity.ts'
import type { Context } from '../../context.ts'
import { storeGroups } from './groups.ts'
import { storeMembers } from './members.ts'
import { storeMessages } from './messages.ts'
import type { Outcome } from './outcomes.ts'
import { importRecords, type RecordOf } from './records.ts'
import { storeUsers } from './users.ts'

const takesRecords = { takesRecords: true }

export const operations = [
  serve(importUsers, (call, context) => importAll('users', call, context, storeUsers), takesRecords),
  serve(importGroups, (call, context) => importAll('groups', call, context, storeGroups), takesRecords),
  serve(importMembers, (call, context) => importAll('members', call, context, storeMembers), takesRecords),
  serve(importMessages, (call, context) => importAll('messages', call, context, storeMessages), takesRecords),
]

async function importAll<Kind extends ImportKind, Entity>(
  kind: Kind,
  { app, body }: { app: App; body: { readonly [K in Kind]?: unknown } },
  context: Context,
  store: (
    context: Context,
    appId: number,
    records: ReadonlyArray<RecordOf[Kind]>,
    now: number,
  ) => Promise<Array<Outcome<Entity>>>,
) {
  const data = await importRecords(kind, body[kind], context.config.importMaxRecords, (records, now) =>
    store(context, app.appId, records, now),
  )
  return { data }
}
