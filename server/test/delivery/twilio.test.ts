import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { nextStep } from '../../src/delivery/notifications/results.ts'
import { sampleUnread } from '../../src/delivery/notifications/trial.ts'
import { createTwilio, type Twilio } from '../../src/delivery/notifications/twilio.ts'
import { startTwilioEmulator, type TwilioEmulator } from '../../src/emulators/twilio.ts'

let emulator: TwilioEmulator
let twilio: Twilio
const now = 1_800_000_000_000

beforeAll(async () => {
  emulator = await startTwilioEmulator()
  twilio = createTwilio(emulator.endpoint)
})
afterAll(async () => {
  await twilio.close()
  await emulator.close()
})

function send(phone: string, authToken = emulator.credentials.authToken, by = twilio) {
  const { accountSid, phoneNumber } = emulator.credentials
  const target = { twilioAccountSID: accountSid, twilioAuthToken: authToken, twilioSenderPhoneNumber: phoneNumber }
  return by.send(target, Date.now() + 60_000, sampleUnread('sms', phone, now))
}

describe('what Twilio answers', () => {
  it('that somebody has unsubscribed is final, and says so; their number stays good, since START takes it back', async () => {
    const attempt = await send('+155521610')
    expect(attempt).toMatchObject({ outcome: 'refused', status: 400, reason: 'UNSUBSCRIBED' })
    expect(attempt.error).toContain('21610')
    expect(attempt.refusedAddress).toBeUndefined()
  })

  it('that a number is none is final, and the number is not used again', async () => {
    expect(await send('+155521211')).toMatchObject({
      ...{ outcome: 'refused', status: 400, reason: 'TWILIO_CREATE_ERROR', refusedAddress: '+155521211' },
    })
  })

  it('that it is asked too much puts it off for as long as Retry-After says', async () => {
    emulator.behave(() => ({
      status: 429,
      code: 20429,
      message: 'Too Many Requests',
      headers: { 'retry-after': '77' },
    }))
    const attempt = await send('+15550101')
    emulator.behave(() => undefined)
    expect(attempt).toMatchObject({ outcome: 'failed', status: 429, retryAfter: 77 })
    expect(attempt.refusedAddress).toBeUndefined()
    const one = { id: 1, attempts: 0, expiresAt: now + 3_600_000 }
    expect(nextStep(one, attempt, now, 0)).toMatchObject({ status: 'pending', dueIn: 77_000 })
    expect(nextStep({ ...one, expiresAt: now + 60_000 }, attempt, now, 0)).toMatchObject({ reason: 'TIMED_OUT' })
  })

  it('that it is asked too much, or is down, without saying until when, puts it off by our own clock', async () => {
    emulator.behave(() => ({ status: 429, code: 20429, message: 'Too Many Requests' }))
    const busy = await send('+15550101')
    emulator.behave(() => undefined)
    for (const attempt of [busy, await send('+1555503')]) {
      expect(attempt.outcome).toBe('failed')
      expect(attempt.retryAfter).toBeUndefined()
    }
  })

  it('that a token is wrong may pass: nothing is lost until it is mended', async () => {
    const attempt = await send('+15550101', 'wrong')
    expect(attempt).toMatchObject({ outcome: 'failed', status: 401 })
    expect(attempt.reason).toBeUndefined()
  })
})

describe('an SMS without an answer', () => {
  const lost = { outcome: 'failed', reason: 'TWILIO_CREATE_ERROR', mayHaveArrived: true }

  it('that was sent may have arrived: it is tried once more, and not again', async () => {
    emulator.behave(() => 'hang up')
    const attempt = await send('+15550101')
    emulator.behave(() => undefined)
    expect(attempt).toMatchObject(lost)
    const one = { id: 1, attempts: 3, expiresAt: now + 3_600_000 }
    const again = { status: 'pending', reason: 'TWILIO_CREATE_ERROR', attempts: 4 }
    expect(nextStep(one, attempt, now, 0)).toMatchObject(again)
    const over = { status: 'failed', reason: 'TWILIO_CREATE_ERROR', attempts: 4 }
    expect(nextStep({ ...one, mayHaveArrived: true }, attempt, now, 0)).toMatchObject(over)
  })

  it('in time may have arrived, too', async () => {
    const server = createServer(() => {})
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const late = createTwilio(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, 1_000)
    expect(await send('+15550101', 'token', late)).toMatchObject({ ...lost, error: 'Twilio did not answer in time' })
    await late.close()
    server.close()
  })

  it('as there was no connection is tried as often as any', async () => {
    const away = createTwilio('http://127.0.0.1:1')
    const attempt = await send('+15550101', 'token', away)
    await away.close()
    expect(attempt).toMatchObject({ outcome: 'failed', error: expect.stringContaining('ECONNREFUSED') })
    expect(attempt.mayHaveArrived).toBeUndefined()
    const one = { id: 1, attempts: 3, expiresAt: now + 3_600_000, mayHaveArrived: true }
    expect(nextStep(one, attempt, now, 0)).toMatchObject({ status: 'pending' })
  })
})
