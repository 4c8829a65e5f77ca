import type { Hit } from '../../../chat/moderation/model.ts'
import type { Transaction } from '../../../store/database.ts'
import { statement } from '../../../store/statement.ts'
import type { PastMessage } from './portion.ts'
import type { RunRow } from './runs.ts'

/** Examples that are kept of one dry run, drawn from its hits. */
const keptExamples = 1000

/** What a dry run found in some messages. */
export interface Findings {
  /** Messages looked at and hit, by the number of the day. */
  readonly days: Map<number, { looked: number; hits: number }>
  /** Hits by sender. */
  readonly senders: Map<string, number>
  readonly hits: Array<{ readonly message: PastMessage; readonly hit: Hit }>
}

export function noFindings(): Findings {
  return { days: new Map(), senders: new Map(), hits: [] }
}

/** Notes that a message was looked at, and what was found in it first. */
export function note({ days, senders, hits }: Findings, message: PastMessage, hit: Hit | undefined): void {
  const day = Math.floor(message.sentAt / 86_400)
  const { looked, hits: hitsBefore } = days.get(day) ?? { looked: 0, hits: 0 }
  days.set(day, { looked: looked + 1, hits: hitsBefore + (hit === undefined ? 0 : 1) })
  if (hit === undefined) return
  senders.set(message.sender, (senders.get(message.sender) ?? 0) + 1)
  hits.push({ message, hit })
}

/** What a crash of the database takes along is looked at again. */
const commitLazily = statement("select set_config('synchronous_commit', 'off', true)")

const lockRun = statement(`
  select status
  from moderation_dry_runs
  where app_id = $1
  and rule_id = $2
  and run = $3
  for no key update`)

const advance = statement(`
  update moderation_dry_runs
  set position_at = $3,
    position_id = $4,
    looked = looked + $5,
    hits = hits + $6
  where app_id = $1
  and rule_id = $2`)

const addDays = statement(`
  insert into moderation_dry_run_days as d (app_id, rule_id, day, looked, hits)
  select $1, $2, f.day, f.looked, f.hits
  from unnest($3::int[], $4::bigint[], $5::bigint[]) f(day, looked, hits)
  on conflict (app_id, rule_id, day) do update
  set looked = d.looked + excluded.looked,
    hits = d.hits + excluded.hits`)

/** Only of users who are still there: those who are removed meanwhile leave nothing behind. */
const addSenders = statement(`
  insert into moderation_dry_run_senders as s (app_id, rule_id, sender, hits)
  select $1, $2, f.sender, f.hits
  from unnest($3::text[], $4::bigint[]) f(sender, hits)
  join users u on u.app_id = $1 and u.uid = f.sender
  on conflict (app_id, rule_id, sender) do update
  set hits = s.hits + excluded.hits`)

/** The hits of the lowest ranks stay, and ranks are random: each hit has the same chance. */
const addExamples = statement(`
  with ranked as (
    select f.*, random() as rank
    from unnest($3::bigint[], $4::text[], $5::int[], $6::text[], $7::int[], $8::int[])
      f(message, sender, condition, found_in, start, length)
    join messages m on m.app_id = $1 and m.id = f.message and m.deleted_at is null
  )
  insert into moderation_dry_run_examples (app_id, rule_id, message, sender, rank, condition, found_in, start, length)
  select $1, $2, message, sender, rank, condition, found_in, start, length
  from ranked
  on conflict do nothing`)

const dropExamples = statement(`
  delete from moderation_dry_run_examples e
  using (
    select message
    from moderation_dry_run_examples
    where app_id = $1
    and rule_id = $2
    order by rank
    offset ${keptExamples}
  ) far
  where e.app_id = $1
  and e.rule_id = $2
  and e.message = far.message`)

/**
 * Stores what was found, together with how far the dry run has come, so that each message counts once.
 * @returns whether the dry run goes on: it may have been stopped, or another taken its place
 */
export async function storeFindings(
  tx: Transaction,
  { appId, ruleId, run }: { readonly appId: number; readonly ruleId: string; readonly run: string },
  { positionAt, positionId }: Pick<RunRow, 'positionAt' | 'positionId'>,
  { days, senders, hits }: Findings,
): Promise<boolean> {
  await tx.query(commitLazily)
  const [present] = await tx.query<{ status: string }>(lockRun, [appId, ruleId, run])
  if (present?.status !== 'running') return false
  const counts = [...days.values()]
  const looked = counts.reduce((sum, day) => sum + day.looked, 0)
  await tx.query(advance, [appId, ruleId, positionAt, positionId, looked, hits.length])
  if (looked > 0) {
    const [lookedByDay, hitsByDay] = [counts.map((day) => day.looked), counts.map((day) => day.hits)]
    await tx.query(addDays, [appId, ruleId, [...days.keys()], lookedByDay, hitsByDay])
  }
  if (hits.length === 0) return true
  // In one order, since two dry runs may count the same senders.
  const bySender = [...senders].sort(([a], [b]) => (a < b ? -1 : 1))
  await tx.query(addSenders, [appId, ruleId, bySender.map(([uid]) => uid), bySender.map(([, count]) => count)])
  await tx.query(addExamples, [
    ...[appId, ruleId, hits.map(({ message }) => message.id), hits.map(({ message }) => message.sender)],
    ...[hits.map(({ hit }) => hit.condition.id), hits.map(({ hit }) => hit.match?.in ?? null)],
    ...[hits.map(({ hit }) => hit.match?.start ?? null)],
    ...[hits.map(({ hit: { match } }) => (match === undefined ? null : match.end - match.start))],
  ])
  await tx.query(dropExamples, [appId, ruleId])
  return true
}
