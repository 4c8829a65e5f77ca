import type { AdminAnswerOf, AdminQueryOf, listApps } from '@parley/contract'
import { type AppState, unknownApp } from '../../chat/apps.ts'
import type { App } from '../../chat/identity.ts'
import type { Context } from '../../context.ts'
import { pageAsked, pageMeta } from '../../paging.ts'
import { statement } from '../../store/statement.ts'
import { createApiKey } from '../api-keys/index.ts'
import type { Operator } from './accounts.ts'
import { appExists } from './errors.ts'

const columns = `name as "appId", region, created_at as "createdAt", paused_at as "pausedAt",
    deletes_at as "deletesAt", removing_at as "removingAt"`

/** Those of an operator, where `$1` is not null, with a part of their names. */
const own = `
  from apps
  where ($1::int[] is null or app_id = any($1))
  and position($2 in name) > 0`

const select = statement(`
  select ${columns}
  ${own}
  order by name
  limit $3
  offset $4`)

const count = statement(`
  select count(*) as total
  ${own}`)

const selectOne = statement(`
  select ${columns}
  from apps
  where app_id = $1`)

interface AppRow extends AppState {
  readonly appId: string
  readonly region: string
  readonly createdAt: number
}

type Store = Pick<Context, 'database' | 'config'>

/** A page of the apps that an operator has to do with, by name. */
export async function listOwnApps(
  { database, config }: Store,
  operator: Operator,
  query: AdminQueryOf<typeof listApps>,
): Promise<AdminAnswerOf<typeof listApps>> {
  const page = pageAsked(query)
  const found = [operator.apps, (query.searchKey ?? '').toLowerCase()]
  const [rows, [counted]] = await Promise.all([
    database.query<AppRow>(select, [...found, page.perPage, page.offset]),
    database.query<{ total: number }>(count, found),
  ])
  return { data: rows.map((row) => show(row, config)), meta: pageMeta(page, Number(counted?.total ?? 0), rows.length) }
}

/** @throws 404 `ERR_APP_NOT_FOUND` */
export async function showOwnApp({ database, config }: Store, { appId, name }: App) {
  const [row] = await database.query<AppRow>(selectOne, [appId])
  if (row === undefined) throw unknownApp(name)
  return show(row, config)
}

function show(
  { appId, region, createdAt, pausedAt, deletesAt, removingAt }: AppRow,
  config: Pick<Context['config'], 'appId'>,
) {
  return {
    ...{ appId, region, createdAt, isDefault: appId === config.appId.toLowerCase() },
    ...(pausedAt !== null && { pausedAt }),
    ...(deletesAt !== null && { deletesAt }),
    ...(removingAt !== null && { removingAt }),
  }
}

/** Makes an app with a key of its own. @throws 409 `ERR_APP_ALREADY_EXISTS` */
export async function createOwnApp(context: Context, { appId, region }: { appId: string; region: string }) {
  const { created, ...app } = await context.apps.ensure(appId.toLowerCase(), region, context.audit)
  if (!created) throw appExists(app.name)
  const { apiKey, createdAt } = await createApiKey(context, app.appId, 'REST API Key', 'fullAccess')
  return { appId: app.name, region: app.region, createdAt, apiKey }
}
