import { execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { sql } from 'kysely'
import { describe, expect, inject, it } from 'vitest'
import { linkEntries } from '../../src/chat/audit/chain.ts'
import { appsCommand } from '../../src/cli/apps.ts'
import { auditCommand } from '../../src/cli/audit.ts'
import { dataOf } from '../support/chat.ts'
import { databaseUrl } from '../support/own-database.ts'
import { sharedService, testMasterKey } from '../support/service.ts'
import { send } from '../support/world.ts'
import { type Ended, runCommand } from './command.ts'

const run = promisify(execFile)
const cli = path.join(import.meta.dirname, '../../dist/cli/main.js')

/** What a command finds of the database of the tests. */
function environment(): Record<string, string> {
  return { DATABASE_URL: databaseUrl(inject('connection')), PARLEY_MASTER_KEY: testMasterKey }
}

/** Runs `parley` as a process, as an operator does; each costs a start, so most tests call the command itself. */
async function parleyProcess(...args: string[]): Promise<Ended> {
  try {
    const { stdout, stderr } = await run(process.execPath, [cli, ...args], {
      env: { ...process.env, ...environment() },
    })
    return { code: 0, out: stdout, err: stderr }
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string }
    return { code, out: stdout, err: stderr }
  }
}

const apps = (...args: string[]) => runCommand(appsCommand, args, environment())
const audit = (...args: string[]) => runCommand(auditCommand, args, environment())

const newName = () => `cli-${randomBytes(6).toString('hex')}`

describe('parley apps', () => {
  it('creates an app with keys of its own, which a running service knows at once', async () => {
    const { url } = await sharedService()
    const name = newName()
    const { code, out, err: told } = await parleyProcess('apps', 'create', name.toUpperCase(), '--region', 'eu')
    expect([code, told]).toEqual([0, ''])
    const apiKey = /REST API Key +([0-9a-f]{40})/.exec(out)?.[1] as string
    const user = { uid: 'alice', name: 'Alice' }
    expect(dataOf(await send(url, 'POST', '/users', user, { appid: name, apikey: apiKey })).uid).toBe('alice')
    const { code: again, err } = await parleyProcess('apps', 'create', name)
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
    await expect.poll(async () => (await read()).maxBots).toBe(2)
    expect((await apps('set', name, 'maxBots=')).out).toContain('maxBots=25\n')
    expect((await apps('set', name)).out).toContain('addMembers=friends\n')
  })

  it('refuses what the API refuses, and changes nothing then', async () => {
    const name = newName()
    await apps('create', name)
    const { out: before } = await apps('set', name)
    for (const [wrong, bounds] of [
      ['fileLinkSeconds=0', '60 to 604800'],
      ['smsMaxSegments=11', '1 to 10'],
      ['notificationLogDays=0', '1 to 365'],
      ['messageRetentionDays=36501', '0 to 36500'],
      [`jwtIssuer=${'x'.repeat(501)}`, 'at most 500 characters'],
      [`jwtKeysUrl=https://keys.example.com/${'x'.repeat(1000)}`, 'at most 1000 characters'],
    ] as const) {
      const { code, err } = await apps('set', name, 'maxBots=2', wrong)
      expect([code, err], wrong).toEqual([2, expect.stringContaining(bounds)])
    }
    expect((await apps('set', name)).out).toBe(before)
  })

  it('pauses an app and lets it go on, which a running service obeys', async () => {
    const { url } = await sharedService()
    const name = newName()
    const { out } = await apps('create', name)
    const apiKey = /REST API Key +([0-9a-f]{40})/.exec(out)?.[1] as string
    const status = async () => (await send(url, 'GET', '/users', undefined, { appid: name, apikey: apiKey })).status
    expect(await status()).toBe(200)
    expect(await apps('pause', name)).toEqual({ code: 0, out: '', err: '' })
    await expect.poll(status).toBe(503)
    expect((await apps('list')).out).toMatch(new RegExp(`^${name}\tus\t\\S+\tpaused since \\S+$`, 'm'))
    expect(await apps('pause', name)).toMatchObject({
      code: 1,
      err: `parley apps: The app ${name} is paused already.\n`,
    })
    expect((await apps('resume', name.toUpperCase())).code).toBe(0)
    await expect.poll(status).toBe(200)
    expect(await apps('resume', name)).toMatchObject({ code: 1, err: `parley apps: The app ${name} is not paused.\n` })
    expect((await audit(name)).out).toMatch(/"app_resumed".*\n.*"app_paused".*"caller":"command"/)
  })

  it('deletes an app after seven days, unless that is taken back', async () => {
    const name = newName()
    await apps('create', name)
    expect(await apps('delete', name)).toMatchObject({ code: 2 })
    expect(await apps('delete', name, '--confirm', 'another')).toMatchObject({
      code: 1,
      err: `parley apps: --confirm is not ${name}\n`,
    })
    expect(await apps('delete', name, '--confirm', name)).toEqual({ code: 0, out: '', err: '' })
    expect((await apps('list')).out).toMatch(
      new RegExp(`^${name}\tus\t\\S+\tpaused since \\S+, removed from \\S+ on$`, 'm'),
    )
    expect((await apps('delete', name, '--confirm', name)).code).toBe(1)
    expect((await apps('resume', name)).err).toContain('take that back first')
    expect((await apps('undelete', name)).code).toBe(0)
    expect(await apps('undelete', name)).toMatchObject({ code: 1 })
    expect((await apps('list')).out).toMatch(new RegExp(`^${name}\tus\t\\S+\tpaused since \\S+$`, 'm'))
    expect((await apps('delete', 'parley', '--confirm', 'parley')).err).toContain('APP_ID')
  })

  it.each([
    [2, ['fly']],
    [2, []],
    [2, ['create', 'a b']],
    [2, ['create', 'x', '--region', 'moon']],
    [2, ['create', 'x', '--colour', 'red']],
    [1, ['keys', 'nobody-knows-it']],
    [1, ['set', 'nobody-knows-it', 'maxBots=1']],
    [1, ['pause', 'nobody-knows-it']],
    [2, ['pause']],
  ])('ends with %i for %j', async (code, args) => {
    const { code: ended, err } = await apps(...args)
    expect(ended, err).toBe(code)
    expect(err).toMatch(/^parley apps: /)
  })

  it('ends as a process with what the command says', async () => {
    const { code, out, err } = await parleyProcess('apps', 'fly')
    expect({ code, out, err }).toEqual(await apps('fly'))
  })
})

describe('parley audit', () => {
  it('prints what the command line and others did to an app, newest first', async () => {
    const name = newName()
    await apps('create', name)
    await apps('set', name, 'maxBots=3')
    const { code, out } = await parleyProcess('audit', name.toUpperCase())
    expect(code).toBe(0)
    const entries = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(entries.map(({ action }: { action: string }) => action)).toEqual([
      ...['app_settings_updated', 'apikey_created', 'apikey_created', 'app_created'],
    ])
    expect(entries[0]).toMatchObject({ actor: { caller: 'command' }, details: { after: { maxBots: 3 } } })
    const { out: filtered } = await audit(name, '--action', 'apikey_created', '--limit', '1')
    expect(filtered.trimEnd().split('\n').length).toBe(1)
    expect(JSON.parse(filtered).action).toBe('apikey_created')
  })

  it('exports all of it, page after page, and proves that it is as it was written', async () => {
    const name = newName()
    await apps('create', name)
    for (let n = 1; n <= 3; n++) await apps('set', name, `maxBots=${n}`)
    const linesOf = ({ out }: Ended) => out.trimEnd().split('\n')
    expect(linesOf(await audit(name, '--limit', '2')).length).toBe(2)
    expect(linesOf(await audit(name, '--all')).length).toBe(6)
    const verified = await parleyProcess('audit', '--verify', name)
    expect(verified.code).toBe(0)
    expect(verified.out).toMatch(new RegExp(`^${name}: as it was written. 6 entries.* Ends at (\\d+:[0-9a-f]*)\n$`))
    const told = `999999:${'a'.repeat(24)}`
    expect(await audit('--verify', name, '--head', told)).toMatchObject({
      ...{ code: 1, out: expect.stringContaining('the entry 999999 that was noted is not in the chain') },
    })
    const service = await sharedService()
    const { apps: registry, database, secrets } = service.parley.context
    const app = await registry.find(name)
    await linkEntries(database, secrets)
    await database.run(sql`
      insert into audit_log (app_id, created_at, action, caller, target_type, target)
      values (${app?.appId}, 1, 'role_created', 'service', 'role', 'forged')`)
    const found = await audit('--verify', name)
    expect(found.code).toBe(1)
    expect(found.out).toContain('has no seal')
    expect((await audit('--operators', '--limit', '1')).code).toBe(0)
  })

  it('ends without an error when nobody reads on', async () => {
    const name = newName()
    await apps('create', name)
    for (const args of [['audit', name, '--all'], ['audit', name], ['audit', '--help'], ['apps', 'list'], ['--help']]) {
      const child = spawn(process.execPath, [cli, ...args], { env: { ...process.env, ...environment() } })
      child.stdout.destroy()
      const [said, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')])
      expect([code, said], args.join(' ')).toEqual([0, ''])
    }
  })

  it('says what is wrong', async () => {
    expect(await audit('--verify', '--action', 'role_created')).toMatchObject({ code: 2 })
    expect(await audit('parley', '--head', '1:aa')).toMatchObject({ code: 2 })
    expect(await audit('parley', '--operators')).toMatchObject({ code: 2 })
    expect(await audit(newName())).toMatchObject({ code: 1, err: expect.stringContaining('there is no app') })
    expect(await audit()).toMatchObject({ code: 2, err: expect.stringContaining('Usage:') })
    expect(await audit('parley', '--action', 'x')).toMatchObject({ code: 2 })
    expect(await audit('parley', '--limit', '0')).toMatchObject({ code: 2 })
  })
})
