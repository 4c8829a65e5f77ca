import { randomBytes } from 'node:crypto'
import { type OperatorRight, type OperatorRole, operatorRoles, rightOf, rightsOfRoles } from '@parley/contract'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { startTwilioEmulator } from '../../src/emulators/twilio.ts'
import { leaveOutTexts } from '../../src/http/admin/texts.ts'
import { routes } from '../../src/routes.ts'
import { statement } from '../../src/store/statement.ts'
import { createGroup, dataOf, refusal, say, sayInGroup } from '../support/chat.ts'
import { openEndpoint } from '../support/endpoint.ts'
import { logsOf, setUpCustomPush, twilio, twilioAccount } from '../support/notifications.ts'
import { createOwnServices } from '../support/own-services.ts'
import { createReachable, endWindows, openWindowsOf } from '../support/unread.ts'
import { until } from '../support/until.ts'
import { deliveriesOf, register } from '../support/webhooks.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'
import { createOperator, createOwner, meOf, newEmail, password, Visitor } from './operator.ts'

describe('invitations', () => {
  it('make the account that they are for, once, with what they give', async () => {
    const world = await createWorld()
    const owner = await createOwner(world)
    const email = newEmail()
    const invitation = { email, role: 'moderator', apps: [world.app.name], mayRead: false }
    const { token, id } = dataOf(await owner.post('/invitations', invitation))
    expect(dataOf(await owner.get('/invitations'))).toContainEqual(expect.objectContaining({ ...invitation, id }))
    const accept = (secret: string) =>
      new Visitor(world.url).post('/invitations/accept', { token: secret, name: 'Mo', password })
    const answers = await Promise.all([accept(token), accept(token)])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404])
    const visitor = new Visitor(world.url)
    dataOf(await visitor.post('/session', { email, password }))
    expect(await meOf(visitor)).toMatchObject({ role: 'moderator', apps: [world.app.name], mayRead: false })
    expect(refusal(await owner.post('/invitations', invitation))).toBe('409 ERR_OPERATOR_ALREADY_EXISTS')
  })

  it('are replaced by the next, and can be withdrawn', async () => {
    const world = await createWorld()
    const owner = await createOwner(world)
    const email = newEmail()
    const invite = async () => dataOf(await owner.post('/invitations', { email, role: 'support' }))
    const accept = async (token: string) =>
      refusal(await new Visitor(world.url).post('/invitations/accept', { token, name: 'S', password }))
    const first = await invite()
    const second = await invite()
    expect(await accept(first.token)).toBe('404 ERR_LINK_NOT_FOUND')
    dataOf(await owner.delete(`/invitations/${second.id}`))
    expect(await accept(second.token)).toBe('404 ERR_LINK_NOT_FOUND')
    expect(refusal(await owner.delete(`/invitations/${second.id}`))).toBe('404 ERR_LINK_NOT_FOUND')
    // The link of the first owner is no invitation.
    expect(
      refusal(await new Visitor(world.url).post('/setup', { token: first.token, email, name: 'S', password })),
    ).toBe('404 ERR_LINK_NOT_FOUND')
  })

  it('name apps that there are', async () => {
    const world = await createWorld()
    const owner = await createOwner(world)
    const invite = (apps: string[]) => owner.post('/invitations', { email: newEmail(), role: 'support', apps })
    expect(refusal(await invite(['no-such-app']))).toBe('404 ERR_APP_NOT_FOUND')
  })
})

describe('operators', () => {
  it('are changed and disabled at once, and deleted', async () => {
    const world = await createWorld()
    const owner = await createOwner(world)
    const operator = await createOperator(owner, { role: 'developer', apps: [world.app.name] })
    const { id } = await meOf(operator)
    const make = () =>
      operator.post(`/apps/${world.app.name}/users`, { uid: `u${Math.random()}`.replace('.', ''), name: 'U' })
    dataOf(await make())
    dataOf(await owner.put(`/operators/${id}`, { role: 'support' }))
    expect(refusal(await make())).toBe('403 ERR_PERMISSION_DENIED')
    dataOf(await owner.put(`/operators/${id}`, { apps: [] }))
    expect(refusal(await operator.get(`/apps/${world.app.name}`))).toBe('404 ERR_APP_NOT_FOUND')
    const disabled = dataOf(await owner.put(`/operators/${id}`, { disabled: true }))
    expect(disabled).toMatchObject({ disabledAt: expect.any(Number) })
    expect(refusal(await operator.get('/session'))).toBe('401 ERR_NO_AUTH')
    dataOf(await owner.delete(`/operators/${id}`))
    expect(refusal(await owner.put(`/operators/${id}`, { disabled: false }))).toBe('404 ERR_OPERATOR_NOT_FOUND')
    const log = dataOf(await owner.get(`/audit-log?target=${id}&targetType=operator`))
    expect(log.map(({ action }: { action: string }) => action).slice(0, 2)).toEqual([
      'operator_deleted',
      'operator_updated',
    ])
  })

  /** A developer with an open reading and a personal token, which `script` has. */
  const createReader = async () => {
    const world = await createWorld()
    const owner = await createOwner(world)
    const email = newEmail()
    const operator = await createOperator(owner, { role: 'developer', apps: [world.app.name] }, email)
    const { id } = await meOf(operator)
    const readings = `/apps/${world.app.name}/readings`
    dataOf(await operator.post(readings, { of: '*', reason: 'Report 17' }))
    const script = new Visitor(world.url)
    script.token = dataOf(await operator.post('/tokens', { name: 'nightly', rights: ['look'], days: 30 })).token
    return { world, owner, operator, id, email, readings, script }
  }

  it('come back without the tokens and readings of before they were disabled', async () => {
    const { world, owner, id, email, readings, script } = await createReader()
    dataOf(await script.get(`/apps/${world.app.name}/users`))

    dataOf(await owner.put(`/operators/${id}`, { disabled: true }))
    expect(refusal(await script.get('/session'))).toBe('401 ERR_NO_AUTH')
    dataOf(await owner.put(`/operators/${id}`, { disabled: false }))
    expect(refusal(await script.get('/session'))).toBe('401 ERR_NO_AUTH')
    const again = new Visitor(world.url)
    dataOf(await again.post('/session', { email, password }))
    expect(dataOf(await again.get('/tokens'))).toEqual([])
    expect(dataOf(await again.get(readings))).toEqual([])
  })

  it('come back without them also where they stayed when the account was disabled, as they did in older versions', async () => {
    const { world, owner, operator, id, email, readings, script } = await createReader()
    await world.context.database.query(statement('update operators set disabled_at = 1 where operator_id = $1'), [id])

    dataOf(await owner.put(`/operators/${id}`, { disabled: false }))
    expect(refusal(await script.get('/session'))).toBe('401 ERR_NO_AUTH')
    expect(refusal(await operator.get('/session'))).toBe('401 ERR_NO_AUTH')
    const again = new Visitor(world.url)
    dataOf(await again.post('/session', { email, password }))
    expect(dataOf(await again.get(readings))).toEqual([])
  })

  it('are the business of owners of all apps alone', async () => {
    const world = await createWorld()
    const owner = await createOwner(world)
    const ofApp = await createOperator(owner, { role: 'owner', apps: [world.app.name] })
    for (const path of ['/operators', '/invitations', '/audit-log']) {
      expect(refusal(await ofApp.get(path)), path).toBe('403 ERR_PERMISSION_DENIED')
    }
    expect(refusal(await ofApp.post('/apps', { appId: 'mine' }))).toBe('403 ERR_PERMISSION_DENIED')
    expect(dataOf(await ofApp.get('/apps'))).toMatchObject([{ appId: world.app.name }])
  })

  it('list the apps that they have to do with, page by page, and find them by a part of the ID', async () => {
    const world = await createWorld()
    const owner = await createOwner(world)
    const mark = randomBytes(6).toString('hex')
    const names = ['a', 'b', 'c', 'd', 'e'].map((letter) => `${letter}-${mark}`)
    for (const appId of names.toReversed()) dataOf(await owner.post('/apps', { appId }))
    const mine = names.filter((name) => !name.startsWith('c'))
    const ofSome = await createOperator(owner, { role: 'support', apps: mine })
    const list = async (visitor: Visitor, query: string) => {
      const { body } = await visitor.get(`/apps?${query}`)
      const { total, count, total_pages: pages } = body.meta.pagination
      return { names: body.data.map(({ appId }: { appId: string }) => appId), total, count, pages }
    }

    // Whoever has some of them finds no trace of the others, however they ask.
    expect(await list(ofSome, '')).toEqual({ names: mine, total: 4, count: 4, pages: 1 })
    expect(await list(ofSome, `searchKey=c-${mark}`)).toEqual({ names: [], total: 0, count: 0, pages: 1 })
    expect(await list(ofSome, 'perPage=3')).toEqual({ names: mine.slice(0, 3), total: 4, count: 3, pages: 2 })
    expect(await list(ofSome, 'perPage=3&page=2')).toEqual({ names: mine.slice(3), total: 4, count: 1, pages: 2 })
    expect((await list(ofSome, 'perPage=3&page=3')).names).toEqual([])
    expect(await list(owner, `searchKey=${mark.toUpperCase()}&perPage=2`)).toMatchObject({
      names: names.slice(0, 2),
      total: 5,
    })
    // It is a text, not a pattern.
    expect((await list(owner, `searchKey=${encodeURIComponent(`%-${mark}`)}`)).names).toEqual([])
    for (const query of ['page=0', 'perPage=1001', 'perPage=all', `searchKey=${'x'.repeat(101)}`]) {
      expect(refusal(await owner.get(`/apps?${query}`)), query).toBe('400 ERR_BAD_REQUEST')
    }
    dataOf(await owner.post(`/apps/${mine[0]}/pause`))
    expect(dataOf(await ofSome.get('/apps?perPage=1'))).toMatchObject([{ pausedAt: expect.any(Number) }])
    // Apps that are taken from somebody are gone from their list at once.
    const { id } = await meOf(ofSome)
    dataOf(await owner.put(`/operators/${id}`, { apps: [mine[1]] }))
    expect(await list(ofSome, '')).toMatchObject({ names: [mine[1]], total: 1 })
  })

  it('make apps, each with a key of its own', async () => {
    const world = await createWorld()
    const owner = await createOwner(world)
    const appId = `Shop-${Math.random().toString(36).slice(2)}`
    const made = dataOf(await owner.post('/apps', { appId, region: 'eu' }))
    expect(made).toMatchObject({ appId: appId.toLowerCase(), region: 'eu' })
    expect(refusal(await owner.post('/apps', { appId }))).toBe('409 ERR_APP_ALREADY_EXISTS')
    const users = await world.get('/users', { headers: { appid: made.appId, apikey: made.apiKey } })
    expect(dataOf(users)).toEqual([])
    expect(refusal(await world.get('/users', { headers: { appid: made.appId } }))).toBe('401 AUTH_ERR_APIKEY_NOT_FOUND')
  })
})

describe('the operations of an app', () => {
  let world: World
  let owner: Visitor
  const visitors = new Map<OperatorRole, Visitor>()

  beforeAll(async () => {
    world = await createWorld()
    owner = await createOwner(world)
    for (const role of operatorRoles) {
      visitors.set(role, await createOperator(owner, { role, apps: [world.app.name] }))
    }
  })

  it.each(routes.map(({ operation }) => [operation.id, operation] as const))(
    '%s is open to those who have the right, and to nobody else',
    async (_, operation) => {
      const path = (app: string) => `/apps/${app}${operation.path.replaceAll(/\{(\w+)\}/g, 'nothing')}`
      const body = operation.body === undefined ? undefined : {}
      const right: OperatorRight = rightOf(operation)
      for (const role of operatorRoles) {
        const answer = await (visitors.get(role) as Visitor).call(operation.method, path(world.app.name), body)
        const refused =
          refusal(answer) === '403 ERR_PERMISSION_DENIED' && answer.body.error.devMessage.includes('the right')
        expect(refused, `${role} ${right}: ${JSON.stringify(answer.body).slice(0, 200)}`).toBe(
          !rightsOfRoles[role].includes(right),
        )
        expect(answer.status).toBeLessThan(500)
      }
      // Another app, and one that is not there, are the same.
      const support = visitors.get('owner') as Visitor
      const [other, none] = [
        await support.call(operation.method, path('parley'), body),
        await support.call(operation.method, path('no-app'), body),
      ]
      expect([refusal(other), refusal(none)]).toEqual(['404 ERR_APP_NOT_FOUND', '404 ERR_APP_NOT_FOUND'])
      // Neither a key nor a token of the app opens them.
      const stranger = new Visitor(world.url)
      const withKey = await stranger.call(operation.method, path(world.app.name), body, {
        apikey: world.apiKey,
        appid: world.app.name,
      })
      expect(refusal(withKey)).toBe('401 ERR_NO_AUTH')
    },
  )

  it('that make keys or tokens by the way ask for the right to them, too', async () => {
    const script = new Visitor(world.url)
    script.token = dataOf(await owner.post('/tokens', { name: 'import', rights: ['manage'], days: 1 })).token
    const at = (path: string) => `/apps/${world.app.name}${path}`
    await createUsers(world, 'alice', 'bob')
    const keys = dataOf(await world.get('/apikeys'))
    const friend = { kind: 'friend', uid: 'alice', friend: 'bob' }
    const apiKey = { kind: 'apiKey', apiKey: randomBytes(20).toString('hex'), name: 'planted', scope: 'fullAccess' }
    const authToken = { kind: 'authToken', uid: 'alice', authToken: `alice_${randomBytes(20).toString('hex')}` }
    for (const records of [[friend, apiKey], [authToken], { mine: apiKey }, { first: friend, second: authToken }]) {
      const answer = await script.post(at('/data_import/records'), { records })
      expect(refusal(answer)).toBe('403 ERR_PERMISSION_DENIED')
      expect(answer.body.error.devMessage).toBe('You do not have the right "keys".')
    }
    const withToken = await script.post(at('/users'), { uid: 'carol', name: 'Carol', withAuthToken: true })
    expect(refusal(withToken)).toBe('403 ERR_PERMISSION_DENIED')
    expect(withToken.body.error.devMessage).toBe('You do not have the right "keys".')

    expect(dataOf(await world.get('/apikeys'))).toEqual(keys)
    expect(dataOf(await world.get('/users/alice/auth_tokens'))).toEqual([])
    expect(refusal(await world.get('/users/carol'))).toBe('404 ERR_UID_NOT_FOUND')
    expect(dataOf(await world.get('/users/alice/friends'))).toEqual([])

    expect(dataOf(await script.post(at('/data_import/records'), { records: [friend] }))).toMatchObject({
      '[0]': { success: true },
    })
    dataOf(await script.post(at('/users'), { uid: 'carol', name: 'Carol', withAuthToken: false }))
    const [made, both] = [
      dataOf(await owner.post(at('/users'), { uid: 'dave', name: 'Dave', withAuthToken: true })),
      dataOf(await owner.post(at('/data_import/records'), { records: [apiKey, authToken] })),
    ]
    expect(made.authToken).toEqual(expect.any(String))
    expect(both).toMatchObject({ '[0]': { success: true }, '[1]': { success: true } })
  })

  it('that name who signs tokens of users ask for the right to tokens, too', async () => {
    const script = new Visitor(world.url)
    script.token = dataOf(
      await owner.post('/tokens', { name: 'settings', rights: ['look', 'configure'], days: 1 }),
    ).token
    const settings = `/apps/${world.app.name}/apps/${world.app.name}/settings`
    const change = (visitor: Visitor, body: object) => visitor.call('PATCH', settings, body)
    const issuer = {
      ...{ jwtIssuer: 'https://mallory.example.com', jwtAudience: world.app.name },
      jwtKeysUrl: 'https://mallory.example.com/jwks.json',
    }
    const before = dataOf(await script.get(settings))
    const parts = Object.entries(issuer).map(([name, value]) => ({ [name]: value }))
    for (const body of [issuer, ...parts, { maxBots: 3, ...issuer }, { jwtKeysUrl: null }, { jwtIssuer: '' }]) {
      const answer = await change(script, body)
      expect(refusal(answer), JSON.stringify(body)).toBe('403 ERR_PERMISSION_DENIED')
      expect(answer.body.error.devMessage).toBe('You do not have the right "keys".')
    }
    expect(dataOf(await script.get(settings))).toEqual(before)
    expect(dataOf(await change(script, { maxBots: 3 }))).toMatchObject({ maxBots: 3 })
    expect(dataOf(await change(owner, issuer))).toMatchObject(issuer)
  })

  it('ask for the same right by both of their paths', () => {
    const operations = new Map(routes.map(({ operation }) => [operation.id, operation]))
    const twins = [...operations.values()].flatMap((here) => {
      const twin = operations.get(here.id.replace(/-here$/, ''))
      return twin === undefined || twin === here ? [] : [[here, twin] as const]
    })
    expect(twins.length).toBeGreaterThan(0)
    for (const [here, twin] of twins) expect(rightOf(twin), twin.id).toBe(rightOf(here))
    expect(twins.map(([here]) => here.id)).toEqual([...operations.keys()].filter((id) => id.endsWith('-here')))
  })

  it('record who did what', async () => {
    dataOf(await owner.post(`/apps/${world.app.name}/roles`, { role: 'vip', name: 'VIP' }))
    const [entry] = dataOf(await world.get('/audit-log?action=role_created'))
    const { id } = await meOf(owner)
    expect(entry.actor).toEqual({ caller: 'operator', operator: id, address: expect.any(String) })
  })
})

describe('what people wrote', () => {
  async function createTalk() {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol')
    await createGroup(world, 'team', 'alice', { participants: ['bob'] })
    const { id } = await say(world, 'alice', 'bob', 'a secret')
    await sayInGroup(world, 'alice', 'team', 'a plan')
    const owner = await createOwner(world)
    const at = (path: string) => `/apps/${world.app.name}${path}`
    return { world, owner, at, id }
  }
  const lists = ['/messages', '/users/alice/messages', '/groups/team/messages', '/events', '/conversations']

  it('is left out of every answer, until a reason is given', async () => {
    const { world, owner, at, id } = await createTalk()
    for (const path of [...lists, `/messages/${id}`]) {
      const answer = await owner.get(at(path), path === '/conversations' ? { onbehalfof: 'alice' } : {})
      if (answer.status !== 200) continue
      const text = JSON.stringify(answer.body)
      expect(text, path).not.toContain('a secret')
      expect(text, path).not.toContain('a plan')
    }
    const answer = await owner.get(at('/messages'))
    expect(answer.headers['x-texts-left-out']).toBe('2')
    expect(answer.body.data[0]).toMatchObject({ sender: 'alice', sentAt: expect.any(Number) })

    dataOf(await owner.post(at('/readings'), { of: 'alice_user_bob', reason: 'a report by bob' }))
    const opened = JSON.stringify((await owner.get(at('/messages'))).body)
    expect(opened).toContain('a secret')
    expect(opened).not.toContain('a plan')
    expect(dataOf(await owner.get(at('/readings')))).toMatchObject([
      { of: 'alice_user_bob', reason: 'a report by bob' },
    ])

    const [entry] = dataOf(await world.get('/audit-log?action=reading_opened'))
    expect(entry).toMatchObject({
      actor: { caller: 'operator' },
      target: { type: 'conversation', id: 'alice_user_bob' },
      details: { reason: 'a report by bob' },
    })
    expect(JSON.stringify(dataOf(await world.get('/audit-log')))).not.toContain('a secret')
  })

  it('is not for whoever lacks the right, whatever the role', async () => {
    const { world, owner, at } = await createTalk()
    const apps = [world.app.name]
    for (const grants of [{ role: 'support' }, { role: 'moderator', mayRead: false }]) {
      const operator = await createOperator(owner, { ...grants, apps })
      const reading = await operator.post(at('/readings'), { of: '*', reason: 'just because' })
      expect(refusal(reading)).toBe('403 ERR_PERMISSION_DENIED')
      expect(JSON.stringify((await operator.get(at('/messages'))).body)).not.toContain('a secret')
      expect(refusal(await operator.get(at('/messages?searchKey=secret')))).toBe('403 ERR_PERMISSION_DENIED')
      expect(refusal(await operator.get(at('/conversations'), { onbehalfof: 'alice' }))).toBe(
        '403 ERR_PERMISSION_DENIED',
      )
    }
    const given = await createOperator(owner, { role: 'support', mayRead: true, apps })
    dataOf(await given.post(at('/readings'), { of: '*', reason: 'the owner asked' }))
    expect(JSON.stringify((await given.get(at('/messages'))).body)).toContain('a secret')
  })

  it('is also the tags of messages', async () => {
    const { world, owner, at } = await createTalk()
    // From here on events are stored.
    dataOf(await world.get('/events'))
    const message = { receiver: 'bob', receiverType: 'user', type: 'text', data: { text: 'x' }, tags: ['a secret tag'] }
    const { id } = dataOf(await world.post('/messages', message, { as: 'alice' }))
    dataOf(await world.post(`/messages/${id}/flagged`, {}, { as: 'bob' }))
    dataOf(await world.put(`/messages/${id}`, { data: { text: 'y' }, tags: ['a secret tag', 'more'] }, { as: 'alice' }))
    dataOf(await world.post(`/messages/${id}/thread`, { ...message, receiver: 'alice' }, { as: 'bob' }))
    const tagged = [
      '/messages?withTags=true',
      '/users/alice/messages?withTags=true',
      `/messages/${id}`,
      `/messages/${id}/thread?withTags=true`,
      '/moderation/flagged-messages',
      '/events?after=0',
    ]
    for (const path of tagged) {
      const answer = await owner.get(at(path))
      expect(answer.status, path).toBe(200)
      expect(JSON.stringify(answer.body), path).not.toContain('a secret tag')
    }
    for (const path of ['/messages', '/users/alice/messages', `/messages/${id}/thread`])
      expect(refusal(await owner.get(at(`${path}?tags=more`))), path).toBe('403 ERR_READING_REQUIRED')
    expect((await owner.get(at('/users?tags=more'))).status).toBe(200)
    dataOf(await owner.post(at('/readings'), { of: '*', reason: 'Report 17' }))
    for (const path of tagged) expect(JSON.stringify((await owner.get(at(path))).body), path).toContain('a secret tag')
    expect(dataOf(await owner.get(at('/messages?tags=more')))).toMatchObject([{ id }])
  })

  it('is recorded for each conversation that a reading of the whole app shows, once an hour', async () => {
    const { world, owner, at } = await createTalk()
    const read = async () =>
      dataOf(await world.get('/audit-log?action=conversation_read')).map(
        ({ target, details }: { target: { id: string }; details: object }) => ({ id: target.id, details }),
      )
    dataOf(await owner.get(at('/messages')))
    expect(await read()).toEqual([])
    dataOf(await owner.post(at('/readings'), { of: '*', reason: 'Report 17' }))
    dataOf(await owner.get(at('/users')))
    expect(await read()).toEqual([])
    await Promise.all([1, 2, 3].map(() => owner.get(at('/messages'))))
    const details = { reason: 'Report 17' }
    expect((await read()).sort((a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1))).toEqual([
      { id: 'alice_user_bob', details },
      { id: 'group_team', details },
    ])
  })

  it('is also what somebody remarked who flagged a message', async () => {
    const { world, owner, at, id } = await createTalk()
    dataOf(await world.post(`/messages/${id}/flagged`, { remark: 'they know where I live' }, { as: 'bob' }))
    const flagged = async () => JSON.stringify((await owner.get(at('/moderation/flagged-messages'))).body)
    expect(await flagged()).toContain('"flaggedBy":[{"uid":"bob"')
    expect(await flagged()).not.toContain('they know where I live')
    dataOf(await owner.post(at('/readings'), { of: 'alice_user_bob', reason: 'the report' }))
    expect(await flagged()).toContain('they know where I live')
  })

  it('is also what an endpoint or a provider answered that refused it', async () => {
    const services = await createOwnServices()
    const endpoint = await openEndpoint()
    onTestFinished(async () => {
      await services.close()
      await endpoint.close()
    })
    const world = await createWorld(await services.start())
    const owner = await createOwner(world)
    const at = (path: string) => `/apps/${world.app.name}${path}`
    await createUsers(world, 'alice', 'bob')
    endpoint.behave({ status: 400, body: 'not this: a secret' })
    await register(world, endpoint.url, { retryOnFailure: false })
    await setUpCustomPush(world, endpoint.url)
    await say(world, 'alice', 'bob', 'a secret')
    await until(async () => (await deliveriesOf(world, '?status=failed')).length === 1)
    await until(async () => (await logsOf(world, '?success=false')).length === 1)

    const support = await createOperator(owner, { role: 'support', apps: [world.app.name] })
    const [delivery] = await deliveriesOf(world)
    const texts = {
      '/webhooks/hook/deliveries': '1',
      // It also has the message that the endpoint was sent.
      [`/webhooks/hook/deliveries/${delivery.id}`]: '2',
      // The error says what the status says.
      '/notifications/v1/logs': '2',
    }
    for (const [path, leftOut] of Object.entries(texts)) {
      for (const visitor of [support, owner]) {
        const answer = await visitor.get(at(path))
        expect(answer.body.data[0] ?? answer.body.data, path).toMatchObject({ answer: { status: 400 } })
        expect(JSON.stringify(answer.body), path).not.toContain('a secret')
        expect(answer.headers['x-texts-left-out'], path).toBe(leftOut)
      }
    }
    // What a trial brings is of nobody.
    expect(JSON.stringify(dataOf(await owner.post(at('/webhooks/hook/test'))))).toContain('not this')
    const one = at(`/webhooks/hook/deliveries/${delivery.id}`)
    dataOf(await owner.post(at('/readings'), { of: 'alice_user_bob', reason: 'The endpoint refuses' }))
    expect((await owner.get(one)).body.data).toMatchObject({ answer: { excerpt: 'not this: a secret' } })
    dataOf(await owner.post(at('/readings'), { of: '*', reason: 'The endpoint refuses' }))
    for (const path in texts) expect(JSON.stringify((await owner.get(at(path))).body), path).toContain('a secret')
  })

  it('is also what a log has as the answer, in the words of the provider', async () => {
    const services = await createOwnServices()
    const [endpoint, texts] = await Promise.all([openEndpoint(), startTwilioEmulator()])
    onTestFinished(async () => {
      await services.close()
      await Promise.all([endpoint.close(), texts.close()])
    })
    const world = await createWorld(await services.start({ TWILIO_ENDPOINT: texts.endpoint }))
    const owner = await createOwner(world)
    const logs = `/apps/${world.app.name}/notifications/v1/logs`
    await createReachable(world, 'alice', 'bob')
    texts.behave(() => ({ status: 400, code: 21617, message: 'not this: a secret' }))
    endpoint.behave((request) => ({
      body: JSON.stringify({
        results: request.body.data.map(({ id }: { id: string }) => ({ id, status: 'a secret' })),
      }),
    }))
    const { accountSid, authToken } = texts.credentials
    const account = { ...twilioAccount, twilioAccountSID: accountSid, twilioAuthToken: authToken }
    dataOf(await world.post(twilio, account))
    await setUpCustomPush(world, endpoint.url, { batchSize: 10 })
    await say(world, 'alice', 'bob', 'a secret')
    await until(async () => (await openWindowsOf(services, world)).includes('sms bob'))
    await endWindows(services, world)
    await until(async () => (await logsOf(world, '?success=false')).length === 2)

    const support = await createOperator(owner, { role: 'support', apps: [world.app.name] })
    for (const visitor of [support, owner]) {
      const shown = dataOf(await visitor.get(logs))
      expect(shown.map(({ channel }: { channel: string }) => channel).sort()).toEqual(['push', 'sms'])
      expect(JSON.stringify(shown)).not.toContain('a secret')
    }
    dataOf(await owner.post(`/apps/${world.app.name}/readings`, { of: '*', reason: 'The providers refuse' }))
    const read = dataOf(await owner.get(logs))
    const [push] = read.filter(({ channel }: { channel: string }) => channel === 'push')
    expect(push.answer.text).toContain('a secret')
    // Of SMS and e-mails no words are kept.
    expect(read).toContainEqual(
      expect.objectContaining({ channel: 'sms', error: 'Twilio answered 400 21617', answer: { status: 400 } }),
    )
  })

  it('is also in the data that a person has asked for', async () => {
    const { world, owner, at } = await createTalk()
    const { id } = await say(world, 'bob', 'alice', 'buy now')
    dataOf(await world.post(`/messages/${id}/flagged`, { id: 'spam', remark: 'a secret remark' }, { as: 'alice' }))
    dataOf(await world.post('/me/export', {}, { as: 'alice' }))
    dataOf(await owner.post(at('/users/alice/export')))
    const fetched = async (query = '') => dataOf(await owner.get(at(`/users/alice/export${query}`)))
    await until(async () => (await fetched('?limit=0')).export.status === 'ready')
    expect(dataOf(await world.get('/audit-log?action=person_export_fetched'))).toEqual([])
    expect(JSON.stringify(await fetched())).not.toContain('a secret')
    dataOf(await owner.post(at('/readings'), { of: '*', reason: 'Alice asked for it' }))
    expect(JSON.stringify(await fetched())).toContain('a secret remark')
  })

  it('is also in an edit there that waits for a decision', () => {
    const waiting = { kind: 'waitingEdit', record: { messageId: '7', data: { text: 'a secret' }, tags: ['red'] } }
    expect(leaveOutTexts(waiting, { isOpen: () => false })).toBe(1)
    expect(waiting).toEqual({ kind: 'waitingEdit', record: { messageId: '7', tags: ['red'] } })
  })

  it('is not found out by searching', async () => {
    const { owner, at } = await createTalk()
    expect(refusal(await owner.get(at('/messages?searchKey=secret')))).toBe('403 ERR_READING_REQUIRED')
    dataOf(await owner.post(at('/readings'), { of: '*', reason: 'looking for a phrase' }))
    expect(dataOf(await owner.get(at('/messages?searchKey=secret')))).toHaveLength(1)
  })

  it('is read through the eyes of a user, who does nothing by it', async () => {
    const { owner, at } = await createTalk()
    const [conversation] = dataOf(await owner.get(at('/conversations'), { onbehalfof: 'bob' }))
    expect(conversation.unreadMessageCount).toBe('1')
    const send = { receiver: 'bob', receiverType: 'user', data: { text: 'as alice' } }
    expect(refusal(await owner.post(at('/messages'), send, { onbehalfof: 'alice' }))).toBe('403 ERR_PERMISSION_DENIED')
  })

  it('asks for a reason that says something', async () => {
    const { owner, at } = await createTalk()
    for (const reason of ['', 'x', '     ']) {
      expect(refusal(await owner.post(at('/readings'), { of: '*', reason }))).toBe('400 ERR_BAD_REQUEST')
    }
  })
})
