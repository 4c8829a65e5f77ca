import { createECDH, randomBytes } from 'node:crypto'
import { decrypt as theirDecrypt } from 'http_ece'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import webPush from 'web-push'
import { readPrivateKey } from '../../src/chat/notifications/credentials.ts'
import { areKeys, makeVapidKeys } from '../../src/chat/notifications/subscriptions.ts'
import { signJwt } from '../../src/delivery/notifications/jwt.ts'
import { encryptFor, encryptionBytes } from '../../src/delivery/notifications/web-push-encryption.ts'
import { startWebPushEmulator, type WebPushEmulator } from '../../src/emulators/web-push.ts'
import { decrypt } from '../../src/emulators/web-push-message.ts'

/** The example of RFC 8291, appendix A. */
const example = {
  plaintext: 'When I grow up, I want to be a watermelon',
  ourPrivate: 'yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw',
  salt: 'DGv6ra1nlYgDCS1FRnbzlw',
  keys: {
    p256dh: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
    auth: 'BTBZMqHH6r4Tts7J_aSIgg',
  },
  message:
    'DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN',
}

describe('a payload for a browser', () => {
  it('is encrypted as in the example of the standard', () => {
    const pair = createECDH('prime256v1')
    pair.setPrivateKey(Buffer.from(example.ourPrivate, 'base64url'))
    const salt = Buffer.from(example.salt, 'base64url')
    const message = encryptFor(example.keys, Buffer.from(example.plaintext), { pair, salt })
    expect(message.toString('base64url')).toBe(example.message)
  })

  it('is encrypted for keys that are some', () => {
    expect(areKeys(example.keys)).toBe(true)
    expect(areKeys({ ...example.keys, auth: 'short' })).toBe(false)
    expect(areKeys({ ...example.keys, p256dh: Buffer.alloc(65, 4).toString('base64url') })).toBe(false)
    expect(areKeys({ ...example.keys, p256dh: '' })).toBe(false)
  })

  it.each([0, 1, 100, 4096 - encryptionBytes])(
    'of %i bytes is read by the library of others, and theirs by ours',
    (bytes) => {
      const text = 'ü'.repeat(bytes / 2) + 'x'.repeat(bytes % 2)
      const pair = createECDH('prime256v1')
      pair.generateKeys()
      const auth = randomBytes(16)
      const keys = { p256dh: pair.getPublicKey('base64url'), auth: auth.toString('base64url') }
      const ours = encryptFor(keys, Buffer.from(text))
      expect(ours.length).toBe(bytes + encryptionBytes)
      const read = theirDecrypt(ours, { version: 'aes128gcm', privateKey: pair, authSecret: keys.auth })
      expect(read.toString()).toBe(text)
      expect(decrypt(ours, { pair, auth })).toBe(text)
      if (bytes === 0) return
      const theirs = webPush.encrypt(keys.p256dh, keys.auth, text, 'aes128gcm')
      expect(decrypt(theirs.cipherText, { pair, auth })).toBe(text)
    },
  )

  it('is never encrypted twice alike', () => {
    const [one, two] = [0, 1].map(() => encryptFor(example.keys, Buffer.from('x')).toString('hex'))
    expect(one?.slice(0, 32)).not.toBe(two?.slice(0, 32))
    expect(one?.slice(42, 172)).not.toBe(two?.slice(42, 172))
  })
})

describe('the emulator of a push service', () => {
  let emulator: WebPushEmulator
  beforeAll(async () => {
    emulator = await startWebPushEmulator()
  })
  afterAll(() => emulator.close())

  /** A request as the library of others makes it. @param change what is wrong with it */
  async function sendTheirs(change: (headers: Record<string, string>) => object = () => ({})) {
    const vapid = webPush.generateVAPIDKeys()
    const details = webPush.generateRequestDetails(
      emulator.subscribe(vapid.publicKey),
      JSON.stringify({ title: 'hi' }),
      {
        ...{ vapidDetails: { subject: 'mailto:admin@example.com', ...vapid }, TTL: 60, urgency: 'low' },
      },
    )
    const { 'Content-Length': _, ...given } = details.headers as Record<string, string>
    const headers = { ...given, ...change(given) } as Record<string, string>
    const body = new Uint8Array(details.body ?? Buffer.alloc(0))
    const { status } = await fetch(details.endpoint, { method: 'POST', headers, body })
    return { status, push: emulator.pushes.at(-1) }
  }

  it('takes what the library of others sends', async () => {
    expect(await sendTheirs()).toMatchObject({ status: 201, push: { payload: { title: 'hi' }, status: 201 } })
  })

  const ofAnother = () => {
    const { publicKey, privateKey } = webPush.generateVAPIDKeys()
    return webPush.getVapidHeaders(emulator.endpoint, 'mailto:a@example.com', publicKey, privateKey, 'aes128gcm')
  }
  it.each([
    ['no authorization', 401, () => ({ Authorization: '' })],
    ['the key of somebody else', 403, ofAnother],
    [
      'a broken signature',
      403,
      ({ Authorization = '' }) => ({ Authorization: Authorization.replace(/.{8}, k=/, 'AAAAAAAA, k=') }),
    ],
    ['no TTL', 400, () => ({ TTL: 'x' })],
    ['an urgency that is none', 400, () => ({ Urgency: 'huge' })],
    ['a topic that is too long', 400, () => ({ Topic: 'x'.repeat(33) })],
    ['another encoding', 400, () => ({ 'Content-Encoding': 'aesgcm' })],
  ])('refuses %s', async (_, status, change) => {
    expect((await sendTheirs(change as Parameters<typeof sendTheirs>[0])).status).toBe(status)
  })

  const good = () => ({ aud: emulator.endpoint, exp: Math.floor(Date.now() / 1000) + 60, sub: 'mailto:a@example.com' })
  it.each([
    ['that is right', 201, () => ({})],
    ['for another service', 403, () => ({ aud: 'https://push.example.com' })],
    ['that is over', 403, () => ({ exp: Math.floor(Date.now() / 1000) - 1 })],
    ['for days', 403, () => ({ exp: Math.floor(Date.now() / 1000) + 90_000 })],
    ['of nobody', 403, () => ({ sub: undefined })],
  ])('answers a token %s with %i', async (_, status, wrong) => {
    const { publicKey, privateKey } = makeVapidKeys()
    const t = signJwt('ES256', readPrivateKey(privateKey), {}, { ...good(), ...wrong() })
    const { endpoint, keys } = emulator.subscribe(publicKey)
    const headers = { authorization: `vapid t=${t}, k=${publicKey}`, ttl: '60', 'content-encoding': 'aes128gcm' }
    const answer = await fetch(endpoint, {
      method: 'POST',
      headers,
      body: new Uint8Array(encryptFor(keys, Buffer.from('{}'))),
    })
    expect(answer.status).toBe(status)
  })
})
