import { fetch } from 'undici'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Service, startParley } from '../http/watched.ts'
import { attackerAs } from '../support/attacker.ts'
import { refusal } from '../support/chat.ts'
import { createOwnDatabase, type OwnDatabase } from '../support/own-database.ts'
import { countSlowLists, slowList, slowRoutes, visit } from '../support/slow-lists.ts'
import { tokenOf } from '../support/socket.ts'
import { until } from '../support/until.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'

/** One token asks for the dearest lists there are, again and again, and does not wait for them. */
describe('Slow lists of one user', () => {
  let own: OwnDatabase
  let service: Service
  let world: World
  let neighbour: World

  beforeAll(async () => {
    own = await createOwnDatabase()
    service = await startParley({
      routes: slowRoutes,
      connection: own.connection,
      environment: { LIST_TIMEOUT_SECONDS: '900' },
    })
    world = await createWorld(service)
    neighbour = await createWorld(service)
    await createUsers(world, 'mallory', 'bert')
  })
  afterAll(async () => {
    await service.parley.close()
    await own.drop()
  })

  it('hold up neither other users nor other apps, and end when the user goes', async () => {
    const [credential, bert] = [{ authtoken: await tokenOf(world, 'mallory') }, await attackerAs(world, 'bert')]
    const visits = Array.from({ length: 60 }, () => visit(world, slowList(600), credential))
    await until(async () => (await countSlowLists(world)) > 0)
    for (const path of ['/users', '/conversations', '/groups', '/messages']) {
      expect((await bert.get(path)).status, path).toBe(200)
    }
    expect((await neighbour.get('/users')).status).toBe(200)
    for (const { leave } of visits) leave()
    await until(async () => (await countSlowLists(world)) === 0)
    expect((await bert.get('/users')).status).toBe(200)
  })

  it('do not begin with late pages', async () => {
    const mallory = await attackerAs(world, 'mallory')
    const late = '/users?createdAt[from]=1&createdAt[to]=99999999999&searchKey=user&perPage=1000&page=80'
    expect(refusal(await mallory.get(late))).toBe('400 ERR_BAD_REQUEST')
  })

  it('are refused beyond some number, so that they do not pile up', async () => {
    const headers = { appid: world.app.name, authtoken: await tokenOf(world, 'mallory') }
    const leaving = new AbortController()
    let refused = 0
    for (let n = 0; n < 120; n++) {
      fetch(`${world.url}/v3${slowList(600)}`, { headers, signal: leaving.signal }).then(
        ({ status }) => status === 429 && refused++,
        () => {},
      )
    }
    // Eight are worked on, a hundred wait.
    await until(() => refused === 12)
    leaving.abort()
    await until(() => world.context.database.lists.running === 0)
  })
})
