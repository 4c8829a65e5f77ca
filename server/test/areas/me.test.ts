import { describe, expect, it } from 'vitest'
import { dataOf, refusal, say, texts } from '../support/chat.ts'
import { createUsers, createWorld, send, type World } from '../support/world.ts'

async function logIn(world: World, uid: string): Promise<string> {
  const headers = { apikey: world.authKey, appid: world.app.name }
  const body = { platform: 'WEB', deviceId: 'd1', appInfo: { version: '4.2.0' } }
  const answer = await send(world.url, 'POST', `/users/${uid}/auth_tokens`, body, headers)
  return dataOf(answer).authToken
}

describe('the settings of front ends', () => {
  it('keep a login over a reload, and say what is on and how far it goes', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice')
    const token = await logIn(world, 'alice')
    const { settings } = dataOf(await world.put('/me', { platform: 'WEB' }, { token }))
    const expected = {
      APP_VERSION: 4,
      WS_API_VERSION: 'v3.0',
      'file.count.max': 10,
      'file.size.max': 100 * 1024 * 1024,
      extensions: [],
      flagReasons: expect.arrayContaining([
        {
          ...{ id: 'spam', name: 'Spam', description: 'Advertising, or the same again and again', default: true },
          ...{ createdAt: expect.any(Number), updatedAt: expect.any(Number) },
        },
      ]),
      parameters: {
        'core.conversations.updateOnGroupActions': true,
        'core.conversations.updateOnCustomMessage': true,
        'core.conversations.updateOnReplies': true,
        'core.conversations.updateOnCallActivity': true,
        'features.ux.messages.pinned.enabled': true,
        'features.ux.messages.pinned.limit': 100,
        'features.ux.messages.pinned.system.limit': 100,
        'features.ux.messages.saved.enabled': true,
        'features.ux.messages.saved.limit': 100,
        'features.ux.conversations.pinned.enabled': true,
        'features.ux.conversations.pinned.limit': 5,
        'features.ux.conversations.pinned.system.limit': 5,
      },
    }
    expect(settings).toMatchObject(expected)
    expect(dataOf(await world.get('/settings', { token }))).toMatchObject(expected)
  })
})

describe('a front end that logs in', () => {
  it('gets a token with the auth key, and with it its user, the socket and the settings', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice')
    const token = await logIn(world, 'alice')
    const answer = await world.put('/me', { platform: 'WEB', deviceId: 'd1', appInfo: { version: '4.2.0' } }, { token })
    const host = new URL(world.url).host
    expect(answer.body.data).toMatchObject({
      uid: 'alice',
      name: 'Alice',
      role: 'default',
      status: 'offline',
      authToken: token,
      jwt: expect.any(String),
      wsChannel: { identity: `[${world.app.name}]alice`, service: world.app.name, secret: expect.any(String) },
      settings: {
        CLIENT_API_HOST: host,
        CHAT_HOST: '127.0.0.1',
        CHAT_WSS_PORT: new URL(world.url).port,
        CHAT_API_VERSION: 'v3.0',
        MODE: 'DEFAULT',
        ANALYTICS_PING_DISABLED: true,
      },
    })
    expect(dataOf(await world.get('/settings', { token })).CLIENT_API_HOST).toBe(host)
    expect(dataOf(await world.get('/me', { token }))).toMatchObject({ uid: 'alice', authToken: token })
    const other = await world.get('/settings', { token, headers: { host: 'chat.example.com' } })
    expect(other.body.data).toMatchObject({ CLIENT_API_HOST: 'chat.example.com', CHAT_WSS_PORT: '443' })
  })

  it('acts as its user on every operation that a user may call, and on no other', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const token = await logIn(world, 'alice')
    const sent = dataOf(
      await world.post('/messages', { receiver: 'bob', receiverType: 'user', data: { text: 'hi' } }, { token }),
    )
    expect(sent.sender).toBe('alice')
    expect(texts(await world.get('/users/bob/messages', { token }))).toEqual(['hi'])
    // onBehalfOf is no credential: beside a token it means nothing.
    const other = await world.get('/me', { token, as: 'bob' })
    expect(dataOf(other).uid).toBe('alice')
    expect(refusal(await world.get('/apikeys', { token }))).toBe('403 AUTH_ERR_NO_ACCESS')
    expect(refusal(await world.delete('/users/bob', {}, { token }))).toBe('403 AUTH_ERR_NO_ACCESS')
  })

  it('changes its own profile, but not its role', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice')
    const token = await logIn(world, 'alice')
    const changed = dataOf(
      await world.put(
        '/me',
        { name: 'Alice B', metadata: { '@private': { email: 'a@example.com' } }, role: 'admin' },
        { token },
      ),
    )
    expect(changed).toMatchObject({
      name: 'Alice B',
      role: 'default',
      metadata: { '@private': { email: 'a@example.com' } },
    })
    expect(refusal(await world.put('/me', { avatar: 'javascript:alert(1)' }, { token }))).toBe('400 ERR_BAD_REQUEST')
    expect(refusal(await world.put('/me', { name: 7 }, { token }))).toBe('400 ERR_BAD_REQUEST')
  })

  it('is locked out when it logs out, when its tokens are dropped, and when its user is deactivated', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const [first, second] = [await logIn(world, 'alice'), await logIn(world, 'alice')]
    expect((await world.delete('/me', undefined, { token: first })).body.data.success).toBe(true)
    expect(refusal(await world.get('/me', { token: first }))).toBe('401 AUTH_ERR_AUTH_TOKEN_NOT_FOUND')
    expect((await world.get('/me', { token: second })).status).toBe(200)
    dataOf(await world.delete('/users/alice/auth_tokens'))
    expect(refusal(await world.get('/me', { token: second }))).toBe('401 AUTH_ERR_AUTH_TOKEN_NOT_FOUND')
    const third = await logIn(world, 'bob')
    dataOf(await world.delete('/users', { uidsToDeactivate: ['bob'] }))
    expect(refusal(await world.get('/me', { token: third }))).toBe('401 AUTH_ERR_AUTH_TOKEN_NOT_FOUND')
    const message = { receiver: 'alice', receiverType: 'user', data: { text: 'x' } }
    expect(refusal(await world.post('/messages', message, { token: third }))).toBe('401 AUTH_ERR_AUTH_TOKEN_NOT_FOUND')
    expect(refusal(await world.delete('/me', undefined, { as: 'alice' }))).toBe('401 AUTH_ERR_EMPTY_AUTH_TOKEN')
  })

  it('answers telemetry, unread counts, and marks with the conversation', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const token = await logIn(world, 'alice')
    expect(dataOf(await world.post('/user_sessions', { anything: 1 }, { token }))).toEqual({ success: true })
    const message = await say(world, 'bob', 'alice', 'hi')
    expect(dataOf(await world.get('/messages?unread=1&count=1&hideMessagesFromBlockedUsers=0', { token }))).toEqual([
      { entityId: 'bob', entityType: 'user', count: 1 },
    ])
    dataOf(await world.post('/users/bob/conversation/read', '', { token }))
    const unread = dataOf(await world.delete('/users/bob/conversation/read', { messageId: message.id }, { token }))
    expect(unread.conversation).toMatchObject({ conversationId: 'alice_user_bob', unreadMessageCount: '1' })
  })
})
