import { type ApiError, badRequest, legacyTriggerIds, triggers } from '@parley/contract'
import type { Context } from '../../context.ts'
import { legacyEvents } from '../../events/listening.ts'
import type { Transaction } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'
import { changeWebhooks, requireWebhook } from './change.ts'
import { triggerOfVersion, unknownTrigger } from './errors.ts'

const known: ReadonlyMap<string, string> = new Map(triggers.map(({ id, description }) => [id, description]))
const onlyLegacy = new Set(triggers.filter(({ category }) => category === 'legacy').map(({ id }) => id))

const insert = statement(`
  insert into webhook_triggers (app_id, webhook_id, trigger, event)
  select $1, $2, t.trigger, t.event
  from unnest($3::text[], $4::text[]) as t(trigger, event)
  on conflict do nothing`)

const removeAll = statement(`
  delete from webhook_triggers
  where app_id = $1
  and webhook_id = $2`)

const remove = statement(`
  delete from webhook_triggers
  where app_id = $1
  and webhook_id = $2
  and trigger = any($3::text[])`)

/** What a trigger is, for people. */
export function describeTrigger(id: string): string {
  return known.get(id) ?? id
}

/** Why a webhook of this version cannot have a trigger; undefined when it can. */
function refusalOf(version: 1 | 2, trigger: string): ApiError | undefined {
  if (!known.has(trigger)) return unknownTrigger(trigger)
  if (version === 2) return onlyLegacy.has(trigger) ? triggerOfVersion(trigger, 1) : undefined
  return (legacyTriggerIds as readonly string[]).includes(trigger) ? undefined : triggerOfVersion(trigger, 2)
}

/** @throws 400 naming each trigger that a webhook of this version cannot have */
export function checkTriggers(version: 1 | 2, ids: readonly string[]): void {
  const flaws = ids.flatMap((id, i) => {
    const refusal = refusalOf(version, id)
    return refusal === undefined ? [] : [{ path: `body/triggers/${i}`, message: refusal.devMessage }]
  })
  if (flaws.length > 0) throw badRequest(flaws)
}

export async function insertTriggers(tx: Transaction, appId: number, id: string, ids: readonly string[]) {
  const wanted = [...new Set(ids)]
  const events = wanted.map((trigger) => (trigger === 'before_message' ? null : (legacyEvents[trigger] ?? trigger)))
  await tx.query(insert, [appId, id, wanted, events])
}

/** Sets the whole list. */
export async function replaceTriggers(tx: Transaction, appId: number, id: string, ids: readonly string[]) {
  await tx.query(removeAll, [appId, id])
  await insertTriggers(tx, appId, id, ids)
}

/** Unsubscribes; what was not subscribed to does not matter. @throws 404 if there is no such trigger or webhook */
export async function unsubscribe(context: Context, appId: number, id: string, ids: readonly string[]): Promise<void> {
  const done = { action: 'webhook_updated', target: id } as const
  await changeWebhooks(context, appId, done, async (tx, note) => {
    const webhook = await requireWebhook(tx, appId, id)
    const unknown = ids.find((trigger) => !known.has(trigger))
    if (unknown !== undefined) throw unknownTrigger(unknown)
    await tx.query(remove, [appId, webhook.id, ids])
    note(webhook, await requireWebhook(tx, appId, id))
  })
}

/** Subscribes, trigger by trigger: one that is refused does not stop the others. @throws 404 if there is no such webhook */
export function subscribe(context: Context, appId: number, id: string, ids: readonly string[]) {
  const done = { action: 'webhook_updated', target: id } as const
  return changeWebhooks(context, appId, done, async (tx, note) => {
    const webhook = await requireWebhook(tx, appId, id)
    const refusals = ids.map((trigger) => [trigger, refusalOf(webhook.version, trigger)] as const)
    const accepted = refusals.filter(([, refusal]) => refusal === undefined).map(([trigger]) => trigger)
    await insertTriggers(tx, appId, webhook.id, accepted)
    note(webhook, await requireWebhook(tx, appId, id))
    return Object.fromEntries(refusals.map(([trigger, refusal]) => [trigger, outcomeOf(refusal)]))
  })
}

function outcomeOf(refusal: ApiError | undefined): { success: boolean; message: string; error?: object } {
  if (refusal === undefined) return { success: true, message: 'trigger added' }
  return { success: false, message: refusal.devMessage, ...refusal.toBody() }
}
