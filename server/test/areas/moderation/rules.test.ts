import { describe, expect, it } from 'vitest'
import { createGroup, dataOf, refusal } from '../../support/chat.ts'
import { type Answer, createUsers, createWorld, send, type World } from '../../support/world.ts'

const word = (...value: string[]) => ({ operand: 'text', category: 'word', value })
const insults = { id: 'no-insults', name: 'No insults', conditions: [word('darn')] }
const path = '/moderation/rules/no-insults'

const make = async (world: World, body: object = insults) => dataOf(await world.post('/moderation/rules', body))
const change = async (world: World, body: object) => dataOf(await world.put(path, body))
const flawsOf = ({ body }: Answer): string[] => body.error.details.map((flaw: { path: string }) => flaw.path)

/** Where moderation stands with a text that alice sends to bob: `undefined` where no rule was asked. */
async function statusOf(world: World, text: string, more: object = {}): Promise<string | undefined> {
  const body = { receiver: 'bob', receiverType: 'user', data: { text }, ...more }
  return dataOf(await world.post('/messages', body, { as: 'alice' })).data.moderation?.status
}

async function chatWorld(): Promise<World> {
  const world = await createWorld()
  await createUsers(world, 'alice', 'bob')
  return world
}

describe('a rule', () => {
  it('is made, and is as it was sent', async () => {
    const world = await createWorld()
    const made = await make(world, { ...insults, description: 'Stops insults' })
    expect(made).toEqual({
      ...{
        id: 'no-insults',
        name: 'No insults',
        description: 'Stops insults',
        enabled: true,
        mode: 'on',
        active: true,
      },
      conditions: [
        {
          ...{ id: 1, isKeywordsReferencePresent: false, isMediaPresent: false, entity: 'message' },
          ...{ operand: 'text', category: 'word', operator: 'contains', value: ['darn'] },
        },
      ],
      action: ['blockMessage'],
      revisionId: `${world.app.name}_no-insults_1`,
      createdAt: expect.any(Number),
      updatedAt: made.createdAt,
    })
    expect(dataOf(await world.get(path))).toEqual(made)
  })

  it('answers values, actions and spellings as they were given', async () => {
    const world = await createWorld()
    dataOf(await world.post('/moderation/keywords', { id: 'mine', name: 'M', category: 'word', searchTerms: 'darn' }))
    const conditions = [
      { ...word('mine'), isKeywordReferencePresent: true },
      { ...word('mine'), isListReferencePresent: true },
      { operand: 'custom', category: 'pattern', value: '[0-9]{3,10}', operator: 'equals' },
    ]
    const filters = [{ type: 'sender', entity: 'user', operand: 'role', operator: 'not in', value: 'bot, staff' }]
    const said = { action: ['dropMessage', 'banUser'], filters, exceptions: ['darn good'] }
    const made = await make(world, { ...insults, ...said, conditions })
    expect(made).toMatchObject(said)
    expect(made.conditions).toMatchObject([
      { id: 1, isKeywordsReferencePresent: true, isKeywordReferencePresent: true, value: ['mine'] },
      { id: 2, isKeywordsReferencePresent: true, isListReferencePresent: true, value: ['mine'] },
      { id: 3, isKeywordsReferencePresent: false, value: '[0-9]{3,10}', operator: 'equals' },
    ])
    expect(made.conditions[0]).not.toHaveProperty('isListReferencePresent')
  })

  it('has a revision for each change, the newest of which is active', async () => {
    const world = await createWorld()
    const made = await make(world)
    const changed = await change(world, { name: 'Insults', enabled: false })
    expect(changed).toMatchObject({
      ...{ name: 'Insults', enabled: false, mode: 'off', conditions: made.conditions, createdAt: made.createdAt },
      revisionId: `${world.app.name}_no-insults_2`,
    })
    await change(world, { mode: 'shadow' })
    const { data, meta } = (await world.get(`${path}/revisions`)).body
    expect(data).toMatchObject([
      { revisionId: `${world.app.name}_no-insults_3`, active: true, mode: 'shadow', enabled: false },
      { revisionId: `${world.app.name}_no-insults_2`, active: false, name: 'Insults' },
      { ...made, active: false },
    ])
    expect(meta).toEqual({ current: { limit: 50, count: 3 } })
    expect((await world.get(`${path}/revisions?limit=1`)).body.data).toHaveLength(1)
  })

  it('goes on counting revisions after it was deleted, since decisions name them', async () => {
    const world = await createWorld()
    await make(world)
    expect(dataOf(await world.delete(path))).toEqual({ success: true, message: 'rule no-insults removed' })
    expect(refusal(await world.get(path))).toBe('404 ERR_RULE_NOT_FOUND')
    expect(refusal(await world.get(`${path}/revisions`))).toBe('404 ERR_RULE_NOT_FOUND')
    expect(refusal(await world.delete(path))).toBe('404 ERR_RULE_NOT_FOUND')
    expect(refusal(await world.put(path, { name: 'x' }))).toBe('404 ERR_RULE_NOT_FOUND')
    expect((await make(world)).revisionId).toBe(`${world.app.name}_no-insults_2`)
  })

  it('that two make at the same time is made once, and two changes are two revisions', async () => {
    const world = await createWorld()
    const answers = await Promise.all([1, 2, 3].map(() => world.post('/moderation/rules', insults)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409])
    const changes = await Promise.all(['a', 'b', 'c'].map((name) => change(world, { name })))
    const revisions = changes.map(({ revisionId }) => revisionId.split('_').at(-1))
    expect(revisions.sort()).toEqual(['2', '3', '4'])
  })

  it.each<[string, object]>([
    ['body/id', { id: 'a b' }],
    ['body/id', { id: 'x'.repeat(101) }],
    ['body/name', { name: undefined }],
    ['body/name', { name: 'x'.repeat(101) }],
    ['body/description', { description: 'x'.repeat(256) }],
    ['body/enabled', { enabled: 'true' }],
    ['body/enabled', { enabled: true, mode: 'shadow' }],
    ['body/mode', { mode: 'test' }],
    ['body/action', { action: [] }],
    ['body/action/0', { action: ['shootMessage'] }],
    ['body/conditions', { conditions: undefined }],
    ['body/conditions', { conditions: [] }],
    ['body/conditions', { conditions: Array(11).fill(word('darn')) }],
    ['body/conditions/0/value', { conditions: [{ ...word(), value: '' }] }],
    ['body/conditions/0/value/1', { conditions: [word('darn', '...')] }],
    ['body/conditions/0/value/0', { conditions: [word('x'.repeat(101))] }],
    ['body/conditions/0/value/0', { conditions: [{ operand: 'text', category: 'pattern', value: ['a+'] }] }],
    ['body/conditions/0/value', { conditions: [{ operand: 'text', category: 'pattern', value: '(a' }] }],
    ['body/conditions/0/value', { conditions: [{ ...word('nowhere'), isKeywordsReferencePresent: true }] }],
    ['body/conditions/0/value', { conditions: [{ operand: 'text', category: 'length', value: '5' }] }],
    ['body/conditions/0/value', { conditions: [{ operand: 'text', category: 'rate', value: 'greaterThan_1000' }] }],
    ['body/conditions/0/value/0', { conditions: [{ operand: 'image', category: 'word', value: ['violence'] }] }],
    ['body/conditions/0/category', { conditions: [{ operand: 'text', category: 'smell', value: ['x'] }] }],
    ['body/conditions/0/category', { conditions: [{ operand: 'image', category: 'pattern', value: ['x'] }] }],
    [
      'body/conditions/0/category',
      { conditions: [{ operand: 'video', category: 'prompt', value: ['prompt-threats_greaterThan_70'] }] },
    ],
    ['body/conditions/0/isMediaPresent', { conditions: [{ ...word('x'), isMediaPresent: true }] }],
    ['body/filters', { filters: Array(11).fill({}) }],
    [
      'body/filters/0/operand',
      { filters: [{ type: 'sender', entity: 'user', operand: 'guid', operator: 'equals', value: 'x' }] },
    ],
    [
      'body/filters/0/value',
      { filters: [{ type: 'sender', entity: 'user', operand: 'createdAt', operator: 'lessThan', value: 'soon' }] },
    ],
  ])('is refused naming what is wrong: %s', async (where, more) => {
    const world = await createWorld()
    const answer = await world.post('/moderation/rules', { ...insults, ...more })
    expect(refusal(answer)).toBe('400 ERR_BAD_REQUEST')
    expect(flawsOf(answer)).toContain(where)
    expect(refusal(await world.get(path))).toBe('404 ERR_RULE_NOT_FOUND')
  })

  it('that asks an engine which is not set cannot be on or in shadow mode', async () => {
    const world = await createWorld()
    const conditions = [
      { operand: 'image', category: 'word', isMediaPresent: true, value: ['violence_greaterThan_30'] },
    ]
    expect(flawsOf(await world.post('/moderation/rules', { ...insults, conditions }))).toEqual(['body/conditions/0'])
    await make(world, { ...insults, conditions, mode: 'off' })
    expect(flawsOf(await world.put(path, { mode: 'shadow' }))).toEqual(['body/conditions/0'])
    expect(flawsOf(await world.put('/moderation/rules/toxicity', { enabled: true }))).toEqual(['body/conditions/0'])
  })

  it('is one of 25', async () => {
    const world = await createWorld()
    const ids = Array.from({ length: 25 }, (_, i) => `rule-${i}`)
    for (const id of ids) await make(world, { ...insults, id, mode: 'off' })
    const answer = await world.post('/moderation/rules', insults)
    expect(refusal(answer)).toBe('400 ERR_BAD_REQUEST')
    expect(answer.body.error.devMessage).toContain('25')
    dataOf(await world.delete('/moderation/rules/rule-3'))
    await make(world)
    const listed = (await world.get('/moderation/rules?limit=2')).body
    expect(listed.data.map(({ id }: { id: string }) => id)).toEqual(['no-insults', 'rule-24'])
    expect(listed.meta).toEqual({ current: { limit: 2, count: 2 } })
  })

  it('of another app is unknown, and rules belong to fullAccess keys', async () => {
    const [world, other] = [await chatWorld(), await createWorld()]
    await make(world)
    expect(refusal(await other.get(path))).toBe('404 ERR_RULE_NOT_FOUND')
    expect(refusal(await other.put(path, { enabled: false }))).toBe('404 ERR_RULE_NOT_FOUND')
    const { authToken } = dataOf(await world.post('/users/alice/auth_tokens', {}))
    expect(refusal(await world.get(path, { token: authToken }))).toBe('403 AUTH_ERR_NO_ACCESS')
    const front = { appid: world.app.name, apikey: world.authKey }
    expect(refusal(await send(world.url, 'PUT', path, { enabled: false }, front))).toBe('403 AUTH_ERR_NO_ACCESS')
    expect(await statusOf(world, 'darn')).toBe('disapproved')
  })

  it('is told of in the audit log', async () => {
    const world = await createWorld()
    await make(world)
    await change(world, { mode: 'shadow' })
    await world.delete(path)
    const { data } = (await world.get('/audit-log?targetType=rule')).body
    expect(data).toMatchObject([
      { action: 'moderation_rule_deleted', target: { type: 'rule', id: 'no-insults' } },
      {
        action: 'moderation_rule_updated',
        details: { before: { mode: 'on' }, after: { mode: 'shadow' }, revision: 2 },
      },
      { action: 'moderation_rule_created', details: { after: { mode: 'on' } } },
    ])
  })
})

describe('predefined rules', () => {
  it('are there, last and off, and judge nothing', async () => {
    const world = await chatWorld()
    const { data } = (await world.get('/moderation/rules')).body
    expect(data.map(({ id }: { id: string }) => id).slice(0, 6)).toEqual([
      ...['text-profanity-filter', 'image-moderation', 'video-moderation', 'custom-profanity-filter'],
      ...['contact_details_filter', 'email_filter'],
    ])
    for (const rule of data) expect(rule).toMatchObject({ default: true, enabled: false, mode: 'off', active: true })
    expect(await statusOf(world, 'fuck, call 030 123456 or a@example.com')).toBeUndefined()
  })

  it('are switched on, which makes a revision of the app’s own', async () => {
    const [world, other] = [await chatWorld(), await createWorld()]
    const rule = '/moderation/rules/email_filter'
    expect((await world.get(`${rule}/revisions`)).body.data).toMatchObject([{ active: true, default: true }])
    expect(dataOf(await world.put(rule, { enabled: true }))).toMatchObject({
      ...{ default: true, enabled: true, revisionId: `${world.app.name}_email_filter_2` },
    })
    expect((await world.get(`${rule}/revisions`)).body.data).toMatchObject([{ enabled: true }, { enabled: false }])
    expect(await statusOf(world, 'write to a@example.com')).toBe('disapproved')
    expect(await statusOf(world, 'write to me')).toBe('approved')
    expect(dataOf(await other.get(rule)).enabled).toBe(false)
  })

  it('are deleted, and made again as they were shipped', async () => {
    const world = await createWorld()
    const rule = '/moderation/rules/email_filter'
    const shipped = dataOf(await world.get(rule))
    dataOf(await world.delete(rule))
    expect(refusal(await world.get(rule))).toBe('404 ERR_RULE_NOT_FOUND')
    expect((await world.get('/moderation/rules')).body.data).not.toContainEqual(
      expect.objectContaining({ id: 'email_filter' }),
    )
    const again = await make(world, { id: 'email_filter' })
    expect(again).toMatchObject({ conditions: shipped.conditions, enabled: false, default: true })
    expect(again.revisionId).toBe(`${world.app.name}_email_filter_2`)
    expect(refusal(await world.post('/moderation/rules', { id: 'email_filter' }))).toBe('409 ERR_RULE_ALREADY_EXISTS')
  })
})

describe('messages', () => {
  it('are judged by the rules that are on, as they are when they are sent', async () => {
    const world = await chatWorld()
    expect(await statusOf(world, 'darn')).toBeUndefined()
    await make(world)
    expect(await statusOf(world, 'd-a.r n it, DARN it')).toBe('disapproved')
    expect(await statusOf(world, 'hello')).toBe('approved')
    await change(world, { conditions: [word('heck')] })
    expect(await statusOf(world, 'darn')).toBe('approved')
    expect(await statusOf(world, 'heck')).toBe('disapproved')
    await change(world, { mode: 'shadow' })
    expect(await statusOf(world, 'heck')).toBe('approved')
    await change(world, { mode: 'off' })
    expect(await statusOf(world, 'heck')).toBeUndefined()
  })

  it('of the app itself are judged only where it says so', async () => {
    const world = await chatWorld()
    await make(world)
    const body = { receiver: 'bob', receiverType: 'user', data: { text: 'darn' } }
    expect(dataOf(await world.post('/messages', body)).data.moderation).toBeUndefined()
    dataOf(await world.call('PATCH', `/apps/${world.app.name}/settings`, { moderateApp: true }))
    expect(dataOf(await world.post('/messages', body)).data.moderation.status).toBe('disapproved')
  })

  it('of the app itself in a group are edited by those who moderate, and judged anew', async () => {
    const world = await chatWorld()
    await createGroup(world, 'team', 'alice', { participants: ['bob'] })
    await make(world)
    dataOf(await world.call('PATCH', `/apps/${world.app.name}/settings`, { moderateApp: true }))
    const body = { receiver: 'team', receiverType: 'group', data: { text: 'darn' } }
    const held = dataOf(await world.post('/messages', body))
    expect(held.data.moderation.status).toBe('disapproved')
    const edit = async (text: string) => world.put(`/moderation/messages/${held.id}`, { data: { text } })
    expect(refusal(await edit('darn it'))).toBe('403 ERR_MESSAGE_ACTION_NOT_ALLOWED')
    expect(dataOf(await edit('good')).data).toMatchObject({ text: 'good', moderation: { status: 'approved' } })
    expect(dataOf(await world.get(`/messages/${held.id}`, { as: 'bob' })).data.text).toBe('good')
  })

  it('are looked at in captions and in custom data', async () => {
    const world = await chatWorld()
    await make(world, { ...insults, conditions: [word('darn'), { ...word('heck'), operand: 'custom' }] })
    const custom = { category: 'custom', type: 'offer', data: { customData: { notes: ['what the heck'] } } }
    expect(await statusOf(world, '', custom)).toBe('disapproved')
    const file = { url: 'https://example.com/a.png', name: 'a', mimeType: 'image/png', extension: 'png', size: 1 }
    const caption = { type: 'image', data: { caption: 'darn', attachments: [file] } }
    expect(await statusOf(world, '', caption)).toBe('disapproved')
    expect(await statusOf(world, 'hello', { data: { text: 'hello', metadata: { a: { b: 'heck' } } } })).toBe(
      'disapproved',
    )
    expect(await statusOf(world, 'heck')).toBe('approved')
  })

  it('are looked at in all texts of custom data, however deep, and in nothing that is no such text', async () => {
    const world = await chatWorld()
    await make(world, { ...insults, conditions: [{ ...word('heck'), operand: 'custom' }] })
    const nested = (value: unknown, depth: number): unknown => (depth === 0 ? value : { a: [nested(value, depth - 1)] })
    const custom = (customData: unknown) => ({ category: 'custom', type: 'offer', data: { customData } })
    expect(await statusOf(world, '', custom(nested('heck', 14)))).toBe('disapproved')
    const interactive = { category: 'interactive', type: 'customInteractive' }
    expect(await statusOf(world, '', { ...interactive, data: { data: { title: 'heck' } } })).toBe('disapproved')
    expect(await statusOf(world, '', { ...interactive, data: { interactiveData: { title: 'heck' } } })).toBe(
      'disapproved',
    )
    expect(await statusOf(world, '', custom({ heck: 1 }))).toBe('approved')
    const file = { url: 'https://example.com/heck.png', name: 'heck', mimeType: 'image/png' }
    const others = { text: 'hello', resource: 'heck', attachments: [file] }
    expect(await statusOf(world, '', { data: others, tags: ['heck'] })).toBe('approved')
  })

  it('are compared with sentences, each list with its own threshold', async () => {
    const world = await chatWorld()
    const list = (id: string, sentence: string) =>
      world.post('/moderation/keywords', {
        ...{ id, name: id, category: 'sentence-similarity' },
        disallowedSentences: sentence,
      })
    dataOf(await list('loose', 'one two three four'))
    dataOf(await list('strict', 'five six seven eight'))
    const value = ['loose_greaterThan_50', 'strict_greaterThan_90']
    await make(world, { ...insults, conditions: [{ operand: 'text', category: 'sentence-similarity', value }] })
    expect(await statusOf(world, 'one two three')).toBe('disapproved')
    expect(await statusOf(world, 'five six seven')).toBe('approved')
    expect(await statusOf(world, 'five six seven eight')).toBe('disapproved')
  })

  it('count for rate and repetition when they are sent, not when they are edited', async () => {
    const world = await chatWorld()
    const counted = (category: string) => ({ operand: 'text', category, value: ['greaterThan_2'] })
    await make(world, { ...insults, conditions: [counted('rate'), counted('repetition')] })
    const body = { receiver: 'bob', receiverType: 'user', data: { text: 'hello' } }
    const { id } = dataOf(await world.post('/messages', body, { as: 'alice' }))
    for (const tag of ['a', 'b', 'c']) dataOf(await world.put(`/messages/${id}`, { tags: [tag] }, { as: 'alice' }))
    expect(dataOf(await world.get(`/messages/${id}`)).tags).toEqual(['c'])
    expect(await statusOf(world, 'hello')).toBe('approved')
    expect(await statusOf(world, 'hello')).toBe('disapproved')
  })

  it('are spared by filters: by role, by scope in the group, and by exceptions', async () => {
    const world = await chatWorld()
    dataOf(await world.post('/roles', { role: 'staff', name: 'Staff' }))
    dataOf(await world.put('/users/bob', { role: 'staff' }))
    await createGroup(world, 'team', 'alice', { participants: ['bob'] })
    const say = async (as: string, text: string) => {
      const body = { receiver: 'team', receiverType: 'group', data: { text } }
      return dataOf(await world.post('/messages', body, { as })).data.moderation.status
    }
    const ofSender = (operand: string, value: string) => ({
      filters: [{ type: 'sender', entity: 'user', operand, operator: 'notEquals', value }],
    })
    await make(world, { ...insults, ...ofSender('role', 'staff'), exceptions: ['darn good'] })
    expect([await say('alice', 'darn'), await say('bob', 'darn')]).toEqual(['disapproved', 'approved'])
    expect(await say('alice', 'this is darn good')).toBe('approved')
    await change(world, ofSender('scope', 'admin'))
    expect([await say('alice', 'darn'), await say('bob', 'darn')]).toEqual(['approved', 'disapproved'])
    await change(world, ofSender('tags', 'trusted'))
    dataOf(await world.put('/users/alice', { tags: ['trusted'] }))
    expect([await say('alice', 'darn'), await say('bob', 'darn')]).toEqual(['approved', 'disapproved'])
  })
})
