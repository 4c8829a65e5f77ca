import * as contract from '@parley/contract'
import { limits } from '@parley/contract'
import { type Route, Serialized, serve } from '../../../call.ts'
import type { App } from '../../../chat/identity.ts'
import { type ListRow, readListRevision } from '../../../chat/moderation/lists.ts'
import { unknownRevision } from '../errors.ts'
import { revisionId } from '../revision-id.ts'
import { changeList, makeList, removeList, requireList } from './change.ts'
import { showRevision, writeList, writeListed } from './show.ts'
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

  serve(contract.listKeywordRevisions, async ({ app, params, query }, { database }) => {
    const { limit = limits.moderationLimit.default } = query
    await requireList(database, app, params.keywordId)
    const rows = await listStore.readRevisions(database, app.appId, params.keywordId, limit)
    return { data: rows.map((row) => showRevision(app, row)), meta: { current: { limit, count: rows.length } } }
  }),

  serve(contract.getKeywordRevision, async ({ app, params }, { database }) => {
    const current = await requireList(database, app, params.keywordId)
    if (revisionId(app, current) === params.revisionId) return answerOf(app, current)
    const revision = /^\d{1,9}$/.exec(params.revisionId.split('_').at(-1) ?? '')?.[0] ?? '0'
    const row = await readListRevision(database, app.appId, current.id, Number(revision))
    if (row === undefined || revisionId(app, row) !== params.revisionId) throw unknownRevision(params.revisionId)
    return answerOf(app, row)
  }),
]
