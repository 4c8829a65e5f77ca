/** What an engine says of a message. */
export interface Judgement {
  /** In percent, that the message is what it was asked about. @param label of pictures and videos */
  confidence(label: string | undefined): number
  readonly reason?: string
}

/** What was read of an answer: a judgement, or what is wrong with it. */
export type Read = { readonly judgement: Judgement } | { readonly errors: readonly string[] }

const longestReason = 500

/** Reads `{isMatchingCondition, confidence, reason?}`. */
export function readVerdict(text: string): Read {
  const parsed = parseObject(text)
  if (parsed === undefined) return { errors: ['the body must be a JSON object'] }
  const { isMatchingCondition, confidence, reason } = parsed
  const errors = [
    ...(typeof isMatchingCondition === 'boolean' ? [] : ['isMatchingCondition must be true or false']),
    ...(isShare(confidence) ? [] : ['confidence must be a number from 0 to 1']),
    ...(reason === undefined || reason === null || typeof reason === 'string' ? [] : ['reason must be a string']),
  ]
  if (errors.length > 0) return { errors }
  const percent = isMatchingCondition === true ? 100 * (confidence as number) : 0
  const said =
    typeof reason === 'string' && reason !== '' ? { reason: reason.slice(0, longestReason).toWellFormed() } : {}
  return { judgement: { confidence: () => percent, ...said } }
}

/** Reads `{labels: {violence: 0.97, ...}}`. Labels that are not named were not found. */
export function readLabels(text: string): Read {
  const labels = parseObject(text)?.labels
  if (!isObject(labels)) return { errors: ['labels must be an object'] }
  const entries = Object.entries(labels)
  const errors = entries.flatMap(([name, share]) =>
    isShare(share) ? [] : [`labels.${name.slice(0, 50)} must be a number from 0 to 1`],
  )
  if (errors.length > 0) return { errors: errors.slice(0, 10) }
  const percents = new Map(entries.map(([name, share]) => [plain(name), 100 * (share as number)]))
  const greatest = Math.max(0, ...percents.values())
  return {
    judgement: {
      confidence: (label = '') => (isAny(label) ? greatest : (percents.get(plain(label)) ?? 0)),
    },
  }
}

/** Whether a label stands for whichever is found. */
function isAny(label: string): boolean {
  return anyLabels.has(plain(label))
}

const anyLabels: ReadonlySet<string> = new Set(['anyof', 'any unsafe content'])

/** How labels are compared. */
function plain(label: string): string {
  return label.trim().toLowerCase()
}

function isShare(value: unknown): boolean {
  return typeof value === 'number' && value >= 0 && value <= 1
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
