/** The process of the emulators of FCM, APNs and the push service of browsers: counts what comes, and remembers when. */
import { startApnsEmulator, startFcmEmulator, startWebPushEmulator } from '@parley/server/emulators'
import type { Arrival, Counted, Emulated, EmulatorRequest } from './providers.ts'

let arrivals: Arrival[] = []
const nothing: Counted = { fcm: 0, apns: 0, web: 0, firstAt: 0, lastAt: 0 }
let counted = nothing
let isGathering = false

const note = (service: 'fcm' | 'apns' | 'web', tag: string, status: number) => {
  if (status >= 300) return
  const at = performance.timeOrigin + performance.now()
  counted = { ...counted, [service]: counted[service] + 1, firstAt: counted.firstAt || at, lastAt: at }
  if (isGathering) arrivals.push({ tag, at })
}
const [fcm, apns, web] = await Promise.all([
  startFcmEmulator({ onPush: ({ data, status }) => note('fcm', data.tag ?? '', status) }),
  startApnsEmulator({ onPush: ({ payload, status }) => note('apns', payload?.tag ?? '', status) }),
  startWebPushEmulator({ onPush: ({ payload, status }) => note('web', payload?.tag ?? '', status) }),
])

process.on('message', (request: EmulatorRequest) => {
  if (request === 'count') process.send?.(counted)
  else if (request === 'fcm down' || request === 'fcm up') {
    fcm.behave(() => (request === 'fcm down' ? { status: 503, code: 'UNAVAILABLE' } : undefined))
    process.send?.(counted)
  } else if (typeof request === 'object') {
    process.send?.(Array.from({ length: request.browsers }, () => web.subscribe(request.key)))
  } else {
    process.send?.(arrivals)
    arrivals = []
    counted = nothing
    isGathering = request === 'gather'
  }
})
// The parent is gone, and with it whom to tell.
process.on('disconnect', () => process.exit())
process.send?.({
  fcm: { endpoint: fcm.endpoint, tokenEndpoint: fcm.tokenEndpoint, credentials: fcm.credentials },
  apns: { endpoint: apns.endpoint, ca: apns.ca, credentials: apns.credentials },
  web: { host: web.host },
} satisfies Emulated)
