import { afterAll, beforeAll, expect, it } from 'vitest'
import { createStage } from '../faults/support/stage.ts'
import { dataOf } from '../support/chat.ts'
import { createOwnDatabase, type OwnDatabase } from '../support/own-database.ts'
import { until } from '../support/until.ts'
import { send } from '../support/world.ts'

const stage = createStage()
let own: OwnDatabase
beforeAll(async () => {
  own = await createOwnDatabase()
})
afterAll(async () => {
  await stage.clean()
  await own.drop()
})

it('A key that was deleted stays deleted when the service starts with an environment that still has it, and the log says so', async () => {
  const old = { PARLEY_API_KEY: 'a1'.repeat(20), PARLEY_AUTH_KEY: 'b2'.repeat(20) }
  const environment = { ...old, DATABASE_URL: own.url, DATA_DIR: stage.makeFolder() }
  const list = (url: string, apikey: string) => send(url, 'GET', '/apikeys', undefined, { appid: 'parley', apikey })

  const first = stage.launch(environment)
  const url = await first.ready
  const headers = { appid: 'parley', apikey: old.PARLEY_API_KEY }
  const { apiKey } = dataOf(await send(url, 'POST', '/apikeys', { name: 'new', scope: 'fullAccess' }, headers))
  for (const key of Object.values(old))
    dataOf(await send(url, 'DELETE', `/apikeys/${key}`, undefined, { ...headers, apikey: apiKey }))
  first.signal('SIGTERM')
  await first.exited

  const second = stage.launch(environment)
  const again = await second.ready
  for (const [name, key] of Object.entries(old)) {
    const refused = await list(again, key)
    expect([refused.status, refused.body.error.code]).toEqual([401, 'AUTH_ERR_APIKEY_NOT_FOUND'])
    // The log is written a moment later.
    await until(() => second.output().includes(`${name} is a key that was deleted. It stays deleted`))
  }
  expect(second.output()).not.toContain(old.PARLEY_API_KEY)
  expect((await list(again, apiKey)).body.data.map(({ name }: { name: string }) => name)).toEqual(['new'])
  second.signal('SIGTERM')
  await second.exited
})
