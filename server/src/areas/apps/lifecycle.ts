import { badRequest } from '@parley/contract'
import { type AppState, holdApp, type RegisteredApp, unknownApp } from '../../chat/apps.ts'
import { type AuditRecord, deployment } from '../../chat/audit/audit.ts'
import type { App } from '../../chat/identity.ts'
import type { Context } from '../../context.ts'
import type { Transaction } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'
import { forgetFailuresOf } from '../webhooks/index.ts'
import {
  alreadyDeleted,
  alreadyPaused,
  beingRemoved,
  defaultAppStays,
  notDeleted,
  notPaused,
  takeBackFirst,
} from './errors.ts'

type Store = Pick<Context, 'database' | 'apps' | 'audit'>
type Served = Pick<AppState, 'pausedAt' | 'deletesAt'>

/** How long an app that was deleted can be taken back, in seconds. */
const takeBackSeconds = 7 * 86_400

const write = statement(`
  update apps
  set paused_at = $2,
    deletes_at = $3
  where app_id = $1`)

const nowSeconds = () => Math.floor(Date.now() / 1000)

/**
 * Pauses an app: it answers nobody, its sockets close, and what is done for it in the background waits.
 * @throws 409 `ERR_APP_ALREADY_PAUSED`, `ERR_APP_ALREADY_DELETED`
 */
export function pauseApp(store: Store, app: App): Promise<void> {
  return change(store, app, 'app_paused', ({ pausedAt, name }) => {
    if (pausedAt !== null) throw alreadyPaused(name)
    return { pausedAt: nowSeconds(), deletesAt: null }
  })
}

/** Lets a paused app go on. @throws 409 `ERR_APP_NOT_PAUSED`, `ERR_APP_ALREADY_DELETED` for one that is to be deleted */
export function resumeApp(store: Store, app: App): Promise<void> {
  return store.database.transaction((tx) => resumeAppWithin(tx, store, app))
}

/** The same in a transaction that does what the app was paused for: it goes on when that is done, and not else. */
export function resumeAppWithin(tx: Transaction, store: Omit<Store, 'database'>, app: App): Promise<void> {
  return changeWithin(tx, store, app, 'app_resumed', ({ pausedAt, deletesAt, name }) => {
    if (deletesAt !== null) {
      throw takeBackFirst(name)
    }
    if (pausedAt === null) throw notPaused(name)
    return { pausedAt: null, deletesAt: null }
  })
}

/**
 * Has an app deleted, with everything in it, seven days from now. Until then it is paused, and can be taken back.
 * @param typed its name, once more
 * @throws 400 for another name, 403 `ERR_DEFAULT_APP_DELETE_DENIED`, 409 `ERR_APP_ALREADY_DELETED`
 */
export async function deleteApp(
  store: Store & { readonly config: Pick<Context['config'], 'appId'> },
  app: App,
  typed: string,
): Promise<void> {
  if (app.name === store.config.appId.toLowerCase()) {
    throw defaultAppStays(app.name)
  }
  if (typed.toLowerCase() !== app.name) throw badRequest([{ path: 'body/name', message: 'is not the ID of the app' }])
  await change(store, app, 'app_deleted', ({ pausedAt, deletesAt, name }) => {
    if (deletesAt !== null) throw alreadyDeleted(name)
    const now = nowSeconds()
    return { pausedAt: pausedAt ?? now, deletesAt: now + takeBackSeconds }
  })
}

/** Takes the deletion of an app back. It stays paused. @throws 409 `ERR_APP_NOT_DELETED`, `ERR_APP_ALREADY_DELETED` */
export function undeleteApp(store: Store, app: App): Promise<void> {
  return change(store, app, 'app_undeleted', ({ pausedAt, deletesAt, name }) => {
    if (deletesAt === null) throw notDeleted(name)
    return { pausedAt, deletesAt: null }
  })
}

function change(
  store: Store,
  app: App,
  action: AuditRecord['action'],
  decide: (app: RegisteredApp) => Served,
): Promise<void> {
  return store.database.transaction((tx) => changeWithin(tx, store, app, action, decide))
}

/** One after the other, whoever asks: of two who want the same, the second is refused. */
async function changeWithin(
  tx: Transaction,
  { apps, audit }: Omit<Store, 'database'>,
  { appId, name }: App,
  action: AuditRecord['action'],
  decide: (app: RegisteredApp) => Served,
): Promise<void> {
  const app = await holdApp(tx, appId)
  if (app === undefined) throw unknownApp(name)
  if (app.removingAt !== null) {
    throw beingRemoved(name)
  }
  const { pausedAt, deletesAt } = decide(app)
  await tx.query(write, [appId, pausedAt, deletesAt])
  const record = { action, type: 'app', target: name, ...(deletesAt !== null && { details: { deletesAt } }) } as const
  await audit.record(tx, appId, record)
  // The log of the app goes with it, that of the deployment stays.
  if (deletesAt !== app.deletesAt) await audit.record(tx, deployment, record)
  if (pausedAt === null) await forgetFailuresOf(tx, appId)
  await apps.changed(tx, name)
}
