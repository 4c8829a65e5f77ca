import { storedKind } from '../../../chat/kind.ts'
import type { ModerationRecords } from '../../../chat/moderation/records.ts'
import { createRecordset } from '../../../store/recordset.ts'
import type { NewMessageRow } from './row.ts'

/** A row of a batch, with what it is known by there. */
export interface BatchRow {
  readonly n: number
  readonly row: NewMessageRow
  /** What names its conversation. */
  readonly first: string
  readonly second: string
  /** Do several senders write into its conversation in this batch? */
  readonly bothWrite: boolean
}

/** What the batch statement takes of its rows, after the time ($1). */
export const sentRows = createRecordset<BatchRow>(
  [
    ['n', 'int', ({ n }) => n],
    ['app_id', 'int', ({ row }) => row.appId],
    ['sender', 'text', ({ row }) => row.sender],
    ['kind', 'smallint', ({ row }) => storedKind(row.kind)],
    ['receiver', 'text', ({ row }) => row.receiver],
    ['first', 'text', ({ first }) => first],
    ['second', 'text', ({ second }) => second],
    ['category', 'text', ({ row }) => row.category],
    ['type', 'text', ({ row }) => row.type],
    ['data', 'text', ({ row }) => row.data],
    ['muid', 'text', ({ row }) => row.muid],
    ['parent_id', 'bigint', ({ row }) => row.parentId],
    ['quoted_id', 'bigint', ({ row }) => row.quotedId],
    ['tags', 'text[]', ({ row }) => row.tags],
    ['mentioned', 'text[]', ({ row }) => row.mentioned],
    ['files', 'text[]', ({ row }) => row.files],
    ['traits', 'int', ({ row }) => row.traits],
    ['countable', 'boolean', ({ row }) => row.countable],
    ['as_app', 'boolean', ({ row }) => row.asApp],
    ['denied_scopes', 'int', ({ row }) => row.deniedScopes],
    ['permissions_version', 'bigint', ({ row }) => row.permissionsVersion],
    ['role_rules', 'text', ({ row }) => row.roleRules],
    ['subscribed', 'int', ({ row }) => row.subscribed.bits],
    ['both_write', 'boolean', ({ bothWrite }) => bothWrite],
  ],
  { first: 2 },
)

/** What the batch statement takes beside that of the messages that moderation has something to say of. */
export const judgedRows = createRecordset<{ readonly n: number; readonly records: ModerationRecords }>(
  [
    ['n', 'int', ({ n }) => n],
    ['held', 'text', ({ records }) => records.held && JSON.stringify(records.held)],
    ['decisions', 'text', ({ records }) => JSON.stringify(records.decisions)],
    ['flagged_by', 'text', ({ records }) => records.flaggedBy && JSON.stringify(records.flaggedBy)],
  ],
  { alias: 'j', first: 2 + sentRows.length },
)

const behindJudged = 2 + sentRows.length + judgedRows.length

/** What leads to the messages that are traced, behind all else that the statement takes. */
export const tracedRows = { ofPlain: createTraced(2 + sentRows.length), ofModerated: createTraced(behindJudged) }

function createTraced(first: number) {
  return createRecordset<{ readonly n: number; readonly trace: string }>(
    [
      ['n', 'int', ({ n }) => n],
      ['trace', 'text', ({ trace }) => trace],
    ],
    { alias: 'x', first },
  )
}
