import type { Transaction } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'
import type { Hit, Outcome } from './model.ts'
import { type Decision, type Lane, leavesWork, type StoredHit, storedHit, storedQuestion } from './verdict.ts'

/** What is written beside a message that was judged, as rows of the tables of 0026-moderated-messages.ts. */
export interface ModerationRecords {
  /** Its row in `message_moderation`, where it is held, or engines are asked about it. */
  readonly held: HeldRow | null
  readonly decisions: readonly DecisionRow[]
  /** The rules that flagged it, where it is to be reviewed. */
  readonly flaggedBy: readonly Flagging[] | null
}

export interface HeldRow extends Partial<StoredHit> {
  readonly status: string
  readonly questions: readonly object[] | null
  readonly due_at: number | null
  readonly lane: Lane
  readonly took: number
}

/** A row of the log. Without a hit there is none of what belongs to it. */
export interface DecisionRow extends Partial<Omit<StoredHit, 'rule_name' | 'match' | 'actions'>> {
  readonly match?: Omit<NonNullable<Hit['match']>, 'text'> | null
  readonly actions: readonly string[]
  readonly mode: string | null
  readonly lane: Lane
  readonly took: number | null
  readonly decision: string
  readonly acted: boolean
}

export interface Flagging {
  readonly ruleId: string
  readonly ruleName: string
  readonly revision: number
  readonly condition: object
}

/**
 * What is to be written of an outcome; undefined where there is nothing.
 * @param now epoch seconds
 * @param trace leads to the request that sent the message
 */
export function recordsOf(
  outcome: Outcome,
  decision: Decision,
  now: number,
  trace?: string,
): ModerationRecords | undefined {
  const { hits, questions, took } = outcome
  if (hits.length === 0 && questions.length === 0) return undefined
  const { status, stoppedBy, isFlagged } = decision
  const asks = stoppedBy === undefined && questions.length > 0
  const held: HeldRow | null =
    status === 'approved' && !asks
      ? null
      : {
          ...(stoppedBy && storedHit(stoppedBy)),
          ...{ status, lane: 'one', took },
          ...{
            questions: asks ? questions.map((one) => ({ ...storedQuestion(one), ...(trace && { trace }) })) : null,
            due_at: asks ? now : null,
          },
        }
  return {
    held,
    decisions: decisionsOf(hits, { lane: 'one', took }, status),
    flaggedBy: isFlagged && status !== 'disapproved' ? flaggingsOf(outcome) : null,
  }
}

/** Who judged, and how long that took, in microseconds; null of people. */
export interface Judging {
  readonly lane: Lane
  readonly took: number | null
}

/** A row of the log for each hit. @param decision where they left the message, or the edit */
export function decisionsOf(hits: readonly Hit[], judging: Judging, decision: string): DecisionRow[] {
  return hits.map((hit) => decisionOf(hit, judging, decision))
}

/**
 * A row of the log. What was found in a text that is stored nowhere, an edit that is refused or one that an engine was asked
 * about too long ago, is told by its place alone.
 */
export function decisionOf(hit: Hit | undefined, judging: Judging, decision: string): DecisionRow {
  if (hit === undefined) return { ...judging, mode: null, actions: [], decision, acted: true }
  const { rule_name: _, match, reason, ...stored } = storedHit(hit)
  const isStored = decision !== 'refused' && decision !== 'late'
  return {
    ...stored,
    ...(isStored ? { match, reason } : { match: match && placeOf(match), reason: null }),
    ...{ ...judging, mode: hit.rule.mode, decision },
    acted: decision === 'late' || !leavesWork(hit),
  }
}

function placeOf({ text: _, ...place }: NonNullable<StoredHit['match']>) {
  return place
}

export function flaggingsOf({ hits }: Pick<Outcome, 'hits'>): Flagging[] {
  return hits
    .filter(({ rule }) => rule.mode === 'on' && rule.actions.includes('flagMessage'))
    .map(({ rule, condition }) => ({ ruleId: rule.ruleId, ruleName: rule.name, revision: rule.revision, condition }))
}

const heldColumns = `status text, questions json, due_at bigint, rule_id text, rule_name text, rule_revision integer,
      condition json, list_id text, list_revision integer, match json, confidence double precision, reason text,
      actions text[], lane text, took bigint`

const decisionColumns = `rule_id text, rule_revision integer, list_id text, list_revision integer, condition json, match json,
      confidence double precision, reason text, mode text, lane text, took bigint, actions text[], decision text, acted boolean`

/** Names of columns without their types. */
const namesOf = (columns: string) =>
  columns
    .split(',')
    .map((column) => column.trim().split(' ')[0])
    .join(', ')

/**
 * Inserts that write records, for a statement that has rows `judged` (app_id, id, conversation, sender, sent_at, and the
 * JSON texts held, decisions, flagged_by, each null where there is none). $1 is the time in epoch seconds.
 */
export const writeRecordsSql = {
  held: `
    insert into message_moderation (
      app_id, message, conversation, sender, held_from, created_at, updated_at, ${namesOf(heldColumns)}
    )
    select j.app_id, j.id, j.conversation, j.sender, case when h.status <> 'approved' then j.sent_at end, $1::bigint, $1::bigint,
      ${namesOf(heldColumns)
        .split(', ')
        .map((name) => `h.${name}`)
        .join(', ')}
    from judged j
    cross join lateral json_to_record(j.held::json) as h(${heldColumns})
    where j.held is not null`,
  decisions: `
    insert into moderation_decisions (app_id, message, at, ${namesOf(decisionColumns)})
    select j.app_id, j.id, $1::bigint, ${namesOf(decisionColumns)
      .split(', ')
      .map((name) => `d.${name}`)
      .join(', ')}
    from judged j
    cross join lateral json_to_recordset(j.decisions::json) as d(${decisionColumns})
    where j.decisions is not null`,
  flagged: `
    insert into moderation_queue (app_id, message, opened_at, by_rule)
    select j.app_id, j.id, $1::bigint, j.flagged_by::json
    from judged j
    where j.flagged_by is not null`,
}

const writeDecisions = statement(`
  with judged as (
    select $2::int as app_id, $3::bigint as id, $4::text as decisions
  )
  ${writeRecordsSql.decisions}`)

/** Appends to the log what was decided of a message. */
export async function logDecisions(
  tx: Transaction,
  appId: number,
  id: number,
  rows: readonly DecisionRow[],
  now: number,
): Promise<void> {
  if (rows.length > 0) await tx.query(writeDecisions, [now, appId, id, JSON.stringify(rows)])
}
