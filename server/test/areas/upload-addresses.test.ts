import { sql } from 'kysely'
import { FormData, fetch } from 'undici'
import { describe, expect, it, vi } from 'vitest'
import { DatabaseAwayError } from '../../src/store/connection.ts'
import { createGroup, dataOf, refusal, say } from '../support/chat.ts'
import { codes, importAll, importWell } from '../support/imports.ts'
import { type Answer, createUsers, createWorld, type World } from '../support/world.ts'

const cat = { fileId: 'f1', name: 'my cat.png', size: 10, mimeType: 'image/png' }
const toBob = { receiver: 'bob', receiverType: 'user' }

const ask = (world: World, body: object = {}, options: object = { as: 'alice' }) =>
  world.post('/files/upload-url', { files: { f1: cat }, ...toBob, ...body }, options)

/** Uploads as a client SDK does: the members of `body`, then the file. */
async function upload(
  { url, method, body }: { url: string; method: string; body: Record<string, string> },
  content = '0123456789',
  type = 'image/png',
): Promise<Answer> {
  const form = new FormData()
  for (const [name, value] of Object.entries(body)) form.set(name, value)
  form.append('file', new Blob([content], { type }), 'whatever.bin')
  const answer = await fetch(url, { method, body: form })
  return { status: answer.status, headers: {}, body: await answer.json() }
}

async function createScene(): Promise<World> {
  const world = await createWorld()
  await createUsers(world, 'alice', 'bob', 'carol')
  return world
}

const filesOf = async (world: World) =>
  (
    await world.context.database.run<{ key: string }>(sql`
    select key from media_files where app_id = ${world.app.appId} and removed_at is null`)
  ).length

describe('an upload address', () => {
  it('takes one file, which messages then use, with a token as with a key', async () => {
    const world = await createScene()
    const { authToken } = dataOf(await world.post('/users/alice/auth_tokens', {}))
    for (const options of [{ as: 'alice' }, { token: authToken }, {}]) {
      const { f1 } = dataOf(await ask(world, {}, options))
      expect(f1).toMatchObject({
        request: { method: 'POST', url: expect.stringContaining(world.url), body: {} },
        attachment: { name: 'my cat.png', mimeType: 'image/png', extension: 'png', size: '10' },
        expiresAt: expect.any(Number),
      })
      expect(f1.expiresAt).toBeGreaterThan(Date.now() / 1000)
      const { url } = f1.attachment
      expect((await fetch(url)).status).toBe(404)
      // Whatever the form says, the type is the one that was announced.
      expect(dataOf(await upload(f1.request, '0123456789', 'text/html'))).toEqual(f1.attachment)
      const served = await fetch(url)
      expect([served.headers.get('content-type'), await served.text()]).toEqual(['image/png', '0123456789'])
      expect(refusal(await upload(f1.request))).toBe('403 ERR_PRESIGNED_URL_EXPIRED')
      const data = { attachments: [f1.attachment] }
      const sent = dataOf(await world.post('/messages', { ...toBob, type: 'image', data }, { as: 'alice' }))
      expect(sent.data.url).toBe(url)
      dataOf(await world.delete(`/messages/${sent.id}`, {}, { as: 'alice' }))
      expect((await fetch(url)).status).toBe(404)
    }
  })

  it('holds a file to the size that was announced', async () => {
    const world = await createScene()
    const { f1 } = dataOf(await ask(world))
    expect(refusal(await upload(f1.request, '0123456789a'))).toBe('400 ERR_FILE_SIZE_EXCEEDED')
    expect(refusal(await upload(f1.request, 'x'.repeat(2_000_000)))).toBe('400 ERR_FILE_SIZE_EXCEEDED')
    expect(refusal(await upload(f1.request, '012345678'))).toBe('400 ERR_INVALID_FILE_OBJECT')
    expect(await filesOf(world)).toBe(0)
    // None of these has used it up; only one of many at the same time does.
    const answers = await Promise.all(Array.from({ length: 8 }, () => upload(f1.request)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(403)])
    expect(await filesOf(world)).toBe(1)
  })

  it('cannot be changed, moved to another app, or used late, without a file or with two', async () => {
    const [world, other] = [await createScene(), await createScene()]
    const { f1 } = dataOf(await ask(world))
    const { url } = f1.request
    for (const changed of [
      url.replace('size=10', 'size=11'),
      url.replace('image%2Fpng', 'image%2Fgif'),
      url.replace('uid=alice', 'uid=bob'),
      url.replace(/expires=\d+/, 'expires=99999999999'),
      url.replace(/signature=./, (start: string) => (start.endsWith('A') ? 'signature=B' : 'signature=A')),
      url.replace(/[0-9a-f]{32}/, '0'.repeat(32)),
      url.replace('cat', 'dog'),
      url.replace(world.app.name, other.app.name),
      url.replace(world.app.name, 'nowhere'),
      url.split('?')[0],
    ]) {
      expect(refusal(await upload({ ...f1.request, url: changed })), changed).toBe('403 ERR_PRESIGNED_URL_EXPIRED')
    }
    const json = { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } }
    expect((await fetch(url, json)).status).toBe(415)
    const empty = new FormData()
    empty.set('x', 'y')
    const none = await fetch(url, { method: 'POST', body: empty })
    expect([none.status, await none.json()]).toMatchObject([400, { error: { code: 'ERR_EMPTY_MESSAGE_FILE' } }])
    const two = new FormData()
    for (const name of ['a', 'b']) two.append('file', new Blob(['0123456789']), name)
    expect((await fetch(url, { method: 'POST', body: two })).status).toBe(400)
    expect(await filesOf(world)).toBe(0)
    dataOf(await world.delete('/users/alice'))
    expect(refusal(await upload(f1.request))).toBe('404 ERR_UID_NOT_FOUND')
  })

  it('is refused as the message would be, and by quotas', async () => {
    const world = await createScene()
    await createGroup(world, 'team', 'bob', { participants: ['alice'] })
    const toTeam = { receiver: 'team', receiverType: 'group' }
    expect(refusal(await ask(world, { receiver: 'nobody' }))).toBe('404 ERR_UID_NOT_FOUND')
    expect(refusal(await ask(world, { receiver: undefined }))).toBe('400 ERR_EMPTY_RECEIVER')
    expect(refusal(await ask(world, { receiverType: 'x' }))).toBe('400 ERR_INVALID_RECEIVER_TYPE')
    expect(refusal(await ask(world, toTeam, { as: 'carol' }))).toBe('403 ERR_GROUP_NOT_JOINED')
    expect(refusal(await ask(world, { files: {} }))).toBe('400 ERR_BAD_REQUEST')
    expect(refusal(await ask(world, { files: { f1: { name: 'x' } } }))).toBe('400 ERR_BAD_REQUEST')
    const eleven = Object.fromEntries(Array.from({ length: 11 }, (_, n) => [`f${n}`, cat]))
    expect(refusal(await ask(world, { files: eleven }))).toBe('400 ERR_FILE_COUNT_EXCEEDED')
    expect(refusal(await ask(world, { files: { f1: { ...cat, size: 200e6 } } }))).toBe('400 ERR_FILE_SIZE_EXCEEDED')
    expect(refusal(await ask(world, { parentMessageId: '999999999' }))).toBe('404 ERR_MESSAGE_ID_NOT_FOUND')
    const parent = await say(world, 'bob', 'alice', 'parent')
    dataOf(await ask(world, { parentMessageId: parent.id }))
    expect(refusal(await ask(world, { ...toTeam, parentMessageId: parent.id }))).toBe('400 ERR_WRONG_MESSAGE_THREAD')
    const permissions = { 'sendMessage.allowedMimeTypes': ['audio/*'] }
    dataOf(await world.put('/groups/team/scopes/participant/permissions', { permissions }))
    expect(refusal(await ask(world, toTeam))).toBe('403 ERR_PERMISSION_DENIED')
    dataOf(await ask(world, { ...toTeam, files: { f1: { ...cat, mimeType: 'audio/ogg' } } }))
    dataOf(await world.post('/users/bob/blockedusers', { blockedUids: ['alice'] }))
    expect(refusal(await ask(world))).toBe('403 ERR_BLOCKED_SENDER')
    await world.call('PATCH', `/apps/${world.app.name}/settings`, { uploadMegabytesPerDay: 1 })
    const large = { f1: { ...cat, size: 2_000_000 } }
    expect(refusal(await ask(world, { receiver: 'carol', files: large }))).toBe('429 ERR_TOO_MANY_REQUESTS')
  })

  it('has taken its file also where the database said so and was not heard', async () => {
    const world = await createScene()
    const { f1 } = dataOf(await ask(world))
    const { database } = world.context
    const transaction = database.transaction.bind(database)
    const deaf = vi.spyOn(database, 'transaction').mockImplementation(async (work) => {
      let isSettling = false
      const result = await transaction((tx) => {
        const query: typeof tx.query = (statement, values) => {
          isSettling ||= statement.text.includes('set arriving = false')
          return tx.query(statement, values)
        }
        return work({ ...tx, query })
      })
      if (isSettling) throw new DatabaseAwayError()
      return result
    })
    const answer = await upload(f1.request)
    deaf.mockRestore()
    expect(refusal(answer)).toBe('503 ERR_MISSION_FAILED')
    expect(await (await fetch(f1.attachment.url)).text()).toBe('0123456789')
    const data = { attachments: [f1.attachment] }
    const sent = dataOf(await world.post('/messages', { ...toBob, type: 'image', data }, { as: 'alice' }))
    await world.context.media.sweep()
    expect(await (await fetch(sent.data.url)).text()).toBe('0123456789')
  })

  it('of a file that no message uses is swept after a day', async () => {
    const world = await createScene()
    const { f1 } = dataOf(await ask(world))
    dataOf(await upload(f1.request))
    await world.context.media.sweep()
    expect(await filesOf(world)).toBe(1)
    await world.context.database.run(sql`
      update media_files set claim_by = claim_by - 90000 where app_id = ${world.app.appId}`)
    await world.context.media.sweep()
    expect(await filesOf(world)).toBe(0)
  })

  it('of a file of an imported message stays, also where the import was cut off and came again', async () => {
    const world = await createScene()
    const { database, media } = world.context
    const { appId } = world.app
    const usesOf = (key: string) => database.run(sql`select from media_uses where app_id = ${appId} and key = ${key}`)
    const record = async (muid: string, extra: object = {}) => {
      const { f1 } = dataOf(await ask(world))
      dataOf(await upload(f1.request))
      const data = { attachments: [f1.attachment] }
      return { muid, sender: 'alice', ...toBob, type: 'image', data, sentAt: 1_650_000_000, ...extra }
    }
    const bringsSomebody = { senderUserDetails: { uid: 'alice', name: 'Alice' } }
    const [first, second] = [await record('m1'), await record('m2', bringsSomebody)]
    await importWell(world, 'messages', [first, second])
    // As a service leaves it that is killed once the messages are stored.
    await database.run(sql`delete from media_uses where app_id = ${appId}`)
    await database.run(sql`update media_files set claim_by = created_at + 90000 where app_id = ${appId}`)
    // The files were uploaded again for the second time; the messages name those of the first.
    const newcomer = {
      muid: 'm3',
      sender: 'erin',
      ...toBob,
      sentAt: 1,
      senderUserDetails: { uid: 'erin', name: 'Erin' },
    }
    const again = [[await record('m1')], [await record('m2', bringsSomebody), { ...newcomer, data: { text: 'new' } }]]
    expect(codes(await importAll(world, 'messages', again[0] as object[]))).toEqual({
      m1: 'ERR_IMPORT_MUID_ALREADY_EXISTS',
    })
    expect(codes(await importAll(world, 'messages', again[1] as object[]))).toEqual({
      m2: 'ERR_IMPORT_MUID_ALREADY_EXISTS',
      m3: 'stored',
    })
    await database.run(sql`
      update media_files set claim_by = 1 where app_id = ${appId} and claim_by is not null`)
    await media.sweep()
    expect(await filesOf(world)).toBe(2)
    for (const { data } of [first, second]) {
      const { url } = data.attachments[0]
      expect((await fetch(url)).status).toBe(200)
      expect(await usesOf(/[0-9a-f]{32}/.exec(url)?.[0] as string)).toHaveLength(1)
    }
  })

  it('of a file of an imported message stays, also where it came again with another address', async () => {
    const world = await createScene()
    const { database, media } = world.context
    const { appId } = world.app
    const { f1 } = dataOf(await ask(world))
    dataOf(await upload(f1.request))
    const record = (attachment: object) => ({
      ...{ muid: 'm1', sender: 'alice', ...toBob, type: 'image', sentAt: 1_650_000_000 },
      data: { attachments: [attachment] },
    })
    await importWell(world, 'messages', [record(f1.attachment)])
    // As a service leaves it that is killed once the messages are stored.
    await database.run(sql`delete from media_uses where app_id = ${appId}`)
    await database.run(sql`update media_files set claim_by = 1 where app_id = ${appId}`)
    const again = [record({ ...f1.attachment, url: 'https://old.example.com/cat.png' })]
    expect(codes(await importAll(world, 'messages', again))).toEqual({ m1: 'ERR_IMPORT_MUID_ALREADY_EXISTS' })
    await media.sweep()
    expect((await fetch(f1.attachment.url)).status).toBe(200)
  })
})
