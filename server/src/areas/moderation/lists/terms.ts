import { setImmediate as otherWork } from 'node:timers/promises'
import { type BodyOf, badRequest, type ErrorDetail, limits, type updateKeywordList } from '@parley/contract'
import { flawOfTerms, type TermFlaw } from '../../../chat/moderation/engine/terms.ts'
import type { ListCategory } from '../../../chat/moderation/model.ts'
import { cutCsv, cutText, unquote } from '../../../chat/moderation/terms.ts'
import type { Context } from '../../../context.ts'
import { checkEngineUrl } from '../engines/index.ts'

type Body = BodyOf<typeof updateKeywordList>

/** The terms of a list as they are kept. */
export interface Terms {
  readonly terms: readonly string[]
  /** They came from a file. */
  readonly isCsv: boolean
}

/** The member of a request that holds the terms of each category. */
const memberOf = {
  word: 'searchTerms',
  pattern: 'searchTerms',
  'sentence-similarity': 'disallowedSentences',
  prompt: 'prompts',
  'custom-api': 'url',
} as const satisfies Record<ListCategory, keyof Body>

/**
 * Reads the terms that a request brings.
 * @returns undefined where it brings none
 * @throws 400 naming what is wrong
 */
export async function readTerms(
  context: Pick<Context, 'outbound'>,
  category: ListCategory,
  body: Body,
): Promise<Terms | undefined> {
  const member = memberOf[category]
  const sent = body[member]
  const { file } = body
  if (file !== undefined && category !== 'custom-api' && category !== 'prompt') {
    const terms = cutCsv(category, file)
    await requireSound(category, terms.map(unquote), 'body/file')
    return { terms, isCsv: true }
  }
  if (sent === undefined) return undefined
  const terms = termsOf(category, sent)
  if (category === 'custom-api') await checkEngineUrl(context, terms.join(), 'body/url')
  else await requireSound(category, terms, `body/${member}`)
  return { terms, isCsv: false }
}

/** A request that makes a list must bring some. */
export function missingTerms(category: ListCategory): ErrorDetail {
  return { path: `body/${memberOf[category]}`, message: 'is required' }
}

function termsOf(category: ListCategory, sent: string | readonly string[]): string[] {
  const texts = typeof sent === 'string' ? [sent] : sent
  if (category === 'custom-api') return [...texts]
  if (category === 'prompt') return texts.map((text) => text.trim()).filter((text) => text !== '')
  if (typeof sent !== 'string') return texts.map((text) => text.trim()).filter((text) => text !== '')
  return cutText(category, sent)
}

/** So many are looked at before others are let in: each is compiled, which takes long for patterns. */
const portionOf = (category: ListCategory) => (category === 'pattern' ? 1 : 200)
const mostFlaws = 20

async function requireSound(category: ListCategory, terms: readonly string[], path: string): Promise<void> {
  if (terms.length === 0) throw badRequest([{ path, message: 'has no terms' }])
  const { words } = limits.moderation.termsPerApp
  if (terms.length > words) throw badRequest([{ path, message: `has more than ${words} terms` }])
  const flaws: ErrorDetail[] = []
  const portion = portionOf(category)
  for (let at = 0; at < terms.length && flaws.length < mostFlaws; at += portion) {
    const some = terms.slice(at, at + portion)
    const found = category === 'prompt' ? flawsOfPrompts(some) : flawOfTerms(category, some)
    flaws.push(
      ...found.map(({ line, message }) => ({
        path: `${path}/${at + line - 1}`,
        message: `cannot be used: ${message}`,
      })),
    )
    await otherWork()
  }
  if (flaws.length > 0) throw badRequest(flaws.slice(0, mostFlaws))
}

function flawsOfPrompts(prompts: readonly string[]): TermFlaw[] {
  const { promptLength } = limits.moderation
  return prompts.flatMap((prompt, index) =>
    prompt.length <= promptLength ? [] : { line: index + 1, message: `it has more than ${promptLength} characters` },
  )
}
