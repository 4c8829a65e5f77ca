import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'vitest'
import { ensureKey } from '../../src/areas/api-keys/keys.ts'
import { startFcmEmulator } from '../../src/emulators/fcm.ts'
import { findProgram, itWith } from '../gate/needs.ts'
import { createOwnDatabase } from '../support/own-database.ts'
import { startService } from '../support/service.ts'
import { soon } from '../support/until.ts'

const page = path.join(import.meta.dirname, '../../../docs/notifications.md')
const needed = ['bash', 'curl', 'jq']
const programs = {
  isMet: needed.every((name) => findProgram(name) !== undefined),
  otherwise: `needs ${needed.join(', ')}`,
  inGate: false,
}

/** The commands of a section, but those that read keys out of a file of the reader. */
async function commandsOf(section: string): Promise<string> {
  const [, after = ''] = (await readFile(page, 'utf8')).split(`\n## ${section}\n`)
  const [text = ''] = after.split('\n## ')
  const blocks = [...text.matchAll(/```sh\n(.*?)```/gs)].map(([, block]) => block as string)
  return blocks.filter((block) => !block.includes('keys.env')).join('\n')
}

itWith(programs, 'what docs/notifications.md says about a first push leads to one', async () => {
  const { connection, drop } = await createOwnDatabase()
  const fcm = await startFcmEmulator()
  const endpoints = { FCM_ENDPOINT: fcm.endpoint, FCM_TOKEN_ENDPOINT: fcm.tokenEndpoint }
  const { parley, url } = await startService(endpoints, connection)
  const { appId } = await parley.context.apps.ensure('parley', 'us')
  const apiKey = 'f'.repeat(40)
  await ensureKey(parley.context, appId, { apiKey, name: 'first', scope: 'fullAccess' })
  await fetch(`${url}/v3/notifications/push/v1/providers/fcm`, {
    method: 'POST',
    headers: { apikey: apiKey, 'content-type': 'application/json' },
    body: JSON.stringify({ providerId: 'fcm', serviceAccountCreds: fcm.credentials }),
  })
  const env = { PATH: process.env.PATH, PARLEY_URL: url, PARLEY_API_KEY: apiKey }
  await promisify(execFile)('bash', ['-ec', await commandsOf('A first push in five minutes')], { env })
  await soon(() =>
    expect(fcm.pushes.map(({ token, data }) => [token, data.title, data.body])).toEqual([
      ['my-phone', 'Alice', 'hello'],
    ]),
  )
  await parley.close()
  await Promise.all([fcm.close(), drop()])
})
