import { ApiError } from '@parley/contract'
import { type AppState, unknownApp } from '../../chat/apps.ts'
import type { App } from '../../chat/identity.ts'
import type { Context } from '../../context.ts'
import { statement } from '../../store/statement.ts'
import { createApiKey } from '../api-keys/index.ts'
import { isOfApp, type Operator } from './accounts.ts'

const columns = `app_id as key, name as "appId", region, created_at as "createdAt", paused_at as "pausedAt",
    deletes_at as "deletesAt", removing_at as "removingAt"`

const select = statement(`
  select ${columns}
  from apps
  order by name`)

const selectOne = statement(`
  select ${columns}
  from apps
  where app_id = $1`)

interface AppRow extends AppState {
  readonly key: number
  readonly appId: string
  readonly region: string
  readonly createdAt: number
}

type Store = Pick<Context, 'database' | 'config'>

/** The apps that an operator has to do with, by name. */
export async function listOwnApps({ database, config }: Store, operator: Operator) {
  const rows = await database.query<AppRow>(select)
  return rows.filter(({ key }) => isOfApp(operator, key)).map((row) => show(row, config))
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
  if (!created) throw new ApiError('ERR_APP_ALREADY_EXISTS', `There is an app ${app.name} already.`)
  const { apiKey, createdAt } = await createApiKey(context, app.appId, 'REST API Key', 'fullAccess')
  return { appId: app.name, region: app.region, createdAt, apiKey }
}
