import * as contract from '@parley/contract'
import { limits } from '@parley/contract'
import { type Route, Serialized, serve } from '../../../call.ts'
import type { App } from '../../../chat/identity.ts'
import type { ListRow } from '../../../chat/moderation/lists.ts'
import { changeList, makeList, removeList, requireList } from './change.ts'
import { writeList, writeListed } from './show.ts'
import { listStore } from './store.ts'

type OneAnswer = Serialized<contract.AnswerOf<typeof contract.getKeywordList>>
type ListAnswer = Serialized<contract.AnswerOf<typeof contract.listKeywordLists>>

function answerOf(app: App, row: ListRow): OneAnswer {
  return new Serialized(`{"data":${writeList(app, row)}}` as OneAnswer['text'])
}

export const operations: readonly Route[] = [
  serve(contract.createKeywordList, async ({ app, body }, context) => {
    return answerOf(app, await makeList(context, app, body))
  }),

  serve(contract.listKeywordLists, async ({ app, query }, { database }) => {
    const { limit = limits.moderationLimit.default } = query
    const lists = (await listStore.readAll(database, app.appId)).slice(0, limit).map((row) => writeListed(app, row))
    const meta = JSON.stringify({ current: { limit, count: lists.length } })
    return new Serialized(`{"data":[${lists.join(',')}],"meta":${meta}}` as ListAnswer['text'])
  }),

  serve(contract.getKeywordList, async ({ app, params }, { database }) => {
    return answerOf(app, await requireList(database, app, params.keywordId))
  }),

  serve(contract.updateKeywordList, async ({ app, params, body }, context) => {
    return answerOf(app, await changeList(context, app, params.keywordId, body))
  }),

  serve(contract.deleteKeywordList, async ({ app, params }, context) => {
    await removeList(context, app, params.keywordId)
    return { data: { success: true, message: `keyword list ${params.keywordId} removed` } }
  }),
]
