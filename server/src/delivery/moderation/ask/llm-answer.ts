import { parseObject, type Read, readVerdict } from './answer.ts'

interface Completion {
  readonly choices?: ReadonlyArray<{ readonly message?: { readonly content?: unknown; readonly refusal?: unknown } }>
}

/** Reads what a model said in an answer of `chat/completions`. */
export function readCompletion(text: string): Read {
  const completion = parseObject(text) as Completion | undefined
  if (completion === undefined) return { errors: ['the body must be a JSON object'] }
  if (!Array.isArray(completion.choices)) return { errors: ['choices must be an array'] }
  const { content, refusal } = completion.choices[0]?.message ?? {}
  if (typeof content !== 'string' || content === '') {
    const refused = typeof refusal === 'string' && refusal !== '' ? '; the model refused to answer' : ''
    return { errors: [`choices[0].message.content must be a text${refused}`] }
  }
  const read = readVerdict(withoutFence(content))
  return 'errors' in read ? { errors: read.errors.map((error) => `choices[0].message.content: ${error}`) } : read
}

const fence = '```'

/** Some models put JSON into a code block of Markdown, whatever they are told. */
function withoutFence(content: string): string {
  const text = content.trim()
  const lineEnd = text.indexOf('\n')
  if (!text.startsWith(fence) || !text.endsWith(fence) || lineEnd < 0) return content
  const language = text.slice(fence.length, lineEnd).trim().toLowerCase()
  return language === '' || language === 'json' ? text.slice(lineEnd, -fence.length).trim() : content
}

/** The code of an error in the form of OpenAI. */
export function errorCodeOf(text: string): string | undefined {
  const error = parseObject(text)?.error
  if (typeof error !== 'object' || error === null) return undefined
  const { code, type } = error as { code?: unknown; type?: unknown }
  const named = code ?? type
  return typeof named === 'string' || typeof named === 'number' ? String(named).slice(0, 100) : undefined
}
