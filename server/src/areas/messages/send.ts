import { type AnswerOf, ApiError, type BodyOf, type ErrorBody, type Message, type sendMessage } from '@parley/contract'
import { Serialized } from '../../call.ts'
import { type App, actingDevice, type Caller } from '../../chat/identity.ts'
import { type JsonText, toJson } from '../../chat/json.ts'
import type { ConversationKind } from '../../chat/kind.ts'
import { mediaKeysOf } from '../../chat/messages/file-uses.ts'
import { isHeld, traitsOf } from '../../chat/messages/traits.ts'
import { recordsOf } from '../../chat/moderation/records.ts'
import { decide, traitsOfStatus } from '../../chat/moderation/verdict.ts'
import { messageKindOf, sendKeyOf } from '../../chat/writing/deeds.ts'
import { type DeniedScopes, writeByScopes } from '../../chat/writing/denied-scopes.ts'
import { type Draft, isJudgedOutside, passJudges } from '../../chat/writing/judges.ts'
import { requireMayWrite } from '../../chat/writing/may-write.ts'
import { changedMeanwhile, refusalError } from '../../chat/writing/refusals.ts'
import { judgeByRoles } from '../../chat/writing/role-rules.ts'
import type { Context } from '../../context.ts'
import { refusalOf } from '../../faults.ts'
import { type SentMessage, showSent, showStored } from './answer.ts'
import { type Content, checkContent } from './content.ts'
import { emptyReceiver } from './errors.ts'
import { publishSent, publishToSender, sendSubscriptions } from './publish.ts'
import { isRelated, readRelated, unrelated } from './related.ts'
import { findRepeated, requireRepeated, type SendRequest, senderOf } from './repeat.ts'
import { readTarget, type Target } from './target.ts'
import type { NewMessageRow } from './write/row.ts'

type SendBody = BodyOf<typeof sendMessage>

/** The outcome for one of several receivers. */
type Outcome = { success: true; data: Message } | ({ success: false } & ErrorBody)

/** The answer to a send, written out. */
type SendAnswer = Serialized<AnswerOf<typeof sendMessage>>

/** Sends to one receiver, or to `multipleReceivers`, where one that fails does not stop the others. */
export async function send(context: Context, app: App, caller: Caller, body: SendBody): Promise<SendAnswer> {
  const content = checkContent(body)
  if (body.multipleReceivers === undefined) {
    const sent = await sendTo(context, app, caller, content, body, readTarget(body))
    return answerOf(sent.write())
  }

  const { uids, guids } = body.multipleReceivers
  if ((uids?.length ?? 0) + (guids?.length ?? 0) === 0) {
    throw emptyReceiver('multipleReceivers')
  }
  const sendToAll = (kind: ConversationKind, ids: readonly string[] = []) => {
    const receivers = [...new Set(ids.map((id) => id.toLowerCase()))]
    return Promise.all(
      receivers.map(async (receiver): Promise<Attempt> => {
        const [sending] = await Promise.allSettled([sendTo(context, app, caller, content, body, { kind, receiver })])
        return { receiver, sending }
      }),
    )
  }
  // All have ended before the whole fails: what is cleared away then is not wanted by one that still sends.
  const [toUsers, toGroups] = await Promise.all([sendToAll('user', uids), sendToAll('group', guids)])
  requireOneSent([...toUsers, ...toGroups])
  const outcomesOf = (attempts: readonly Attempt[]) =>
    Object.fromEntries(attempts.map((attempt) => [attempt.receiver, outcomeOf(context, attempt)]))
  return answerOf(toJson({ ...(uids && { uids: outcomesOf(toUsers) }), ...(guids && { guids: outcomesOf(toGroups) }) }))
}

/** How a send to one of several receivers ended. */
interface Attempt {
  readonly receiver: string
  readonly sending: PromiseSettledResult<SentMessage>
}

/** Where nothing was sent and something went wrong, the request may be sent again as a whole. @throws what went wrong */
function requireOneSent(attempts: readonly Attempt[]): void {
  const failures = attempts.flatMap(({ sending }) => (sending.status === 'rejected' ? [sending.reason] : []))
  const fault = failures.find((reason) => !(reason instanceof ApiError))
  if (fault !== undefined && failures.length === attempts.length) throw fault
}

function answerOf(data: JsonText): SendAnswer {
  return new Serialized(`{"data":${data}}` as SendAnswer['text'])
}

/** How many receivers a body names. */
export function receiversOf({ multipleReceivers }: Pick<SendBody, 'multipleReceivers'>): number {
  if (multipleReceivers === undefined) return 1
  return (multipleReceivers.uids?.length ?? 0) + (multipleReceivers.guids?.length ?? 0)
}

function outcomeOf({ log }: Pick<Context, 'log'>, { receiver, sending }: Attempt): Outcome {
  if (sending.status === 'fulfilled') return { success: true, data: sending.value.render() }
  return { success: false, ...refusalOf(sending.reason, log, { receiver }).toBody() }
}

/** Sends to one receiver. What is stored already is answered as it is, whatever has to be said against sending it by now. */
async function sendTo(
  context: Context,
  app: App,
  caller: Caller,
  content: Content,
  body: SendBody,
  target: Target,
): Promise<SentMessage> {
  const sending: SendRequest = { app, caller, target, muid: body.muid }
  // Nobody outside is asked again. Where nobody is, the batch finds out by itself.
  if (body.muid !== undefined && (await isJudgedOutside(context.judges, app))) {
    const stored = await findRepeated(context, sending)
    if (stored !== undefined) return showStored(context, sending, stored)
  }
  try {
    return await sendOnce(context, sending, content, body)
  } catch (error) {
    return showStored(context, sending, await requireRepeated(context, sending, error))
  }
}

async function sendOnce(context: Context, sending: SendRequest, sent: Content, body: SendBody): Promise<SentMessage> {
  const { app, caller, target } = sending
  const sender = senderOf(caller)
  const related = isRelated(body) ? await readRelated(context, app, sender, target, body) : unrelated
  const asApp = caller.kind === 'app'
  const key = sendKeyOf(related.parent?.id)
  const describe = (content: Content): Draft => ({
    app,
    sender,
    byApp: asApp,
    kind: target.kind,
    receiver: target.receiver,
    muid: body.muid ?? null,
    parentId: related.parent?.id ?? null,
    quotedId: related.quoted?.id ?? null,
    tags: body.tags ?? null,
    edits: null,
    content,
    span: context.span,
  })
  const { content, outcome } = await passJudges(context.judges, app, sent, describe, async () => {
    if (asApp) return
    const deed = { key, says: messageKindOf(sent) }
    const where = { appId: app.appId, sender, ...target, isNew: true, conversation: 'any' } as const
    await requireMayWrite(context, context.database, { ...where, deed })
  })
  const decision = outcome && decide(outcome)
  const judged = decision === undefined ? 0 : traitsOfStatus(decision.status)
  const files = mediaKeysOf(app, content.data)
  const subscribed = await sendSubscriptions(context.events, app.appId)
  const deed = { key, says: messageKindOf(content) }
  const roleRules = asApp ? null : judgeByRoles(await context.policies.ofApp(app.appId), target.kind, deed)
  const rowOf = ({ deniedScopes, permissionsVersion }: DeniedScopes): NewMessageRow => ({
    appId: app.appId,
    sender,
    kind: target.kind,
    receiver: target.receiver,
    category: content.category,
    type: content.type,
    data: content.json,
    muid: body.muid ?? null,
    parentId: related.parent?.id ?? null,
    quotedId: related.quoted?.id ?? null,
    tags: body.tags ?? null,
    mentioned: content.mentioned.length > 0 ? content.mentioned : null,
    files: files.length > 0 ? files : null,
    traits: traitsOf(content) | judged,
    countable: decision === undefined || decision.status === 'approved',
    asApp,
    deniedScopes,
    permissionsVersion,
    roleRules,
    subscribed,
    device: actingDevice(caller),
    moderation:
      outcome && decision && recordsOf(outcome, decision, Math.floor(Date.now() / 1000), context.span?.traceparent),
    span: context.span?.child('store message', { kind: 'producer' }),
  })
  const { messages } = context
  const { row, written } = await writeByScopes(messages.permissions, app.appId, target, deed, async (denied) => {
    const row = rowOf(denied)
    const written = await messages.write(row)
    return { row, written, refusal: written.refusal }
  })
  if (written.refusal === 'NO_CONVERSATION') throw changedMeanwhile()
  if (written.refusal !== null) throw refusalError(written.refusal, { ...row, says: deed.says })
  if (written.id === null) {
    return showStored(context, sending, await requireRepeated(context, sending, changedMeanwhile()))
  }
  const { quoted } = related
  if (row.moderation?.held?.questions) context.questions.wake()
  if (row.moderation?.decisions.some(({ acted }) => !acted)) context.moderationActions.soon(app, written.id)
  const show = () => showSent(context, row, written, content, quoted)
  return isHeld(row) ? publishToSender(context, row, written, show) : publishSent(context, row, written, show)
}
