import os from 'node:os'
import path from 'node:path'
import { inject } from 'vitest'
import { buildParley, type Parley, type ParleyOptions } from '../../src/app.ts'
import { readConfig } from '../../src/config/index.ts'
import { createLog } from '../../src/log.ts'
import { whenDatabaseAnswers } from '../../src/process/foundation.ts'
import { backlog } from '../../src/process/listen.ts'
import type { ConnectionSettings } from '../../src/store/connection.ts'

export const testMasterKey = '00'.repeat(32)

let shared: Promise<{ parley: Parley; url: string }> | undefined

/** The service of this test worker, on a real socket; test files share it, each test makes an app of its own. */
export function sharedService(): Promise<{ parley: Parley; url: string }> {
  shared ??= startService()
  return shared
}

/**
 * Webhooks of tests are on this machine. All services on one database deliver for each other, so all must be allowed to. A
 * list may take long where the machine is busy. And tests call more often than front ends.
 */
export const testSettings = {
  LOG_LEVEL: 'silent',
  WEBHOOK_ALLOW_PRIVATE: 'true',
  RATE_LIMITS: 'off',
  // Nobody listens there: tests of push services start emulators.
  FCM_ENDPOINT: 'http://127.0.0.1:9',
  FCM_TOKEN_ENDPOINT: 'http://127.0.0.1:9/token',
  APNS_ENDPOINT: 'https://127.0.0.1:9',
  SENDGRID_ENDPOINT: 'http://127.0.0.1:9',
  TWILIO_ENDPOINT: 'http://127.0.0.1:9',
  SMTP_URL: 'smtp://127.0.0.1:9',
  MAIL_FROM: 'chat@example.com',
  WEB_PUSH_HOSTS: '127.0.0.1,*.push.example.com',
  LIST_TIMEOUT_SECONDS: '120',
  SEARCH_TIMEOUT_SECONDS: '120',
}

/** A database that does not answer at once is not away: the machine may be busy. Tests that take it away say less. */
export const databasePatienceMs = 60_000

/** Where services on the shared database keep files; numbers of apps, of which its folders are, are those of one database. */
export const mediaFolder = path.join(os.tmpdir(), `parley-test-media-${process.pid}`)

/** Starts a service of one's own, with settings of one's own, on the test database or another. */
export async function startService(
  environment: Record<string, string> = {},
  connection: ConnectionSettings = inject('connection'),
  patienceMs = databasePatienceMs,
  own: Partial<
    Pick<
      ParleyOptions,
      'masterKey' | 'mediaStorage' | 'notificationClock' | 'notifiesApart' | 'dataDir' | 'mediaDir' | 'passwordCost'
    >
  > = {},
): Promise<{ parley: Parley; url: string }> {
  const options = {
    config: readConfig({ ...testSettings, ...environment }),
    log: createLog(readConfig({ LOG_LEVEL: process.env.TEST_LOG_LEVEL ?? 'silent' }).logLevel),
    connection,
    masterKey: testMasterKey,
    databasePatienceMs: patienceMs,
    passwordCost: 0 as const,
    mediaDir: mediaFolder,
    ...own,
  }
  // On a busy machine the database may seem to be away for a moment; the real service tries again, too.
  const parley = await whenDatabaseAnswers(options.log, () => buildParley(options))
  await parley.context.apps.ensure('parley', 'us')
  const url = await parley.http.listen({ host: '127.0.0.1', port: 0, backlog })
  return { parley, url }
}
