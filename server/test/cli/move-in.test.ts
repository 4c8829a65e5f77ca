import { readFile, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { fetch } from 'undici'
import { describe, expect, it } from 'vitest'
import { importCommand, systemClock } from '../../src/cli/import/run.ts'
import { createGroup, dataOf, say } from '../support/chat.ts'
import { groupText, importWell, text } from '../support/imports.ts'
import { startService } from '../support/service.ts'
import { until } from '../support/until.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'
import { startHosted } from './hosted.ts'
import { collect } from './import-world.ts'
import { done, fill, makeFolder, messagesOf, moveIn, notificationsOf, viewsOf } from './move-in-world.ts'

describe('parley move-in', () => {
  it('moves everything that lists tell out of a service that has a bad day', async () => {
    const [source, target] = [await createWorld(), await createWorld()]
    await fill(source)
    const hosted = await startHosted(source.url, { limited: 15, failed: 20, reset: 25, slow: 15, repeated: 6 })
    const folder = await makeFolder()
    const moved = await moveIn(source, hosted, target, folder)
    expect(moved.stderr).not.toContain('parley move-in:')
    expect(moved, moved.stdout + moved.stderr).toMatchObject({ code: 0 })
    for (const trouble of ['limited', 'failed', 'reset', 'slow', 'repeated'] as const)
      expect(hosted.seen[trouble], trouble).toBeGreaterThan(0)

    expect(await messagesOf(target)).toEqual(await messagesOf(source))
    expect(await viewsOf(target)).toEqual(await viewsOf(source))
    expect(await notificationsOf(target)).toEqual(await notificationsOf(source))
    const tokens = async (world: World) =>
      dataOf(await world.get('/users/bob/auth_tokens')).map(({ authToken }: { authToken: string }) => authToken)
    expect(await tokens(target)).toEqual(await tokens(source))
    // Back ends go on with the keys that they have.
    expect((await target.get('/users/alice', { headers: { apikey: source.apiKey } })).status).toBe(200)
    for (const list of ['/groups/team/members', '/groups/team/bannedusers']) {
      const rows = async (world: World) =>
        dataOf(await world.get(list)).map(({ uid, scope, joinedAt }: Record<string, unknown>) => ({
          uid,
          scope,
          joinedAt,
        }))
      expect(await rows(target)).toEqual(await rows(source))
    }
    const alice = async (world: World) => dataOf(await world.get('/users/alice'))
    const { updatedAt: _, conversationId: __, ...profile } = await alice(source)
    expect(await alice(target)).toMatchObject(profile)

    const report = JSON.parse(await readFile(path.join(folder, 'report.json'), 'utf8'))
    expect(report.notices.map(({ code }: { code: string }) => code)).toEqual(
      expect.arrayContaining(['group-password', 'deleted-user']),
    )
    expect(report.files).toMatchObject({ copied: 1, uploaded: 1, failed: 0 })
    expect(moved.stdout).toContain('Not to be had over REST')

    // The copied file is served by the target, and belongs to the message.
    const [image] = dataOf(await target.get('/messages?type=image'))
    const { url } = image.data.attachments[0]
    expect(url).toContain(`/media/${target.app.name}/`)
    expect(await (await fetch(url)).text()).toBe('0123456789')

    // Both sides are compared anew; a difference is found.
    expect(await moveIn(source, hosted, target, folder, '--verify')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('Equal'),
    })
    const [{ id }] = dataOf(await target.get('/messages?searchKey=line%2017'))
    dataOf(await target.put(`/messages/${id}`, { data: { text: 'forged' } }))
    dataOf(await target.delete('/users/alice/friends', { friends: ['carol'] }))
    const compared = await moveIn(source, hosted, target, folder, '--verify')
    expect(compared).toMatchObject({ code: 1 })
    const verified = JSON.parse(await readFile(path.join(folder, 'verify.json'), 'utf8'))
    expect(verified.named).toEqual([
      { where: 'lists of users alice friend carol', what: 'is missing in the new service' },
      { where: 'lists of users carol friend alice', what: 'is missing in the new service' },
      { where: expect.stringContaining('of group_team'), what: 'differs', fields: ['isEdited', 'data'] },
    ])
    expect(await readFile(path.join(folder, 'verify.md'), 'utf8')).toContain('**3 differences**')
    dataOf(await target.put(`/messages/${id}`, { data: { text: 'line 17' } }))

    // Again: everything is there already.
    const again = await moveIn(source, hosted, target, folder)
    expect(again).toMatchObject({ code: 0 })
    expect(await viewsOf(target)).toEqual(await viewsOf(source))
  })

  it('names whose lists nobody may ask for, and hides nothing from them', async () => {
    const [source, target] = [await createWorld(), await createWorld()]
    await createUsers(source, 'alice', 'bob')
    await done(source.post('/roles', { role: 'closed', name: 'Closed' }))
    await done(source.put('/roles/closed/permissions', { permissions: { listConversations: 'deny' } }))
    await done(source.put('/users/bob', { role: 'closed' }))
    await say(source, 'alice', 'bob', 'hello')
    const hosted = await startHosted(source.url)
    const folder = await makeFolder()
    expect(await moveIn(source, hosted, target, folder)).toMatchObject({ code: 0 })
    const { notices } = JSON.parse(await readFile(path.join(folder, 'report.json'), 'utf8'))
    expect(notices).toEqual([expect.objectContaining({ code: 'list-refused', count: 1, examples: ['bob'] })])
    await done(target.delete('/roles/closed/permissions/listConversations', {}))
    expect(dataOf(await target.get('/conversations', { as: 'bob' }))).toHaveLength(1)
  })

  it('brings nobody back who was erased, and names what it was refused', async () => {
    const [source, target] = [await createWorld(), await createWorld()]
    await createUsers(source, 'alice', 'bob', 'carol')
    await done(source.post('/users/alice/friends', { accepted: ['bob'] }))
    await say(source, 'alice', 'bob', 'to who was erased')
    await say(source, 'alice', 'carol', 'stays', { muid: 'of-others' })
    await say(source, 'carol', 'alice', 'erased with bob', { muid: 'of-bob' })
    await createUsers(target, 'bob', 'dora')
    await say(target, 'bob', 'dora', 'long ago', { muid: 'of-bob' })
    for (const uid of ['bob', 'dora']) await done(target.delete(`/users/${uid}`, { permanent: true }))
    const hosted = await startHosted(source.url)
    const folder = await makeFolder()
    const moved = await moveIn(source, hosted, target, folder)
    expect(moved.code, moved.stdout + moved.stderr).toBe(1)
    const refused = (await readFile(path.join(folder, 'import-refused.ndjson'), 'utf8')).trimEnd().split('\n')
    const named = refused.map((line) => JSON.parse(line)).map(({ kind, error }) => `${kind} ${error.code}`)
    expect(named.sort()).toEqual([
      'messages ERR_IMPORT_MUID_ERASED',
      'messages ERR_IMPORT_UID_ERASED',
      'users ERR_IMPORT_UID_ERASED',
    ])
    const { notices } = JSON.parse(await readFile(path.join(folder, 'report.json'), 'utf8'))
    expect(notices).toContainEqual(expect.objectContaining({ code: 'record-refused' }))
    expect((await target.get('/users/bob')).status).toBe(404)
    const said = dataOf(await target.get('/messages')).map(({ data }: { data: { text: string } }) => data.text)
    expect(said).toEqual(['stays'])
  })

  it('knows the messages that somebody has sent to both services, whichever came first, and no other of the same muid', async () => {
    const [source, target] = [await createWorld(), await createWorld()]
    for (const world of [source, target]) await createUsers(world, 'alice', 'bob', 'carol')
    const nextSecond = async ({ sentAt }: { sentAt: number }) =>
      void (await until(() => Date.now() >= (sentAt + 1) * 1000))
    const early = await say(target, 'alice', 'bob', 'early', { muid: 'early' })
    await nextSecond(early)
    const [one, two] = [
      await say(source, 'alice', 'bob', 'early', { muid: 'early' }),
      await say(source, 'alice', 'bob', 'late', { muid: 'late' }),
    ]
    await nextSecond(await say(source, 'alice', 'bob', 'of the source', { muid: 'number 1' }))
    const late = await say(target, 'alice', 'bob', 'late', { muid: 'late' })
    await say(target, 'bob', 'carol', 'of the target', { muid: 'number 1' })
    for (const { id } of [one, two]) await done(source.post(`/messages/${id}/save`, {}, { as: 'bob' }))
    const folder = await makeFolder()
    expect(await moveIn(source, await startHosted(source.url), target, folder)).toMatchObject({ code: 1 })
    const ids = (await readFile(path.join(folder, 'ids.ndjson'), 'utf8')).trimEnd().split('\n')
    expect(ids.map((line) => JSON.parse(line)).sort((a, b) => a.from - b.from)).toEqual([
      { from: String(one.id), to: String(early.id) },
      { from: String(two.id), to: String(late.id) },
    ])
    const saved = dataOf(await target.get('/messages?saved=true', { as: 'bob' })).map(({ id }: { id: string }) => id)
    expect(saved.map(Number).sort()).toEqual([early.id, late.id].map(Number).sort())
  })

  it('brings what somebody has of a conversation with themselves, and that they have cleared it', async () => {
    const [source, target] = [await createWorld(), await createWorld()]
    await createUsers(source, 'alice', 'bob')
    for (const uid of ['alice', 'bob']) await say(source, uid, uid, `a note of ${uid}`)
    await done(source.put('/users/alice/conversation', { tags: ['notes'] }, { as: 'alice' }))
    await done(source.delete('/users/bob/conversation', {}, { as: 'bob' }))
    const [hosted, folder] = [await startHosted(source.url), await makeFolder()]
    const moved = await moveIn(source, hosted, target, folder)
    expect(moved.code, moved.stdout + moved.stderr).toBe(0)
    expect(dataOf(await target.get('/users/alice/conversation?withTags=true', { as: 'alice' }))).toMatchObject({
      tags: ['notes'],
      lastMessage: { data: { text: 'a note of alice' } },
    })
    expect(dataOf(await target.get('/conversations', { as: 'bob' }))).toEqual([])
    expect(await moveIn(source, hosted, target, folder, '--verify')).toMatchObject({ code: 0 })
  })

  it('keeps replies in their threads, and quotes, whose message has a later time', async () => {
    const [source, target] = [await createWorld(), await createWorld()]
    await createUsers(source, 'alice', 'bob')
    await createGroup(source, 'team', 'alice', { participants: ['bob'] })
    const at = 1_600_000_000
    await importWell(source, 'messages', [
      groupText('parent', 'alice', 'team', at + 1),
      groupText('of its second', 'bob', 'team', at + 1),
      groupText('reply', 'bob', 'team', at, { parentMuid: 'parent' }),
      groupText('another', 'alice', 'team', at + 2, { parentMuid: 'parent' }),
      text('quoted', 'alice', 'bob', at + 9),
      text('quoting', 'bob', 'alice', at + 4, { quotedMuid: 'quoted' }),
      text('quoting that', 'bob', 'alice', at + 2, { quotedMuid: 'quoting' }),
      text('itself quoted', 'bob', 'alice', at + 3, { quotedMuid: 'quotes it' }),
      text('quotes it', 'bob', 'alice', at + 5, { quotedMuid: 'itself quoted' }),
    ])
    const [hosted, folder] = [await startHosted(source.url), await makeFolder()]
    const moved = await moveIn(source, hosted, target, folder)
    expect(moved.code, moved.stdout + moved.stderr).toBe(0)
    expect(moved.stdout).not.toContain('reply-without-parent')
    const listed = dataOf(await target.get('/messages?affix=append&limit=100'))
    const idOf = new Map(listed.map(({ muid, id }: { muid: string; id: string }) => [muid, id]))
    const one = (muid: string) => listed.find((row: { muid: string }) => row.muid === muid)
    expect(one('parent')).toMatchObject({ replyCount: 2 })
    for (const muid of ['reply', 'another']) expect(one(muid).parentId, muid).toBe(idOf.get('parent'))
    expect(one('quoting').quotedMessageId).toBe(idOf.get('quoted'))
    expect(one('quoting that').quotedMessageId).toBe(idOf.get('quoting'))
    // Of those that quote each other, one has to come first.
    expect(one('quotes it').quotedMessageId).toBe(idOf.get('itself quoted'))
    const ids = (await readFile(path.join(folder, 'ids.ndjson'), 'utf8')).trimEnd().split('\n')
    expect(ids).toHaveLength(listed.length)
    await moveIn(source, hosted, target, folder, '--verify')
    const { named } = JSON.parse(await readFile(path.join(folder, 'verify.json'), 'utf8'))
    expect(named.map(({ fields }: { fields: string[] }) => fields)).toEqual([['quoted']])
  })

  it('goes on after its folder was imported by other means, which write their own map of ids', async () => {
    const [source, target, other] = [await createWorld(), await createWorld(), await createWorld()]
    for (const world of [source, other]) await createUsers(world, 'alice', 'bob')
    await say(other, 'alice', 'bob', 'was here before')
    const { id } = await say(source, 'alice', 'bob', 'hello')
    const [hosted, folder] = [await startHosted(source.url), await makeFolder()]
    expect(await moveIn(source, hosted, target, folder)).toMatchObject({ code: 0 })
    const read = async (name: string) => (await readFile(path.join(folder, name), 'utf8')).trimEnd().split('\n')
    const map = await read('ids.ndjson')
    for (const { url, apiKey, app } of [target, other]) {
      const io = { stdout: collect(), stderr: collect(), env: {}, cwd: folder, clock: systemClock }
      const to = ['--url', url, '--apikey', apiKey, '--app', app.name]
      const { signal } = new AbortController()
      expect(await importCommand([folder, ...to], { ...io, signal }), io.stderr.text() + io.stdout.text()).toBe(0)
      expect(await read('ids.ndjson')).toEqual(map)
    }
    const [pair] = (await read('import-ids.ndjson')).map((line) => JSON.parse(line))
    expect(pair.from).toBe(String(id))
    expect(dataOf(await other.get(`/messages/${pair.to}`)).data.text).toBe('hello')
    expect(await moveIn(source, hosted, target, folder, '--verify')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('Equal'),
    })
    expect(await moveIn(source, hosted, target, folder)).toMatchObject({ code: 0 })
  })

  it('says what is wrong, and touches no folder of something else', async () => {
    const [source, target] = [await createWorld(), await createWorld()]
    const hosted = await startHosted(source.url)
    const folder = await makeFolder()
    expect(await moveIn({ ...source, apiKey: 'expired' }, hosted, target, folder)).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('does not accept the API key'),
    })
    expect(await moveIn(source, hosted, target, folder)).toMatchObject({ code: 0 })
    const other = await startHosted(source.url)
    expect(await moveIn(source, other, target, folder)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('is a move from'),
    })
    expect(await moveIn(source, hosted, target, os.tmpdir())).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('has no checkpoint of a move'),
    })
    expect(await moveIn(source, hosted, target, folder, '--without', 'everything')).toMatchObject({ code: 2 })
  })

  it('moves into a service that takes few records in a request', async () => {
    const service = await startService({ IMPORT_MAX_RECORDS: '10' })
    try {
      const [source, target] = [await createWorld(), await createWorld(service)]
      const friends = Array.from({ length: 12 }, (_, n) => `friend-${n}`)
      await createUsers(source, 'alice', ...friends)
      await done(source.post('/users/alice/friends', { accepted: friends }))
      await say(source, 'alice', 'friend-0', 'hello')
      const hosted = await startHosted(source.url, { rows: 1000 })
      const folder = await makeFolder()
      const moved = await moveIn(source, hosted, target, folder)
      expect(moved, moved.stderr).toMatchObject({ code: 0 })
      expect(dataOf(await target.get('/users/alice/friends?perPage=100'))).toHaveLength(12)
      for (const uid of friends) await say(source, 'alice', uid, 'new')
      await writeFile(path.join(folder, 'cut-over'), '')
      const followed = await moveIn(source, hosted, target, folder, '--follow')
      expect(followed, followed.stderr).toMatchObject({ code: 0 })
      expect(dataOf(await target.get('/messages?limit=100'))).toHaveLength(13)
    } finally {
      await service.parley.close()
    }
  })
})
