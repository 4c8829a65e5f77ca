import { createHash } from 'node:crypto'
import {
  appLimitReached,
  type BodyOf,
  badRequest,
  type createKeywordList,
  type ErrorDetail,
  limits,
  type updateKeywordList,
} from '@parley/contract'
import { changesOf } from '../../../chat/audit/changes.ts'
import type { App } from '../../../chat/identity.ts'
import type { ListRow } from '../../../chat/moderation/lists.ts'
import type { ListCategory } from '../../../chat/moderation/model.ts'
import { predefinedLists } from '../../../chat/moderation/predefined.ts'
import { listIdsOf, type RuleRow } from '../../../chat/moderation/rules.ts'
import type { Queryable } from '../../../store/database.ts'
import { type Changing, changing } from '../changing.ts'
import { categoryInUse, listExists, listInUse, unknownList } from '../errors.ts'
import { measureRoom, requireRoom } from '../room.ts'
import { ruleStore } from '../rules/store.ts'
import { listStore, type WholeList } from './store.ts'
import { missingTerms, readTerms, type Terms } from './terms.ts'

type Body = BodyOf<typeof updateKeywordList>

/**
 * Makes a list; where its id is that of a predefined one that was removed, that one again.
 * @throws 400 naming what is wrong, or the limit; 409 `ERR_KEYWORD_ALREADY_EXISTS`
 */
export async function makeList(context: Changing, app: App, body: BodyOf<typeof createKeywordList>): Promise<ListRow> {
  const { id } = body
  const shipped = predefinedLists().get(id)
  const category = body.category ?? shipped?.category
  if (category === undefined) throw badRequest([{ path: 'body/category', message: 'is required' }])
  const terms = await readTerms(context, category, body)
  return changing(context, app, async (tx) => {
    const former = await listStore.readFormer(tx, app.appId, id)
    if (former?.row.active === true) throw listExists(id)
    const text = textOf(
      context,
      shipped && { ...unset, ...shipped },
      category,
      body,
      terms ?? shippedTerms(id, category),
    )
    const { listsPerApp } = limits.moderation
    if (shipped === undefined && (await listStore.countOwn(tx, app.appId)) >= listsPerApp) {
      throw appLimitReached(listsPerApp, 'lists of moderation besides the predefined ones')
    }
    const room = await measureRoom(tx, app)
    await listStore.insert(tx, app.appId, id, text, former)
    await requireRoom(tx, app, room)
    const details = changesOf(undefined, recorded(text))
    await context.audit.record(tx, app.appId, { action: 'moderation_list_created', type: 'list', target: id, details })
    return requireList(tx, app, id)
  })
}

/** Gives a list another revision, which holds for all rules that use it. @throws 404 `ERR_KEYWORD_NOT_FOUND`; 400 naming what is wrong */
export async function changeList(context: Changing, app: App, id: string, body: Body): Promise<ListRow> {
  // Before anything is locked: there may be very many terms.
  const { category } = { ...(await requireList(context.database, app, id)), ...body }
  const terms = await readTerms(context, category, body)
  return changing(context, app, async (tx) => {
    const former = await listStore.readFormer(tx, app.appId, id)
    if (former?.row.active !== true) throw unknownList(id)
    const { row } = former
    if (row.category !== category) {
      const uses = await rulesWith(tx, app, id, () => true)
      if (uses.length > 0) throw categoryInUse(id, uses)
    }
    const text = textOf(context, row, category, body, terms ?? (row.category === category ? row : undefined))
    const room = await measureRoom(tx, app)
    await listStore.advance(tx, app.appId, former, text)
    await requireRoom(tx, app, room)
    const changed = await requireList(tx, app, id)
    const details = { revision: changed.revision, ...changesOf(recorded(row), recorded(changed)) }
    await context.audit.record(tx, app.appId, { action: 'moderation_list_updated', type: 'list', target: id, details })
    return changed
  })
}

/** Removes a list that no rule in force uses. @throws 404 `ERR_KEYWORD_NOT_FOUND`; 400 naming those rules */
export async function removeList(context: Changing, app: App, id: string): Promise<void> {
  await changing(context, app, async (tx) => {
    const former = await listStore.readFormer(tx, app.appId, id)
    if (former?.row.active !== true) throw unknownList(id)
    const uses = await rulesWith(tx, app, id, ({ mode }) => mode !== 'off')
    if (uses.length > 0) throw listInUse(id, uses)
    await listStore.remove(tx, app.appId, former)
    const details = changesOf(recorded(former.row), undefined)
    await context.audit.record(tx, app.appId, { action: 'moderation_list_deleted', type: 'list', target: id, details })
  })
}

/** What the audit log has of a list: of terms, which may be very many, how many there are and a digest; its revisions have them. */
function recorded({ name, description, category, terms, count, username }: WholeList) {
  const digest = createHash('sha256').update(terms).digest('hex').slice(0, 16)
  return { name, description, category, username, terms: { count, digest } }
}

/** @throws 404 `ERR_KEYWORD_NOT_FOUND` */
export async function requireList(on: Queryable, app: App, id: string): Promise<ListRow> {
  const row = await listStore.read(on, app.appId, id)
  if (row === undefined) throw unknownList(id)
  return row
}

/** Ids of the rules that name a list. */
async function rulesWith(on: Queryable, app: App, id: string, isMeant: (rule: RuleRow) => boolean): Promise<string[]> {
  const rules = await ruleStore.readAll(on, app.appId)
  return rules.filter((rule) => isMeant(rule) && listIdsOf(rule.conditions).includes(id)).map((rule) => rule.id)
}

const unset = { username: null, password: null }

function shippedTerms(id: string, category: ListCategory): Terms | undefined {
  const shipped = predefinedLists().get(id)
  return shipped?.category === category ? { terms: shipped.terms, isCsv: false } : undefined
}

type Base = Pick<WholeList, 'name' | 'description' | 'username' | 'password'> & { readonly terms?: unknown }

/** A password goes to nobody but whom it was set for. */
function passwordKept(base: Base | undefined, { url }: Body): Buffer | null {
  if (base === undefined || base.password === null) return null
  if (url === undefined || typeof base.terms !== 'string') return base.password
  const [before = ''] = JSON.parse(base.terms) as string[]
  return URL.canParse(before) && new URL(before).origin === new URL(url).origin ? base.password : null
}

/** @param kept terms: new ones as texts, those of before as they are stored */
function textOf(
  { secrets }: Pick<Changing, 'secrets'>,
  base: Base | undefined,
  category: ListCategory,
  body: Body,
  kept: Terms | Pick<WholeList, 'terms' | 'count' | 'isCsv'> | undefined,
): WholeList {
  const { name = base?.name } = body
  const hasAuth = body.basicAuthEnabled ?? (body.password !== undefined || base?.password != null)
  const username = hasAuth ? (body.username ?? base?.username ?? null) : null
  const password = !hasAuth
    ? null
    : body.password === undefined
      ? passwordKept(base, body)
      : secrets.seal(body.password)
  const isRequired = (path: string): ErrorDetail => ({ path, message: 'is required' })
  const flaws = [
    ...(name === undefined ? [isRequired('body/name')] : []),
    ...(kept === undefined ? [missingTerms(category)] : []),
    ...(hasAuth && category !== 'custom-api'
      ? [{ path: 'body/basicAuthEnabled', message: 'is for lists of the category custom-api' }]
      : []),
    ...(hasAuth && username === null ? [isRequired('body/username')] : []),
    ...(hasAuth && password === null ? [isRequired('body/password')] : []),
  ]
  if (name === undefined || kept === undefined || flaws.length > 0) throw badRequest(flaws)
  const terms = typeof kept.terms === 'string' ? kept.terms : JSON.stringify(kept.terms)
  const count = 'count' in kept ? kept.count : kept.terms.length
  const description = body.description ?? base?.description ?? null
  return { name, description, category, isCsv: kept.isCsv, terms, count, username, password }
}
