import { describe, expect, it } from 'vitest'
import { createShop, serveTls } from './world.ts'

serveTls()

describe('A front end that logs in over TLS', () => {
  it('is told its user, the token of its socket, and where everything is', async () => {
    const shop = await createShop('alice')
    const tab = await shop.logIn('alice')
    expect(tab.kept?.user).toMatchObject({
      uid: 'alice',
      name: 'Alice',
      role: 'default',
      status: 'offline',
      authToken: tab.kept?.authToken,
      jwt: expect.stringMatching(/./),
      wsChannel: { identity: `[${tab.app}]alice`, secret: expect.stringMatching(/./), service: tab.app },
    })
    const { settings } = tab.kept ?? {}
    const port = Number(settings.CHAT_WSS_PORT)
    expect(settings).toEqual({
      APP_VERSION: 4,
      CLIENT_API_HOST: `127.0.0.1:${port}`,
      ADMIN_API_HOST: `127.0.0.1:${port}`,
      CHAT_HOST: '127.0.0.1',
      CHAT_HOST_OVERRIDE: '',
      CHAT_HOST_APP_SPECIFIC: '',
      CHAT_WSS_PORT: String(port),
      CHAT_API_VERSION: 'v3.0',
      WS_API_VERSION: expect.stringMatching(/./),
      MODE: 'DEFAULT',
      ANALYTICS_PING_DISABLED: true,
      SECURED_MEDIA_HOST: expect.stringMatching(/./),
      'file.count.max': expect.any(Number),
      'file.size.max': expect.any(Number),
      extensions: expect.any(Array),
      flagReasons: expect.any(Array),
      parameters: expect.any(Object),
      settingsHash: expect.stringMatching(/./),
      settingsHashReceivedAt: expect.any(Number),
    })
    for (const reason of settings.flagReasons) {
      expect(reason).toMatchObject({ id: expect.any(String), name: expect.any(String), default: expect.any(Boolean) })
    }
    const parameters = {
      'core.conversations': ['OnGroupActions', 'OnCustomMessage', 'OnReplies', 'OnCallActivity'].map(
        (n) => `update${n}`,
      ),
      'features.ux.messages.pinned': ['enabled', 'limit', 'system.limit'],
      'features.ux.messages.saved': ['enabled', 'limit'],
      'features.ux.conversations.pinned': ['enabled', 'limit', 'system.limit'],
    }
    for (const [group, names] of Object.entries(parameters)) {
      for (const name of names) {
        const value = settings.parameters[`${group}.${name}`]
        if (name.endsWith('limit')) expect(value, `${group}.${name}`).toBeGreaterThan(0)
        else expect(value, `${group}.${name}`).toBe(true)
      }
    }
  })

  it('stays logged in when its page is loaded again, and hears what happens', async () => {
    const shop = await createShop('alice', 'bob')
    const [alice, bob] = [await shop.open('alice'), await shop.open('bob')]
    alice.close()
    const again = alice.reload()
    expect(again.uid).toBe('alice')
    await again.connect()
    await bob.say('alice', 'still there?')
    await again.hearText('still there?')
    expect(again.kept?.settings.settingsHash).toBe((await again.data('GET', '/settings')).settingsHash)
    again.close()
  })

  it('is out once it logs out: its token no longer works, and its socket is closed', async () => {
    const shop = await createShop('alice')
    const tab = await shop.open('alice')
    await tab.data('POST', '/user_sessions', { anything: 1 })
    await tab.data('DELETE', '/me')
    expect(await tab.socket?.closed()).toBe(4403)
    expect((await tab.call('GET', '/users')).status).toBe(401)
  })

  it('changes its profile, and sees the others, not itself', async () => {
    const shop = await createShop('alice', 'bob')
    const [alice, bob] = [await shop.open('alice'), await shop.open('bob')]
    await alice.hear('presence', ({ sender, body }) => sender === 'bob' && body.action === 'online')
    await alice.data('PUT', '/me', { name: 'Alice B', metadata: { seen: 1 } })
    expect(await alice.data('GET', '/users?per_page=30')).toMatchObject([{ uid: 'bob', status: 'available' }])
    expect(await bob.data('GET', '/users?per_page=30&status=available')).toMatchObject([{ name: 'Alice B' }])
    expect(await alice.online({})).toEqual({ onlineUsersCount: 2 })
    bob.close()
    await alice.hear('presence', ({ sender, body }) => sender === 'bob' && body.action === 'offline')
    expect(await alice.online({})).toEqual({ onlineUsersCount: 1 })
  })
})
