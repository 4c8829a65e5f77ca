import { type EmulatedAnswer, type EmulatedRequest, startHttpEmulator } from './http.ts'

/** Who was asked: an API of an app, a model, or who finds labels of pictures. */
export type AskedEngine = 'custom-api' | 'llm' | 'labels'

/** A question that a moderation engine got. */
export interface EngineCall {
  readonly engine: AskedEngine
  readonly path: string
  readonly authorization: string | undefined
  // biome-ignore lint/suspicious/noExplicitAny: whoever looks at a journal knows what to expect in it
  readonly body: any
  /** The text that is judged; of pictures their addresses. */
  readonly text: string
  /** 0: hung up. */
  readonly status: number
}

/** What to answer instead of a judgement by the text. */
export interface EngineAnswer {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** As it is. */
  readonly body?: object
  /** Wait before answering. */
  readonly delayMs?: number
}

/** Stands in for moderation engines: an API of an app, one that is compatible with OpenAI, and one for labels. */
export interface ModerationEmulator {
  readonly endpoint: string
  /** As a list of category custom-api takes it. */
  readonly customApi: {
    readonly url: string
    readonly basicAuthEnabled: true
    readonly username: string
    readonly password: string
  }
  readonly llm: { readonly url: string; readonly model: string; readonly apiKey: string }
  readonly labels: { readonly url: string; readonly apiKey: string }
  /** What came, oldest first. */
  readonly calls: readonly EngineCall[]
  /** How to answer from now on; undefined: as the text says. */
  behave(how: (call: Omit<EngineCall, 'status'>) => EngineAnswer | 'hang up' | undefined): void
  close(): Promise<void>
}

const apiKey = 'emulated-key'
const username = 'parley'
const password = 'emulated-password'

/**
 * By default the text decides: `bad` with a confidence of 0.95, `dubious` with 0.6; `bad:0.3` with that one. Texts with
 * `slow` are answered too late, those with `down` by a 503, with `broken` by something else than JSON, with `hangup` not at
 * all. Addresses of pictures are read in the same way: `https://.../violence-bad.png` shows the label `violence`.
 */
export async function startModerationEmulator({
  port = 0,
}: {
  readonly port?: number
} = {}): Promise<ModerationEmulator> {
  const calls: EngineCall[] = []
  let behaviour: Parameters<ModerationEmulator['behave']>[0] = () => undefined
  const timers = new Set<NodeJS.Timeout>()

  const serve = async (engine: AskedEngine, request: EmulatedRequest): Promise<EmulatedAnswer | undefined> => {
    const authorization = request.headers.authorization
    const body = parse(request.text)
    const flaw = flawOf(engine, body, authorization)
    const call = {
      engine,
      path: request.path,
      authorization,
      body,
      text: flaw === undefined ? textOf(engine, body) : '',
    }
    const how = flaw ?? behaviour(call) ?? byText(engine, call.text)
    const status = how === 'hang up' ? 0 : (how.status ?? 200)
    calls.push({ ...call, status })
    if (how === 'hang up') return undefined
    if (how.delayMs !== undefined) {
      const { delayMs } = how
      await new Promise<void>((resolve) => timers.add(setTimeout(resolve, delayMs)))
    }
    const judged =
      how.body ??
      (status === 200 ? judge(engine, call) : { error: { message: `emulated ${status}`, code: `e${status}` } })
    return { status, headers: { 'x-request-id': `req_${calls.length}`, ...how.headers }, body: judged }
  }
  const { endpoint, close } = await startHttpEmulator(port, (request) => {
    if (request.path === '/journal') return { status: 200, body: calls }
    if (request.method === 'POST' && request.path.startsWith('/custom-api')) return serve('custom-api', request)
    if (request.method === 'POST' && request.path === '/v1/chat/completions') return serve('llm', request)
    if (request.method === 'POST' && request.path.startsWith('/labels')) return serve('labels', request)
    return { status: 404, body: { error: { message: 'there is nothing here' } } }
  })
  return {
    ...{ endpoint, calls },
    customApi: { url: `${endpoint}/custom-api`, basicAuthEnabled: true, username, password },
    llm: { url: `${endpoint}/v1`, model: 'emulated', apiKey },
    labels: { url: `${endpoint}/labels`, apiKey },
    behave(how) {
      behaviour = how
    },
    async close() {
      for (const timer of timers) clearTimeout(timer)
      await close()
    },
  }
}

/** What a real engine would refuse. */
function flawOf(
  engine: AskedEngine,
  body: EngineCall['body'],
  authorization: string | undefined,
): EngineAnswer | undefined {
  const basic = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
  const refuse = (status: number, message: string) => ({ status, body: { error: { message, code: 'refused' } } })
  if (engine === 'custom-api' && authorization !== undefined && authorization !== basic)
    return refuse(401, 'wrong password')
  if (engine !== 'custom-api' && authorization !== undefined && authorization !== `Bearer ${apiKey}`) {
    return refuse(401, 'wrong key')
  }
  if (engine === 'llm' && authorization === undefined) return refuse(401, 'no key')
  const isRight =
    engine === 'custom-api'
      ? Array.isArray(body?.contextMessages) && body.contextMessages.length > 0
      : engine === 'llm'
        ? typeof body?.model === 'string' && Array.isArray(body.messages)
        : Array.isArray(body?.labels) && Array.isArray(body.files)
  return isRight ? undefined : refuse(400, 'the body is not as it must be')
}

/** What the message under test says. */
function textOf(engine: AskedEngine, body: EngineCall['body']): string {
  if (engine === 'labels') return body.files.map(({ url }: { url: string }) => url).join(' ')
  if (engine === 'custom-api') {
    const [message] = Object.values(body.contextMessages.at(-1) ?? {}) as Array<{ data?: { text?: string } }>
    return message?.data?.text ?? ''
  }
  const { content } = body.messages.at(-1) ?? {}
  const parts: Array<{ text?: string; image_url?: { url: string } }> = Array.isArray(content)
    ? content
    : [{ text: content }]
  const asked = parts.map(({ text, image_url }) => (text === undefined ? image_url?.url : parse(text)?.message?.text))
  return asked.filter(Boolean).join(' ')
}

function byText(engine: AskedEngine, text: string): EngineAnswer | 'hang up' {
  if (/\bhangup\b/.test(text)) return 'hang up'
  if (/\bslow\b/.test(text)) return { delayMs: engine === 'custom-api' ? 2_500 : 31_000 }
  if (/\bdown\b/.test(text)) return { status: 503 }
  if (/\bbroken\b/.test(text)) return { body: { sorry: 'this is no judgement' } }
  return {}
}

function judge(engine: AskedEngine, { text, body }: Omit<EngineCall, 'status'>): object {
  const confidence = confidenceOf(text)
  if (engine === 'labels') {
    const shown = body.labels.filter((label: string) => text.includes(label.toLowerCase().replaceAll(' ', '-')))
    return { labels: Object.fromEntries(shown.map((label: string) => [label, confidence])) }
  }
  const isMatchingCondition = confidence > 0
  const verdict = {
    isMatchingCondition,
    confidence,
    reason: isMatchingCondition ? 'it says so itself' : 'nothing is wrong',
  }
  if (engine === 'custom-api') return verdict
  const message = { role: 'assistant', content: JSON.stringify(verdict) }
  return { id: 'chatcmpl-1', object: 'chat.completion', choices: [{ index: 0, finish_reason: 'stop', message }] }
}

function confidenceOf(text: string): number {
  const [, named] = /\bbad:(0(?:\.\d+)?|1)\b/.exec(text) ?? []
  if (named !== undefined) return Number(named)
  if (/\bbad\b/.test(text)) return 0.95
  return /\bdubious\b/.test(text) ? 0.6 : 0
}

function parse(text: string): EngineCall['body'] {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
