import { appLimitReached, type BodyOf, badRequest, type createRule, limits, type updateRule } from '@parley/contract'
import { changesOf } from '../../../chat/audit/changes.ts'
import type { App } from '../../../chat/identity.ts'
import { sizeOfPatterns } from '../../../chat/moderation/engine/patterns.ts'
import { predefinedRules } from '../../../chat/moderation/predefined.ts'
import { listIdsOf, type RuleRow, type RuleText, textsOf } from '../../../chat/moderation/rules.ts'
import type { Transaction } from '../../../store/database.ts'
import { type Changing, changing } from '../changing.ts'
import { ruleExists, unknownRule } from '../errors.ts'
import { listStore } from '../lists/store.ts'
import { measureRoom, requireRoom } from '../room.ts'
import { flawsOfConditions, flawsOfReferences, numberConditions } from './conditions.ts'
import { missingEngines } from './engines.ts'
import { flawsOfFilters } from './filters.ts'
import { ruleStore } from './store.ts'

type Change = BodyOf<typeof updateRule>

/**
 * Makes a rule; where its id is that of a predefined one that was removed, that one again.
 * @throws 400 naming what is wrong, or the limit; 409 `ERR_RULE_ALREADY_EXISTS`
 */
export async function makeRule(context: Changing, app: App, body: BodyOf<typeof createRule>): Promise<RuleRow> {
  const { id } = body
  const base = Object.hasOwn(predefinedRules, id) ? predefinedRules[id] : undefined
  await inspectPatterns(body)
  return changing(context, app, async (tx) => {
    const room = await measureRoom(tx, app)
    const former = await ruleStore.readFormer(tx, app.appId, id)
    if (former?.row.active === true) throw ruleExists(id)
    const text = textOf(base, body, base === undefined ? 'on' : 'off')
    await requireSound(context, tx, app, text, body)
    const { rulesPerApp } = limits.moderation
    if (base === undefined && (await ruleStore.countOwn(tx, app.appId)) >= rulesPerApp) {
      throw appLimitReached(rulesPerApp, 'rules of moderation besides the predefined ones')
    }
    await keepLists(tx, app, text)
    await ruleStore.insert(tx, app.appId, id, text, former)
    await requireRoom(tx, app, room)
    const details = changesOf(undefined, text)
    await context.audit.record(tx, app.appId, { action: 'moderation_rule_created', type: 'rule', target: id, details })
    return requireRule(tx, app, id)
  })
}

/** Gives a rule another revision. @throws 404 `ERR_RULE_NOT_FOUND`; 400 naming what is wrong */
export async function changeRule(context: Changing, app: App, id: string, body: Change): Promise<RuleRow> {
  await inspectPatterns(body)
  return changing(context, app, async (tx) => {
    const former = await ruleStore.readFormer(tx, app.appId, id)
    if (former?.row.active !== true) throw unknownRule(id)
    const room = await measureRoom(tx, app)
    const text = textOf(former.row, body, former.row.mode)
    await requireSound(context, tx, app, text, body)
    await keepLists(tx, app, text)
    await ruleStore.advance(tx, app.appId, former, text)
    await requireRoom(tx, app, room)
    const row = await requireRule(tx, app, id)
    const details = { revision: row.revision, ...changesOf(recorded(former.row), recorded(row)) }
    await context.audit.record(tx, app.appId, { action: 'moderation_rule_updated', type: 'rule', target: id, details })
    return row
  })
}

/** Compiles the patterns of a request while nobody waits for that, and lets others have their turn. */
async function inspectPatterns({ conditions = [] }: Change): Promise<void> {
  const patterns = conditions.flatMap(({ category, value }) => (category === 'pattern' ? textsOf(value) : []))
  const most = limits.moderation.termsPerApp.patterns
  if (patterns.length > most) throw appLimitReached(most, 'patterns in its lists and rules together')
  await sizeOfPatterns(patterns.filter(({ length }) => length <= limits.moderation.patternLength))
}

/** Removes a rule; its revisions stay, since decisions name them. @throws 404 `ERR_RULE_NOT_FOUND` */
export async function removeRule(context: Changing, app: App, id: string): Promise<void> {
  await changing(context, app, async (tx) => {
    const former = await ruleStore.readFormer(tx, app.appId, id)
    if (former?.row.active !== true) throw unknownRule(id)
    await ruleStore.remove(tx, app.appId, former)
    const details = changesOf(recorded(former.row), undefined)
    await context.audit.record(tx, app.appId, { action: 'moderation_rule_deleted', type: 'rule', target: id, details })
  })
}

/** @throws 404 `ERR_RULE_NOT_FOUND` */
export async function requireRule(on: Parameters<typeof ruleStore.read>[0], app: App, id: string): Promise<RuleRow> {
  const row = await ruleStore.read(on, app.appId, id)
  if (row === undefined) throw unknownRule(id)
  return row
}

/** What the audit log has of a rule. */
function recorded({ name, description, mode, filters, conditions, exceptions, actions }: RuleText): RuleText {
  return { name, description, mode, filters, conditions, exceptions, actions }
}

function textOf(base: RuleText | undefined, body: Change, mode: RuleText['mode']): RuleText {
  const { conditions = base?.conditions, name = base?.name } = body
  const flaws = [
    ...(name === undefined ? [{ path: 'body/name', message: 'is required' }] : []),
    ...(conditions === undefined ? [{ path: 'body/conditions', message: 'is required' }] : []),
    ...flawsOfMode(body),
  ]
  if (name === undefined || conditions === undefined || flaws.length > 0) throw badRequest(flaws)
  return {
    name,
    description: body.description ?? base?.description ?? null,
    mode: body.mode ?? (body.enabled === undefined ? mode : body.enabled ? 'on' : 'off'),
    filters: body.filters ?? base?.filters ?? [],
    conditions: body.conditions === undefined ? (base?.conditions ?? []) : numberConditions(body.conditions),
    exceptions: body.exceptions ?? base?.exceptions ?? [],
    actions: body.action ?? base?.actions ?? ['blockMessage'],
  }
}

function flawsOfMode({ mode, enabled }: Change) {
  if (mode === undefined || enabled === undefined || enabled === (mode === 'on')) return []
  return [{ path: 'body/enabled', message: `contradicts the mode ${mode}: it is true where the mode is on` }]
}

/** What is off may name what is not there. @throws 400 naming what is wrong */
async function requireSound(context: Changing, tx: Transaction, app: App, text: RuleText, body: Change): Promise<void> {
  const flaws = [
    ...(body.filters === undefined ? [] : flawsOfFilters(text.filters)),
    ...(body.conditions === undefined ? [] : flawsOfConditions(text.conditions)),
  ]
  if (flaws.length > 0) throw badRequest(flaws)
  if (text.mode !== 'off' || body.conditions !== undefined) {
    const lists = await Promise.all(
      listIdsOf(text.conditions).map(async (id) => {
        const list = await listStore.read(tx, app.appId, id)
        return list === undefined ? [] : [[id, list.category] as const]
      }),
    )
    const dangling = flawsOfReferences(text.conditions, new Map(lists.flat()))
    if (dangling.length > 0) throw badRequest(dangling)
  }
  if (text.mode !== 'off') {
    const missing = await missingEngines(context, app, text.conditions)
    if (missing.length > 0) throw badRequest(missing)
  }
}

/** Predefined lists that a rule names are kept as they are now, whatever is shipped later. */
async function keepLists(tx: Transaction, app: App, { conditions }: RuleText): Promise<void> {
  for (const id of listIdsOf(conditions)) {
    const former = await listStore.readFormer(tx, app.appId, id)
    if (former !== undefined) await listStore.keepShipped(tx, app.appId, former)
  }
}
