import { sql } from 'kysely'
import { FormData, fetch } from 'undici'
import { afterAll, describe, expect, it } from 'vitest'
import { signLink } from '../../src/media/links.ts'
import { dataOf, refusal, say } from '../support/chat.ts'
import { picture, sendForm, toBob } from '../support/forms.ts'
import { patch, setUpCustomPush } from '../support/notifications.ts'
import { connect, tokenOf } from '../support/socket.ts'
import { soon } from '../support/until.ts'
import { closeEndpoints, open, register } from '../support/webhooks.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'

afterAll(closeEndpoints)

async function createScene(fileLinks = 'signed'): Promise<World> {
  const world = await createWorld()
  await createUsers(world, 'alice', 'bob', 'carol')
  dataOf(await world.call('PATCH', `/apps/${world.app.name}/settings`, { fileLinks }))
  return world
}

const bareOf = (url: string) => url.split('?')[0] as string
const keyOf = (url: string) => /[0-9a-f]{32}/.exec(url)?.[0] as string
const signed = /\/media\/[^/]+\/[0-9a-f]{32}\/cat\.png\?expires=\d+&signature=[\w-]{43}$/
const send = async (world: World) => dataOf(await sendForm(world, toBob, [picture]))
const storedText = async ({ context, app }: World, id: string) => {
  const [row] = await context.database.run<{ data: object }>(
    sql`select data from messages where app_id = ${app.appId} and id = ${id}`,
  )
  return JSON.stringify(row?.data)
}
const past = () => Math.floor(Date.now() / 1000) - 1
const statusOf = async (url: string, headers: Record<string, string> = {}) => (await fetch(url, { headers })).status

describe('signed file links', () => {
  it('are in every answer: what was sent, lists, last messages, quotes, profiles', async () => {
    const world = await createScene()
    const sent = await send(world)
    expect(sent.data.url).toMatch(signed)
    expect(sent.data.attachments[0].url).toBe(sent.data.url)
    expect(await statusOf(sent.data.url)).toBe(200)
    const [conversation] = dataOf(await world.get('/conversations', { as: 'bob' }))
    expect(conversation.lastMessage.data.url).toBe(sent.data.url)
    const [listed] = dataOf(await world.get('/users/alice/messages', { as: 'bob' }))
    expect(listed.data.url).toMatch(signed)
    expect(dataOf(await world.get(`/messages/${sent.id}`)).data.attachments[0].url).toMatch(signed)
    const reply = { receiver: 'alice', receiverType: 'user', type: 'text', data: { text: 'nice' } }
    const quote = await world.post('/messages', { ...reply, quotedMessageId: sent.id }, { as: 'bob' })
    expect(JSON.stringify(dataOf(quote))).toContain('&signature=')
    dataOf(await world.put('/users/carol', { avatar: bareOf(sent.data.url) }))
    expect(dataOf(await world.get('/users/carol')).avatar).toMatch(signed)
  })

  it('are in frames and webhooks', async () => {
    const world = await createScene()
    const endpoint = await open()
    await register(world, endpoint.url)
    const bob = await connect(world, 'bob')
    const sent = await send(world)
    const { body } = await bob.takeType('message')
    expect(body.data.url).toMatch(signed)
    const received = await soon(async () => {
      const [first] = endpoint.received
      if (first === undefined) throw new Error('nothing was delivered')
      return first
    })
    expect(JSON.stringify(received.body)).toContain(`${keyOf(sent.data.url)}/cat.png?expires=`)
    bob.close()
  })

  it('are in push notifications: of who sends, and in the message itself', async () => {
    const world = await createScene()
    const endpoint = await open()
    await setUpCustomPush(world, endpoint.url)
    const preferences = { push: { includeMessageObjectSetting: true } }
    dataOf(await patch(world, '/notifications/v1/settings', { preferences }))
    const { url } = (await send(world)).data
    dataOf(await world.put('/users/alice', { avatar: bareOf(url) }))
    const sent = await send(world)
    const told = await soon(async () => {
      const last = endpoint.received.at(-1)?.body.data.notificationDetails
      if (last?.tag !== sent.id) throw new Error('nobody was notified of the last one')
      return last
    })
    expect(told.senderAvatar).toMatch(signed)
    expect(told.message.data.attachments[0].url).toMatch(signed)
    expect(await statusOf(told.senderAvatar)).toBe(200)
  })

  it('are in what judges are asked before a message is stored, and in no answer of theirs', async () => {
    const world = await createScene()
    const endpoint = await open()
    const hook = { id: 'before', name: 'Before', webhookURL: endpoint.url, triggers: ['before_message'] }
    dataOf(await world.post('/webhooks', hook, { headers: { 'X-Webhook-Version': '1' } }))
    const sent = await send(world)
    const asked = endpoint.received[0]?.body.data.data
    expect(asked.attachments[0].url).toMatch(signed)
    expect(await statusOf(asked.attachments[0].url)).toBe(200)
    expect(await storedText(world, sent.id)).not.toContain('signature=')
  })

  it('are in the presence of others and in what a socket is told of its own user', async () => {
    const world = await createScene()
    const { url } = (await send(world)).data
    for (const uid of ['alice', 'bob']) dataOf(await world.put(`/users/${uid}`, { avatar: bareOf(url) }))
    const bob = await connect(world, 'bob', { body: { presenceSubscription: 'ALL_USERS' } })
    const alice = await connect(world, 'alice')
    const { body } = await bob.take((frame) => frame.type === 'presence' && frame.sender === 'alice')
    expect(body.user.avatar).toMatch(signed)
    await say(world, 'alice', 'bob', 'hello')
    const frame = await bob.takeText('hello')
    expect(frame.body.data.entities.sender.entity.avatar).toMatch(signed)
    dataOf(await world.post(`/messages/${frame.body.id}/reactions/x`, undefined, { as: 'bob' }))
    expect(JSON.stringify(await alice.takeType('reaction'))).toContain('&signature=')
    for (const client of [alice, bob]) client.close()
  })

  it('are in what an upload address answers, and good at once', async () => {
    const world = await createScene()
    const files = { f1: { fileId: 'f1', name: 'cat.png', size: 10, mimeType: 'image/png' } }
    const token = await tokenOf(world, 'alice')
    const { f1 } = dataOf(await world.post('/files/upload-url', { files, ...toBob }, { token }))
    const form = new FormData()
    form.append('file', new Blob(['0123456789'], { type: 'image/png' }), 'cat.png')
    const answer = await fetch(f1.request.url, { method: 'POST', body: form })
    const { data } = (await answer.json()) as { data: { url: string } }
    for (const url of [data.url, f1.attachment.url]) {
      expect(url).toMatch(signed)
      expect(await statusOf(url)).toBe(200)
    }
    const sent = await world.post('/messages', { ...toBob, data: { attachments: [f1.attachment] } }, { token })
    expect(dataOf(sent).data.attachments[0].url).toMatch(signed)
  })

  it('are checked before ranges and 304, and kept no longer than they are valid', async () => {
    const [world, other] = [await createScene(), await createScene()]
    const { url } = (await send(world)).data
    const foreign = (await send(other)).data.url as string
    expect((await fetch(url, { headers: { range: 'bytes=0-3' } })).status).toBe(206)
    const served = await fetch(url)
    const left = Number(new URL(url).searchParams.get('expires')) - Date.now() / 1000
    const maxAge = Number(/max-age=(\d+)/.exec(served.headers.get('cache-control') ?? '')?.[1])
    expect(maxAge).toBeLessThanOrEqual(left + 5)
    const key = keyOf(url)
    const expired = `${bareOf(url)}?${signLink(world.context.secrets, world.app, key, past())}`
    const wrong = [
      bareOf(url),
      expired,
      url.replace(/signature=./, 'signature=_'),
      url.replace(/expires=\d+/, 'expires=99999999999'),
      url.replace(key, keyOf(foreign)),
      `${bareOf(foreign)}${new URL(url).search}`,
      `${url}&expires=99999999999`,
    ]
    for (const address of wrong) {
      for (const headers of [{}, { range: 'bytes=0-3' }, { 'if-none-match': `"${key}"` }]) {
        if (address !== url) expect(await statusOf(address, headers as Record<string, string>), address).toBe(403)
      }
    }
    expect(await (await fetch(expired)).json()).toMatchObject({ error: { code: 'ERR_PRESIGNED_URL_EXPIRED' } })
  })

  it('are not given to whoever only knows the bare address', async () => {
    const world = await createScene()
    const { url } = (await send(world)).data
    const token = await tokenOf(world, 'carol')
    const expired = `${bareOf(url)}?${signLink(world.context.secrets, world.app, keyOf(url), past())}`
    const message = (address: string) => ({ ...toBob, data: { attachments: [{ url: address, name: 'cat.png' }] } })
    for (const address of [bareOf(url), expired, bareOf(url).replace('http://', 'https://elsewhere.')]) {
      expect(refusal(await world.post('/messages', message(address), { token }))).toBe('400 ERR_BAD_REQUEST')
      const metadata = { metadata: { deep: [{ thumbnail: address }] } }
      expect(refusal(await world.put('/me', metadata, { token }))).toBe('400 ERR_BAD_REQUEST')
      expect(refusal(await world.put('/me', { avatar: address }, { token }))).toBe('400 ERR_BAD_REQUEST')
    }
    const forwarded = dataOf(await world.post('/messages', message(url), { token }))
    expect(forwarded.data.url).toMatch(signed)
    dataOf(await world.post('/messages', message(bareOf(url)), { as: 'carol' }))
    // What is stored has no signature.
    dataOf(await world.call('PATCH', `/apps/${world.app.name}/settings`, { fileLinks: 'permanent' }))
    expect(dataOf(await world.get(`/messages/${forwarded.id}`)).data.attachments[0].url).toBe(bareOf(url))
    expect(await statusOf(bareOf(url))).toBe(200)
  })

  it('leave upload addresses alone, and apps that keep permanent ones', async () => {
    const world = await createScene()
    const files = { f1: { fileId: 'f1', name: 'cat.png', size: 10, mimeType: 'image/png' } }
    const { f1 } = dataOf(await world.post('/files/upload-url', { files, ...toBob }, { as: 'alice' }))
    expect(f1.attachment.url).toMatch(signed)
    expect(f1.request.url).toMatch(/\?size=10&type=.*&uid=alice&signature=[\w-]{43}$/)
    const permanent = await createScene('permanent')
    const sent = await send(permanent)
    expect(sent.data.url).toBe(bareOf(sent.data.url))
    expect((await fetch(sent.data.url)).headers.get('cache-control')).toBe('private, max-age=3600')
    const token = await tokenOf(permanent, 'carol')
    dataOf(await permanent.put('/me', { avatar: sent.data.url }, { token }))
  })
})
