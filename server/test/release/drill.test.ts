import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFile, chmod, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { parse } from 'dotenv'
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { version } from '../../src/version.ts'
import { contentsOf, movedOn } from '../backup/scene.ts'
import { describeWith, inLongSuite } from '../gate/needs.ts'
import { createOwnDatabase } from '../support/own-database.ts'
import { findFreePort } from '../support/ports.ts'
import { soon } from '../support/until.ts'
import type { Answer } from '../support/world.ts'
import { outside, releaseFolder, repository, run } from './run.ts'

/** What an operator does who has lost a machine: with the tarball, a backup and the keys, and nothing else. */
describeWith(inLongSuite, 'the drill: a service of the tarball, loaded, backed up, destroyed and restored', () => {
  let folder: string
  let command: string
  let service: ChildProcess | undefined
  let base: string
  let environment: NodeJS.ProcessEnv

  beforeAll(async () => {
    await run(repository, process.execPath, ['tools/pack.mjs'])
    folder = await realpath(await mkdtemp(path.join(os.tmpdir(), 'parley-drill-')))
    // Else PostgreSQL, which does not run as root, has its files elsewhere.
    await chmod(folder, 0o755)
    await writeFile(path.join(folder, 'package.json'), '{"name":"bare","private":true}')
    const tarball = path.join(releaseFolder, `parley-${version}.tgz`)
    await run(folder, 'npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', tarball])
    command = path.join(folder, 'node_modules/.bin/parley')
    const port = await findFreePort()
    base = `http://127.0.0.1:${port}`
    environment = {
      ...{ ...outside, PORT: String(port), LOG_LEVEL: 'warn', DATA_DIR: path.join(folder, 'data') },
      BACKUP_TO: path.join(folder, 'backups'),
    }
  })
  afterAll(async () => {
    service?.kill('SIGKILL')
    await rm(folder, { recursive: true, force: true })
  })

  const parley = (args: string[], more: NodeJS.ProcessEnv = {}) =>
    run(folder, command, args, { ...environment, ...more })

  async function start(more: NodeJS.ProcessEnv = {}): Promise<void> {
    const options = { cwd: folder, env: { ...environment, ...more }, stdio: 'ignore' } as const
    service = spawn(process.execPath, [path.join(folder, 'node_modules/parley/server/bin/parley.js')], options)
    await soon(async () => expect((await fetch(`${base}/ready`)).status).toBe(200))
  }

  async function end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    const exited = once(service as ChildProcess, 'exit')
    service?.kill(signal)
    await exited
  }

  /** The search index or the chain of the audit log is not written yet, when contents were last looked at. */
  let isBehind = false

  async function contents(url: string): Promise<Record<string, string>> {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    try {
      const query = async <Row extends object>(text: string, values: unknown[] = []) =>
        (await client.query<Row>(text, values)).rows
      // Asked first: what is linked only afterwards may have been looked at before.
      const [{ unlinked } = { unlinked: 0 }] = await query<{ unlinked: number }>(
        'select count(*)::int as unlinked from audit_log where seq is null',
      )
      const found = await contentsOf({ query }, movedOn)
      isBehind = unlinked > 0 || found['public.search_entries']?.startsWith('0 rows') === true
      // What is written behind what people do.
      for (const name of Object.keys(found))
        if (/usage|presence|active_user|operator_links|search_progress/.test(name)) delete found[name]
      return found
    } finally {
      await client.end()
    }
  }
  const ownUrl = async () => (await readFile(path.join(folder, 'data/database-url'), 'utf8')).trim()

  it('brings back every row and file, erases again who was erased since, and goes on', async () => {
    await start()
    const keys = await readFile(path.join(folder, 'data/keys.env'), 'utf8')
    const { PARLEY_API_KEY: apikey = '' } = parse(keys)
    const call = async (method: string, to: string, sent?: unknown, as?: string) => {
      const answer = await fetch(`${base}/v3${to}`, {
        method,
        headers: { apikey, 'content-type': 'application/json', ...(as !== undefined && { onbehalfof: as }) },
        ...(sent !== undefined && { body: JSON.stringify(sent) }),
      })
      const body: Answer['body'] = await answer.json()
      return { status: answer.status, body }
    }
    const history = path.join(folder, 'node_modules/parley/docs/sample-history')
    await parley(['import', history, '--url', base, '--apikey', apikey])
    for (const uid of ['gone', 'kept']) await call('POST', '/users', { uid, name: uid })
    const form = new FormData()
    for (const [name, value] of Object.entries({
      receiver: 'gone',
      receiverType: 'user',
      category: 'message',
      type: 'file',
    })) {
      form.set(name, value)
    }
    form.append('file', new Blob(['all of it']), 'paper.txt')
    const sent = await fetch(`${base}/v3/messages`, {
      method: 'POST',
      headers: { apikey, onbehalfof: 'kept' },
      body: form,
    })
    expect(sent.status).toBe(200)
    const before = (await call('GET', '/users?perPage=100')).body.data.length

    // The index of the search and the chain of the audit log are written a moment later.
    let made = await contents(await ownUrl())
    await soon(async () => {
      const now = await contents(await ownUrl())
      const isStill = JSON.stringify(now) === JSON.stringify(made)
      made = now
      expect(isStill && !isBehind).toBe(true)
    })
    await parley(['backup'])
    expect(await parley(['verify-backup', '--restore'])).toContain('the doctor finds nothing')
    expect((await call('DELETE', '/users/gone', { permanent: true })).status).toBe(200)
    await soon(async () => expect(await readLedger(path.join(folder, 'backups'))).toContain('"erased"'))

    await end('SIGKILL')
    await rm(path.join(folder, 'data'), { recursive: true })
    await expect(parley(['restore'])).rejects.toThrow('There is no master key here.')
    await mkdir(path.join(folder, 'data'), { recursive: true })
    await appendFile(path.join(folder, 'data/keys.env'), keys, { mode: 0o600 })
    // First without the ledger, to compare everything with what there was.
    await rm(path.join(folder, 'backups/ledger'), { recursive: true })
    await parley(['restore'])
    await start()
    expect(await contents(await ownUrl())).toEqual(made)
    expect((await call('GET', '/users?perPage=100')).body.data).toHaveLength(before)
    const { body } = await call('GET', '/messages?limit=100', undefined, 'gone')
    const [{ url }] = body.data.at(-1).data.attachments
    expect(await (await fetch(new URL(new URL(url).pathname, base))).text()).toBe('all of it')
    await parley(['doctor'])
    expect((await call('DELETE', '/users/gone', { permanent: true })).status).toBe(200)
    await soon(async () => expect(await readLedger(path.join(folder, 'backups'))).toContain('"erased"'))
    await end('SIGTERM')

    const out = await parley(['restore', '--replace', path.join(folder, 'data')])
    expect(out).toContain('Done again, by the ledger: 1 users erased')
    await start()
    expect((await call('GET', '/users/gone')).status).toBe(404)
    const text = { receiver: 'somebody', receiverType: 'user', data: { text: 'hello again' } }
    await call('POST', '/users', { uid: 'somebody', name: 'Somebody' })
    const next = await call('POST', '/messages', text, 'kept')
    expect(next.status).toBe(200)
    expect(Number(next.body.data.id)).toBeGreaterThan(1e12)
    await end('SIGTERM')
  })

  it('moves to an external database and back, row by row', async () => {
    const external = await createOwnDatabase({ isEmpty: true })
    try {
      const to = { DATABASE_URL: external.url }
      expect(await parley(['database', 'move', '--to-external'], to)).toContain(
        'Now start the service with DATABASE_URL.',
      )
      await expect(parley(['database', 'move', '--to-external'], to)).rejects.toThrow('The target is not empty')
      await start(to)
      await end('SIGTERM')
      const there = await contents(external.url)
      await expect(parley(['database', 'move', '--to-embedded'], to)).rejects.toThrow('The target is not empty')
      await rm(path.join(folder, 'data/postgres'), { recursive: true })
      await parley(['database', 'move', '--to-embedded'], to)
      await start()
      expect(await contents(await ownUrl())).toEqual(there)
      await end('SIGTERM')
    } finally {
      await external.drop()
    }
  })
})

async function readLedger(parent: string): Promise<string> {
  const month = new Date().toISOString().slice(0, 7)
  return readFile(path.join(parent, 'ledger', `${month}.ndjson`), 'utf8')
}
