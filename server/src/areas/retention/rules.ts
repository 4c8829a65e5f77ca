import type { RetentionMode } from '@parley/contract'
import { changesOf } from '../../chat/audit/changes.ts'
import { lockGroup, requireGroup } from '../../chat/groups/access.ts'
import { waitForStep } from '../../chat/retention/lock.ts'
import type { Context } from '../../context.ts'
import type { Queryable } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'

/** How long messages are kept. */
export interface Rule {
  /** 0: for ever. */
  readonly days: number
  readonly mode: RetentionMode
}

type Store = Pick<Context, 'database' | 'settings' | 'audit'>

const select = statement(`
  select days, mode
  from group_retention
  where app_id = $1
  and guid = $2`)

const upsert = statement(`
  insert into group_retention (app_id, guid, days, mode)
  values ($1, $2, $3, $4)
  on conflict (app_id, guid) do update
  set days = excluded.days,
    mode = excluded.mode`)

const remove = statement(`
  delete from group_retention
  where app_id = $1
  and guid = $2`)

/** What was passed over may be due by now. */
const beginAnew = statement(`
  delete from retention_progress
  where app_id = $1
  and place = 0`)

/** What the app has set. */
async function ruleOfApp({ settings }: Pick<Context, 'settings'>, appId: number): Promise<Rule> {
  const { messageRetentionDays, messageRetention } = await settings.of(appId)
  return { days: messageRetentionDays, mode: messageRetention }
}

/** What holds for a group. @throws 404 `ERR_GUID_NOT_FOUND` */
export async function readRule(context: Store, on: Queryable, appId: number, guid: string) {
  const group = await requireGroup(on, appId, guid)
  const [own] = await on.query<Rule>(select, [appId, group.guid])
  return own === undefined ? { ...(await ruleOfApp(context, appId)), isOwn: false } : { ...own, isOwn: true }
}

/** @param rule undefined: that of the app @throws 404 `ERR_GUID_NOT_FOUND` */
export function changeRule(context: Store, appId: number, guid: string, rule: Rule | undefined) {
  return context.database.transaction(async (tx) => {
    await waitForStep(tx, appId)
    // As a step takes them: conversations come after that. A group that is being deleted is waited for, and gone then.
    const group = await lockGroup(tx, appId, guid)
    const [before] = await tx.query<Rule>(select, [appId, group.guid])
    if (rule === undefined) {
      await tx.query(remove, [appId, group.guid])
      await tx.query(beginAnew, [appId])
    } else await tx.query(upsert, [appId, group.guid, rule.days, rule.mode])
    await context.audit.record(tx, appId, {
      action: 'group_retention_updated',
      type: 'group',
      target: group.guid,
      details: changesOf(before, rule),
    })
    return readRule(context, tx, appId, group.guid)
  })
}
