import { expect, it } from 'vitest'
import { readConfig } from '../../src/config/index.ts'
import { createSenders } from '../../src/delivery/notifications/senders.ts'
import { sampleNotification } from '../../src/delivery/notifications/trial.ts'
import { derivedKeys } from '../../src/store/data-keys.ts'
import { createSecrets } from '../../src/store/secrets.ts'

it('A provider whose credentials cannot be unsealed fails each time, and is named in the log once a minute', async () => {
  const logged: unknown[] = []
  const senders = createSenders({
    log: { error: (...told: unknown[]) => void logged.push(told) },
    secrets: createSecrets(() => derivedKeys('00'.repeat(32))),
    poster: { post: () => Promise.reject(new Error('nobody is called')), close: async () => {} },
    endpoints: readConfig({}).notifications,
  })
  const app = { appId: 1, name: 'an-app', region: 'us' }
  const row = { key: 7, channel: 'push', kind: 'fcm', id: 'fcm', enabled: true, isDefault: true } as const
  const provider = { ...row, settings: {}, sealed: Buffer.alloc(40) }
  const sending = { id: 'ntf_1_1', token: 'device', platform: 'fcm_android', expiresAt: Date.now() + 1_000 }
  for (let times = 0; times < 3; times++) {
    const attempt = await senders.of(app, provider).send(sending, sampleNotification(Date.now()))
    expect(attempt).toMatchObject({ outcome: 'failed', error: expect.stringContaining('cannot be unsealed') })
  }
  expect(logged).toHaveLength(1)
  await senders.close()
})
