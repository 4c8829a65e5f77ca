import { createApiKey, deleteApiKey, getApiKey, listApiKeys, updateApiKey } from '@parley/contract'
import { serve } from '../../call.ts'
import type { Caller } from '../../chat/identity.ts'
import { pageMeta, readPage } from '../../paging.ts'
import { noSelfAction } from './errors.ts'
import { changeKey, insertKey, readKey, removeKey, selectKeys } from './keys.ts'

export const operations = [
  serve(createApiKey, async ({ app, body }, context) => {
    return { data: await insertKey(context, app.appId, body.name, body.scope ?? 'authOnly') }
  }),

  serve(listApiKeys, async ({ app, caller, query }, context) => {
    const page = readPage(query, caller)
    const { keys, total } = await selectKeys(context, app.appId, query, page)
    return { data: keys, meta: pageMeta(page, total, keys.length) }
  }),

  serve(getApiKey, async ({ app, params }, context) => {
    return { data: await readKey(context, app.appId, params.apiKey) }
  }),

  serve(updateApiKey, async ({ app, caller, params, body }, context) => {
    refuseSelfAction(caller, context.secrets.digest(params.apiKey.toLowerCase()))
    return { data: await changeKey(context, app.appId, params.apiKey, body) }
  }),

  serve(deleteApiKey, async ({ app, caller, params }, context) => {
    refuseSelfAction(caller, context.secrets.digest(params.apiKey.toLowerCase()))
    await removeKey(context, app.appId, params.apiKey)
    return { data: { success: true, message: `The API key ${params.apiKey} was deleted.` } }
  }),
]

/** A key cannot change or delete itself, so that nobody is locked out by accident. */
function refuseSelfAction(caller: Caller, digest: Buffer): void {
  if (caller.kind === 'app' && caller.keyDigest.equals(digest)) throw noSelfAction()
}
