import type { DryRun } from '@parley/contract'
import { sql } from 'kysely'
import type { App } from '../../../chat/identity.ts'
import { judgedOf } from '../../../chat/moderation/describe.ts'
import { appKey } from '../../../store/app-key.ts'
import type { Queryable } from '../../../store/database.ts'
import { statement } from '../../../store/statement.ts'
import { revisionId } from '../revision-id.ts'
import { precisionOf } from './precision.ts'
import type { RunRow } from './runs.ts'

const selectDays = statement(`
  select day, looked, hits
  from moderation_dry_run_days
  where app_id = $1
  and rule_id = $2
  order by day`)

const selectSenders = statement(`
  select sender as uid, hits
  from moderation_dry_run_senders
  where app_id = $1
  and rule_id = $2
  order by hits desc, sender
  limit 100`)

const countLabels = statement(`
  select count(is_right) as labelled, count(*) filter (where is_right) as "isRight"
  from moderation_dry_run_examples
  where app_id = $1
  and rule_id = $2`)

interface ExampleRow {
  readonly message: number
  readonly sender: string
  readonly sentAt: number
  readonly type: string
  readonly category: string
  readonly data: Record<string, unknown>
  readonly condition: number
  readonly foundIn: 'text' | 'custom' | null
  readonly start: number | null
  readonly length: number | null
  readonly isRight: boolean | null
  /** It was edited after the rule had looked at it, so that what was found may stand elsewhere. */
  readonly isChanged: boolean
}

/** What somebody asks of a message with an engine outside, or of more than one message, is not asked in a dry run. */
const notAsked: ReadonlySet<string> = new Set(['custom-api', 'prompt', 'media', 'rate', 'repetition'])

/** A dry run in a response. @param examples how many at most */
export async function showRun(on: Queryable, app: App, ruleId: string, row: RunRow, examples: number): Promise<DryRun> {
  const { definition, status, from, to, share, positionAt, beganAt, looked, hits, error, createdAt, finishedAt } = row
  const { rule } = definition
  const keys = [app.appId, ruleId]
  const [days, senders, drawn, [labels]] = await Promise.all([
    on.query<{ day: number; looked: number; hits: number }>(selectDays, keys),
    on.query<{ uid: string; hits: number }>(selectSenders, keys),
    readExamples(on, app.appId, ruleId, row.createdAt, examples),
    on.query<{ labelled: number; isRight: number }>(countLabels, keys),
  ])
  const progress = status === 'done' ? 1 : to <= beganAt ? 0 : Math.min(1, (positionAt - beganAt) / (to - beganAt))
  return {
    ruleId,
    revisionId: revisionId(app, { id: ruleId, revision: rule.revision }),
    status,
    ...(error !== null && { error }),
    ...{ from, to, sample: share, progress, looked, hits },
    ignored: rule.conditions.filter(({ category }) => notAsked.has(category)).map(({ id }) => id),
    days: days.map((day) => ({ ...day, day: new Date(day.day * 86_400_000).toISOString().slice(0, 10) })),
    senders,
    examples: drawn.map(showExample),
    ...(labels !== undefined && labels.labelled > 0 && { precision: precisionOf(labels.isRight, labels.labelled) }),
    createdAt,
    ...(finishedAt !== null && { finishedAt }),
  }
}

/** The text is that of the message as it is now: nothing of it is kept here. */
function readExamples(
  on: Queryable,
  appId: number,
  ruleId: string,
  ranAt: number,
  limit: number,
): Promise<ExampleRow[]> {
  return on.run<ExampleRow>(sql`
    select e.message, e.sender, m.sent_at as "sentAt", m.type, m.category, m.data, e.condition, e.found_in as "foundIn", e.start,
      e.length, e.is_right as "isRight", coalesce(m.edited_at >= ${ranAt}, false) as "isChanged"
    from moderation_dry_run_examples e
    join messages m on m.app_id = e.app_id and m.id = e.message
    where e.app_id = ${appKey(appId)}
    and e.rule_id = ${ruleId}
    and m.deleted_at is null
    order by m.sent_at desc, e.message desc
    limit ${limit}`)
}

function showExample(row: ExampleRow): DryRun['examples'][number] {
  const { sender, type, category, data, foundIn, start, length, isRight } = row
  const message = judgedOf({ sender, kind: 'user', receiver: '', category, type, data })
  const said = foundIn === 'custom' ? message.custom : message.text
  const isKnown = foundIn !== null && start !== null && length !== null && !row.isChanged
  return {
    messageId: String(row.message),
    sender,
    sentAt: row.sentAt,
    ...(said !== '' && { text: said }),
    condition: row.condition,
    ...(isKnown && {
      match: { in: foundIn, start, end: start + length, text: said.slice(start, start + length).toWellFormed() },
    }),
    ...(isRight !== null && { label: isRight ? ('right' as const) : ('wrong' as const) }),
  }
}
