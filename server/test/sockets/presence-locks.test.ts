import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { dataOf } from '../support/chat.ts'
import { createOwnServices, type OwnServices, type Service } from '../support/own-services.ts'
import { connect } from '../support/socket.ts'
import { soon } from '../support/until.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'

/** As an erasure holds a user as long as it takes. */
describe('While a user is locked', () => {
  let services: OwnServices
  let service: Service
  beforeAll(async () => {
    services = await createOwnServices()
    service = await services.start()
  })
  afterAll(() => services.close())

  const chatWorld = async () => {
    const world = await createWorld(service)
    await createUsers(world, 'bob', 'zed')
    return world
  }
  const lockZed = async ({ app }: World) => {
    const unlock = await services.lock(`select from users where app_id = $1 and uid = 'zed' for update`, [app.appId])
    onTestFinished(unlock)
    return unlock
  }
  const untilStatus = (world: World, uid: string, status: string) =>
    soon(async () => expect(dataOf(await world.get(`/users/${uid}`)).status).toBe(status))

  it('others go online, nobody waits for it, and the one who went is offline when it is over', async () => {
    const world = await chatWorld()
    const zed = await connect(world, 'zed')
    await untilStatus(world, 'zed', 'available')
    const unlock = await lockZed(world)
    zed.close()
    const bob = await connect(world, 'bob')
    await untilStatus(world, 'bob', 'available')
    dataOf(await world.post('/users/bob/auth_tokens', {}))
    await untilStatus(world, 'zed', 'available')
    bob.close()
    await untilStatus(world, 'bob', 'offline')
    await unlock()
    await untilStatus(world, 'zed', 'offline')
  })

  it('those whom a dead process has left are taken offline, and that one later', async () => {
    const world = await chatWorld()
    const { appId } = world.app
    const unlock = await lockZed(world)
    await services.query(`insert into presence_nodes (id, expires_at) values ('dead', 0)`)
    await services.query(
      `insert into presence (app_id, uid, node, connection)
      select $1, uid, 'dead', '{"deviceId": "", "connectedAt": 0}' from unnest('{bob,zed}'::text[]) as u(uid)`,
      [appId],
    )
    await services.query(`update users set online = true where app_id = $1 and uid = 'bob'`, [appId])
    await untilStatus(world, 'bob', 'offline')
    const left = () => services.query('select uid from presence where app_id = $1', [appId])
    expect(await left()).toEqual([{ uid: 'zed' }])
    await unlock()
    await soon(async () => expect(await left()).toEqual([]))
    await soon(async () => expect(await services.query(`select from presence_nodes where id = 'dead'`)).toEqual([]))
  })

  it('a process that died while the clock was ahead leaves nobody online', async () => {
    const world = await chatWorld()
    await services.query(`insert into presence_nodes (id, expires_at) values ('dead', $1)`, [
      Date.now() + 365 * 86_400_000,
    ])
    await services.query(
      `insert into presence (app_id, uid, node, connection) values ($1, 'bob', 'dead', '{"deviceId": "", "connectedAt": 0}')`,
      [world.app.appId],
    )
    await services.query(`update users set online = true where app_id = $1 and uid = 'bob'`, [world.app.appId])
    await untilStatus(world, 'bob', 'offline')
  })
})
