import type { Claim, Flag, FlaggingRule, Message, ModerationNote } from '@parley/contract'
import type { App } from '../../../chat/identity.ts'
import { readMessages } from '../../../chat/messages/rows.ts'
import { showMessages } from '../../../chat/messages/show.ts'
import { showCondition } from '../../../chat/moderation/hits.ts'
import type { Condition } from '../../../chat/moderation/model.ts'
import { readUsers, showUserOrDeleted } from '../../../chat/users/rows.ts'
import type { Queryable } from '../../../store/database.ts'
import { statement } from '../../../store/statement.ts'
import { revisionId } from '../revision-id.ts'
import { byMessage, readNotesOf } from './notes.ts'

/** What stands around messages in the lists of reviewers, by the id of the message. */
export interface Around {
  /** As the app sees it; undefined for one that was removed for good meanwhile. */
  message(id: number): Message | undefined
  claim(id: number): { claim?: Claim }
  notes(id: number): { notes?: ModerationNote[] }
  flags(id: number): { flaggedBy: Flag[]; flaggedCount: number; flaggedByRules?: FlaggingRule[] }
}

/** Flags that are listed of one message. */
const listedFlags = 100

interface FlagRow {
  readonly message: number
  readonly uid: string
  readonly reasonId: string | null
  readonly reasonName: string | null
  readonly description: string | null
  readonly remark: string | null
  readonly flaggedAt: number
  readonly count: number
}

const selectFlags = statement(`
  select *
  from (
    select message, uid, reason_id as "reasonId", reason_name as "reasonName", reason_description as description, remark,
      flagged_at as "flaggedAt", count(*) over (partition by message) as count,
      row_number() over (partition by message order by flagged_at, uid) as place
    from moderation_flags
    where app_id = $1
    and message = any($2::bigint[])
  ) f
  where place <= $3
  order by message, place`)

const selectClaims = statement(`
  select message, reviewer, until
  from moderation_claims
  where app_id = $1
  and message = any($2::bigint[])
  and until > $3`)

/** As the batch of sends writes it. */
interface StoredFlagging {
  readonly ruleId: string
  readonly ruleName: string
  readonly revision: number
  readonly condition: Condition
}

const selectFlaggings = statement(`
  select message, by_rule as "byRule"
  from moderation_queue
  where app_id = $1
  and message = any($2::bigint[])`)

/** Reads what stands around messages: one read for each kind of it, however many messages there are. */
export async function readAround(on: Queryable, app: App, ids: readonly number[]): Promise<Around> {
  const { appId } = app
  const now = Math.floor(Date.now() / 1000)
  const [stored, flags, claims, flaggings, notes] = await Promise.all([
    readMessages(on, appId, ids),
    on.query<FlagRow>(selectFlags, [appId, ids, listedFlags]),
    on.query<Claim & { message: number }>(selectClaims, [appId, ids, now]),
    on.query<{ message: number; byRule: StoredFlagging[] }>(selectFlaggings, [appId, ids]),
    readNotesOf(on, appId, ids),
  ])
  const rows = [...stored.values()]
  const [shown, users] = await Promise.all([
    showMessages(on, appId, rows, { withTags: true }),
    readUsers(on, appId, new Set(flags.map(({ uid }) => uid))),
  ])
  const messages = new Map(rows.map(({ id }, i) => [id, shown[i] as Message]))
  const claimOf = new Map(claims.map(({ message, reviewer, until }) => [message, { reviewer, until }]))
  const ruledBy = new Map(
    flaggings.map(({ message, byRule }) => [message, byRule.map((one) => showFlagging(app, one))]),
  )
  const flagsOf = byMessage(flags)
  return {
    message: (id) => messages.get(id),
    claim(id) {
      const claim = claimOf.get(id)
      return claim === undefined ? {} : { claim }
    },
    notes(id) {
      const found = notes.get(id)
      return found === undefined ? {} : { notes: found }
    },
    flags(id) {
      const own = flagsOf.get(id) ?? []
      const rules = ruledBy.get(id) ?? []
      return {
        flaggedBy: own.map((row) => showFlag(row, users)),
        flaggedCount: own[0]?.count ?? 0,
        ...(rules.length > 0 && { flaggedByRules: rules }),
      }
    },
  }
}

function showFlag(row: FlagRow, users: Awaited<ReturnType<typeof readUsers>>): Flag {
  const { uid, name, avatar, role } = showUserOrDeleted(row.uid, users.get(row.uid))
  const { reasonId, reasonName, description, remark, flaggedAt } = row
  return {
    uid,
    name,
    ...(avatar !== undefined && { avatar }),
    ...(role !== undefined && { role }),
    ...(reasonId !== null && { reasonId }),
    ...(reasonName !== null && { reasonName }),
    ...(description !== null && { description }),
    ...(remark !== null && { remark }),
    flaggedAt,
  }
}

function showFlagging(app: App, { ruleId, ruleName, revision, condition }: StoredFlagging): FlaggingRule {
  return {
    ruleId,
    ruleName,
    revisionId: revisionId(app, { id: ruleId, revision }),
    condition: showCondition(condition),
  }
}
