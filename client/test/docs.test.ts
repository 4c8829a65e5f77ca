import { readFileSync } from 'node:fs'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { soon } from '../../server/test/support/until.ts'
import { createUsers } from '../../server/test/support/world.ts'
import * as client from '../src/index.ts'
import { Socket } from './live/support/people.ts'
import { type ClientWorld, createClientWorld } from './support.ts'

const page = readFileSync(new URL('../../docs/client.md', import.meta.url), 'utf8')
const asFunction = (async () => {}).constructor as new (...text: string[]) => (...given: unknown[]) => Promise<unknown>

/** The examples of a section, as they stand. */
function examplesOf(section: string): string {
  const text = page.split(/^## /m).find((part) => part.startsWith(`${section}\n`)) ?? ''
  const examples = [...text.matchAll(/```ts\n(.*?)```/gs)].map(([, code]) => code ?? '')
  expect(examples.length, section).toBeGreaterThan(0)
  return examples.join('').replace(/^import (\{.*?\}) from '@parley\/client'$/gm, 'const $1 = client')
}

let world: ClientWorld
let said: string[]
const ends: Array<() => unknown> = []

beforeEach(async () => {
  world = await createClientWorld()
})
afterEach(() => {
  for (const end of ends.splice(0)) end()
})

/** Runs examples one after the other, on the app of this test. */
async function run(...sections: string[]): Promise<void> {
  said = []
  const here =
    <O extends object, C>(create: (options: O) => C) =>
    (options: O) =>
      create({ ...options, url: world.url, appId: world.app.name, WebSocket: Socket })
  const given = {
    client: {
      ...client,
      createServerClient: here(client.createServerClient),
      createUserClient: here(client.createUserClient),
      createLiveClient: here((options: Parameters<typeof client.createLiveClient>[0]) => {
        const made = client.createLiveClient(options)
        ends.push(() => made.live.close())
        return made
      }),
    },
    apiKey: world.apiKey,
    fetchTokenFromYourBackEnd: async () => (await world.server.users.tokens.create({ uid: 'alice' })).authToken,
    files: [new File(['hello'], 'hello.txt', { type: 'text/plain' })],
    console: { log: (line: unknown) => said.push(String(line)) },
  }
  await new asFunction(...Object.keys(given), sections.map(examplesOf).join('\n'))(...Object.values(given))
}

it('the examples for back ends run', async () => {
  await run('Back ends')
  expect((await world.server.as('bob').messages.listWithUser({ uid: 'alice' })).data).toMatchObject([
    { sender: 'alice', data: { text: 'Hello Bob' } },
  ])
})

it('the examples for front ends run', async () => {
  await createUsers(world, 'alice', 'bob')
  await run('Front ends', 'Calls', 'Lists', 'Files')
  expect(said[0]).toBe('1')
  expect(said.at(-1)).toMatch(/^(\d+) of \1 bytes$/)
  const { data } = await world.server.as('bob').messages.listWithUser({ uid: 'alice' })
  expect(data.map(({ type }) => type)).toEqual(['text', 'file'])
})

it('the example of the live client runs', async () => {
  await createUsers(world, 'alice', 'bob')
  await run('Live')
  await soon(() => expect(said.at(-1)).toBe('Hello Bob'))
})
