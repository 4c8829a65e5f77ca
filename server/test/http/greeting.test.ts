import { execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { type AddressInfo, connect, createServer } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { parse } from 'dotenv'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { greetingOf } from '../../src/greeting.ts'
import { ensureBuilt, mainArguments } from '../support/build.ts'
import { ask } from './watched.ts'

const hasCurl = spawnSync('curl', ['--version']).status === 0

let folder: string
let dataDir: string

beforeAll(async () => {
  ensureBuilt()
  folder = await mkdtemp(path.join(os.tmpdir(), 'parley-greeting-'))
  dataDir = path.join(folder, 'kept')
  const settings = ['PORT=0', 'DATA_DIR=kept', 'PARLEY_APP_ID=Shop', 'PARLEY_REGION=in', 'LOG_LEVEL=warn']
  await writeFile(path.join(folder, '.env'), settings.join('\n'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** Starts the service in the folder, as an operator does, and collects what it prints until the greeting is whole. */
async function start(environment: Record<string, string> = {}) {
  const child = spawn(process.execPath, mainArguments, { cwd: folder, env: { PATH: process.env.PATH, ...environment } })
  const exited = once(child, 'exit')
  let printed = ''
  child.stdout.on('data', (chunk) => (printed += chunk))
  child.stderr.on('data', (chunk) => (printed += chunk))
  const greeted = () => /curl .*\n|kept in .*\n/.test(printed) || child.exitCode !== null
  await expect.poll(greeted).toBe(true)
  return {
    printed: () => printed,
    async stop() {
      child.kill('SIGTERM')
      return (await exited)[0]
    },
  }
}

describe('the greeting', () => {
  const keys = { apiKey: 'a'.repeat(40), authKey: 'b'.repeat(40), file: "/srv/bob's/keys.env", isNew: true }
  const pages = { demo: true, docs: true, console: true, adminPort: undefined, publicUrl: undefined }
  const config = { appId: 'shop', region: 'in', tls: undefined, ...pages } as const
  const address = { address: '127.0.0.1', port: 8080, family: 'IPv4' }

  it('prints keys to a terminal only, and only those that were just made', () => {
    const shown = greetingOf(address, config, keys, true)
    expect(shown).toMatch(/REST API key +a{40} +\(fullAccess\)\n +Auth key +b{40} +\(authOnly, for development\)\n/)
    expect(shown).toContain(`-H 'apikey: ${keys.apiKey}'`)
    const kept = greetingOf(address, config, keys, false)
    expect(kept).not.toMatch(/a{40}|b{40}/)
    expect(kept).toContain(`  . '/srv/bob'\\''s/keys.env'\n`)
    expect(greetingOf(address, config, { ...keys, isNew: false }, true)).not.toMatch(/a{40}|b{40}/)
  })

  it('names the pages that are served, and no others', () => {
    for (const isNew of [true, false]) {
      const shown = greetingOf(address, { ...config, demo: false }, { ...keys, isNew }, true)
      expect(shown).toContain('http://127.0.0.1:8080/docs\n')
      expect(shown).not.toContain('/demo')
      expect(greetingOf(address, config, { ...keys, isNew }, false)).toContain('http://127.0.0.1:8080/demo\n')
      expect(greetingOf(address, config, { ...keys, isNew }, false)).toContain('http://127.0.0.1:8080/console\n')
      expect(greetingOf(address, { ...config, console: false }, { ...keys, isNew }, false)).not.toContain('/console')
      const apart = greetingOf(address, { ...config, adminPort: 9200 }, { ...keys, isNew }, false)
      expect(apart).toContain('http://127.0.0.1:9200/console\n')
    }
  })
})

describe('the service', () => {
  it('prints at its first start where it is, where its keys are, and one call that works; later less', async () => {
    const first = await start()
    const greeting = first.printed()
    const keysFile = path.join(dataDir, 'keys.env')
    const keys = parse(await readFile(keysFile))
    const base = /Base address +(\S+)/.exec(greeting)?.[1] ?? ''
    try {
      expect(base).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v3$/)
      expect(greeting).toMatch(/App id +shop\n/)
      expect(greeting).toMatch(/Region +in\n/)
      expect(greeting).toMatch(new RegExp(`Keys +${keysFile}\n`))
      for (const key of Object.values(keys)) expect(greeting).not.toContain(key)
      expect((await stat(keysFile)).mode & 0o777).toBe(0o600)
      for (const [name, length] of Object.entries({ PARLEY_API_KEY: 40, PARLEY_AUTH_KEY: 40, PARLEY_MASTER_KEY: 64 })) {
        expect(keys[name]).toMatch(new RegExp(`^[0-9a-f]{${length}}$`))
      }

      const lines = /^ *\. .*\n *curl .*$/m.exec(greeting)?.[0] ?? ''
      expect(lines).toContain(`${base}/users`)
      if (hasCurl) {
        const { stdout } = await promisify(execFile)('sh', ['-c', `${lines} --silent`])
        expect(JSON.parse(stdout)).toMatchObject({ data: { uid: 'alice', name: 'Alice' } })
      }
      const { body } = await ask(`${base}/users`, { headers: { apikey: keys.PARLEY_API_KEY ?? '' } })
      expect(body.data.map(({ uid }: { uid: string }) => uid)).toEqual(hasCurl ? ['alice'] : [])
    } finally {
      expect(await first.stop()).toBe(0)
    }

    // What the environment says goes before the file beside it.
    const second = await start({ TLS: 'self-signed', PARLEY_REGION: 'eu' })
    try {
      const again = second.printed()
      expect(again).toMatch(/https:\/\/127\.0\.0\.1:\d+\/v3 \(app shop, region eu\)/)
      expect(again).toContain(`kept in ${keysFile}`)
      for (const key of Object.values(keys)) expect(again).not.toContain(key)
      const address = /https:\/\/\S+/.exec(again)?.[0] ?? ''
      const { body } = await ask(`${address}/users`, { headers: { apikey: keys.PARLEY_API_KEY ?? '' } })
      expect(body.data).toHaveLength(hasCurl ? 1 : 0)
    } finally {
      expect(await second.stop()).toBe(0)
    }
  })

  it('does not start without the keys of its database, and makes none that would be taken for them', async () => {
    const keysFile = path.join(dataDir, 'keys.env')
    const kept = await readFile(keysFile)
    await rm(keysFile)
    const failed = await start()
    expect(await failed.stop()).toBe(1)
    expect(failed.printed()).toContain('restore keys.env of the data folder from its backup')
    await expect(stat(keysFile)).rejects.toThrow('ENOENT')

    await writeFile(keysFile, kept, { mode: 0o600 })
  })

  it('starts with them again; where localhost is, too, it answers malformed requests in the shape of the contract', async () => {
    const service = await start({ HOST: 'localhost' })
    try {
      expect(service.printed()).toContain('Parley is running')
      const { port } = new URL(/http:\/\/\S+/.exec(service.printed())?.[0] ?? '')
      const socket = connect(Number(port), '127.0.0.1')
      // It is cut off after the answer.
      socket.on('error', () => {})
      socket.end('GARBAGE\r\n\r\n')
      const [answer] = (await once(socket, 'data')) as [Buffer]
      expect(answer.toString()).toContain('"code":"ERR_BAD_REQUEST"')
      const other = connect(Number(port), '::1')
      await expect(once(other, 'connect')).rejects.toThrow(/ECONNREFUSED|EADDRNOTAVAIL|ENETUNREACH/)
    } finally {
      expect(await service.stop()).toBe(0)
    }
  })

  it('makes nothing where it cannot listen, and says which setting names the port', async () => {
    const taken = createServer()
    await once(taken.listen(0, '127.0.0.1'), 'listening')
    const port = String((taken.address() as AddressInfo).port)
    try {
      for (const setting of ['PORT', 'METRICS_PORT']) {
        const failed = await start({ [setting]: port, DATA_DIR: 'never-made' })
        expect(await failed.stop()).toBe(1)
        expect(failed.printed()).toContain(`another program listens on port ${port} of 127.0.0.1`)
        expect(failed.printed()).toContain(`set ${setting} to another port`)
        expect(failed.printed()).not.toMatch(/database| at /)
        await expect(stat(path.join(folder, 'never-made'))).rejects.toThrow('ENOENT')
      }
    } finally {
      taken.close()
    }
  })

  it('does not start with settings that are wrong, and names them', async () => {
    const failed = await start({ PORT: 'eighty', LOG_LEVEL: 'loud' })
    expect(await failed.stop()).toBe(1)
    expect(failed.printed()).toMatch(/PORT must be a number.*"eighty"\n.*LOG_LEVEL must be one of/s)
    expect(failed.printed()).not.toContain('    at ')
  })
})
