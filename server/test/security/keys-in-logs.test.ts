import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { parse } from 'dotenv'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ensureBuilt, mainArguments } from '../support/build.ts'

let folder: string
beforeAll(async () => {
  ensureBuilt()
  folder = await mkdtemp(path.join(os.tmpdir(), 'parley-keys-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** What a service prints is kept by a journal or by containers, for many to read. */
it('A first start prints no key and no one-time address where nobody looks at a terminal', async () => {
  const environment = { PATH: process.env.PATH, PORT: '0', DATA_DIR: 'data', LOG_LEVEL: 'trace' }
  const child = spawn(process.execPath, mainArguments, { cwd: folder, env: environment })
  const exited = once(child, 'exit')
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (printed += chunk))
  await expect.poll(() => /keys\.env/.test(printed) || child.exitCode !== null).toBe(true)
  child.kill('SIGTERM')
  expect(await exited).toEqual([0, null])
  const file = path.join(folder, 'data', 'keys.env')
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  const keys = Object.values(parse(await readFile(file)))
  expect(keys.length).toBeGreaterThan(2)
  for (const key of keys) expect(printed).not.toContain(key)

  // Nor the address that makes whoever opens it the owner: it is in a file, too.
  const setup = path.join(folder, 'data', 'setup-url')
  expect((await stat(setup)).mode & 0o777).toBe(0o600)
  const [, token = ''] = /\/console#setup=([\w-]{43})\n$/.exec(await readFile(setup, 'utf8')) ?? []
  expect(token).not.toBe('')
  expect(printed).not.toContain(token)
})
