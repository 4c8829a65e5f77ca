import { mkdtemp, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { type ApnsEmulator, startApnsEmulator } from '../../src/emulators/apns.ts'
import { type FcmEmulator, startFcmEmulator } from '../../src/emulators/fcm.ts'
import { dataOf } from './chat.ts'
import { createOwnServices, type OwnServices, type Service } from './own-services.ts'
import { createUsers, createWorld, type World } from './world.ts'

/** A service with a database of its own that knows the emulators of FCM and APNs. */
export interface PushServices {
  readonly own: OwnServices
  readonly service: Service
  readonly fcm: FcmEmulator
  readonly apns: ApnsEmulator
  /** An app with a provider of each: `phones` and `apples`. */
  pushWorld(...uids: string[]): Promise<World>
  close(): Promise<void>
}

const providers = '/notifications/push/v1/providers'
const tokens = '/notifications/push/v1/tokens'

export async function createPushServices(): Promise<PushServices> {
  const [own, fcm, apns] = await Promise.all([createOwnServices(), startFcmEmulator(), startApnsEmulator()])
  const caFile = path.join(await mkdtemp(path.join(os.tmpdir(), 'parley-apns-')), 'ca.pem')
  await writeFile(caFile, apns.ca)
  const service = await own.start({
    ...{ FCM_ENDPOINT: fcm.endpoint, FCM_TOKEN_ENDPOINT: fcm.tokenEndpoint },
    ...{ APNS_ENDPOINT: apns.endpoint, APNS_CA_FILE: caFile },
  })
  return {
    ...{ own, service, fcm, apns },
    async pushWorld(...uids) {
      const world = await createWorld(service)
      await createUsers(world, ...uids)
      dataOf(await world.post(`${providers}/fcm`, { providerId: 'phones', serviceAccountCreds: fcm.credentials }))
      dataOf(await world.post(`${providers}/apns`, { providerId: 'apples', ...apns.credentials }))
      return world
    },
    async close() {
      await own.close()
      await Promise.all([fcm.close(), apns.close()])
    },
  }
}

/** Logs a user in on a new device. @returns their auth token */
export async function logIn(world: World, uid: string): Promise<string> {
  return dataOf(await world.post(`/users/${uid}/auth_tokens`, {})).authToken
}

export async function registerFcm(world: World, uid: string, fcmToken: string, extra: object = {}): Promise<string> {
  const authToken = await logIn(world, uid)
  dataOf(await world.post(tokens, { platform: 'fcm_android', fcmToken, authToken, ...extra }))
  return authToken
}

export async function registerApns(world: World, uid: string, deviceToken: string): Promise<string> {
  const authToken = await logIn(world, uid)
  dataOf(await world.post(tokens, { platform: 'apns_ios_device', deviceToken }, { token: authToken }))
  return authToken
}
