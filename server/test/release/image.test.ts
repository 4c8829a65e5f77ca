import { chown, lstat, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { connect, createServer, type Server } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { parse } from 'dotenv'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { version } from '../../src/version.ts'
import { asRoot, describeWith, findProgram, inLongSuite, type Need } from '../gate/needs.ts'
import { createOwnDatabase } from '../support/own-database.ts'
import { findFreePort } from '../support/ports.ts'
import { soon } from '../support/until.ts'
import { createImages, type Images } from './buildah.ts'
import { type Container, startContainer } from './container.ts'

const tools: Need = {
  isMet: ['buildah', 'debootstrap', 'unshare', 'nsenter'].every((name) => findProgram(name) !== undefined),
  otherwise: 'needs buildah and debootstrap',
  inGate: false,
}
const needs = [inLongSuite, asRoot, tools]

describeWith(needs.find(({ isMet }) => !isMet) ?? tools, 'the image', () => {
  let images: Images
  let data: string
  beforeAll(async () => {
    images = await createImages()
    data = await mkdtemp(path.join(os.tmpdir(), 'parley-volume-'))
    await chown(data, 10001, 10001)
  })
  afterAll(async () => {
    await images?.close()
    await rm(data, { recursive: true, force: true })
  })

  it('starts as an ordinary user with a read-only root, is alive and healthy, stops on its signal, and keeps its data', async () => {
    const image = await images.build('parley:embedded')
    const root = await images.mount('parley:embedded')
    expect(image).toMatchObject({ User: '10001:10001', StopSignal: 'SIGTERM', Volumes: { '/data': {} } })
    const size = await sizeOf(path.join(root, 'app'))
    expect(size).toBeLessThan(130e6)

    const port = await findFreePort()
    const base = `http://127.0.0.1:${port}`
    let apikey = ''
    for (const round of [1, 2]) {
      const startedAt = performance.now()
      const container = await startContainer(root, data, image, { PORT: String(port), LOG_LEVEL: 'warn' })
      try {
        await soon(async () => expect((await fetch(`${base}/ready`)).status, container.said()).toBe(200))
        console.log(
          `start ${round}: ready after ${Math.round(performance.now() - startedAt)} ms, ${(size / 1e6).toFixed(0)} MB`,
        )
        const status = await statusOf(container)
        expect(status).toMatch(/^Uid:\s+10001\s/m)
        expect(status).toMatch(/^NSpid:\s+\d+\s+1$/m)
        console.log(memoryIn(status))
        await expect(container.execute(['/usr/bin/touch', '/app/here'])).rejects.toThrow('Read-only file system')
        const [kind, ...probe] = image.Healthcheck.Test
        expect(kind).toBe('CMD')
        expect(await container.execute(probe)).toBe('{"status":"ok"}\n')
        expect(await container.execute([...image.Entrypoint, '--version'])).toBe(`${version}\n`)

        apikey ||= parse(await readFile(path.join(data, 'keys.env'))).PARLEY_API_KEY ?? ''
        const users = `${base}/v3/users`
        const headers = { apikey, 'content-type': 'application/json' }
        if (round === 1) await fetch(users, { method: 'POST', headers, body: '{"uid":"alice","name":"Alice"}' })
        expect(await (await fetch(`${users}/alice`, { headers })).json()).toMatchObject({ data: { name: 'Alice' } })
        const console_ = await soon(async () => {
          const text = await (await fetch(`${base}/console`)).text()
          expect(text).toContain('/console/assets/')
          return text
        })
        expect(console_).not.toContain('is not installed')
        expect((await fetch(`${base}/demo`)).status).toBe(404)
      } finally {
        expect(await container.stop(), container.said()).toEqual([0, null])
      }
      await expect(fetch(`${base}/ready`)).rejects.toThrow()
    }
  })

  it('can be built without the embedded database, and takes one whose address is in a file', async () => {
    const image = await images.build('parley:slim', '--build-arg', 'EMBEDDED=false')
    const root = await images.mount('parley:slim')
    const size = await sizeOf(path.join(root, 'app'))
    console.log(`without the embedded database: ${(size / 1e6).toFixed(0)} MB`)
    expect(size).toBeLessThan(60e6)

    const { connection, drop } = await createOwnDatabase()
    const pass = await openPort(`${connection.host}/.s.PGSQL.${connection.port}`)
    const { port: databasePort } = pass.address() as { port: number }
    const { user, password, database } = connection
    await writeFile(path.join(data, 'url'), `postgres://${user}:${password}@127.0.0.1:${databasePort}/${database}\n`)
    const port = await findFreePort()
    const settings = { PORT: String(port), LOG_LEVEL: 'warn', DATABASE_URL_FILE: '/data/url', DATA_DIR: '/data/slim' }
    const startedAt = performance.now()
    const container = await startContainer(root, data, image, settings)
    try {
      await soon(async () => expect((await fetch(`http://127.0.0.1:${port}/ready`)).status, container.said()).toBe(200))
      const ms = Math.round(performance.now() - startedAt)
      console.log(`ready after ${ms} ms, ${memoryIn(await statusOf(container))}`)
      expect(await container.execute([...image.Entrypoint, 'health', '--ready'])).toContain('"database":"reachable"')
    } finally {
      expect(await container.stop(), container.said()).toEqual([0, null])
      pass.close()
      await drop()
    }
    const alone = await startContainer(root, data, image, { PORT: String(port), DATA_DIR: '/data/none' })
    expect(await alone.ended).toEqual([1, null])
    expect(alone.said()).toContain('There is no embedded PostgreSQL')
  })
})

const statusOf = ({ pid }: Container) => readFile(`/proc/${pid}/status`, 'utf8')

function memoryIn(status: string): string | undefined {
  return /^VmRSS:.*$/m.exec(status)?.[0]
}

/** Bytes of all files in a folder. */
async function sizeOf(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => !entry.isDirectory())
  const sizes = await Promise.all(files.map(async (file) => (await lstat(path.join(file.parentPath, file.name))).size))
  return sizes.reduce((sum, size) => sum + size, 0)
}

/** A port of this machine that leads to a socket in its file system. */
async function openPort(socket: string): Promise<Server> {
  const server = createServer((near) => {
    const far = connect(socket)
    for (const end of [near, far]) {
      end.on('error', () => end.destroy())
      end.on('close', () => [near, far].map((one) => one.destroy()))
    }
    near.pipe(far).pipe(near)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}
