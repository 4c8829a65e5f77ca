import {
  createAuthToken,
  deleteAuthToken,
  flushAuthTokens,
  getAuthToken,
  listAuthTokens,
  updateAuthToken,
} from '@parley/contract'
import { serve } from '../../call.ts'
import { systemUid } from '../../chat/apps.ts'
import { lockUser } from '../../chat/users/locks.ts'
import { refuseDeactivated, requireUser } from '../../chat/users/require.ts'
import { pageMeta, readPage } from '../../paging.ts'
import { checkAuthKey } from '../users/index.ts'
import { systemCannotLogIn } from './errors.ts'
import { checkUse, issueToken, readToken, recordUse, removeToken, removeTokens, selectTokens } from './tokens.ts'

export const operations = [
  serve(createAuthToken, async ({ app, caller, params, body }, context) => {
    checkUse(body)
    const uid = params.uid.toLowerCase()
    const token = await context.database.transaction(async (tx) => {
      refuseDeactivated(await lockUser(tx, app.appId, uid))
      if (uid === systemUid) throw systemCannotLogIn(uid)
      await checkAuthKey(context, tx, app, caller, uid)
      return issueToken(context, tx, app.appId, uid, body)
    })
    return { data: token }
  }),

  serve(listAuthTokens, async ({ app, caller, params, query }, context) => {
    const { uid } = await requireUser(context.database, app.appId, params.uid)
    const page = readPage(query, caller)
    const { tokens, total } = await selectTokens(context, app.appId, uid, page)
    return { data: tokens, meta: pageMeta(page, total, tokens.length) }
  }),

  serve(flushAuthTokens, async ({ app, params }, context) => {
    const { uid } = await requireUser(context.database, app.appId, params.uid)
    await removeTokens(context, app.appId, uid)
    return { data: { success: true, message: `All auth tokens of ${uid} were deleted.` } }
  }),

  serve(getAuthToken, async ({ app, params }, context) => {
    const { uid } = await requireUser(context.database, app.appId, params.uid)
    return { data: await readToken(context, app.appId, uid, params.authToken) }
  }),

  serve(updateAuthToken, async ({ app, params, body }, context) => {
    checkUse(body)
    const { uid } = await requireUser(context.database, app.appId, params.uid)
    return { data: await recordUse(context, app.appId, uid, params.authToken, body) }
  }),

  serve(deleteAuthToken, async ({ app, params }, context) => {
    const { uid } = await requireUser(context.database, app.appId, params.uid)
    await removeToken(context, app.appId, uid, params.authToken)
    return { data: { success: true, message: `The auth token of ${uid} was deleted.` } }
  }),
]
