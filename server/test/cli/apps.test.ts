import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import path from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, inject, it } from 'vitest'
import { dataOf } from '../support/chat.ts'
import { sharedService, testMasterKey } from '../support/service.ts'
import { send } from '../support/world.ts'

const run = promisify(execFile)
const cli = path.join(import.meta.dirname, '../../dist/cli/main.js')

/** Runs `parley apps` on the database of the tests. */
async function apps(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const { host, port, user, password, database } = inject('connection')
  const url = `postgresql://${user}:${password}@localhost:${port}/${database}?host=${encodeURIComponent(host)}`
  const env = { ...process.env, DATABASE_URL: url, PARLEY_MASTER_KEY: testMasterKey }
  try {
    const { stdout, stderr } = await run(process.execPath, [cli, 'apps', ...args], { env })
    return { code: 0, out: stdout, err: stderr }
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string }
    return { code, out: stdout, err: stderr }
  }
}

const newName = () => `cli-${randomBytes(6).toString('hex')}`

describe('parley apps', () => {
  it('creates an app with keys of its own, which a running service knows at once', async () => {
    const { url } = await sharedService()
    const name = newName()
    const { code, out } = await apps('create', name.toUpperCase(), '--region', 'eu')
    expect(code).toBe(0)
    const apiKey = /REST API Key +([0-9a-f]{40})/.exec(out)?.[1] as string
    const user = { uid: 'alice', name: 'Alice' }
    expect(dataOf(await send(url, 'POST', '/users', user, { appid: name, apikey: apiKey })).uid).toBe('alice')
    const { code: again, err } = await apps('create', name)
    expect([again, err]).toEqual([1, `parley apps: there is an app ${name} already\n`])
    expect((await apps('list')).out).toContain(`${name}\teu\t`)
    const { out: keys } = await apps('keys', name)
    expect(keys).toContain(`${apiKey}\tfullAccess\tREST API Key`)
    const { out: another } = await apps('keys', name, '--create', 'fullAccess', '--name', 'Second')
    const second = another.split('\t')[0] as string
    expect(dataOf(await send(url, 'GET', '/users/alice', undefined, { appid: name, apikey: second })).uid).toBe('alice')
  })

  it('changes settings, which a running service obeys', async () => {
    const { url } = await sharedService()
    const name = newName()
    const { out } = await apps('create', name)
    const apiKey = /REST API Key +([0-9a-f]{40})/.exec(out)?.[1] as string
    const read = async () =>
      dataOf(await send(url, 'GET', `/apps/${name}/settings`, undefined, { appid: name, apikey: apiKey }))
    expect((await read()).maxBots).toBe(25)
    expect((await apps('set', name, 'maxBots=2', 'addMembers=friends')).out).toContain('maxBots=2\n')
    await expect.poll(async () => (await read()).maxBots, { timeout: 30_000 }).toBe(2)
    expect((await apps('set', name, 'maxBots=')).out).toContain('maxBots=25\n')
    expect((await apps('set', name)).out).toContain('addMembers=friends\n')
  })

  it.each([
    [2, ['fly']],
    [2, []],
    [2, ['create', 'a b']],
    [2, ['create', 'x', '--region', 'moon']],
    [2, ['create', 'x', '--colour', 'red']],
    [1, ['keys', 'nobody-knows-it']],
    [1, ['set', 'nobody-knows-it', 'maxBots=1']],
  ])('ends with %i for %j', async (code, args) => {
    const { code: ended, err } = await apps(...args)
    expect(ended, err).toBe(code)
    expect(err).toMatch(/^parley apps: /)
  })
})
