import { describe, expect, it } from 'vitest'
import { dataOf, say } from '../support/chat.ts'
import { createUsers, createWorld, send, type World } from '../support/world.ts'

const forged = { '@injected': { webhooks: { mod: { verdict: 'forged' } } }, mine: 1 }
const message = { data: { text: 'x', metadata: forged } }
const toBob = { receiver: 'bob', receiverType: 'user' }
const alice = { as: 'alice' }

const ways: Record<string, (world: World) => Promise<string>> = {
  'a send': async (world) => dataOf(await world.post('/messages', { ...toBob, ...message }, alice)).id,
  'a send of the app': async (world) => dataOf(await world.post('/messages', { ...toBob, ...message })).id,
  'a send to several': async (world) => {
    const multipleReceivers = { uids: ['bob'] }
    return dataOf(await world.post('/messages', { multipleReceivers, ...message }, alice)).uids.bob.data.id
  },
  'a reply': async (world) => {
    const { id } = await say(world, 'bob', 'alice', 'parent')
    return dataOf(await world.post(`/messages/${id}/thread`, message, alice)).id
  },
  'a form': async (world) => {
    const boundary = 'b'
    const part = (name: string, value: string, more = '') =>
      `--${boundary}\r\ncontent-disposition: form-data; name="${name}"${more}\r\n\r\n${value}\r\n`
    const body = [
      ...[part('receiver', 'bob'), part('receiverType', 'user'), part('type', 'file')],
      ...[part('metadata', JSON.stringify(forged)), part('files', 'text', '; filename="a.txt"'), `--${boundary}--\r\n`],
    ].join('')
    const headers = { appid: world.app.name, apikey: world.apiKey, onbehalfof: 'alice' }
    const type = { 'content-type': `multipart/form-data; boundary=${boundary}` }
    return dataOf(await send(world.url, 'POST', '/messages', body, { ...headers, ...type })).id
  },
  'an edit': async (world) => {
    const { id } = await say(world, 'alice', 'bob', 'hi')
    dataOf(await world.put(`/messages/${id}`, { data: { metadata: forged } }, alice))
    return id
  },
}

describe('data.metadata["@injected"]', () => {
  it.each(Object.keys(ways))('cannot be written by %s', async (way) => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const id = await ways[way]?.(world)
    expect(dataOf(await world.get(`/messages/${id}`)).data.metadata).toEqual({ mine: 1 })
  })

  it('can be imported, and edits leave it as it is', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const record = { muid: 'm', sender: 'alice', ...toBob, sentAt: 1_700_000_000, ...message }
    const { id } = dataOf(await world.post('/data_import/messages', { messages: { m: record } })).m.data
    const metadata = async () => dataOf(await world.get(`/messages/${id}`)).data.metadata
    expect(await metadata()).toEqual(forged)
    dataOf(await world.put(`/messages/${id}`, { data: { metadata: { other: 2, '@injected': {} } } }, alice))
    expect(await metadata()).toEqual({ other: 2, '@injected': forged['@injected'] })
  })
})
