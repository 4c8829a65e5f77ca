import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { builtInLists } from '../../../src/chat/moderation/engine/built-in-lists.ts'
import { foldText } from '../../../src/chat/moderation/engine/fold.ts'
import { compileWords, findWord } from '../../../src/chat/moderation/engine/words.ts'
import { dictionaries, itWith } from '../../gate/needs.ts'
import { codeWords, makeEvasions } from './support/evasions.ts'

const carriers = ['%', 'well % you', 'I said: "%"!', 'so % and so on', '你%好']

describe('Evasions', () => {
  it('are found, of each kind 95 of 100, and the place of what was found is right', () => {
    const list = compileWords(codeWords)
    const missed = new Map<string, string[]>()
    makeEvasions(12, 400).forEach(({ kind, written }, number) => {
      const text = carriers[number % carriers.length]!.replace('%', written)
      const span = findWord(list, foldText(text))
      const others = missed.get(kind) ?? []
      missed.set(kind, others)
      if (span === undefined) others.push(written)
      else expect(written).toContain(text.slice(span.start, span.end))
    })
    expect(missed.size).toBe(11)
    for (const [kind, others] of missed) expect.soft(others.length, `${kind}: ${others}`).toBeLessThanOrEqual(20)
  })
})

describe('Words of a dictionary that are not on a list', () => {
  const share = (listId: string, language: string) => {
    const { terms } = builtInLists().find((list) => list.listId === listId)!
    const listed = new Set(terms.map((term) => term.toLowerCase()))
    const compiled = compileWords(terms)
    const words = readFileSync(`/usr/share/dict/${language}`, 'utf8').trim().split('\n')
    const hits = words.filter((word) => !listed.has(word.toLowerCase()) && findWord(compiled, foldText(word)))
    expect(words.length).toBeGreaterThan(100_000)
    return { hits: hits.length, most: words.length * 0.0005, all: hits.join(' ') }
  }

  const pairs = [
    ['profanity-list', 'american-english'],
    ['profanity-list', 'ngerman'],
    ['profanity-list', 'french'],
    ['profanity-list-de', 'ngerman'],
    ['profanity-list-fr', 'french'],
  ] as const
  for (const [listId, language] of pairs)
    itWith(dictionaries, `are left alone by ${listId}, 1,999 of 2,000 of ${language}`, () => {
      const { hits, most, all } = share(listId, language)
      expect(hits, all).toBeLessThanOrEqual(most)
    })
})
