import { askForExport, getUserExport, releaseUserExport } from '@parley/contract'
import { Serialized, serve } from '../../call.ts'
import { requireUser } from '../../chat/users/require.ts'
import { askFor, fetchExport, releaseExport, showExport } from './exports.ts'

export const operations = [
  serve(askForExport, async ({ app, actor }, context) => ({
    data: showExport(await askFor(context, app.appId, actor.uid)),
  })),

  serve(releaseUserExport, async ({ app, params }, context) => {
    const { uid } = await requireUser(context.database, app.appId, params.uid)
    return { data: showExport(await releaseExport(context, app.appId, uid)) }
  }),

  serve(getUserExport, async ({ app, params, query }, context) => {
    const { uid } = await requireUser(context.database, app.appId, params.uid)
    return new Serialized(await fetchExport(context, app.appId, uid, query))
  }),
]
