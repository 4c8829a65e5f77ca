/** The process of the emulators of FCM and APNs: counts what comes, and remembers when. */
import { startApnsEmulator, startFcmEmulator } from '@parley/server/emulators'
import type { Arrival, Counted, Emulated, EmulatorRequest } from './providers.ts'

let arrivals: Arrival[] = []
let counted: Counted = { fcm: 0, apns: 0, firstAt: 0, lastAt: 0 }
let isGathering = false

const note = (service: 'fcm' | 'apns', tag: string, status: number) => {
  if (status !== 200) return
  const at = performance.timeOrigin + performance.now()
  counted = { ...counted, [service]: counted[service] + 1, firstAt: counted.firstAt || at, lastAt: at }
  if (isGathering) arrivals.push({ tag, at })
}
const [fcm, apns] = await Promise.all([
  startFcmEmulator({ onPush: ({ data, status }) => note('fcm', data.tag ?? '', status) }),
  startApnsEmulator({ onPush: ({ payload, status }) => note('apns', payload?.tag ?? '', status) }),
])

process.on('message', (request: EmulatorRequest) => {
  if (request === 'count') process.send?.(counted)
  else if (request === 'fcm down' || request === 'fcm up') {
    fcm.behave(() => (request === 'fcm down' ? { status: 503, code: 'UNAVAILABLE' } : undefined))
    process.send?.(counted)
  } else {
    process.send?.(arrivals)
    arrivals = []
    counted = { fcm: 0, apns: 0, firstAt: 0, lastAt: 0 }
    isGathering = request === 'gather'
  }
})
// The parent is gone, and with it whom to tell.
process.on('disconnect', () => process.exit())
process.send?.({
  fcm: { endpoint: fcm.endpoint, tokenEndpoint: fcm.tokenEndpoint, credentials: fcm.credentials },
  apns: { endpoint: apns.endpoint, ca: apns.ca, credentials: apns.credentials },
} satisfies Emulated)
