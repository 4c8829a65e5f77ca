import { afterAll, describe, expect, it } from 'vitest'
import { ask, type Service, startParley } from '../http/watched.ts'
import { dataOf } from '../support/chat.ts'
import { tokenOf } from '../support/socket.ts'
import { createUsers, createWorld } from '../support/world.ts'

const services: Service[] = []
afterAll(() => Promise.all(services.map(({ parley }) => parley.close())))

/** Somebody names a host of theirs, and it is stored as the address of a file that others open. */
describe('A host that a client made up', () => {
  it.each([
    ['where no proxy is trusted', {}],
    ['where PUBLIC_URL says the address', { PUBLIC_URL: 'https://chat.example.com', TRUST_PROXY: 'loopback' }],
  ])('is in no address of a file, and in no settings, %s', async (_, environment) => {
    const service = await startParley({ environment })
    services.push(service)
    const world = await createWorld(service)
    await createUsers(world, 'mallory', 'bob')
    const headers = {
      appid: world.app.name,
      authtoken: await tokenOf(world, 'mallory'),
      'x-forwarded-host': 'evil.example',
      'x-forwarded-proto': 'https',
      forwarded: 'host=evil.example',
    }
    const part = (disposition: string, value: string) =>
      `--x\r\ncontent-disposition: form-data; name=${disposition}\r\n\r\n${value}\r\n`
    const body = [
      part('"receiver"', 'bob'),
      part('"receiverType"', 'user'),
      part('"type"', 'file'),
      part('"file"; filename="a.txt"', 'a'),
      '--x--\r\n',
    ].join('')
    const type = { 'content-type': 'multipart/form-data; boundary=x' }
    const sent = await ask(`${service.url}/v3/messages`, { method: 'POST', headers: { ...headers, ...type }, body })
    const settings = await ask(`${service.url}/v3/settings`, { headers })
    const read = await world.get('/users/mallory/messages', { as: 'bob' })
    for (const answer of [sent, settings, read]) expect(JSON.stringify(dataOf(answer))).not.toContain('evil.example')
    expect(dataOf(read)).toHaveLength(1)
  })
})
