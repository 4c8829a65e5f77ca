import { endUserSession, listUserSessions } from '@parley/contract'
import { requireUser } from '../../chat/users/require.ts'
import { endSessionOf, listSessionsOf } from '../auth-tokens/index.ts'
import { type AdminRoute, serveAdmin } from './call.ts'
import { unknownSessionOf } from './errors.ts'

export const operations: readonly AdminRoute[] = [
  serveAdmin(listUserSessions, async ({ app: { appId }, params }, context) => {
    const { uid } = await requireUser(context.database, appId, params.uid)
    return { data: await listSessionsOf(context, appId, uid) }
  }),
  serveAdmin(endUserSession, async ({ app: { appId }, params }, context) => {
    const { uid } = await requireUser(context.database, appId, params.uid)
    if (!(await endSessionOf(context, appId, uid, Number(params.id)))) {
      throw unknownSessionOf(uid)
    }
    return { data: { success: true as const } }
  }),
]
