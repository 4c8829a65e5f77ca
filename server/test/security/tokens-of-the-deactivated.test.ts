import { expect, it } from 'vitest'
import { dataOf, refusal } from '../support/chat.ts'
import { authFrame, Client, connect, tokenOf } from '../support/socket.ts'
import { createUsers, createWorld } from '../support/world.ts'

/** A stolen token sleeps while its user is deactivated, and wakes up with them. */
it('Tokens from before a deactivation open nothing after it, over REST or sockets', async () => {
  const world = await createWorld()
  await createUsers(world, 'victim')
  const stolen = await tokenOf(world, 'victim')
  const thief = await connect(world, 'victim', { token: stolen })
  dataOf(await world.delete('/users', { uidsToDeactivate: ['victim'] }))
  expect(typeof (await thief.closed())).toBe('number')
  expect((await world.get('/me', { token: stolen })).status).toBe(401)
  dataOf(await world.put('/users', { uidsToActivate: ['victim'] }))
  expect(refusal(await world.get('/me', { token: stolen }))).toBe('401 AUTH_ERR_AUTH_TOKEN_NOT_FOUND')
  const again = await new Client(world.url).opened()
  again.send(authFrame(world, 'victim', stolen))
  expect((await again.takeType('auth')).body.code).toBe('401')
  expect((await world.get('/me', { token: await tokenOf(world, 'victim') })).status).toBe(200)
})
