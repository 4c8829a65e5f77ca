import { copyFile, readFile } from 'node:fs/promises'
import path from 'node:path'
import { parse } from 'dotenv'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { removeEndedKeys, replaceKey, selectHeldKeys } from '../../src/areas/api-keys/replace.ts'
import { keysCommand } from '../../src/cli/keys.ts'
import { statement } from '../../src/store/statement.ts'
import { runCommand } from '../cli/command.ts'
import type { ServiceProcess } from '../faults/support/service-process.ts'
import { createStage } from '../faults/support/stage.ts'
import { dataOf } from '../support/chat.ts'
import { createOwnDatabase, databaseUrl, type OwnDatabase } from '../support/own-database.ts'
import { testMasterKey } from '../support/service.ts'
import { until } from '../support/until.ts'
import { createWorld, send, type World } from '../support/world.ts'

describe('parley keys rotate master', () => {
  const stage = createStage()
  let own: OwnDatabase
  beforeAll(async () => {
    own = await createOwnDatabase()
  })
  afterAll(async () => {
    await stage.clean()
    await own.drop()
  })

  it('changes it under load on two machines: no request fails, nothing that was secret is lost, the old one ends on command', async () => {
    const folders = [stage.makeFolder(), stage.makeFolder()] as const
    const keysOf = (folder: string) => path.join(folder, 'keys.env')
    // Keys that the environment does not give are in the folder.
    const launch = (folder: string) =>
      stage.launch({
        DATABASE_URL: own.url,
        DATA_DIR: folder,
        PARLEY_MASTER_KEY: '',
        PARLEY_API_KEY: '',
        LOG_LEVEL: 'info',
      })
    const first = launch(folders[0])
    const urls = [await first.ready]
    await copyFile(keysOf(folders[0]), keysOf(folders[1]))
    const second = launch(folders[1])
    urls.push(await second.ready)
    const apikey = parse(await readFile(keysOf(folders[0]))).PARLEY_API_KEY as string
    const call = (at: number, method: string, where: string, body?: unknown) =>
      send(urls[at] as string, method, where, body, { appid: 'parley', apikey })
    const rotate = (folder: string, ...args: string[]) =>
      runCommand(keysCommand, args, { DATABASE_URL: own.url, DATA_DIR: folder, PARLEY_MASTER_KEY: '' })

    dataOf(await call(0, 'POST', '/users', { uid: 'alice', name: 'Alice' }))
    // Somebody else has the tokens of the load: beyond a hundred the oldest of a user go.
    dataOf(await call(0, 'POST', '/users', { uid: 'bob', name: 'Bob' }))
    dataOf(
      await call(0, 'POST', '/groups', { guid: 'closed', name: 'Closed', type: 'password', password: 'open sesame' }),
    )
    const { authToken } = dataOf(await call(0, 'POST', '/users/alice/auth_tokens'))
    const expectAll = async (at: number) => {
      const tokens = dataOf(await call(at, 'GET', '/users/alice/auth_tokens'))
      expect(tokens.map((one: { authToken: string }) => one.authToken)).toContain(authToken)
      const me = await send(urls[at] as string, 'GET', '/me', undefined, { appid: 'parley', authtoken: authToken })
      expect(dataOf(me).uid).toBe('alice')
      expect((await call(at, 'GET', '/apikeys')).body.data.map((key: { apiKey: string }) => key.apiKey)).toContain(
        apikey,
      )
    }

    let isOver = false
    const statuses = new Map<number, number>()
    const load = [0, 1].map(async (at) => {
      while (!isOver) {
        for (const [method, where] of [
          ['POST', '/users/bob/auth_tokens'],
          ['GET', '/users/bob/auth_tokens'],
          ['GET', '/apikeys'],
        ] as const) {
          const { status } = await call(at, method, where)
          statuses.set(status, (statuses.get(status) ?? 0) + 1)
        }
      }
    })

    const begun = await rotate(folders[0], 'rotate', 'master')
    expect(begun).toMatchObject({ code: 0, err: '' })
    expect(begun.out).toContain('parley keys rotate master --finish')
    const [before, after] = [await readFile(keysOf(folders[1]), 'utf8'), await readFile(keysOf(folders[0]), 'utf8')]
    expect(parse(after)).toEqual({ ...parse(before), PARLEY_MASTER_KEY: expect.stringMatching(/^[0-9a-f]{64}$/) })
    expect(parse(after).PARLEY_MASTER_KEY).not.toBe(parse(before).PARLEY_MASTER_KEY)
    const copy = /in (\S+keys\.env\.before-\w+):/.exec(begun.out)?.[1] as string
    expect(await readFile(copy, 'utf8')).toBe(before)

    // The second machine would start with the old one: it is not ended.
    const tooEarly = await rotate(folders[1], 'rotate', 'master', '--finish')
    expect(tooEarly).toMatchObject({ code: 1, err: expect.stringContaining('Put the new one in its place first') })
    await copyFile(keysOf(folders[0]), keysOf(folders[1]))
    const finished = await rotate(folders[0], 'rotate', 'master', '--finish')
    expect(finished).toMatchObject({ code: 0, err: '' })
    await until(() => [first, second].every((service) => service.output().includes('now using the new master key')))
    isOver = true
    await Promise.all(load)
    expect([...statuses.keys()]).toEqual([200])
    for (const at of [0, 1]) await expectAll(at)
    const status = await rotate(folders[0], 'status')
    expect(status.out).toMatch(/^master key \w{16}: the present one, since /)
    expect(status.out.match(/^process /gm)).toHaveLength(2)

    // A restart with the new one finds everything; with the old one it is refused, and says when it was changed.
    await stop(first)
    urls[0] = await launch(folders[0]).ready
    await expectAll(0)
    const asAlice = { appid: 'parley', apikey, onbehalfof: 'alice' }
    const joined = await send(urls[0], 'POST', '/groups/closed/members', { password: 'open sesame' }, asAlice)
    expect(joined.status).toBe(200)
    await stop(second)
    await copyFile(copy, keysOf(folders[1]))
    const lost = launch(folders[1])
    expect(await lost.exited).toMatchObject({ code: 1 })
    expect(lost.output()).toMatch(/The master key is not the one .* It was changed on .* Set PARLEY_MASTER_KEY/)
  })

  it('takes a file for the new one where the environment gives the old one, and can be taken back', async () => {
    const keyFile = path.join(stage.makeFolder(), 'master')
    const database = await createOwnDatabase()
    stage.onClean(() => database.drop())
    const environment = { DATABASE_URL: database.url, DATA_DIR: stage.makeFolder(), PARLEY_MASTER_KEY: 'c'.repeat(64) }
    const keys = (...args: string[]) => runCommand(keysCommand, args, environment)
    expect(await keys('rotate', 'master')).toMatchObject({
      code: 1,
      err: expect.stringContaining('PARLEY_MASTER_KEY: name a file'),
    })
    expect(await keys('rotate', 'master', '--key-file', keyFile)).toMatchObject({ code: 0 })
    expect(await keys('rotate', 'master', '--key-file', keyFile)).toMatchObject({
      code: 1,
      err: expect.stringContaining('being changed already'),
    })
    expect(await keys('rotate', 'master', '--abandon')).toMatchObject({ code: 0 })
    expect(await keys('rotate', 'master', '--key-file', keyFile)).toMatchObject({ code: 0 })
    environment.PARLEY_MASTER_KEY = (await readFile(keyFile, 'utf8')).trim()
    expect(await keys('rotate', 'master', '--finish')).toMatchObject({ code: 0, err: '' })
    expect(await keys('rotate', 'master', '--finish')).toMatchObject({ code: 1 })
    const client = new pg.Client(database.connection)
    await client.connect()
    const { rows } = await client.query(
      `select details->>'step' as step, target from audit_log where action = 'master_key_changed' order by id`,
    )
    await client.end()
    expect(rows.map(({ step }) => step)).toEqual(['begun', 'taken back', 'begun', 'ended'])
    expect(new Set(rows.map(({ target }) => target)).size).toBe(1)
    environment.PARLEY_MASTER_KEY = 'c'.repeat(64)
    expect(await keys('status')).toMatchObject({ code: 3, err: expect.stringContaining('It was changed on') })
  })

  const stop = async (service: ServiceProcess) => {
    service.signal('SIGTERM')
    await service.exited
  }
})

describe('parley keys rotate api and auth', () => {
  const environment = () => ({ DATABASE_URL: databaseUrl(inject('connection')), PARLEY_MASTER_KEY: testMasterKey })
  const keys = (...args: string[]) => runCommand(keysCommand, args, environment())
  const statusWith = async ({ url, app }: World, apikey: string) =>
    (await send(url, 'GET', '/users/nobody', undefined, { appid: app.name, apikey })).status

  it('makes another key beside the old one, says how that is ended, and ends it', async () => {
    const world = await createWorld()
    const app = world.app.name
    for (const [kind, old] of [
      ['api', world.apiKey],
      ['auth', world.authKey],
    ] as const) {
      const made = await keys('rotate', kind, '--app', app)
      expect(made.code).toBe(0)
      const fresh = made.out.trim()
      expect(fresh).toMatch(/^[0-9a-f]{40}$/)
      expect(made.err).toMatch(/The old key \([0-9a-f]{8}, \w+\) goes on working until you end it: parley keys rotate/)
      expect(made.err).not.toContain(old)
      for (const key of [old, fresh]) expect(await statusWith(world, key)).not.toBe(401)
      const ended = await keys('rotate', kind, '--end', '--app', app)
      expect(ended).toMatchObject({
        code: 0,
        err: '',
        out: expect.stringMatching(/^[0-9a-f]{8} opens nothing any more\n$/),
      })
      await until(async () => (await statusWith(world, old)) === 401)
      expect(await statusWith(world, fresh)).not.toBe(401)
      expect(await keys('rotate', kind, '--end', '--app', app)).toMatchObject({ code: 1 })
    }
  })

  it('leaves its users to a key that is confined to those it created: beside the new one, and after it', async () => {
    const world = await createWorld()
    const { url, app, context, authKey } = world
    dataOf(await world.call('PATCH', `/apps/${app.name}/settings`, { authKeys: 'createOnly' }))
    const create = (apikey: string, uid: string) =>
      send(url, 'POST', '/users', { uid, name: uid }, { appid: app.name, apikey })
    const tokenOf = async (apikey: string, uid: string) =>
      (await send(url, 'POST', `/users/${uid}/auth_tokens`, {}, { appid: app.name, apikey })).status
    const replace = async (apikey: string, endsAt: number | null = null) => {
      const old = (await selectHeldKeys(context, app.appId)).find((key) => key.apiKey === apikey)
      return ((await replaceKey(context, app.appId, old as NonNullable<typeof old>, endsAt)) as { apiKey: string })
        .apiKey
    }
    const other = dataOf(await world.post('/apikeys', { name: 'other front', scope: 'authOnly' })).apiKey
    dataOf(await world.post('/users', { uid: 'of-backend', name: 'B' }))
    dataOf(await create(other, 'of-other'))
    dataOf(await create(authKey, 'alice'))

    const second = (await keys('rotate', 'auth', '--app', app.name, '--key', authKey)).out.trim()
    dataOf(await create(authKey, 'bob'))
    dataOf(await create(second, 'carol'))
    for (const uid of ['alice', 'bob', 'carol']) {
      for (const key of [authKey, second]) expect(await tokenOf(key, uid), uid).toBe(200)
    }
    // A process of an older version that still serves beside it notes the key itself.
    dataOf(await create(second, 'erin'))
    const noteAsBefore = statement('update users set created_by_key = $3 where app_id = $1 and uid = $2')
    await context.database.query(noteAsBefore, [app.appId, 'erin', context.secrets.digest(second)])
    expect([await tokenOf(second, 'erin'), await tokenOf(other, 'erin')]).toEqual([200, 403])
    const third = await replace(second)
    dataOf(await create(third, 'dave'))
    expect((await keys('rotate', 'auth', '--end', '--app', app.name)).code).toBe(0)
    await until(async () => (await tokenOf(second, 'alice')) === 401)
    const fourth = await replace(third, Math.floor(Date.now() / 1000) - 1)
    await removeEndedKeys(context, Math.floor(Date.now() / 1000))
    const fifth = await replace(fourth)
    dataOf(await world.delete(`/apikeys/${fourth}`))
    for (const uid of ['alice', 'bob', 'carol', 'dave', 'erin']) expect(await tokenOf(fifth, uid), uid).toBe(200)
    for (const uid of ['of-backend', 'of-other']) expect(await tokenOf(fifth, uid), uid).toBe(403)
    expect(await tokenOf(other, 'alice')).toBe(403)
  })

  it('asks which key is meant where there are several, and takes its digits', async () => {
    const world = await createWorld()
    dataOf(await world.post('/apikeys', { name: 'another', scope: 'fullAccess' }))
    const asked = await keys('rotate', 'api', '--app', world.app.name)
    expect(asked.code).toBe(1)
    const digits = /^ {2}([0-9a-f]{8}) {2}another$/m.exec(asked.err)?.[1] as string
    const made = await keys('rotate', 'api', '--app', world.app.name, '--key', digits, '--ends-in', '7d')
    expect(made).toMatchObject({
      code: 0,
      err: expect.stringMatching(/another\) goes on working until \d{4}-.*Z, or until you end it/),
    })
    expect(await keys('rotate', 'api', '--app', world.app.name, '--key', digits)).toMatchObject({ code: 1 })
    for (const wrong of [
      ['rotate'],
      ['rotate', 'api', '--finish'],
      ['rotate', 'master', '--app', 'x'],
      ['rotate', 'api', '--ends-in', 'soon'],
    ]) {
      expect((await keys(...wrong)).code).toBe(2)
    }
  })

  it('ends the old one by itself when its time is over: from then on it opens nothing, and it stays away', async () => {
    const world = await createWorld()
    const { context, app } = world
    const old = (await selectHeldKeys(context, app.appId)).find(({ apiKey }) => apiKey === world.apiKey)
    const now = Math.floor(Date.now() / 1000)
    const fresh = await replaceKey(context, app.appId, old as NonNullable<typeof old>, now - 1)
    expect(await statusWith(world, world.apiKey)).toBe(401)
    await removeEndedKeys(context, now)
    const names = (await selectHeldKeys(context, app.appId)).map(({ apiKey }) => apiKey)
    expect(names.toSorted()).toEqual([world.authKey, fresh?.apiKey].toSorted())
  })
})
