import { afterAll, expect, it } from 'vitest'
import { say } from '../support/chat.ts'
import { setUpCustomPush } from '../support/notifications.ts'
import { createOwnDatabase } from '../support/own-database.ts'
import { startService } from '../support/service.ts'
import { soon } from '../support/until.ts'
import { closeEndpoints, open } from '../support/webhooks.ts'
import { openWire } from '../support/wire.ts'
import { createUsers, createWorld } from '../support/world.ts'

afterAll(closeEndpoints)

const isOfNotifications = (text: string) => /notification|push_tokens/.test(text)
const isUpkeep = (text: string) => text.includes('notification_senders') && text.includes('forgotten')
const isEvent = (text: string) => /insert into events|update event_horizon/.test(text)

it('an app without a provider pays no statement for a send; one with a provider does', async () => {
  const { connection, drop } = await createOwnDatabase()
  const wire = await openWire(connection as Parameters<typeof openWire>[0])
  const service = await startService({}, wire.connection)
  const [world, endpoint] = [await createWorld(service), await open()]
  await createUsers(world, 'alice', 'bob')
  // What is known of the app is read with its first send.
  await say(world, 'alice', 'bob', 'first')
  // What looks after everything goes on, whoever sends: all of that was seen when it begins anew.
  await soon(() => expect(wire.statements.filter(isUpkeep).length).toBeGreaterThan(1), {
    progress: () => wire.statements.length,
  })
  const begun = wire.statements.length
  const usual = new Set(wire.statements.filter(isOfNotifications))
  const seen = () => wire.statements.slice(begun).filter((text) => !usual.has(text))

  const sends = 30
  for (let i = 0; i < sends; i++) await say(world, 'alice', 'bob', `number ${i}`)
  const stored = wire.statements.slice(begun).filter((text) => /insert into messages/.test(text))
  expect(stored.length).toBeGreaterThanOrEqual(sends)
  expect(seen().filter(isOfNotifications)).toEqual([])
  expect(wire.statements.filter((text) => /update event_horizon/.test(text))).toEqual([])

  await setUpCustomPush(world, endpoint.url)
  await say(world, 'alice', 'bob', 'told')
  await soon(() => expect(endpoint.received).toHaveLength(1))
  expect(seen().filter(isOfNotifications).length).toBeGreaterThan(3)
  expect(wire.statements.filter(isEvent).length).toBeGreaterThan(0)

  await service.parley.close()
  wire.close()
  await drop()
})
