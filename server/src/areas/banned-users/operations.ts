import { banGroupUser, listBannedGroupUsers, unbanGroupUser } from '@parley/contract'
import { serve } from '../../call.ts'
import { readPage } from '../../paging.ts'
import { banUser, unbanUser } from './bans.ts'
import { listBanned } from './list.ts'

export const operations = [
  serve(banGroupUser, async ({ app, actor, params }, context) => {
    const uid = params.uid.toLowerCase()
    await banUser(context, app.appId, params.guid, actor, uid)
    return { data: { success: true, message: `${uid} was banned from ${params.guid.toLowerCase()}` } }
  }),

  serve(unbanGroupUser, async ({ app, actor, params }, context) => {
    const uid = params.uid.toLowerCase()
    await unbanUser(context, app.appId, params.guid, actor, uid)
    return { data: { success: true, message: `${uid} was unbanned from ${params.guid.toLowerCase()}` } }
  }),

  serve(listBannedGroupUsers, async ({ app, caller, actor, params, query }, context) => {
    return listBanned(context.database, app.appId, params.guid, actor?.uid, readPage(query, caller))
  }),
]
