import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'
import { afterEach, describe, expect, it } from 'vitest'
import { createSmtp } from '../../src/delivery/notifications/smtp.ts'
import { sampleUnread } from '../../src/delivery/notifications/trial.ts'
import { soon } from '../support/until.ts'

const closing: Array<() => unknown> = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

/** A mail server that answers to receivers no sooner than it is told to. */
async function startSlowServer() {
  const held: Array<() => void> = []
  const mails: string[] = []
  let isSlow = true
  let connections = 0
  const server = new SMTPServer({
    ...{ disabledCommands: ['STARTTLS'], authOptional: true, logger: false },
    onConnect(_, callback) {
      connections++
      callback()
    },
    onClose() {
      connections--
    },
    onRcptTo(_address, _, callback) {
      if (isSlow) held.push(() => callback())
      else callback()
    },
    async onData(stream, { envelope }, callback) {
      try {
        for await (const _ of stream);
      } catch (error) {
        // Whoever sends hung up.
        return callback(error as Error)
      }
      mails.push(envelope.rcptTo[0]?.address ?? '')
      callback()
    },
  })
  server.on('error', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
  closing.push(() => new Promise<void>((resolve) => server.close(() => resolve())))
  return {
    url: `smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}`,
    ...{ held, mails },
    get connections() {
      return connections
    },
    goOn() {
      isSlow = false
      for (const answer of held.splice(0)) answer()
    },
  }
}

const addresses = Array.from({ length: 7 }, (_, i) => `user${i}@example.com`)

function sendAll(server: { readonly url: string }, timeoutMs?: number) {
  const smtp = createSmtp({ url: server.url, from: 'chat@example.com' }, timeoutMs)
  closing.unshift(() => smtp.close())
  return addresses.map((address, i) =>
    smtp.send({ appId: 1 }, `ntf_1_${i}`, sampleUnread('email', address, Date.now())),
  )
}

describe('a mail server that is slow', () => {
  it('gets nothing later that did not go out in time, and what found no connection has not failed', async () => {
    const server = await startSlowServer()
    const made = await Promise.all(sendAll(server, 2_000))
    expect(made.map(({ outcome }) => outcome)).toEqual([...Array(5).fill('failed'), 'postponed', 'postponed'])
    expect(made[0]?.error).toBe('the mail server did not answer in time')
    expect(made[6]).toMatchObject({ retryAfter: 2, error: 'all connections to the mail server are in use' })
    server.goOn()
    await soon(() => expect(server.connections).toBe(0))
    expect(server.mails).toEqual([])
  })

  it('gets all when it goes on soon', async () => {
    const server = await startSlowServer()
    const sent = sendAll(server)
    await soon(() => expect(server.held).toHaveLength(5))
    server.goOn()
    expect((await Promise.all(sent)).map(({ outcome }) => outcome)).toEqual(Array(7).fill('accepted'))
    expect([...server.mails].sort()).toEqual(addresses)
  })
})
