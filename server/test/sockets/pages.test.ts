import { Ajv } from 'ajv'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Parley } from '../../src/app.ts'
import { ask } from '../http/watched.ts'
import { createGroup, dataOf, say } from '../support/chat.ts'
import { startService } from '../support/service.ts'
import { connect, type Frame } from '../support/socket.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'

let world: World
let open: { parley: Parley; url: string }

beforeAll(async () => {
  world = await createWorld()
  open = await startService({ NODE_ENV: 'production' })
})
afterAll(() => open.parley.close())

describe('/asyncapi.json', () => {
  it('describes every frame, each told and said in one operation', async () => {
    const { body } = await ask(`${world.url}/asyncapi.json`)
    expect(body.asyncapi).toBe('3.0.0')
    const messages = Object.keys(body.components.messages)
    expect(Object.keys(body.channels.socket.messages)).toEqual(messages)
    const used = Object.values<{ messages: { $ref: string }[] }>(body.operations).flatMap((operation) =>
      operation.messages.map(({ $ref }) => $ref.split('/').at(-1)),
    )
    expect(used).toEqual(messages)
    for (const { $ref } of Object.values<{ $ref: string }>(body.channels.socket.messages)) {
      const [, ...path] = $ref.split('/')
      expect(path.reduce((at, part) => at[part], body).payload.type).toBe('object')
    }
    expect((await ask(`${world.url}/docs`)).body).toContain('href="asyncapi.json"')
  })

  it('describes frames as they are', async () => {
    const { body } = await ask(`${world.url}/asyncapi.json`)
    const own = await createWorld()
    await createUsers(own, 'alice', 'bob')
    await createGroup(own, 'team', 'alice', { participants: ['bob'] })
    const bob = await connect(own, 'bob', { body: { presenceSubscription: 'ALL_USERS' } })
    const alice = await connect(own, 'alice')
    const { id } = await say(own, 'bob', 'alice', 'hi')
    for (const type of ['typing_indicator', 'transient_message']) {
      const body = type === 'typing_indicator' ? { action: 'started' } : { data: [1] }
      alice.send({ type, receiver: 'team', receiverType: 'group', body })
    }
    alice.send({ type: 'receipts', receiver: 'bob', receiverType: 'user', body: { action: 'read', messageId: id } })
    alice.send({ type: 'nonsense' })
    dataOf(await own.post(`/messages/${id}/reactions/x`, undefined, { as: 'alice' }))
    const frames: Frame[] = [await alice.takeType('error')]
    for (const type of ['message', 'typing_indicator', 'transient_message', 'receipts', 'reaction', 'presence']) {
      frames.push(await bob.takeType(type))
    }
    const ajv = new Ajv({ strict: false })
    const schemas = Object.values<{ payload: object }>(body.components.messages).map(({ payload }) => payload)
    for (const frame of frames) {
      const fitting = schemas.filter((schema) => ajv.validate(schema, frame))
      expect(fitting.length, JSON.stringify(frame)).toBeGreaterThan(0)
    }
  })
})

describe('/docs', () => {
  it('is not served in production; what it is made from is', async () => {
    expect((await ask(`${open.url}/docs`)).status).toBe(404)
    expect((await ask(`${open.url}/docs/start.js`)).status).toBe(404)
    expect((await ask(`${open.url}/openapi.json`)).status).toBe(200)
  })
})

describe('/demo', () => {
  it('is served in development, without any key, once it is built', async () => {
    const files = ['main.js', 'main.css', 'service-worker.js', 'reload.js']
    const [program, ...others] = await Promise.all(files.map((file) => ask(`${world.url}/demo/${file}`)))
    const page = await ask(`${world.url}/demo`)
    expect(String(page.headers['content-security-policy'])).toContain("default-src 'none'")
    expect(page.body).toContain('/demo/main.js')
    expect(program?.headers['content-type']).toContain('text/javascript')
    expect(others[1]?.headers['service-worker-allowed']).toBe('/demo')
    for (const answer of [page, program, ...others]) {
      expect(answer?.status).toBe(200)
      expect(answer?.body).toMatch(/./)
      expect(answer?.body).not.toContain(world.apiKey)
      expect(answer?.body).not.toMatch(/[0-9a-f]{40}/)
    }
  })

  it('is not served in production', async () => {
    expect((await ask(`${open.url}/demo`)).status).toBe(404)
    expect((await ask(`${open.url}/demo/main.js`)).status).toBe(404)
    expect((await ask(`${open.url}/demo/service-worker.js`)).status).toBe(404)
  })
})
