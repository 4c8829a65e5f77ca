import { setImmediate as otherWork } from 'node:timers/promises'
import type { AnswerOf, BodyOf, testRule } from '@parley/contract'
import { badRequest } from '@parley/contract'
import { requireGroup } from '../../../chat/groups/access.ts'
import type { App } from '../../../chat/identity.ts'
import { describeStored, judgedOf } from '../../../chat/moderation/describe.ts'
import type { Hit, JudgedMessage, Question } from '../../../chat/moderation/model.ts'
import { readListsOf } from '../../../chat/moderation/rulebook.ts'
import { revisionOf } from '../../../chat/moderation/rules.ts'
import { requireUser } from '../../../chat/users/require.ts'
import type { Context } from '../../../context.ts'
import { listStore } from '../lists/store.ts'
import { revisionId } from '../revision-id.ts'
import { requireRule } from '../rules/change.ts'
import { compileAlone } from './compile.ts'

type Body = BodyOf<typeof testRule>
type Result = AnswerOf<typeof testRule>['data']

/**
 * What a rule, as it is now, finds in texts. Nothing is stored, and nobody outside is asked.
 * @throws 404 for an unknown rule, sender or receiver; 400 where only one of those two is named
 */
export async function tryTexts(context: Context, app: App, ruleId: string, body: Body): Promise<Result> {
  const { database } = context
  const row = await requireRule(database, app, ruleId)
  const between = await describeBetween(context, app, body)
  const rule = revisionOf(row)
  const lists = await readListsOf(database, app.appId, [row], (id) => listStore.read(database, app.appId, id))
  const engine = await compileAlone(between === undefined ? { ...rule, filters: [] } : rule, lists)
  const results: Result['results'][number][] = []
  for (const said of body.texts) {
    const texts = body.operand === 'custom' ? { text: '', custom: said } : { text: said, custom: '' }
    const { hits, questions } = engine.judge({ ...(between ?? nobody), ...texts })
    results.push({
      isHit: hits.length > 0,
      hits: hits.map((hit) => showHit(app, hit)),
      questions: questions.map(showQuestion),
    })
    // There may be a hundred, and patterns may take a while on each.
    await otherWork()
  }
  return { revisionId: revisionId(app, row), results }

  function showQuestion({ condition, label, list }: Question) {
    return { condition: condition.id, ...(label !== undefined && { label }), ...showList(app, list) }
  }
}

const nobody = judgedOf({ sender: '', kind: 'user', receiver: '', category: 'message', type: 'text', data: {} })

async function describeBetween(context: Context, app: App, body: Body): Promise<JudgedMessage | undefined> {
  const { sender, receiver, receiverType = 'user' } = body
  if (sender === undefined && receiver === undefined) return undefined
  if (sender === undefined || receiver === undefined) {
    throw badRequest([{ path: `body/${sender === undefined ? 'sender' : 'receiver'}`, message: 'is required' }])
  }
  const { database } = context
  const { uid } = await requireUser(database, app.appId, sender)
  const to =
    receiverType === 'user'
      ? (await requireUser(database, app.appId, receiver)).uid
      : (await requireGroup(database, app.appId, receiver)).guid
  const said = { category: 'message', type: 'text', data: {} }
  return describeStored(database, app.appId, { sender: uid, kind: receiverType, receiver: to, ...said })
}

function showList(app: App, list: Hit['list']) {
  if (list === undefined) return {}
  const { listId: id, revision } = list
  return { list: { id, revisionId: revisionId(app, { id, revision }) } }
}

function showHit(app: App, { condition, list, match, confidence }: Hit) {
  return {
    condition: condition.id,
    ...showList(app, list),
    ...(match && { match }),
    ...(confidence !== undefined && { confidence }),
  }
}
