import {
  type AnswerOf,
  type ImportKind,
  importGroups,
  importMembers,
  importMessages,
  importOthers,
  importUsers,
} from '@parley/contract'
import { Serialized, serve } from '../../call.ts'
import type { App } from '../../chat/identity.ts'
import { toJson } from '../../chat/json.ts'
import type { Context } from '../../context.ts'
import { mapInTurns } from '../../pauses.ts'
import { storeGroups } from './groups.ts'
import { storeMembers } from './members.ts'
import { type StoredMessage, storeMessagesAs } from './messages.ts'
import { importOthers as storeOthers } from './others.ts'
import type { Outcome } from './outcomes.ts'
import { importRecords, type RecordOf } from './records.ts'
import { storeUsers } from './users.ts'

const takesRecords = { takesRecords: true }

export const operations = [
  serve(
    importUsers,
    async (call, context) => ({ data: await importAll('users', call, context, storeUsers) }),
    takesRecords,
  ),
  serve(
    importGroups,
    async (call, context) => ({ data: await importAll('groups', call, context, storeGroups) }),
    takesRecords,
  ),
  serve(
    importMembers,
    async (call, context) => ({ data: await importAll('members', call, context, storeMembers) }),
    takesRecords,
  ),
  serve(
    importMessages,
    async (call, context) =>
      writeOutcomes(await importAll('messages', call, context, storeMessagesAs(call.query.idsOnly === true))),
    takesRecords,
  ),
  serve(
    importOthers,
    async ({ app, body }, context) => ({
      data: await storeOthers(context, app.appId, body.records, context.config.importMaxRecords, (records) =>
        recordImport(context, app, 'records', records),
      ),
    }),
    takesRecords,
  ),
]

/** Before the import, which is many transactions: there is none without an entry. */
async function recordImport(context: Context, app: App, kind: ImportKind | 'records', records: number): Promise<void> {
  await context.audit.record(context.database, app.appId, {
    action: 'data_imported',
    type: 'app',
    target: app.name,
    details: { kind, records },
  })
}

/** The answer about messages is written out record by record: it may be as large as the request. */
async function writeOutcomes(
  outcomes: Readonly<Record<string, Outcome<StoredMessage>>>,
): Promise<Serialized<AnswerOf<typeof importMessages>>> {
  const members = await mapInTurns(Object.keys(outcomes), (key, place) => {
    const outcome = writeOutcome(outcomes[key] as Outcome<StoredMessage>)
    return `${place === 0 ? '' : ','}${toJson(key)}:${outcome}`
  })
  // Put together once: what is put around a text that large has it copied once more.
  const text = ['{"data":{', ...members, '}}'].join('')
  return new Serialized(text as Serialized<AnswerOf<typeof importMessages>>['text'])
}

function writeOutcome(outcome: Outcome<StoredMessage>): string {
  if (!outcome.success) return toJson(outcome)
  const ignored = outcome.ignored === undefined ? '' : `,"ignored":${toJson(outcome.ignored)}`
  const { id, text } = outcome.data
  return `{"success":true,${text === undefined ? `"id":"${id}"` : `"data":${text}`}${ignored}}`
}

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
  return importRecords(kind, body[kind], context.config.importMaxRecords, async (records, now) => {
    await recordImport(context, app, kind, records.length)
    return store(context, app.appId, records, now)
  })
}
