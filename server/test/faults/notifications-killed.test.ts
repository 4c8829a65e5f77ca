import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { mostUnwritten } from '../../src/delivery/outbound/attempts.ts'
import { startApnsEmulator } from '../../src/emulators/apns.ts'
import { startFcmEmulator } from '../../src/emulators/fcm.ts'
import { until } from '../support/until.ts'
import { expectSuccess, openLine } from './support/line.ts'
import type { ServiceProcess } from './support/service-process.ts'
import { createStage } from './support/stage.ts'

const kills = Number(process.env.NOTIFICATION_KILLS ?? 2)
/** Notifications that one provider may have under way at most, and those of which it is not written yet what became of them. */
const underWay = 100 + mostUnwritten

const stage = createStage()
afterAll(stage.clean)

/** A push that was accepted: which device, of which message, and the name under which it was sent. */
interface Arrived {
  readonly device: string
  readonly tag: string
  readonly id: string
}

it(
  `after ${kills} kills under load every device was told of every message, and knows again what came twice`,
  async () => {
    const arrived: Record<'fcm' | 'apns', Arrived[]> = { fcm: [], apns: [] }
    const [fcm, apns] = await Promise.all([
      startFcmEmulator({
        onPush: ({ token, data, status }) => {
          // FCM has no name for a delivery: the tag is what a device knows a message again by.
          if (status === 200) arrived.fcm.push({ device: token, tag: data.tag ?? '', id: `${token} ${data.tag}` })
        },
      }),
      startApnsEmulator({
        onPush: ({ token, payload, headers, status }) => {
          if (status === 200) arrived.apns.push({ device: token, tag: payload.tag, id: String(headers['apns-id']) })
        },
      }),
    ])
    stage.onClean(() => Promise.all([fcm.close(), apns.close()]))
    const caFile = join(stage.makeFolder(), 'ca.pem')
    writeFileSync(caFile, apns.ca)
    const environment = {
      DATA_DIR: stage.makeDataDir(),
      ...{ FCM_ENDPOINT: fcm.endpoint, FCM_TOKEN_ENDPOINT: fcm.tokenEndpoint },
      ...{ APNS_ENDPOINT: apns.endpoint, APNS_CA_FILE: caFile },
    }
    let service: ServiceProcess = await stage.start(environment)
    const lives = [service]
    let url = await service.ready
    const line = openLine(() => url)
    stage.onClean(() => line.close())

    const members = ['m0', 'm1', 'm2', 'm3', 'm4', 'm5']
    const push = '/notifications/push/v1'
    await expectSuccess(
      line.call('POST', `${push}/providers/fcm`, { providerId: 'fcm', serviceAccountCreds: fcm.credentials }),
    )
    await expectSuccess(line.call('POST', `${push}/providers/apns`, { providerId: 'apns', ...apns.credentials }))
    for (const uid of ['alice', ...members]) await expectSuccess(line.call('POST', '/users', { uid, name: uid }))
    const group = { guid: 'team', name: 'Team', type: 'public', owner: 'alice', members: { participants: members } }
    await expectSuccess(line.call('POST', '/groups', group))
    for (const [i, uid] of members.entries()) {
      const { data } = await expectSuccess(line.call('POST', `/users/${uid}/auth_tokens`, {}))
      const device =
        i % 2 === 0
          ? { platform: 'fcm_android', fcmToken: `device${uid}` }
          : { platform: 'apns_ios_device', deviceToken: `a0${uid}` }
      await expectSuccess(line.call('POST', `${push}/tokens`, { ...device, authToken: data.authToken }))
    }

    /** What was answered; what a kill cut off may be there or not. */
    const sent: string[] = []
    let isOver = false
    const load = (async () => {
      while (!isOver) {
        const body = { receiver: 'team', receiverType: 'group', data: { text: `number ${sent.length}` } }
        const outcome = await line.call('POST', '/messages', body, { as: 'alice' })
        if (outcome.kind === 'answered' && outcome.status === 200) sent.push(outcome.body.data.id)
        else await new Promise((resolve) => setTimeout(resolve, 50))
      }
    })()
    const count = () => arrived.fcm.length + arrived.apns.length
    /** How many pushes had arrived at each kill. */
    const killedAt: Array<Record<'fcm' | 'apns', number>> = []
    for (let kill = 0; kill < kills; kill++) {
      const [before, sentBefore] = [count(), sent.length]
      await until(() => count() - before > 60 && sent.length - sentBefore > 20, {
        progress: () => count() + sent.length,
      })
      await service.kill()
      killedAt.push({ fcm: arrived.fcm.length, apns: arrived.apns.length })
      service = await stage.start(environment)
      lives.push(service)
      url = await service.ready
    }
    isOver = true
    await load

    for (const [kind, names] of [
      ['fcm', ['devicem0', 'devicem2', 'devicem4']],
      ['apns', ['a0m1', 'a0m3', 'a0m5']],
    ] as const) {
      const told = () => new Set(arrived[kind].map(({ device, tag }) => `${device} ${tag}`))
      const missing = () => {
        const known = told()
        return sent.flatMap((tag) => names.map((name) => `${name} ${tag}`)).filter((one) => !known.has(one))
      }
      await until(() => missing().length === 0, { progress: count })
      // A repeat has the name of the first, and nothing else has it.
      const [idOf, lastAt] = [new Map<string, string>(), new Map<string, number>()]
      const repeats: number[] = []
      for (const [i, { device, tag, id }] of arrived[kind].entries()) {
        const told = `${device} ${tag}`
        const before = lastAt.get(told)
        if (before !== undefined) repeats.push(before)
        lastAt.set(told, i)
        expect(idOf.get(told) ?? id).toBe(id)
        idOf.set(told, id)
      }
      expect(new Set(idOf.values()).size).toBe(idOf.size)
      // Only what was under way when somebody killed it comes again, or when the machine had no time for the database.
      const strange = repeats.filter((before) => !killedAt.some((at) => Math.abs(before - at[kind]) <= underWay))
      const breaks =
        lives
          .map((life) => life.output())
          .join('\n')
          .match(/the database is unavailable|was interrupted/g) ?? []
      expect(strange.length).toBeLessThanOrEqual(breaks.length * underWay)
    }
    const { data: unsettled } = await expectSuccess(line.call('GET', '/notifications/v1/logs?success=false'))
    expect(unsettled).toEqual([])
  },
  120_000 + kills * 40_000,
)
