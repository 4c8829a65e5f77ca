import { beforeAll, describe, expect, it } from 'vitest'
import { createServerClient } from '../src/index.ts'
import { type ClientWorld, createClientWorld } from './support.ts'

let world: ClientWorld
beforeAll(async () => {
  world = await createClientWorld()
  for (const uid of ['alice', 'bob']) await world.server.users.create({ uid, name: uid })
})

describe('An id', () => {
  it('that is two dots does not make a call of another operation', async () => {
    await world.server.as('alice').messages.send({ receiver: 'bob', receiverType: 'user', data: { text: 'secret' } })
    // The address would be that of all messages of the app.
    for (const uid of ['..', '.', '']) {
      const asked = (async () => await world.server.messages.listWithUser({ uid }))()
      await expect(asked).rejects.toThrow(TypeError)
      await expect(asked).rejects.toThrow('uid')
    }
  })

  it('that has dots among other signs is sent', async () => {
    await expect(world.server.users.get({ uid: '...' })).rejects.toMatchObject({ code: 'ERR_UID_NOT_FOUND' })
    await expect(world.server.users.get({ uid: '..a/../b' })).rejects.toMatchObject({ code: 'ERR_UID_NOT_FOUND' })
  })
})

describe('A value in a query', () => {
  it('keeps what means something there', async () => {
    for (const tag of ['c&d=e', '100%', 'ü[]', 'a+b c']) {
      await world.server.users.create({ uid: `tagged-${tag.length}-${tag.charCodeAt(0)}`, name: 'Tagged', tags: [tag] })
      const { data } = await world.server.users.list({ tags: [tag] })
      expect(data.map(({ uid }) => uid)).toEqual([`tagged-${tag.length}-${tag.charCodeAt(0)}`])
    }
  })

  it('is left out if it is undefined', async () => {
    const { meta } = await world.server.users.list({ perPage: 1, searchKey: undefined } as never)
    expect(meta.pagination.per_page).toBe(1)
  })
})

describe('The address of the service', () => {
  it('may end with slashes, and with the version', async () => {
    for (const end of ['/', '//', '/v3', '/v3/', '/v3.0']) {
      const server = createServerClient({ url: world.url + end, appId: world.app.name, apiKey: world.apiKey })
      expect(await server.users.get({ uid: 'alice' })).toMatchObject({ uid: 'alice' })
    }
  })
})
