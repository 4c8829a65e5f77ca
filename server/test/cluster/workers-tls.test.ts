import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { generate } from 'selfsigned'
import { afterAll, expect, it } from 'vitest'
import { createStage } from '../faults/support/stage.ts'
import { describeWith } from '../gate/needs.ts'
import { createOwnDatabase } from '../support/own-database.ts'
import { until } from '../support/until.ts'
import { redisServer, startRedis } from './redis.ts'
import { workersOf } from './workers.ts'

const stage = createStage()
afterAll(stage.clean)

/** Writes a new certificate with its key. @returns its fingerprint */
async function renew(folder: string): Promise<string> {
  const made = await generate([{ name: 'commonName', value: 'localhost' }], { keySize: 2048, algorithm: 'sha256' })
  await writeFile(join(folder, 'cert.pem'), made.cert)
  await writeFile(join(folder, 'key.pem'), made.private)
  return made.fingerprint.toUpperCase()
}

/** The fingerprint of the certificate that is served. */
function served(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false }, () => {
      resolve(socket.getPeerCertificate().fingerprint)
      socket.destroy()
    })
    socket.on('error', reject)
  })
}

describeWith(redisServer, 'SIGHUP with certificates', () => {
  it('serves a renewed one; where it cannot be read the old workers stay, and the log says why', async () => {
    const redis = await startRedis()
    stage.onClean(redis.close)
    const { url: connectionString, drop } = await createOwnDatabase()
    stage.onClean(drop)
    const folder = stage.makeFolder()
    const first = await renew(folder)
    const service = stage.launch({
      ...{ WORKERS: '2', REDIS_URL: redis.url, DATABASE_URL: connectionString, DATA_DIR: stage.makeFolder() },
      LOG_LEVEL: 'info',
      ...{ TLS_CERT_FILE: join(folder, 'cert.pem'), TLS_KEY_FILE: join(folder, 'key.pem') },
    })
    const address = () => /https:\/\/127\.0\.0\.1:(\d+)/.exec(service.output())?.[1]
    await until(() => address() !== undefined || !service.isRunning)
    const port = Number(address())
    expect(await served(port)).toBe(first)

    const before = workersOf(service)
    await rm(join(folder, 'key.pem'))
    service.signal('SIGHUP')
    const isRefused = () => service.output().includes('a new worker could not start; the old ones stay')
    await until(isRefused)
    expect(service.output()).toContain('TLS_KEY_FILE')
    expect(workersOf(service)).toEqual(before)
    expect(await served(port)).toBe(first)

    const second = await renew(folder)
    service.signal('SIGHUP')
    await until(() => service.output().includes('all workers were restarted'), { progress: service.output })
    expect(second).not.toBe(first)
    for (let i = 0; i < 4; i++) expect(await served(port)).toBe(second)
    expect(workersOf(service).filter((pid) => before.includes(pid))).toEqual([])
  })
})
