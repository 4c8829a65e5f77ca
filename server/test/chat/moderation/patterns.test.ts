import type { RE2JS } from 're2js'
import { describe, expect, it } from 'vitest'
import { PatternScreen } from '../../../src/chat/moderation/engine/pattern-screen.ts'
import { compilePattern } from '../../../src/chat/moderation/engine/patterns.ts'
import { requirementOf } from '../../../src/chat/moderation/engine/requirement.ts'

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
