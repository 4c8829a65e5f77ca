import type { RE2JS } from 're2js'
import { describe, expect, it } from 'vitest'
import { compileEngine } from '../../../src/chat/moderation/engine/engine.ts'
import { PatternScreen } from '../../../src/chat/moderation/engine/pattern-screen.ts'
import { compilePattern } from '../../../src/chat/moderation/engine/patterns.ts'
import { requirementOf } from '../../../src/chat/moderation/engine/requirement.ts'
import type { RuleRevision } from '../../../src/chat/moderation/model.ts'

describe('What a pattern requires', () => {
  it.each([
    ['free (money|gift)', 0, ['free money', 'free gift']],
    ['(?i:Colou?r)', 0, ['colour', 'color']],
    ['https?://[a-z0-9.-]{1,60}[.](ru|cn)', 0, ['https://', 'http://']],
    ['[a-z]{1,50}@[a-z]{1,50}[.]com', 0, ['.com']],
    ['[0-9]{3,10}[- ][0-9]{3,10}', 6, undefined],
    ['(\\d{4}[- ]?){3}\\d{4}', 16, undefined],
    ['(?:call|ring) [0-9]{3}', 3, ['call ', 'ring ']],
    ['whatsapp[ .:]{0,3}[0-9]{6,12}', 6, ['whatsapp']],
    ['[ab]c', 0, ['ac', 'bc']],
    ['x[a-z]{1,3}yy', 0, ['yy']],
    ['one|two|[a-z]{3}', 0, undefined],
    ['a|b?', 0, undefined],
    ['(ab){2}', 0, ['abab']],
    ['(?P<year>20)\\d\\d', 4, ['20']],
  ])('%s', (source, digits, literals) => {
    expect(requirementOf(source)).toEqual({ digits, literals })
  })

  it.each(['\\Qa|b', '\\pL\\x{61}', '(a)[\\Q]\\E]', '\\101'])(
    'is not known of what is rarely written: %s',
    (source) => {
      expect(requirementOf(source)).toEqual({ digits: 0, literals: undefined })
    },
  )

  it('is had by every text that meets it', () => {
    const random = createRandom(7)
    let met = 0
    for (let round = 0; round < 3_000; round += 1) {
      const source = makePattern(random, 3)
      const pattern = compile(source)
      if (pattern === undefined) continue
      const screen = new PatternScreen([requirementOf('never'), requirementOf(source)])
      for (let time = 0; time < 20; time += 1) {
        const text = makeText(random)
        if (!pattern.test(text)) continue
        met += 1
        expect([source, text, screen.screen(text)[1]]).toEqual([source, text, 1])
      }
    }
    expect(met).toBeGreaterThan(5_000)
  })
})

function compile(source: string): RE2JS | undefined {
  try {
    return compilePattern(source)
  } catch {
    return undefined
  }
}

type Random = (below: number) => number

/** Mulberry32. */
function createRandom(seed: number): Random {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return (((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below
  }
}

const pick = <Item>(random: Random, items: ArrayLike<Item>) => items[Math.floor(random(items.length))]!

const atoms = [
  ...'aabksKS17',
  ...[
    '[0-9]',
    '\\d',
    '[17]',
    '[ab]',
    '[^a]',
    '[a-k]',
    '[k.]',
    '[]a]',
    '[^]a]',
    '[[:digit:]]',
    '[[:alpha:]1]',
    '[\\]a]',
  ],
  ...['.', '\\.', '\\w', '\\W', '\\D', '\\s', '\\b', '\\B', '^', '$', '\\A', '\\z', ' ', '[.]', '-', 'ß', 'é', '😀'],
  ...['\\x61', '\\x{6b}', '\\pL', '\\p{Lu}', '\\Qa|k\\E', '\\Q1', '(?i)', '(?-i)', '{a', '}', ']', '\\{', '(?s)'],
]
const opens = ['(', '(?:', '(?i:', '(?-i:', '(?P<name>', '(?s-i:']
const quantifiers = [
  '',
  '',
  '',
  '',
  '?',
  '{2}',
  '{0,2}',
  '{1,3}',
  '{1}',
  '{0}',
  '??',
  '{2,3}?',
  '*',
  '+',
  '{1,}',
  '{ 1}',
]

function makePattern(random: Random, depth: number): string {
  const alternatives = Array.from({ length: 1 + Math.floor(random(1.6)) }, () =>
    Array.from({ length: 1 + Math.floor(random(4)) }, () => {
      const atom =
        depth > 0 && random(1) < 0.25 ? `${pick(random, opens)}${makePattern(random, depth - 1)})` : pick(random, atoms)
      return atom + pick(random, quantifiers)
    }).join(''),
  )
  return alternatives.join('|')
}

function makeText(random: Random): string {
  const length = Math.floor(random(12))
  return Array.from({ length }, () => pick(random, Array.from('aabkksSK1177. -|]{}ſKßÉéİ😀\n'))).join('')
}

describe('What patterns cost a message', () => {
  const random = createRandom(3)
  /** Nearly each of its characters leads these patterns to a state that they do not know. */
  const hostile = Array.from({ length: 9_800 }, () => pick(random, 'abcdnopq')).join('')
  const large = (count: number) => Array.from({ length: count }, (_, index) => `[a-n][^#]{${900 + index}}[r-z]`)

  it('is limited, for each of them by itself: what another takes is no reason to miss something', async () => {
    const judge = await judgeOf([...large(10), 'call 0{3}', 'p[0-9]{3}q'])
    const { cut, hits } = judge(`${hostile} p123q`)
    expect(cut).toBe(10)
    expect(hits.map(({ match }) => match?.text)).toEqual(['p123q'])
  })

  it('begins anew with each message', async () => {
    const judge = await judgeOf([...large(10), '[a-n][^#]{900}7'])
    expect(judge(hostile).cut).toBe(10)
    expect(judge(`a${'-'.repeat(900)}7`)).toMatchObject({ cut: 0, hits: [{ match: { start: 0, end: 902 } }] })
  })

  it('is no limit for large patterns with a beginning that is rare', async () => {
    const judge = await judgeOf(large(10).map((pattern, index) => pattern.replace('[a-n]', `weather ${index}`)))
    const said = 'What the weather is like today, weather 1 or weather 2, nobody has said yet; call 0171 2345678#. '
    expect(judge(said.repeat(100))).toMatchObject({ cut: 0, hits: [] })
  })

  it('is no limit for as many patterns as an app can have, in long texts as people write them', async () => {
    const names = ['cash', 'gift', 'loan', 'coin', 'bonus', 'prize', 'offer', 'credit', 'ticket', 'voucher']
    const usual = Array.from({ length: 20 }, (_, index) => index).flatMap((number) => [
      ...names.slice(0, 5).map((name) => `\\b(free|cheap) ${name}s? ${number}\\b`),
      `[0-9]{3,${10 + number}}[- ][0-9]{3,10}`,
      `\\+?[0-9][0-9 ().-]{5,${10 + number}}[0-9]x`,
      `[a-z0-9.]{1,30}@[a-z]{1,${10 + number}}[.]com`,
      `(whatsapp|telegram)[ .:]{0,3}[0-9]{6,${10 + number}}`,
      `[a-z]{2,20} [a-z]{2,20} ${names[number % 10]} ${number}`,
    ])
    const judge = await judgeOf(usual)
    const said =
      'Free things are rare: 12 345, a@b.org, whatsapp me at +49 (171) 23-45. What would a gift be without a bonus? '
    const { cut, hits } = judge(said.repeat(90))
    expect([usual.length, cut, hits]).toEqual([200, 0, []])
  })

  it('leaves no hit out where only its place takes too long to find: that is the whole text then', async () => {
    const judge = await judgeOf(['z(?:[0-9a-f]{400}|q{300}|7)'])
    const text = `${'abcdefgh'.repeat(1_200)}z7`
    expect(judge(text)).toMatchObject({ cut: 0, hits: [{ match: { start: 0, end: text.length } }] })
    expect(judge(text.slice(-1_000))).toMatchObject({ hits: [{ match: { start: 998, end: 1_000, text: 'z7' } }] })
  })

  it('is limited for patterns that the text as a whole must meet, too', async () => {
    const patterns = Array.from({ length: 10 }, (_, index) => `[^#]{1,500}[a-n][^#]{${400 + index}}[r-z]`)
    const judge = await judgeOf(patterns, 'equals')
    expect(judge(hostile)).toMatchObject({ cut: 10, hits: [] })
    expect(judge(`a${'-'.repeat(400)}a${'-'.repeat(401)}z`)).toMatchObject({ cut: 0, hits: [{}] })
  })
})

/** What a rule with patterns says of a text, each pattern in a condition of its own. */
async function judgeOf(patterns: readonly string[], operator: 'contains' | 'equals' = 'contains') {
  const conditions = patterns.map((pattern, index) => ({
    ...{ id: index + 1, operand: 'text', category: 'pattern', operator, value: [pattern], isListed: false },
  }))
  const shared = { mode: 'on', filters: [], exceptions: [], actions: ['blockMessage'] } as const
  const rule = { ...shared, ruleId: 'rule', name: 'Rule', revision: 1, conditions }
  const engine = await compileEngine([rule as RuleRevision], [])
  const user = { uid: 'alice', name: 'Alice', role: 'default', tags: [], createdAt: 1_700_000_000 }
  return (text: string) =>
    engine.judge({
      ...{ kind: 'user', category: 'message', type: 'text', text, custom: '', files: [], sender: user, receiver: user },
    })
}
