import * as contract from '@parley/contract'
import { type Call, serve } from '../../call.ts'
import { roleList } from '../../chat/roles/rules.ts'
import { requireActiveUser, requireUser } from '../../chat/users/require.ts'
import { showUsers } from '../../chat/users/view.ts'
import type { Context } from '../../context.ts'
import { pageMeta, readPage, syncCursor } from '../../paging.ts'
import { blockUsers, selectBlocked, unblockUsers } from './blocks.ts'

export const operations = [
  serve(contract.blockUsers, async ({ app, params, body }, context) => {
    const { uid } = await requireActiveUser(context.database, app.appId, params.uid)
    return { data: await blockUsers(context, app.appId, uid, body.blockedUids) }
  }),

  serve(contract.unblockUsers, async ({ app, params, body }, context) => {
    const { uid } = await requireActiveUser(context.database, app.appId, params.uid)
    return { data: await unblockUsers(context, app.appId, uid, body.blockedUids) }
  }),

  serve(contract.listBlockedUsers, async (call, context) => {
    const { uid } = await requireUser(context.database, call.app.appId, call.params.uid)
    return listBlocked(context, call, uid, call.query)
  }),

  serve(contract.blockUsersAsMe, async ({ app, actor, policy, body }, context) => {
    return { data: await blockUsers(context, app.appId, actor.uid, body.blockedUids, policy) }
  }),

  serve(contract.unblockUsersAsMe, async ({ app, actor, policy, body }, context) => {
    return { data: await unblockUsers(context, app.appId, actor.uid, body.blockedUids, policy) }
  }),

  serve(contract.listUsersBlockedByMe, async (call, context) => {
    const visibleRoles = roleList(call.policy, 'listBlockedUser.allowedRoles')
    return listBlocked(context, call, call.actor.uid, call.query, visibleRoles)
  }),
]

async function listBlocked(
  { database }: Context,
  { app, caller }: Pick<Call<contract.Operation>, 'app' | 'caller'>,
  uid: string,
  query: contract.QueryOf<typeof contract.listBlockedUsers>,
  visibleRoles: readonly string[] | null = null,
): Promise<contract.AnswerOf<typeof contract.listBlockedUsers>> {
  const page = readPage(query, caller)
  const { users, total } = await selectBlocked(database, app.appId, uid, query, page, visibleRoles)
  const data = await showUsers(database, app.appId, uid, users, {
    withBlockers: query.direction !== undefined,
    seenByApp: caller.kind === 'app',
  })
  const cursor = syncCursor(users)
  return { data, meta: { ...pageMeta(page, total, data.length), ...(cursor && { cursor }) } }
}
