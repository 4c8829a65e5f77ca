import { describe, expect, it } from 'vitest'
import { dataOf, refusal } from '../../support/chat.ts'
import { type Answer, createUsers, createWorld, send, type World } from '../../support/world.ts'

const lists = '/moderation/keywords'
const mine = { id: 'mine', name: 'My words', category: 'word', searchTerms: 'darn, heck' }

/** Sends a form: fields in their order, and files with their content. */
async function sendForm(
  world: World,
  method: string,
  path: string,
  fields: ReadonlyArray<readonly [string, string]>,
  file?: string | Buffer,
  name = 'file',
): Promise<Answer> {
  const form = new FormData()
  for (const [name, value] of fields) form.append(name, value)
  if (file !== undefined) form.append(name, new Blob([new Uint8Array(Buffer.from(file))]), 'terms.csv')
  const headers = { appid: world.app.name, apikey: world.apiKey }
  const answer = await fetch(`${world.url}/v3${path}`, { method, headers, body: form })
  return { status: answer.status, headers: {}, body: await answer.json() }
}

const wordFields = [
  ['id', 'mine'],
  ['name', 'My words'],
  ['category', 'word'],
] as const

async function use(world: World, more: object = {}): Promise<void> {
  const condition = { operand: 'text', category: 'word', isKeywordsReferencePresent: true, value: ['mine'], ...more }
  dataOf(await world.post('/moderation/rules', { id: 'rule', name: 'Rule', conditions: [condition] }))
}

async function statusOf(world: World, text: string): Promise<string> {
  const body = { receiver: 'bob', receiverType: 'user', data: { text } }
  return dataOf(await world.post('/messages', body, { as: 'alice' })).data.moderation?.status
}

async function chatWorld(): Promise<World> {
  const world = await createWorld()
  await createUsers(world, 'alice', 'bob')
  return world
}

describe('a list', () => {
  it('is made of JSON, and answers what it holds', async () => {
    const world = await createWorld()
    const made = dataOf(await world.post(lists, { ...mine, description: 'Words to stop' }))
    expect(made).toEqual({
      ...{ id: 'mine', name: 'My words', description: 'Words to stop', category: 'word', isCSV: false },
      ...{ searchTerms: ['darn', 'heck'], active: true, revisionId: `${world.app.name}_mine_1` },
      ...{ createdAt: expect.any(Number), updatedAt: made.createdAt },
    })
    expect(dataOf(await world.get(`${lists}/mine`))).toEqual(made)
    const listed = (await world.get(`${lists}?limit=1`)).body
    expect(listed.data).toEqual([
      { ...made, _id: expect.stringMatching(/^[0-9a-f]{24}$/), appId: world.app.name, __v: 0 },
    ])
    expect(listed.meta).toEqual({ current: { limit: 1, count: 1 } })
  })

  it('is made of a form with a CSV file, whose quotes stay in answers and not in what is looked for', async () => {
    const world = await chatWorld()
    const file = '\ufeff"darn", heck ,,"so, what",\r\n"say ""hi"" now"\n,\n'
    const made = dataOf(await sendForm(world, 'POST', lists, wordFields, file))
    expect(made).toMatchObject({ isCSV: true, searchTerms: ['"darn"', 'heck', '"so, what"', '"say ""hi"" now"'] })
    await use(world)
    for (const text of ['darn', 'heck', 'so, what', 'say "hi" now'])
      expect(await statusOf(world, text), text).toBe('disapproved')
    expect(await statusOf(world, 'so')).toBe('approved')
  })

  it('takes its file by that name alone: of others nothing is read', async () => {
    const world = await createWorld()
    const fields = [...wordFields, ['searchTerms', 'darn, heck']] as const
    const made = dataOf(await sendForm(world, 'POST', lists, fields, 'other, words', 'notes'))
    expect(made).toMatchObject({ isCSV: false, searchTerms: ['darn', 'heck'] })
    const changed = dataOf(await sendForm(world, 'PUT', `${lists}/mine`, [['name', 'N']], 'other, words', 'notes'))
    expect(changed).toMatchObject({ name: 'N', isCSV: false, searchTerms: ['darn', 'heck'] })
  })

  it('is made of a form without a file, and of a text that holds its terms', async () => {
    const world = await createWorld()
    const fields = [...wordFields, ['searchTerms', ' darn,\nheck ,']] as const
    expect(dataOf(await sendForm(world, 'POST', lists, fields))).toMatchObject({
      isCSV: false,
      searchTerms: ['darn', 'heck'],
    })
    const file = { ...mine, id: 'other', searchTerms: undefined, file: '"a b",c' }
    expect(dataOf(await world.post(lists, file))).toMatchObject({ isCSV: true, searchTerms: ['"a b"', 'c'] })
  })

  it('of patterns or sentences has one a line, whatever commas there are', async () => {
    const world = await chatWorld()
    const patterns = { id: 'mine', name: 'P', category: 'pattern', searchTerms: '[0-9]{3,5}\n\nfoo(?:, bar){1,3}\r\n' }
    expect(dataOf(await world.post(lists, patterns)).searchTerms).toEqual(['[0-9]{3,5}', 'foo(?:, bar){1,3}'])
    await use(world, { category: 'pattern' })
    expect(await statusOf(world, 'call 1234')).toBe('disapproved')
    const sentences = { category: 'sentence-similarity', disallowedSentences: 'buy it now, please\nhave a nice day' }
    const made = dataOf(await world.post(lists, { id: 'said', name: 'S', ...sentences }))
    expect(made).toMatchObject({ disallowedSentences: ['buy it now, please', 'have a nice day'] })
    expect(made).not.toHaveProperty('searchTerms')
    const repeated = [
      ...[
        ['id', 'again'],
        ['name', 'A'],
        ['category', 'sentence-similarity'],
      ],
      ...[
        ['disallowedSentences[]', 'one two'],
        ['disallowedSentences[]', 'three four'],
      ],
    ] as Array<[string, string]>
    expect(dataOf(await sendForm(world, 'POST', lists, repeated)).disallowedSentences).toEqual([
      'one two',
      'three four',
    ])
    const similar = { operand: 'text', category: 'sentence-similarity', value: 'said_greaterThan_60' }
    dataOf(await world.post('/moderation/rules', { id: 'similar', name: 'S', conditions: [similar] }))
    expect(await statusOf(world, 'Please, buy it now!')).toBe('disapproved')
    expect(await statusOf(world, 'buy milk')).toBe('approved')
  })

  it('that is changed has another revision, which holds at once for the rules that use it', async () => {
    const world = await chatWorld()
    dataOf(await world.post(lists, mine))
    await use(world)
    expect(await statusOf(world, 'darn')).toBe('disapproved')
    const changed = dataOf(await world.put(`${lists}/mine`, { searchTerms: ['gosh'] }))
    expect(changed).toMatchObject({ name: 'My words', searchTerms: ['gosh'], revisionId: `${world.app.name}_mine_2` })
    expect(await statusOf(world, 'darn')).toBe('approved')
    expect(await statusOf(world, 'gosh')).toBe('disapproved')
    expect(dataOf(await sendForm(world, 'PUT', `${lists}/mine`, [['name', 'N']]))).toMatchObject({
      name: 'N',
      searchTerms: ['gosh'],
    })
    expect(dataOf(await sendForm(world, 'PUT', `${lists}/mine`, [], 'darn'))).toMatchObject({
      isCSV: true,
      searchTerms: ['darn'],
    })
    expect(await statusOf(world, 'darn')).toBe('disapproved')
  })

  it('that rules in force use is neither deleted nor given another category', async () => {
    const world = await chatWorld()
    dataOf(await world.post(lists, mine))
    await use(world)
    const answer = await world.delete(`${lists}/mine`)
    expect(refusal(answer)).toBe('400 ERR_BAD_REQUEST')
    expect(answer.body.error.devMessage).toContain('rule')
    const other = { category: 'pattern', searchTerms: 'a' }
    expect(refusal(await world.put(`${lists}/mine`, other))).toBe('400 ERR_BAD_REQUEST')
    expect(await statusOf(world, 'darn')).toBe('disapproved')
    dataOf(await world.put('/moderation/rules/rule', { enabled: false }))
    const { message } = dataOf(await world.delete(`${lists}/mine`))
    expect(message).toBe('keyword list mine removed')
    expect(refusal(await world.get(`${lists}/mine`))).toBe('404 ERR_KEYWORD_NOT_FOUND')
    const on = await world.put('/moderation/rules/rule', { enabled: true })
    expect(refusal(on)).toBe('400 ERR_BAD_REQUEST')
    expect(on.body.error.devMessage).toContain('the list mine, which does not exist')
  })

  it('that two make at the same time is made once, and two changes are two revisions', async () => {
    const world = await createWorld()
    const answers = await Promise.all([1, 2].map(() => world.post(lists, mine)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
    const changes = await Promise.all(['a', 'b'].map((name) => world.put(`${lists}/mine`, { name })))
    expect(changes.map((answer) => dataOf(answer).revisionId.split('_').at(-1)).sort()).toEqual(['2', '3'])
  })

  it.each<[string, object]>([
    ['body/id', { id: 'a b' }],
    ['body/name', { name: undefined }],
    ['body/category', { category: undefined }],
    ['body/category', { category: 'smells' }],
    ['body/searchTerms', { searchTerms: undefined }],
    ['body/searchTerms', { searchTerms: ' , ,\n' }],
    ['body/searchTerms', { searchTerms: 5 }],
    ['body/searchTerms/1', { searchTerms: ['darn', '...'] }],
    ['body/searchTerms/0', { searchTerms: 'x'.repeat(101) }],
    ['body/searchTerms/1', { category: 'pattern', searchTerms: 'ab\n(a{1,20}){1,20}$' }],
    ['body/searchTerms/0', { category: 'pattern', searchTerms: '\\d+' }],
    ['body/disallowedSentences', { category: 'sentence-similarity' }],
    ['body/file/1', { file: '"fine","..."' }],
    ['body/url', { category: 'custom-api' }],
    ['body/url', { category: 'custom-api', url: 'ftp://example.com' }],
    ['body/password', { category: 'custom-api', url: 'https://example.com/', username: 'u', basicAuthEnabled: true }],
    ['body/prompts', { category: 'prompt' }],
  ])('is refused naming what is wrong: %s', async (where, more) => {
    const world = await createWorld()
    const answer = await world.post(lists, { ...mine, ...more })
    expect(refusal(answer)).toBe('400 ERR_BAD_REQUEST')
    expect(answer.body.error.details.map((flaw: { path: string }) => flaw.path)).toContain(where)
  })

  it('has at most a megabyte in UTF-8 in one file', async () => {
    const world = await createWorld()
    const tooLarge = await sendForm(world, 'POST', lists, wordFields, 'x,'.repeat(600_000))
    expect(refusal(tooLarge)).toBe('400 ERR_FILE_SIZE_EXCEEDED')
    expect(refusal(await sendForm(world, 'POST', lists, wordFields, Buffer.from([0x64, 0xff, 0xfe])))).toBe(
      '400 ERR_BAD_REQUEST',
    )
    expect(refusal(await world.get(`${lists}/mine`))).toBe('404 ERR_KEYWORD_NOT_FOUND')
    const many = Array.from({ length: 60_000 }, (_, i) => `word${i}`).join(',')
    expect(dataOf(await sendForm(world, 'POST', lists, wordFields, many)).searchTerms).toHaveLength(60_000)
  })

  it('is one of 25, and so many terms', async () => {
    const world = await createWorld()
    const patterns = Array.from({ length: 150 }, (_, i) => `a${i}b`)
    const more = { category: 'pattern', searchTerms: patterns }
    dataOf(await world.post(lists, { ...mine, ...more }))
    const answer = await world.post(lists, { ...mine, ...more, id: 'second' })
    expect(refusal(answer)).toBe('400 ERR_BAD_REQUEST')
    expect(answer.body.error.devMessage).toContain('200')
    dataOf(await world.put(`${lists}/mine`, more))
    for (let i = 1; i < 25; i++) dataOf(await world.post(lists, { ...mine, id: `list-${i}` }))
    expect(refusal(await world.post(lists, { ...mine, id: 'last' }))).toBe('400 ERR_BAD_REQUEST')
  })

  it('of another app is unknown, and lists belong to fullAccess keys', async () => {
    const [world, other] = [await chatWorld(), await createWorld()]
    dataOf(await world.post(lists, mine))
    for (const method of ['GET', 'DELETE'] as const) {
      expect(refusal(await other.call(method, `${lists}/mine`))).toBe('404 ERR_KEYWORD_NOT_FOUND')
    }
    const condition = { operand: 'text', category: 'word', isKeywordsReferencePresent: true, value: ['mine'] }
    const rule = await other.post('/moderation/rules', { id: 'rule', name: 'R', conditions: [condition] })
    expect(refusal(rule)).toBe('400 ERR_BAD_REQUEST')
    const { authToken } = dataOf(await world.post('/users/alice/auth_tokens', {}))
    expect(refusal(await world.get(lists, { token: authToken }))).toBe('403 AUTH_ERR_NO_ACCESS')
    const front = { appid: world.app.name, apikey: world.authKey }
    expect(refusal(await send(world.url, 'POST', lists, mine, front))).toBe('403 AUTH_ERR_NO_ACCESS')
  })

  it('of an engine keeps its password to itself, and gives it to no other host', async () => {
    const world = await createWorld()
    const engine = { category: 'custom-api', searchTerms: undefined, url: 'http://127.0.0.1:9/check' }
    const auth = { basicAuthEnabled: true, username: 'us', password: 'a-secret-word' }
    const answer = await world.post(lists, { ...mine, ...engine, ...auth })
    expect(dataOf(answer)).toMatchObject({ url: engine.url, basicAuthEnabled: true, username: 'us' })
    dataOf(await world.put(`${lists}/mine`, { url: 'http://127.0.0.1:9/other' }))
    const moved = await world.put(`${lists}/mine`, { url: 'http://127.0.0.1:10/check' })
    expect(moved.body.error.details).toEqual([{ path: 'body/password', message: 'is required' }])
    const audit = (await world.get('/audit-log?targetType=list')).body
    expect(JSON.stringify([answer.body, moved.body, audit])).not.toContain('a-secret-word')
    expect(audit.data.map(({ action }: { action: string }) => action)).toEqual([
      'moderation_list_updated',
      'moderation_list_created',
    ])
  })
})

describe('predefined lists', () => {
  it('are there for every app, and are one’s own once they are changed', async () => {
    const [world, other] = [await chatWorld(), await createWorld()]
    const shipped = dataOf(await world.get(`${lists}/profanity-list`))
    expect(shipped).toMatchObject({ default: true, category: 'word', revisionId: `${world.app.name}_profanity-list_1` })
    expect(shipped.searchTerms.length).toBeGreaterThan(100)
    dataOf(await world.put('/moderation/rules/text-profanity-filter', { enabled: true }))
    expect(await statusOf(world, 'fuck')).toBe('disapproved')
    dataOf(await world.put(`${lists}/profanity-list`, { searchTerms: 'gosh' }))
    expect([await statusOf(world, 'fuck'), await statusOf(world, 'gosh')]).toEqual(['approved', 'disapproved'])
    expect(dataOf(await other.get(`${lists}/profanity-list`)).searchTerms).toEqual(shipped.searchTerms)
    const { data } = (await world.get(`${lists}?limit=1000`)).body
    expect(data.find(({ id }: { id: string }) => id === 'profanity-list')).toMatchObject({
      appId: 'default',
      default: true,
    })
  })

  it('are deleted, and made again as they were shipped', async () => {
    const world = await createWorld()
    const shipped = dataOf(await world.get(`${lists}/profanity-list-de`))
    dataOf(await world.delete(`${lists}/profanity-list-de`))
    expect(refusal(await world.get(`${lists}/profanity-list-de`))).toBe('404 ERR_KEYWORD_NOT_FOUND')
    const again = dataOf(await world.post(lists, { id: 'profanity-list-de' }))
    expect(again).toMatchObject({ searchTerms: shipped.searchTerms, default: true, name: shipped.name })
    expect(again.revisionId).toBe(`${world.app.name}_profanity-list-de_2`)
  })
})
