import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cutSms, sizeOfSms } from '../../src/delivery/notifications/unread/sms.ts'

const segments = (encoding: 'gsm' | 'ucs2', count: number) => ({ encoding, segments: count })

describe('the length of an SMS', () => {
  it.each([
    ['nothing', '', segments('gsm', 1)],
    ['160 characters', 'a'.repeat(160), segments('gsm', 1)],
    ['161', 'a'.repeat(161), segments('gsm', 2)],
    ['306, twice 153', 'a'.repeat(306), segments('gsm', 2)],
    ['307', 'a'.repeat(307), segments('gsm', 3)],
    ['letters and signs that GSM-7 has', '@£èéùìòÇØøÅåΔΦΓΛΩΠΨΣΘΞÆæßÉ¤¡ÄÖÑÜ§¿äöñüà'.repeat(4), segments('gsm', 1)],
    ['80 of two septets', '€'.repeat(80), segments('gsm', 1)],
    ['81 of two septets', '^{}\\[~]|€'.repeat(9), segments('gsm', 2)],
    ['two septets at the end of a segment, which go to the next one', text(152, '€', 151), segments('gsm', 2)],
    ['no room left for what went there', text(152, '€', 152), segments('gsm', 3)],
    ['70 characters that GSM-7 lacks', 'я'.repeat(70), segments('ucs2', 1)],
    ['71', 'я'.repeat(71), segments('ucs2', 2)],
    ['134, twice 67', 'я'.repeat(134), segments('ucs2', 2)],
    ['135', 'я'.repeat(135), segments('ucs2', 3)],
    ['one character that GSM-7 lacks', `${'a'.repeat(70)}ç`, segments('ucs2', 2)],
    ['35 emoji', '👋'.repeat(35), segments('ucs2', 1)],
    ['66 emoji, 33 in each, since none is split', '👋'.repeat(66), segments('ucs2', 2)],
    ['67 emoji, which are 134 halves', '👋'.repeat(67), segments('ucs2', 3)],
  ])('is right of %s', (_name, said, size) => {
    expect(sizeOfSms(said)).toEqual(size)
  })
})

describe('an SMS that is too long', () => {
  it.each([
    ['into one segment', 'a'.repeat(161), 1, `${'a'.repeat(157)}...`],
    ['into several', 'a'.repeat(500), 3, `${'a'.repeat(456)}...`],
    ['that has characters of two septets', '€'.repeat(100), 1, `${'€'.repeat(78)}...`],
    ['that GSM-7 lacks', 'я'.repeat(300), 2, `${'я'.repeat(131)}...`],
    ['before the one character that GSM-7 lacks', `${'a'.repeat(157)}👋👋`, 1, `${'a'.repeat(157)}...`],
    ['without the blank at the end', `${'a'.repeat(156)} ${'a'.repeat(10)}`, 1, `${'a'.repeat(156)}...`],
  ])('is cut %s', (_name, said, most, cut) => {
    expect(cutSms(said, most)).toBe(cut)
  })

  it.each([
    ['a hand', '👋', 33],
    ['a hand with a colour', '👍🏽', 16],
    ['a family', '👩‍👩‍👧‍👦', 6],
    ['a flag', '🇩🇪', 16],
    ['a letter with an accent of its own', 'я\u0301', 33],
    ['a digit in a key', '1️⃣', 22],
  ])('is never cut within %s', (_name, one, left) => {
    expect(cutSms(one.repeat(100), 1)).toBe(`${one.repeat(left)}...`)
  })

  it('has no more segments than it may have, and begins as it was; what fits is left as it is', () => {
    const words = fc.string({ unit: 'grapheme', maxLength: 400 })
    fc.assert(
      fc.property(words, fc.integer({ min: 1, max: 4 }), (said, most) => {
        const cut = cutSms(said, most)
        expect(sizeOfSms(cut).segments).toBeLessThanOrEqual(most)
        if (cut === said) return
        expect(sizeOfSms(said).segments).toBeGreaterThan(most)
        expect(said.startsWith(cut.slice(0, -'...'.length))).toBe(true)
        expect(cut.isWellFormed()).toBe(said.isWellFormed())
      }),
      { numRuns: 100 },
    )
  })
})

function text(before: number, middle: string, after: number): string {
  return `${'a'.repeat(before)}${middle}${'a'.repeat(after)}`
}
