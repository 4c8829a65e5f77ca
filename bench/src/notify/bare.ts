import { createSign, sign } from 'node:crypto'
import { connect } from 'node:http2'
import { Agent, request } from 'undici'
import { progress } from '../progress.ts'
import type { NotifyWorld } from './world.ts'

/** As many requests under way as the service has. */
const atOnce = { fcm: 32, apns: 100 }
const text = 'Shall we meet at the station at half six?'
const details = {
  ...{ title: 'p1', body: text, sender: 'p1', senderName: 'p1', receiver: 'p2', receiverName: 'p2' },
  ...{ receiverType: 'user', tag: '1', conversationId: 'p1_user_p2', type: 'chat', sentAt: '1700000000000' },
  unreadMessageCount: '1',
}

/** The bare limit: the same pushes by clients that have them ready, and keep no account. @returns pushes a second */
export async function sendBare({ providers }: NotifyWorld, count: number): Promise<number> {
  progress(`${count} pushes by bare clients`)
  await providers.forget()
  const [fcm, apns] = [await openFcm(providers), openApns(providers)]
  const startedAt = performance.now()
  await Promise.all([inTurns(count / 2, atOnce.fcm, fcm.send), inTurns(count / 2, atOnce.apns, apns.send)])
  const seconds = (performance.now() - startedAt) / 1000
  await Promise.all([fcm.close(), apns.close()])
  const { fcm: byFcm, apns: byApns } = await providers.count()
  return (byFcm + byApns) / seconds
}

async function inTurns(count: number, width: number, send: () => Promise<void>): Promise<void> {
  let left = count
  await Promise.all(
    Array.from({ length: width }, async () => {
      while (left-- > 0) await send()
    }),
  )
}

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

async function openFcm({ fcm }: NotifyWorld['providers']) {
  const { client_email: iss, private_key, project_id } = fcm.credentials
  const now = Math.floor(Date.now() / 1000)
  const unsigned = `${encode({ alg: 'RS256' })}.${encode({ iss, aud: fcm.tokenEndpoint, iat: now, exp: now + 3600 })}`
  const assertion = `${unsigned}.${createSign('sha256').update(unsigned).sign(private_key).toString('base64url')}`
  const granted = await fetch(fcm.tokenEndpoint, {
    method: 'POST',
    body: new URLSearchParams({ grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion }),
  })
  const { access_token } = (await granted.json()) as { access_token: string }
  const dispatcher = new Agent({ connections: atOnce.fcm, pipelining: 1 })
  const headers = { authorization: `Bearer ${access_token}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ message: { token: 'device', data: details, android: { priority: 'HIGH' } } })
  return {
    async send() {
      const url = `${fcm.endpoint}/v1/projects/${project_id}/messages:send`
      const answer = await request(url, { method: 'POST', dispatcher, headers, body })
      await answer.body.text()
    },
    close: () => dispatcher.close(),
  }
}

function openApns({ apns }: NotifyWorld['providers']) {
  const { keyId, teamId, bundleId, p8Key } = apns.credentials
  // APNs takes no two dates within 20 minutes: this one is that of the service.
  const iat = Math.floor(Date.now() / 2_400_000) * 2_400
  const unsigned = `${encode({ alg: 'ES256', kid: keyId })}.${encode({ iss: teamId, iat })}`
  const signature = sign('sha256', Buffer.from(unsigned), { key: p8Key, dsaEncoding: 'ieee-p1363' })
  const session = connect(apns.endpoint, { ca: apns.ca })
  const headers = {
    ...{
      ':method': 'POST',
      ':path': '/3/device/a0',
      authorization: `bearer ${unsigned}.${signature.toString('base64url')}`,
    },
    ...{ 'apns-topic': bundleId, 'apns-push-type': 'alert', 'apns-priority': '10' },
  }
  const body = JSON.stringify({ aps: { alert: { title: 'p1', body: text }, badge: 1, sound: 'default' }, ...details })
  return {
    send: () =>
      new Promise<void>((resolve, reject) => {
        const stream = session.request(headers)
        stream.on('error', reject).on('close', resolve).resume()
        stream.end(body)
      }),
    close: () => new Promise<void>((resolve) => session.close(resolve)),
  }
}
