import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { replaceKey, selectHeldKeys } from '../../src/areas/api-keys/replace.ts'
import { pauseApp } from '../../src/areas/apps/index.ts'
import { createAudit } from '../../src/chat/audit/audit.ts'
import { ExportStopped } from '../../src/cli/export/export.ts'
import { readManifest } from '../../src/cli/export/manifest.ts'
import { ExactRefusal, ExactStopped } from '../../src/cli/import/exact/failures.ts'
import { importCommand, systemClock } from '../../src/cli/import/run.ts'
import { findDrift } from '../../src/doctor/drift.ts'
import { createFolderStorage } from '../../src/media/folder.ts'
import { routes } from '../../src/routes.ts'
import { migrationLock } from '../../src/store/migrate.ts'
import { statement } from '../../src/store/statement.ts'
import { furnishInOrder } from '../http/in-order.ts'
import { furnish, type Sample, samples } from '../http/samples.ts'
import { pathOf, queryOf } from '../http/watched.ts'
import { createGroup, dataOf, refusal, say, sayInGroup } from '../support/chat.ts'
import {
  emptyApp,
  expectSame,
  exportOf,
  importInto,
  linesOf,
  origin,
  recordsOf,
  secretsOf,
  thereAndBack,
  withFolder,
} from '../support/exports.ts'
import { picture, sendForm, toBob } from '../support/forms.ts'
import { groupText, importWell } from '../support/imports.ts'
import { createOwnServices } from '../support/own-services.ts'
import { flag, makePending, moderatedWorld, review, takeRulesAway } from '../support/review.ts'
import { mediaFolder } from '../support/service.ts'
import { until } from '../support/until.ts'
import { createUsers, createWorld, send, servedBy, type World } from '../support/world.ts'
import { collect } from './import-world.ts'

takeRulesAway()

describe('an export, imported into an empty app', () => {
  it('is the same when it is exported again: whatever the operations of the API have made', async () => {
    const { world, ids } = await furnishInOrder(furnish)
    const isMild = (id: string) => !/^(delete|remove|flush|purge|pause)|deactivate|leave|reset/.test(id)
    for (const { operation } of routes) {
      if (operation.method === 'GET' || !isMild(operation.id) || operation.area === 'Apps') continue
      const { params, query, body, as, token }: Sample = samples[operation.id]?.(ids) ?? {}
      const who = { ...(as !== undefined && { as }), ...(token !== undefined && { token }) }
      await world.call(operation.method, pathOf(operation, params) + queryOf(query), body, who)
    }
    await thereAndBack(world, async (first, second, target) => {
      await expectSame(first, second)
      const { files } = (await readManifest(first)) as { files: Record<string, { records: number }> }
      const filled = Object.keys(files).filter((name) => (files[name]?.records ?? 0) > 0)
      expect(filled.length).toBeGreaterThan(30)
      expect(await findDrift(world.context.database, target.appId)).toEqual([])
    })
  })

  it('leaves its users to a key that was replaced, while the old one goes on and after it', async () => {
    const world = await createWorld()
    const { url, app, context, authKey } = world
    dataOf(await world.call('PATCH', `/apps/${app.name}/settings`, { authKeys: 'createOnly' }))
    const ended = dataOf(await world.post('/apikeys', { name: 'ended', scope: 'authOnly' })).apiKey
    const create = async (apikey: string, uid: string) =>
      dataOf(await send(url, 'POST', '/users', { uid, name: uid }, { appid: app.name, apikey }))
    const replace = async (apikey: string): Promise<string> => {
      const old = (await selectHeldKeys(context, app.appId)).find((key) => key.apiKey === apikey)
      const { apiKey } = (await replaceKey(context, app.appId, old as NonNullable<typeof old>, null)) ?? {}
      return apiKey as string
    }
    await create(authKey, 'alice')
    await create(ended, 'bob')
    const [second, after] = [await replace(authKey), await replace(ended)]
    for (const uid of ['carol', 'dave']) await create(second, uid)
    // As a process of an older version notes it, which serves beside this one for a while.
    const noteAsBefore = statement('update users set created_by_key = $3 where app_id = $1 and uid = $2')
    await context.database.query(noteAsBefore, [app.appId, 'dave', context.secrets.digest(second)])
    dataOf(await world.delete(`/apikeys/${ended}`))
    await thereAndBack(world, async (first, again, target) => {
      await expectSame(first, again)
      const tokenOf = async (apikey: string, uid: string) =>
        (await send(url, 'POST', `/users/${uid}/auth_tokens`, {}, { appid: target.name, apikey })).status
      for (const uid of ['alice', 'carol', 'dave']) {
        expect(await Promise.all([authKey, second, after].map((key) => tokenOf(key, uid))), uid).toEqual([
          200, 200, 403,
        ])
      }
      expect(await Promise.all([authKey, second, after].map((key) => tokenOf(key, 'bob')))).toEqual([403, 403, 200])
    })
  })

  it('is the same for what moderation holds, has stopped, and what reviewers did', async () => {
    const world = await moderatedWorld('alice', 'bob')
    await createGroup(world, 'team', 'alice', { participants: ['bob'] })
    const stopped = await sayInGroup(world, 'bob', 'team', 'this is bad')
    await sayInGroup(world, 'bob', 'team', 'wait for it')
    const seen = await sayInGroup(world, 'bob', 'team', 'flag this')
    await flag(world, seen.id, 'alice', {})
    await review(world, 'blocked', stopped.id, { decision: 'approve' })
    await thereAndBack(world, async (first, second, target) => {
      await expectSame(first, second)
      expect(await linesOf(first, 'moderated.ndjson')).not.toHaveLength(0)
      expect(await linesOf(first, 'decisions.ndjson')).not.toHaveLength(0)
      expect(await findDrift(world.context.database, target.appId)).toEqual([])
    })
  })

  it('shows everybody what they saw: messages, unread counts, receipts, searches, tokens, files', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol')
    await createGroup(world, 'team', 'alice', { participants: ['bob', 'carol'] })
    const first = await say(world, 'alice', 'bob', 'hello\u2028giraffe\r\n\u{1F992}')
    const reply = { receiver: 'alice', receiverType: 'user', data: { text: 'yes' }, parentId: first.id }
    dataOf(await world.post('/messages', { ...reply, quotedMessageId: undefined }, { as: 'bob' }))
    dataOf(await world.post(`/messages/${first.id}/reactions/👍`, undefined, { as: 'bob' }))
    const gone = await say(world, 'bob', 'alice', 'gone for good')
    dataOf(await world.delete(`/messages/${gone.id}`, { permanent: true }, { as: 'bob' }))
    await sayInGroup(world, 'bob', 'team', 'good morning')
    const { id: upTo } = await sayInGroup(world, 'bob', 'team', 'is anybody there?')
    await sayInGroup(world, 'bob', 'team', 'no?')
    dataOf(await world.post(`/groups/team/conversation/read`, { messageId: upTo }, { as: 'carol' }))
    dataOf(await sendForm(world, toBob, [picture], { as: 'alice' }))
    const { authToken } = dataOf(await world.post('/users/carol/auth_tokens', {}))

    await thereAndBack(world, async (one, two, target) => {
      await expectSame(one, two)
      const moved = servedBy({ ...world, app: { ...target, region: 'us' } } as World, world.url)
      const withKey = (path: string, as?: string) =>
        moved.get(path, { headers: { appid: target.name, apikey: world.apiKey }, ...(as && { as }) })
      for (const as of ['alice', 'bob', 'carol']) {
        for (const path of [
          '/conversations',
          '/messages?limit=1000',
          '/groups/team/messages',
          '/users/alice/messages',
        ]) {
          if (path === `/users/${as}/messages`) continue
          const [was, is] = [await world.get(path, { as }), await withKey(path, as)]
          expect({ as, path, body: comparable(is.body, target.name, origin) }).toEqual({
            ...{ as, path },
            body: comparable(was.body, world.app.name, world.url),
          })
        }
      }
      expect(dataOf(await withKey('/messages?searchKey=giraffe')).map(({ id }: { id: string }) => id)).toEqual([
        first.id,
      ])
      const me = await fetch(`${world.url}/v3/me`, { headers: { authtoken: authToken, appid: target.name } })
      expect(((await me.json()) as { data: { uid: string } }).data.uid).toBe('carol')
      const sent = dataOf(
        await moved.post(
          '/messages',
          { receiver: 'bob', receiverType: 'user', data: { text: 'after' } },
          { as: 'alice', headers: { appid: target.name } },
        ),
      )
      expect(Number(sent.id)).toBeGreaterThan(Number(upTo))
      const media = (await recordsOf(one, 'media.ndjson'))[0] as { key: string; size: number }
      expect((await readFile(path.join(one, 'files', media.key))).length).toBe(media.size)
    })
  })
})

describe('an export of a service with another master key', () => {
  it('makes the same app: tokens, keys and passwords of groups are good, and it is the same when it is exported again', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    await createGroup(world, 'locked', 'alice', {}, { type: 'password', password: 'Open Sesame' })
    await say(world, 'alice', 'bob', 'hello')
    dataOf(await sendForm(world, toBob, [picture], { as: 'alice' }))
    const { authToken } = dataOf(await world.post('/users/bob/auth_tokens', {}))
    const services = await createOwnServices()
    onTestFinished(() => services.close())
    const { parley, url } = await services.start({}, { masterKey: '5a'.repeat(32) })
    await withFolder((first) =>
      withFolder(async (second) => {
        await exportOf(world.context, world.app, first)
        const app = await emptyApp(parley.context)
        const storage = createFolderStorage(services.mediaDir)
        await importInto(parley.context, app, first, {}, { storage })
        await exportOf(parley.context, app, second, { services })
        await expectSame(first, second)

        const moved = servedBy({ ...world, app: { ...app, region: 'us' } }, url)
        expect(dataOf(await moved.get('/me', { token: authToken })).uid).toBe('bob')
        const join = (password: string) => moved.post('/groups/locked/members', { password }, { token: authToken })
        expect(refusal(await join('Open Sesam'))).toBe('403 ERR_WRONG_GROUP_PASS')
        expect(dataOf(await join('Open Sesame')).data.action).toBe('joined')
        expect(await findDrift(parley.context.database, app.appId)).toEqual([])
      }),
    )
  })
})

/** An answer without what names the app and its address. */
function comparable(body: unknown, app: string, address: string): unknown {
  return JSON.parse(
    JSON.stringify(body)
      .replaceAll(app, '<app>')
      .replaceAll(address, '<origin>')
      .replaceAll(/https?:\/\/[^/"]+\/media/g, '<origin>/media'),
  )
}

describe('an export', () => {
  it('is what there was at one moment, while people go on', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    await say(world, 'alice', 'bob', 'before')
    await withFolder(async (folder) => {
      let wrote: Promise<unknown> | undefined
      await exportOf(world.context, world.app, folder, {
        onProgress: (file) => {
          if (file === 'users.ndjson') wrote ??= say(world, 'bob', 'alice', 'meanwhile')
        },
      })
      expect((await wrote) !== undefined).toBe(true)
      const texts = (await recordsOf(folder, 'messages.ndjson')).map(({ data }) => (data as { text: string }).text)
      expect(texts).toEqual(['before'])
    })
  })

  it('waits for a service that starts beside it and looks whether there is something to migrate', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice')
    await withFolder(async (folder) => {
      const { database } = world.context
      const exported = await database.transaction(async (tx) => {
        await tx.query(statement('select pg_advisory_xact_lock($1)'), [migrationLock])
        const exporting = exportOf(world.context, world.app, folder)
        const waits = statement(`
          select from pg_stat_activity
          where application_name = 'parley export' and datname = current_database() and query like '%pg_try_advisory_lock%'`)
        await until(async () => (await database.query(waits)).length > 0)
        return { exporting }
      })
      await exported.exporting
      expect(await recordsOf(folder, 'users.ndjson')).toContainEqual(expect.objectContaining({ uid: 'alice' }))
    })
  })

  it('has secrets only under a passphrase, and then none that can be read without it', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice')
    const { authToken } = dataOf(await world.post('/users/alice/auth_tokens', {}))
    await withFolder(async (folder) => {
      await exportOf(world.context, world.app, folder, { passphraseCost: undefined })
      for (const name of await readdir(folder)) {
        if (name === 'files') continue
        const text = await readFile(path.join(folder, name), 'utf8')
        expect(text.includes(authToken) || text.includes(world.apiKey), name).toBe(false)
      }
      expect((await secretsOf(folder)).join('\n')).toContain(authToken)
      // To try one takes some 300 ms, unlike in other tests.
      expect((await linesOf(folder, 'secrets.ndjson.sealed'))[0]).toContain(
        '"kdf":{"name":"scrypt","N":131072,"r":8,"p":1,',
      )
    })
    await withFolder(async (folder) => {
      await exportOf(world.context, world.app, folder, { passphrase: undefined })
      expect(await readdir(folder)).not.toContain('secrets.ndjson.sealed')
    })
  })

  it('that is stopped is none, and begins anew', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    await withFolder(async (folder) => {
      const stop = new AbortController()
      const stopped = exportOf(world.context, world.app, folder, {
        signal: stop.signal,
        onProgress: (file) => {
          if (file === 'users.ndjson') stop.abort()
        },
      })
      await expect(stopped).rejects.toThrow(ExportStopped)
      expect(await readManifest(folder)).toBeUndefined()
      await exportOf(world.context, world.app, folder)
      expect((await readManifest(folder))?.files['users.ndjson']?.records).toBe(3)
    })
  })

  it('can be imported over the API, too: users, groups, members and messages', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    await createGroup(world, 'team', 'alice', { participants: ['bob'] })
    const { id } = await sayInGroup(world, 'bob', 'team', 'good morning')
    await withFolder(async (folder) => {
      await exportOf(world.context, world.app, folder)
      const target = await createWorld()
      const users = (await recordsOf(folder, 'users.ndjson')).filter(({ uid }) => uid !== 'app_system')
      await importWell(target, 'users', users)
      await importWell(target, 'groups', await recordsOf(folder, 'groups.ndjson'))
      const members = await recordsOf(folder, 'members.ndjson')
      await importWell(target, 'members', members)
      await importWell(target, 'messages', await recordsOf(folder, 'messages.ndjson'))
      expect(dataOf(await target.get(`/messages/${id}`)).data.text).toBe('good morning')

      // By the command, into an app that has messages: it names what it left aside, and tells old and new ids.
      const busy = await createWorld()
      await createUsers(busy, 'zoe', 'yves')
      await say(busy, 'zoe', 'yves', 'was here before')
      const run = async () => {
        const stdout = collect()
        const to = ['--url', busy.url, '--apikey', busy.apiKey, '--app', busy.app.name]
        const surroundings = { stdout, stderr: collect(), env: {}, cwd: folder, clock: systemClock }
        const { signal } = new AbortController()
        return { code: await importCommand([folder, ...to], { ...surroundings, signal }), stdout: stdout.text() }
      }
      const first = await run()
      expect(first).toMatchObject({ code: 0 })
      expect(first.stdout).toContain('Left aside, as only parley import --exact takes it:')
      expect(first.stdout).toMatch(/states\.ndjson +Marks, unread pointers.*\(2\)/)
      expect(first.stdout).not.toContain('friends.ndjson')
      const pairs = await recordsOf(folder, 'ids.ndjson')
      const byFrom = (one: { from?: unknown }, other: { from?: unknown }) => Number(one.from) - Number(other.from)
      const found = pairs.find(({ from }) => from === id)
      expect(dataOf(await busy.get(`/messages/${found?.to}`)).data.text).toBe('good morning')
      expect(await run()).toMatchObject({ code: 0, stdout: expect.stringContaining('New ids were drawn for') })
      expect((await recordsOf(folder, 'ids.ndjson')).toSorted(byFrom)).toEqual(pairs.toSorted(byFrom))
    })
  })

  it('that is imported over the API keeps what deleted users wrote in groups, and the replies to it', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol')
    await createGroup(world, 'team', 'alice', { participants: ['bob', 'carol'] })
    const root = await sayInGroup(world, 'bob', 'team', 'by bob')
    await sayInGroup(world, 'alice', 'team', 'a reply', { parentId: root.id })
    const changed = await sayInGroup(world, 'carol', 'team', 'by carol')
    dataOf(await world.put(`/messages/${changed.id}`, { data: { text: 'by the first carol' } }, { as: 'carol' }))
    const removed = await sayInGroup(world, 'carol', 'team', 'taken back')
    dataOf(await world.delete(`/messages/${removed.id}`, {}, { as: 'carol' }))
    const gone = await sayInGroup(world, 'alice', 'team', 'never said')
    dataOf(await world.put(`/messages/${gone.id}`, { data: { text: 'never said so' } }, { as: 'alice' }))
    dataOf(await world.delete(`/messages/${gone.id}`, { permanent: true }))
    for (const uid of ['bob', 'carol']) dataOf(await world.delete(`/users/${uid}`, { permanent: true }))
    await createUsers(world, 'carol')
    dataOf(await world.post('/groups/team/members', { participants: ['carol'] }))
    await sayInGroup(world, 'carol', 'team', 'by the second carol')
    await withFolder(async (folder) => {
      await exportOf(world.context, world.app, folder)
      const target = await createWorld()
      const run = async (...more: string[]) => {
        const stdout = collect()
        const to = ['--url', target.url, '--apikey', target.apiKey, '--app', target.app.name]
        const surroundings = { stdout, stderr: collect(), env: {}, cwd: folder, clock: systemClock }
        const { signal } = new AbortController()
        return { code: await importCommand([folder, ...to, ...more], { ...surroundings, signal }), text: stdout.text() }
      }
      for (const more of [['--dry-run'], [], []]) {
        const { code, text } = await run(...more)
        expect(code, text).toBe(0)
        expect(text).toContain('Users who were deleted for good and of whom the export has messages: 2.')
        expect(text).toContain('Left aside of messages, as they tell of messages that were deleted for good: ')
      }
      const list = '/groups/team/messages?limit=100&category=message&hideReplies=true'
      const said = dataOf(await target.get(list, { as: 'alice' })).map(
        ({ sender, data }: { sender: string; data: { text: string } }) => [sender, data.text],
      )
      expect(said).toEqual([
        ['bob', 'by bob'],
        ['carol-former-1', 'by the first carol'],
        // What was taken back.
        ['carol-former-1', undefined],
        ['carol', 'by the second carol'],
      ])
      const [reply] = dataOf(await target.get(`/messages/${root.id}/thread`, { as: 'alice' }))
      expect(reply).toMatchObject({ sender: 'alice', data: { text: 'a reply' } })
      for (const uid of ['bob', 'carol-former-1'])
        expect(dataOf(await target.get(`/users/${uid}`))).toMatchObject({
          name: 'Deleted user',
          deactivatedAt: expect.any(Number),
        })
    })
  })

  it('that is imported over the API shows nothing that moderation holds or has stopped, and leaves nothing unread', async () => {
    const world = await moderatedWorld('alice', 'bob')
    await createGroup(world, 'team', 'alice', { participants: ['bob'] })
    await sayInGroup(world, 'bob', 'team', 'this is bad')
    const held = await sayInGroup(world, 'bob', 'team', 'so is this bad')
    const reply = {
      data: { text: 'a reply' },
      receiver: 'team',
      receiverType: 'group',
      category: 'message',
      type: 'text',
    }
    const answered = await sayInGroup(world, 'bob', 'team', 'well said')
    dataOf(await world.post(`/messages/${answered.id}/thread`, reply, { as: 'alice' }))
    for (const { id } of [held, answered]) await makePending(world, id)
    await sayInGroup(world, 'alice', 'team', 'good morning')
    await say(world, 'alice', 'bob', 'hello')
    await withFolder(async (folder) => {
      await exportOf(world.context, world.app, folder)
      const target = await createWorld()
      const run = async (...more: string[]) => {
        const stdout = collect()
        const to = ['--url', target.url, '--apikey', target.apiKey, '--app', target.app.name]
        const surroundings = { stdout, stderr: collect(), env: {}, cwd: folder, clock: systemClock }
        const { signal } = new AbortController()
        return { code: await importCommand([folder, ...to, ...more], { ...surroundings, signal }), text: stdout.text() }
      }
      const leftAside = 'Left aside of messages, as moderation holds or has stopped them or what they hang on: 4.'
      const dry = await run('--dry-run')
      expect(dry.text).toContain(leftAside)
      const { code, text } = await run()
      expect(code).toBe(0)
      expect(text).toContain(leftAside)
      expect(text).not.toContain('not finished')
      expect(text).toContain('0 fewer')
      const texts = dataOf(await target.get('/groups/team/messages', { as: 'alice' })).map(
        ({ data }: { data: { text?: string } }) => data.text,
      )
      expect(texts).toContain('good morning')
      expect(texts.join()).not.toContain('bad')
      const conversations = dataOf(await target.get('/conversations', { as: 'bob' }))
      const unread = conversations.map((row: { conversationType: string; unreadMessageCount: unknown }) => [
        row.conversationType,
        Number(row.unreadMessageCount),
      ])
      expect(new Map(unread)).toEqual(
        new Map([
          ['group', 0],
          ['user', 1],
        ]),
      )
    })
  })
})

describe('an exact import', () => {
  async function exported(folder: string): Promise<World> {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    await createGroup(world, 'team', 'alice', { participants: ['bob'] })
    const texts = Array.from({ length: 2500 }, (_, i) =>
      groupText(`m${i}`, i % 2 ? 'alice' : 'bob', 'team', 1_650_000_000 + i, { reactions: { '👍': ['bob'] } }),
    )
    for (let from = 0; from < texts.length; from += 1000)
      await importWell(world, 'messages', texts.slice(from, from + 1000))
    await exportOf(world.context, world.app, folder)
    return world
  }

  it('that is interrupted goes on, stores nothing twice, and keeps the app paused until it is done', async () => {
    await withFolder(async (folder) => {
      const world = await exported(folder)
      const { context } = world
      const target = await emptyApp(context)
      const stop = new AbortController()
      const stopped = importInto(context, target, folder, {
        signal: stop.signal,
        onProgress: (file, records) => {
          if (file === 'messages.ndjson' && records >= 1000) stop.abort()
        },
      })
      await expect(stopped).rejects.toThrow(ExactStopped)
      const closed = await world.get('/users', { headers: { appid: target.name } })
      expect(closed.status).toBe(503)

      expect(await importInto(context, target, folder)).toEqual({ wasThere: false, remarks: [], missing: [] })
      expect(await importInto(context, target, folder)).toEqual({ wasThere: true, remarks: [], missing: [] })
      await withFolder(async (second) => {
        await exportOf(context, target, second)
        await expectSame(folder, second)
      })
      expect(await findDrift(context.database, target.appId)).toEqual([])
    })
  })

  it('that was interrupted among its files names all that the folder does not have, also those before', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    for (let files = 0; files < 25; files++) dataOf(await sendForm(world, toBob, [picture], { as: 'alice' }))
    await withFolder(async (folder) => {
      const { context } = world
      await exportOf(context, world.app, folder)
      const keys = (await recordsOf(folder, 'media.ndjson')).map(({ key }) => String(key))
      const [gone, moved] = [keys[3] as string, keys[5] as string]
      await rm(path.join(folder, 'files', gone))
      const target = await emptyApp(context)
      const stop = new AbortController()
      const stopped = importInto(context, target, folder, {
        signal: stop.signal,
        onProgress: (file, line) => {
          if (file === 'files' && line === 22) stop.abort()
        },
      })
      await expect(stopped).rejects.toThrow(ExactStopped)
      // Once it is in the storage, nobody needs it in the folder.
      await rm(path.join(folder, 'files', moved))
      expect(await importInto(context, target, folder)).toEqual({
        wasThere: false,
        remarks: [`Files that the folder does not have (1): ${gone}`],
        missing: [gone],
      })
    })
  })

  it('is not taken for finished where files could not be read, and goes on with those that are there', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    for (let files = 0; files < 3; files++) dataOf(await sendForm(world, toBob, [picture], { as: 'alice' }))
    await withFolder(async (folder) => {
      const { context, app } = world
      const storage = createFolderStorage(mediaFolder)
      let reads = 0
      const away = {
        ...storage,
        read: (...asked: Parameters<typeof storage.read>) =>
          ++reads === 2 ? Promise.reject(new Error('the bucket is away')) : storage.read(...asked),
      }
      await expect(exportOf(context, app, folder, { storage: away })).rejects.toThrow('the bucket is away')
      expect(await readManifest(folder)).toBe(undefined)
      const { copied, manifest } = await exportOf(context, app, folder, { storage: away })
      expect(copied).toMatchObject({ there: 1, copied: 2, missing: [] })
      expect(manifest.media).toMatchObject({ files: 3, missing: [], digests: { records: 3 } })
    })
  })

  it('that ends just when it has paused the app is finished by the next, which lets the app go on', async () => {
    await withFolder(async (folder) => {
      const { context } = await exported(folder)
      const target = await emptyApp(context)
      let isPaused = false
      const audit = createAudit(context.secrets, { caller: 'command' })
      const ended = importInto(...([context, target, folder, {}] as const), {
        audit: {
          ...audit,
          record: async (tx, appId, record) => {
            isPaused ||= record.action === 'app_paused'
            await audit.record(tx, appId, record)
          },
        },
        database: {
          ...context.database,
          transaction: async (work) => {
            const result = await context.database.transaction(work)
            if (isPaused) throw new Error('killed')
            return result
          },
        },
      })
      await expect(ended).rejects.toThrow('killed')
      expect((await context.apps.find(target.name))?.pausedAt).not.toBe(null)
      expect(await importInto(context, target, folder)).toEqual({ wasThere: false, remarks: [], missing: [] })
      expect((await context.apps.find(target.name))?.pausedAt).toBe(null)
    })
  })

  it('that ends just when it has finished leaves the app to its people', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice')
    await withFolder(async (folder) => {
      const { context } = world
      await exportOf(context, world.app, folder)
      const target = await emptyApp(context)
      let isFinished = false
      const audit = createAudit(context.secrets, { caller: 'command' })
      const ended = importInto(...([context, target, folder, {}] as const), {
        audit: {
          ...audit,
          record: async (tx, appId, record) => {
            isFinished ||= record.action === 'data_imported'
            await audit.record(tx, appId, record)
          },
        },
        database: {
          ...context.database,
          transaction: async (work) => {
            const result = await context.database.transaction(work)
            if (isFinished) throw new Error('killed')
            return result
          },
        },
      })
      await expect(ended).rejects.toThrow('killed')
      expect((await context.apps.find(target.name))?.pausedAt).toBe(null)
      expect(await importInto(context, target, folder)).toEqual({ wasThere: true, remarks: [], missing: [] })

      // As earlier versions left it, or somebody has paused it since.
      await pauseApp({ ...context, audit }, target)
      const paused = `The app is paused: parley apps resume ${target.name} lets it go on.`
      expect(await importInto(context, target, folder)).toEqual({ wasThere: true, remarks: [paused], missing: [] })
    })
  })

  it('refuses an app that has something, an export that was changed, a wrong passphrase', async () => {
    await withFolder(async (folder) => {
      const world = await exported(folder)
      const { context } = world
      const busy = await createWorld()
      await createUsers(busy, 'zoe')
      await expect(importInto(context, busy.app, folder)).rejects.toThrow(/has users/)
      expect(dataOf(await busy.get('/users/zoe')).uid).toBe('zoe')

      await expect(
        importInto(context, await emptyApp(context), folder, { passphrase: 'quite another one' }),
      ).rejects.toThrow(/passphrase/)
      await expect(importInto(context, await emptyApp(context), folder, { passphrase: undefined })).rejects.toThrow(
        ExactRefusal,
      )

      const file = path.join(folder, 'messages.ndjson')
      await writeFile(file, (await readFile(file, 'utf8')).replace('"m7"', '"m_"'))
      const target = await emptyApp(context)
      await expect(importInto(context, target, folder)).rejects.toThrow(/messages.ndjson is not as it was exported/)
      const [row] = await recordsOfApp(world, target.appId)
      expect(row?.messages).toBe(0)
    })
  })
})

async function recordsOfApp({ context }: World, appId: number) {
  const { statement } = await import('../../src/store/statement.ts')
  return context.database.query<{ messages: number }>(
    statement('select count(*)::int as messages from messages where app_id = $1'),
    [appId],
  )
}
