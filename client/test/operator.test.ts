import { beforeAll, describe, expect, it } from 'vitest'
import { createOwner } from '../../server/test/admin/operator.ts'
import { dataOf } from '../../server/test/support/chat.ts'
import { createWorld, type World } from '../../server/test/support/world.ts'
import { createOperatorClient, ParleyError } from '../src/index.ts'

let world: World
let token: string
beforeAll(async () => {
  world = await createWorld()
  const owner = await createOwner(world)
  const rights = ['look', 'manage']
  token = dataOf(await owner.post('/tokens', { name: 'nightly', rights, apps: [world.app.name], days: 1 })).token
})

describe('An operator with a personal token', () => {
  it('calls the admin API, and the operations of an app', async () => {
    const operator = createOperatorClient({ url: `${world.url}/`, token })
    expect(await operator.call('GET /apps')).toMatchObject({
      data: [{ appId: world.app.name }],
      meta: { pagination: { total: 1 } },
    })
    expect(await operator.call('GET /session')).toMatchObject({ rights: ['look', 'manage'] })
    const app = operator.app(world.app.name)
    for (const uid of ['alice', 'bob', 'carol']) await app.users.create({ uid, name: uid })
    const found: string[] = []
    for await (const { uid } of app.users.list({ perPage: 2, sortBy: 'uid' })) found.push(uid)
    expect(found).toEqual(['alice', 'bob', 'carol'])
  })

  it('is refused what the token does not allow', async () => {
    const operator = createOperatorClient({ url: world.url, token })
    const refused = await operator
      .app(world.app.name)
      .apiKeys.list()
      .catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(ParleyError)
    expect(refused).toMatchObject({ status: 403, code: 'ERR_PERMISSION_DENIED' })
    const wrong = createOperatorClient({ url: world.url, token: 'wrong' })
    await expect(wrong.call('GET /apps')).rejects.toMatchObject({ status: 401, code: 'ERR_NO_AUTH' })
  })
})
