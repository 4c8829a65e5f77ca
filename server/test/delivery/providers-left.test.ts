import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { endSomeLate } from '../../src/delivery/notifications/left-behind.ts'
import { type SmtpEmulator, startSmtpEmulator } from '../../src/emulators/smtp.ts'
import { dataOf, say } from '../support/chat.ts'
import { customEmail, logsOf, setUpCustomPush } from '../support/notifications.ts'
import { createOwnServices, type OwnServices, type Service } from '../support/own-services.ts'
import { createReachable, endWindows, openWindowsOf, setUpCustom } from '../support/unread.ts'
import { soon } from '../support/until.ts'
import { closeEndpoints, open } from '../support/webhooks.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'

let own: OwnServices
let service: Service
let smtp: SmtpEmulator

beforeAll(async () => {
  ;[own, smtp] = await Promise.all([createOwnServices(), startSmtpEmulator()])
  service = await own.start({ SMTP_URL: smtp.url, MAIL_FROM: 'chat@example.com' })
})
afterAll(async () => {
  await own.close()
  await smtp.close()
  await closeEndpoints()
})

const customPush = '/notifications/push/v1/providers/custom'
const useMailServer = (world: World) => world.put('/notifications/email/v1/providers/smtp', { isEnabled: true })
const remove = (world: World) => world.delete(customEmail)
const switchOff = (world: World) => world.put(customEmail, { isEnabled: false })
const mailsOf = ({ app }: World) => smtp.mails.filter(({ source }) => source.includes(`ntf_${app.appId}_`))

/** An app whose own provider of e-mail has an open window for bob. */
async function windowWorld(): Promise<{ world: World; messageId: string }> {
  const [world, endpoint] = [await createWorld(service), await open()]
  await createReachable(world, 'alice', 'bob')
  await setUpCustom(world, 'email', endpoint.url)
  const { id } = await say(world, 'alice', 'bob', 'hello')
  await soon(async () => expect(await openWindowsOf(own, world)).toEqual(['email bob']))
  return { world, messageId: id }
}

describe('a window of a provider that is left', () => {
  it.each([
    ['is removed', 'after', [remove, useMailServer]],
    ['is removed', 'before', [useMailServer, remove]],
    ['is switched off', 'after', [switchOff, useMailServer]],
    ['is switched off', 'before', [useMailServer, switchOff]],
  ])('is ended by the next one, where its own %s, and the next is set up %s that', async (_, _when, deeds) => {
    const { world } = await windowWorld()
    for (const deed of deeds) dataOf(await deed(world))
    await soon(async () => expect(await logsOf(world)).toMatchObject([{ provider: 'smtp', providerId: 'smtp' }]))
    await endWindows(own, world)
    await soon(() => expect(mailsOf(world).map(({ to }) => to)).toEqual([['bob@example.com']]))
    await soon(async () => expect(await logsOf(world)).toMatchObject([{ success: true }]))
  })

  it('waits for its end, and says then that there is no provider', async () => {
    const { world, messageId } = await windowWorld()
    dataOf(await remove(world))
    await endWindows(own, world)
    const stopped = { notificationTriggered: false, reason: 'INVALID_PUSH_PROVIDER_ID', attempts: 0 }
    await soon(async () => expect(await logsOf(world)).toMatchObject([stopped]))
    expect((await logsOf(world))[0]).not.toHaveProperty('nextAttemptAtMS')
    const explained = dataOf(await world.get(`/notifications/v1/explain?uid=bob&messageId=${messageId}`))
    const closed = explained.notifications[0].gates.filter(({ passes }: { passes: boolean }) => !passes)
    expect(closed).toEqual([{ gate: 'provider', value: false, setBy: 'app', passes: false }])
  })

  it('is too late where it is switched off, and none takes its place in time', async () => {
    const { world } = await windowWorld()
    dataOf(await switchOff(world))
    await own.query('update notification_deliveries set due_at = 1, expires_at = 1 where app_id = $1', [
      world.app.appId,
    ])
    await soon(async () => {
      // Done every minute.
      await endSomeLate(world.context.database, Date.now())
      expect(await logsOf(world)).toMatchObject([{ notificationTriggered: false, reason: 'TIMED_OUT' }])
    })
  })
})

describe('a push by a provider that is removed', () => {
  async function pushWorld() {
    const [world, endpoint] = [await createWorld(service), await open()]
    await createUsers(world, 'alice', 'bob')
    await setUpCustomPush(world, endpoint.url)
    return { world, endpoint }
  }
  const reason = 'INVALID_PUSH_PROVIDER_ID'

  it('that waits is given up, and the log says why', async () => {
    const { world, endpoint } = await pushWorld()
    endpoint.behave({ status: 503, headers: { 'retry-after': '600' } })
    await say(world, 'alice', 'bob', 'one')
    await soon(async () => expect(await logsOf(world)).toMatchObject([{ attempts: 1 }]))
    await say(world, 'alice', 'bob', 'two')
    await soon(async () => expect(await logsOf(world)).toHaveLength(2))
    dataOf(await world.delete(customPush))
    await soon(async () =>
      expect(await logsOf(world)).toMatchObject([
        { success: false, reason, attempts: 1 },
        { notificationTriggered: false, reason, attempts: 0 },
      ]),
    )
  })

  it('that a killed process was sending is given up, too', async () => {
    const { world } = await pushWorld()
    await say(world, 'alice', 'bob', 'one')
    await soon(async () => expect(await logsOf(world, '?success=true')).toHaveLength(1))
    const app = [world.app.appId]
    await own.query(
      `with lost as (
        update notification_deliveries
        set status = 'pending', due_at = created_at, ended_at = null, attempts = 0
        where app_id = $1
        returning app_id, provider, id, day
      )
      insert into notification_flights (app_id, provider, first, holder, day, ids)
      select app_id, provider, id, 'killed', day, array[id]
      from lost`,
      app,
    )
    dataOf(await world.delete(customPush))
    await soon(async () => expect(await logsOf(world)).toMatchObject([{ notificationTriggered: false, reason }]))
    expect(await own.query('select from notification_flights where app_id = $1', app)).toEqual([])
  })
})
