import { describe, expect, it } from 'vitest'
import { readForm, readPlain, readRaw } from '../../src/areas/notifications/replies/mail.ts'
import { findNamedConversations } from '../../src/chat/conversations/find.ts'
import type { FoldedText } from '../../src/chat/moderation/engine/folded.ts'
import { readCompletion } from '../../src/delivery/moderation/ask/llm-answer.ts'
import { readOwnAddress } from '../../src/media/own-address.ts'
import type { Queryable } from '../../src/store/database.ts'
import { callApart } from '../support/apart.ts'
import { refusal } from '../support/chat.ts'
import { createUsers, createWorld } from '../support/world.ts'

/* Texts that were once read for seconds, days or for ever, by the one thread that serves everybody. */

const source = (path: string) => new URL(`../../src/${path}`, import.meta.url)

describe('A word of bars', () => {
  const fold = async (text: string) => {
    const { codes, length, proper } = (await callApart(
      source('chat/moderation/engine/fold.ts'),
      'foldText',
      text,
    )) as FoldedText
    const readings = String.fromCharCode(...codes.subarray(proper, length))
    return readings.split('\n').map((reading) => reading.trim())
  }

  it.each([1, 2, 3, 4, 31, 32, 33, 52, 53, 54, 60, 63])(
    'is read with an l for each: a and %i times 1',
    async (bars) => {
      expect(await fold(`a${'1'.repeat(bars)}`)).toContain('al')
    },
  )

  it.each(['!', '|', 'I'])('is read however it is written: 60 times %s', async (bar) => {
    expect(await fold(`a${bar.repeat(60)}${bar === 'I' ? '' : 'b'}`)).toContain(bar === 'I' ? 'al' : 'alb')
  })

  it('is read in every way where it has three', async () => {
    const readings = await fold('b1b1b1')
    for (const reading of ['blbibi', 'biblbi', 'blblbi', 'bibibl', 'blbibl', 'biblbl', 'blblbl'])
      expect(readings).toContain(reading)
  })
})

describe('A text of one sign', () => {
  it.each(['$', '@', '*', '!'])('is read in one go: %s', async (sign) => {
    const folded = await callApart(source('chat/moderation/engine/fold.ts'), 'foldText', sign.repeat(3_000_000))
    expect((folded as FoldedText).length).toBeLessThan(10)
  })
})

describe('A template', () => {
  const template = source('chat/notifications/template.ts')
  const blanks = ' '.repeat(100_000)

  it('is checked in one go, however long what it does not close', async () => {
    expect(await callApart(template, 'findUnclosed', `{{${blanks}`)).toBe(true)
    expect(await callApart(template, 'findUnclosed', `{{ a }}${`{{ a${blanks}b }}`.repeat(10)}`)).toBe(false)
  })

  it('is filled in one go', async () => {
    expect(await callApart(template, 'fill', `{{${blanks}`, {})).toBe(`{{${blanks}`)
    expect(await callApart(template, 'fill', `{{${blanks}a.b\n}}${blanks}{{c}}`, { a: { b: 1 }, c: 2 })).toBe(
      `1${blanks}2`,
    )
  })
})

describe('What a model answers', () => {
  const answer = source('delivery/moderation/ask/llm-answer.ts')
  const completion = (content: string) => JSON.stringify({ choices: [{ message: { content } }] })
  const verdict = '{"isMatchingCondition": true, "confidence": 0.9}'

  it('is read in one go, however long a code block that it does not close', async () => {
    for (const content of [`\`\`\`${'\n'.repeat(60_000)}x`, `\`\`\`json${' '.repeat(60_000)}\n${verdict}`])
      expect(await callApart(answer, 'readCompletion', completion(content))).toHaveProperty('errors')
  })

  it.each([
    ['```json\n', '\n```'],
    ['  ```JSON \r\n\n', '```\n\n'],
    ['```\n', '\n  ```  '],
    ['\n', '\n'],
  ])('is read in a code block: %j and %j', (before, after) => {
    expect(readCompletion(completion(`${before}${verdict}${after}`))).not.toHaveProperty('errors')
  })

  it.each([
    ['```ts\n', '\n```'],
    ['``` ', ' ```'],
    ['', '\n```'],
    ['```\n', ''],
  ])('is no verdict in anything else: %j and %j', (before, after) => {
    expect(readCompletion(completion(`${before}${verdict}${after}`))).toHaveProperty('errors')
  })
})

describe('The address of a file', () => {
  const module = source('media/own-address.ts')
  const key = 'a'.repeat(32)
  const folder = `/media/parley/${key}/`

  it('is read in one go, before anything limits how long it is', async () => {
    for (const text of [`${folder.repeat(100_000)}#`, '/media/parley/'.repeat(300_000), `${folder.repeat(100_000)}"x`])
      expect(await callApart(module, 'readOwnAddress', 'parley', text)).toBeUndefined()
    const long = folder.repeat(100_000)
    const read = await callApart(module, 'readOwnAddress', 'parley', `${long}?expires=1&signature=x`)
    expect(read).toEqual({ address: long, origin: long.slice(0, -folder.length), key })
  })

  it.each([
    ['https://chat.example', `https://chat.example${folder}cat.png`, ''],
    ['https://chat.example', `https://chat.example${folder}cat.png`, '?expires=17&signature=x_-'],
    [`https://evil.example${folder}x`, `https://evil.example${folder}x${folder}`, ''],
    ['', `${folder}cat.png`, ''],
    ['/x', `/x${folder}/media/parley/cat.png`, ''],
  ])('begins with %j in %s%s', (origin, address, query) => {
    expect(readOwnAddress('parley', `${address}${query}`)).toEqual({ address, origin, key })
  })

  it.each([
    `https://chat.example/media/other/${key}/cat.png`,
    `https://chat.example/media/parley/${key}`,
    `https://chat.example/media/parley/${key}a/cat.png`,
    `https://chat.example${folder}cat.png?expires=17`,
    `https://chat.example${folder}cat.png?expires=17&signature=x&more`,
    `https://chat.example${folder}cat.png#x`,
    `https://chat.example/?${folder}cat.png`,
  ])('is none of the app: %s', (text) => {
    expect(readOwnAddress('parley', text)).toBeUndefined()
  })
})

describe('The name of a conversation', () => {
  it('is not looked up where it is longer than any, with each place at which it may be cut', async () => {
    const asked: unknown[] = []
    const on = {
      query: async (_: string, values: unknown) => {
        asked.push(values)
        return []
      },
    } as unknown as Queryable
    await findNamedConversations(on, 1, 'a_user_'.repeat(2_300))
    expect(asked).toEqual([])
    await findNamedConversations(on, 1, 'A_user_B_user_c')
    expect(asked).toEqual([[1, [1, 1], ['a', 'a_user_b'], ['b_user_c', 'c']]])
  })

  it('is that of no conversation then', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice')
    const path = `/conversations/${'a_user_'.repeat(2_000)}`
    expect(refusal(await world.get(path, { as: 'alice' }))).toMatch(/^404 /)
  })
})

describe('An e-mail', () => {
  const module = source('areas/notifications/replies/mail.ts')
  const long = 'a'.repeat(10_000)

  it('is read in one go, however many receivers it names that are no addresses', async () => {
    const none = Array(2_000).fill(long)
    expect(await callApart(module, 'readPlain', { to: none, text: 'x' })).toMatchObject({ recipients: [] })
  })

  it('is refused where it is nothing but line ends, which would take all memory', async () => {
    const raw = (lines: number, line: string) => Buffer.from(`To: a@example.com\r\n\r\nhello\r\n${line.repeat(lines)}`)
    for (const mail of [raw(40_000, 'x'.repeat(50).concat('\r\n')), raw(9_000_000, '\n')])
      await expect(readRaw(mail)).rejects.toMatchObject({ status: 400 })
    expect((await readRaw(raw(20_000, '\r\n'))).text.trim()).toBe('hello')
    expect((await readRaw(raw(40_000, `${'x'.repeat(76)}\r\n`))).text).toMatch(/^hello/)
  })

  it('has a hundred receivers at most', async () => {
    const to = Array.from({ length: 200 }, (_, i) => `r${i}@example.com`)
    for (const mail of [
      readPlain({ to }),
      await readForm(new Map([['envelope', JSON.stringify({ to })]])),
      await readRaw(Buffer.from(`To: ${to.join(', ')}\r\n\r\nx`)),
    ])
      expect(mail.recipients).toEqual(to.slice(0, 100))
  })

  it.each([
    ['reply+x@example.com', ['reply+x@example.com']],
    ['"Reply" <reply@example.com>, (b) b@example.com;', ['reply@example.com', 'b@example.com']],
    ['@a a@ @ a@b@c @a@b a@@', ['a@b@c', '@a@b', 'a@@']],
    [`${'a'.repeat(309)}@example.com ${'a'.repeat(308)}@example.com`, [`${'a'.repeat(308)}@example.com`]],
    ['', []],
  ])('goes to the addresses in %j', (to, recipients) => {
    expect(readPlain({ to }).recipients).toEqual(recipients)
  })
})
