import { describe, expect, it } from 'vitest'
import { parseLargeJson } from '../../src/http/large-json.ts'
import { refusal } from '../support/chat.ts'
import { createUsers, createWorld } from '../support/world.ts'

const texts = [
  ...['{}', '[]', ' { } ', '[ ]\n', '1', '-0.5e3', 'null', 'true', '"a"', '"\\""', ' "\\\\" '],
  '{"users":{}}',
  '{"users":[]}',
  '{"users":{"a":{"uid":"a"},"b":[1,[2,{"c":"}"}]],"c":null,"d":-1.5,"e":"x"},"more":[[],{},[{}]]}',
  ' {\t"a" :\r\n{ "b" : [ 1 , 2 ] , "c":{"d":"\\"}]"} } , "e":[ "f" , true,null ] } ',
  '{"a":{"b":1,"b":2},"a":{"c":3}}',
  '{"__proto__":{"a":{"b":1}},"constructor":{"prototype":{"x":1}}}',
  '{"2":{"b":1,"1":2},"1":{"":0}}',
  '{"a\\u0041\\\\":{"\\ud800":"\\ud800"}}',
  '[[[[[[1]]]]],[{"a":[{}]}]]',
]

const broken = [
  ...['', ' ', '{', '[', '"', '"\\"', 'nul', '{"a"', '{"a":', '{"a":1', '{"a":1,', '{"a":1,}', '{a:1}', "{'a':1}"],
  ...['[1,]', '[,1]', '[1 2]', '[1]]', '{}{}', '{} x', '01', '1.', '+1', '[1}', '{"a":[}]}', '{"a":{"b":[}]}}'],
  ...['{"a":{"b":}}', '{"a":{"b":{"c":1}', '{"a":{"b" 1}}', '{"a":{1:1}}', '["\n"]', '{"a":{"b":"\t"}}', 'undefined'],
]

describe('A large JSON body', () => {
  it.each(texts)('is read as any other: %s', async (text) => {
    expect(JSON.stringify(await parseLargeJson(text))).toBe(JSON.stringify(JSON.parse(text)))
  })

  it.each(broken)('is refused as any other: %s', async (text) => {
    expect(() => JSON.parse(text)).toThrow(SyntaxError)
    await expect(parseLargeJson(text)).rejects.toThrow(SyntaxError)
  })

  it('keeps the order of its members', async () => {
    const text = JSON.stringify({ users: Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`u${n * 7}`, n])) })
    expect(JSON.stringify(await parseLargeJson(text))).toBe(text)
  })

  it('of an import is stored, whole', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const text = 'x'.repeat(3000)
    const records = Array.from({ length: 200 }, (_, n) => {
      const muid = `m${n}`
      const data = { text: `${n} "{[${text}` }
      return [muid, { muid, sender: 'alice', receiverType: 'user', receiver: 'bob', data, sentAt: 1_700_000_000 + n }]
    })
    const messages: Record<string, { data: object }> = Object.fromEntries(records)
    const answer = await world.post('/data_import/messages', { messages })
    expect(answer.status).toBe(200)
    const outcomes = (answer.body as { data: Record<string, { success: boolean; data: { data: object } }> }).data
    expect(Object.keys(outcomes)).toEqual(Object.keys(messages))
    for (const [muid, { success, data }] of Object.entries(outcomes)) {
      expect(success).toBe(true)
      expect(data.data).toMatchObject(messages[muid]?.data as object)
    }
  })

  it('that is no JSON is a 400', async () => {
    const world = await createWorld()
    const answer = await world.post('/data_import/messages', `{"messages":{"a":"${'x'.repeat(400_000)}"`)
    expect(refusal(answer)).toBe('400 ERR_BAD_REQUEST')
  })
})
