import type { App } from '../../chat/identity.ts'
import type { StoredMessage } from '../../chat/messages/rows.ts'
import { showMessages } from '../../chat/messages/show.ts'
import { judgedOf } from '../../chat/moderation/describe.ts'
import type { EngineSetting, EngineSettings } from '../../chat/moderation/engine-settings.ts'
import type { StoredQuestion } from '../../chat/moderation/verdict.ts'
import type { Context } from '../../context.ts'
import { readLabels, readVerdict } from './ask/answer.ts'
import { type Failure, notConfigured } from './ask/failure.ts'
import type { EngineKind, EngineRequest } from './ask/line.ts'
import { errorCodeOf, readCompletion } from './ask/llm-answer.ts'
import { completionBody, completionsUrl, llmTimeoutMs, type Utterance } from './ask/llm-request.ts'
import { readContextMessages } from './context-messages.ts'
import type { EngineLists } from './engine-lists.ts'

export interface RequestOptions {
  readonly context: Context
  readonly lists: EngineLists
}

/** A message that engines are asked about, as it will be if they approve it. */
export interface Subject {
  readonly app: App
  readonly message: StoredMessage
  readonly settings: EngineSettings
  /** All that they are asked about it. */
  readonly questions: readonly StoredQuestion[]
}

const customApiTimeoutMs = 2_000
const videoTimeoutMs = 30_000

/** Who answers a question. */
export function engineOf({ condition, label }: StoredQuestion): EngineKind {
  if (condition.category === 'prompt') return 'llm'
  return label === undefined ? 'custom-api' : 'labels'
}

/** Questions of one key are answered by one request. */
export function keyOf(question: StoredQuestion): string {
  const { listId, listRevision, condition } = question
  const engine = engineOf(question)
  if (engine === 'labels') return engine
  return `${engine} ${listRevision} ${engine === 'llm' ? condition.operand : ''} ${listId}`
}

/** Makes requests about a message. What several of them need is read once. */
export function createRequests({ context, lists }: RequestOptions, subject: Subject) {
  const { database, secrets, fileLinks } = context
  const { app, message, settings, questions } = subject
  const judged = judgedOf(message)
  const mostContext = Math.max(...questions.map((question) => settings[engineOf(question)].contextMessages))
  let reading: Promise<Utterance[]> | undefined
  const before = async ({ contextMessages }: EngineSetting): Promise<Utterance[]> => {
    reading ??= readContextMessages(context, app.appId, message, mostContext)
    return contextMessages === 0 ? [] : (await reading).slice(-contextMessages)
  }
  const bearer = ({ key }: EngineSetting): Record<string, string> =>
    key === null ? {} : { authorization: `Bearer ${secrets.unseal(key)}` }
  const written = (body: object) => fileLinks.inText(app, JSON.stringify(body))
  const listOf = async ({ listId, listRevision }: StoredQuestion) =>
    listId === undefined || listRevision === undefined ? undefined : lists.of(app.appId, listId, listRevision)

  return {
    /** @returns why nothing can be asked, where the engine is not set up */
    async make(question: StoredQuestion): Promise<EngineRequest | Failure> {
      switch (engineOf(question)) {
        case 'custom-api':
          return askCustomApi(question)
        case 'llm':
          return askLlm(question)
        case 'labels':
          return askLabels()
      }
    },
  }

  async function askCustomApi(question: StoredQuestion): Promise<EngineRequest | Failure> {
    const list = await listOf(question)
    const [url] = list?.terms ?? []
    if (list === undefined || url === undefined) return notConfigured('the list names no address')
    const [shown] = await showMessages(database, app.appId, [message], { withTags: true })
    const said = (await before(settings['custom-api'])).map(({ uid, text }) => ({ [uid]: text }))
    return {
      ...{ kind: 'custom-api', appId: app.appId, url, timeoutMs: customApiTimeoutMs, read: readVerdict },
      headers: list.authorization === undefined ? {} : { authorization: list.authorization },
      body: await written({ contextMessages: [...said, { [message.receiver]: shown }] }),
    }
  }

  async function askLlm(question: StoredQuestion): Promise<EngineRequest | Failure> {
    const { llm } = settings
    const { url, model } = llm
    if (url === null || model === null) return notConfigured('the app has no language model set')
    const prompts = (await listOf(question))?.terms ?? []
    if (prompts.length === 0) return notConfigured('the list has no prompts')
    const { operand } = question.condition
    const pictures = operand === 'image' ? filesOf('image').map((file) => file.url) : []
    const text = operand === 'custom' ? judged.custom : judged.text
    const asked = { model, prompts, context: await before(llm), message: { uid: message.sender, text }, pictures }
    return {
      ...{ kind: 'llm', appId: app.appId, url: completionsUrl(url), read: readCompletion },
      headers: bearer(llm),
      timeoutMs: llmTimeoutMs(pictures.length),
      body: await written(completionBody(asked)),
      about({ status, text: answer, headers }) {
        const code = status === 200 ? undefined : errorCodeOf(answer)
        const id = headers['x-request-id']
        return {
          ...(code !== undefined && { providerErrorCode: code }),
          ...(typeof id === 'string' && { openaiRequestId: id.slice(0, 200) }),
        }
      },
    }
  }

  async function askLabels(): Promise<EngineRequest | Failure> {
    const { labels } = settings
    if (labels.url === null) return notConfigured('the app has no engine for labels set')
    const [images, videos] = [filesOf('image'), filesOf('video')]
    const asked = new Set(questions.flatMap(({ label }) => label ?? []))
    return {
      ...{ kind: 'labels', appId: app.appId, url: labels.url, headers: bearer(labels), read: readLabels },
      timeoutMs: videos.length > 0 ? videoTimeoutMs : llmTimeoutMs(images.length),
      body: await written({ labels: [...asked], files: [...images, ...videos] }),
    }
  }

  function filesOf(type: 'image' | 'video') {
    return judged.files
      .filter(({ shownAs }) => shownAs.includes(type))
      .map(({ url, mimeType }) => ({ type, url, ...(mimeType !== undefined && { mimeType }) }))
  }
}
