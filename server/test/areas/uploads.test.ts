import { existsSync, readdirSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { createFolderStorage } from '../../src/media/folder.ts'
import type { MediaStorage } from '../../src/media/storage.ts'
import { createGroup, dataOf, refusal, say } from '../support/chat.ts'
import { endOfForm, fieldPart, fileHead, openForm, picture, sendForm, toBob } from '../support/forms.ts'
import { startService } from '../support/service.ts'
import { until } from '../support/until.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'

const megabyte = 1024 * 1024
const fields = (named: Record<string, string>) =>
  Object.entries(named)
    .map(([name, value]) => fieldPart(name, value))
    .join('')

/** Names of the files that lie in the storage for an app. */
function storedFiles(world: World): string[] {
  const folder = path.join(os.tmpdir(), `parley-test-media-${process.pid}`, String(world.app.appId))
  if (!existsSync(folder)) return []
  return readdirSync(folder).flatMap((name) => readdirSync(path.join(folder, name)))
}

async function rowsOf(world: World): Promise<{ files: number; bytes: number; used: number }> {
  const [row] = await world.context.database.run<{ files: number; bytes: number; used: number }>(sql`
    select count(*) as files, coalesce(sum(size), 0)::bigint as bytes,
      coalesce((select bytes from media_usage where app_id = ${world.app.appId}), 0) as used
    from media_files where app_id = ${world.app.appId}`)
  return row ?? { files: -1, bytes: -1, used: -1 }
}

/** A form of which no more than the head of its file is sent: an answer can only be to what stands before it. */
async function answerToHead(world: World, named: Record<string, string>, options: object = {}, type = 'image/png') {
  const form = openForm(world, { length: 50 * megabyte, ...options })
  form.write(`${fields(named)}${fileHead('cat.png', type)}0`)
  const answer = await form.answer
  form.abort()
  return answer
}

describe('an upload is refused before any of it is stored', () => {
  it('for a receiver who is unknown, or has blocked the sender, or is blocked', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    expect(refusal(await answerToHead(world, { ...toBob, receiver: 'nobody' }))).toBe('404 ERR_UID_NOT_FOUND')
    expect(refusal(await answerToHead(world, { ...toBob, receiver: 'nobody' }, { as: null }))).toBe(
      '404 ERR_UID_NOT_FOUND',
    )
    dataOf(await world.post('/users/bob/blockedusers', { blockedUids: ['alice'] }))
    expect(refusal(await answerToHead(world, toBob))).toBe('403 ERR_BLOCKED_SENDER')
    expect(refusal(await answerToHead(world, { ...toBob, receiver: 'alice' }, { as: 'bob' }))).toBe(
      '403 ERR_BLOCKED_RECEIVER',
    )
    const nobody = { multipleReceivers: JSON.stringify({ uids: ['nobody', 'bob'] }), type: 'image' }
    expect(refusal(await answerToHead(world, nobody))).toBe('404 ERR_UID_NOT_FOUND')
    expect(await rowsOf(world)).toEqual({ files: 0, bytes: 0, used: 0 })
  })

  it('of a sender who is unknown, deactivated, or whose role may not send', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'gone')
    dataOf(await world.delete('/users/gone'))
    for (const as of ['nobody', 'gone']) {
      expect(refusal(await answerToHead(world, toBob, { as }))).toBe('404 ERR_UID_NOT_FOUND')
    }
    dataOf(await world.put('/roles/default/permissions', { permissions: { sendMessage: 'deny' } }))
    expect(refusal(await answerToHead(world, toBob))).toBe('403 ERR_PERMISSION_DENIED')
    expect(await rowsOf(world)).toEqual({ files: 0, bytes: 0, used: 0 })
  })

  it('to a group by who is no member, or whose scope may not send it', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol')
    await createGroup(world, 'team', 'bob', { participants: ['alice'] })
    const toTeam = { ...toBob, receiver: 'team', receiverType: 'group' }
    expect(refusal(await answerToHead(world, toTeam, { as: 'carol' }))).toBe('403 ERR_GROUP_NOT_JOINED')
    const permissions = { 'sendMessage.allowedMimeTypes': ['image/*'] }
    dataOf(await world.put('/groups/team/scopes/participant/permissions', { permissions }))
    expect(refusal(await answerToHead(world, { ...toTeam, type: 'file' }, {}, 'text/html'))).toBe(
      '403 ERR_PERMISSION_DENIED',
    )
    dataOf(await sendForm(world, toTeam, [picture]))
    // Of several files the second may be the one.
    const both = [picture, { ...picture, type: 'text/html' }]
    expect(refusal(await sendForm(world, { ...toTeam, type: 'file' }, both))).toBe('403 ERR_PERMISSION_DENIED')
    expect(storedFiles(world)).toHaveLength(1)
  })

  it('for what its fields say', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const parent = await say(world, 'alice', 'bob', 'parent')
    for (const [named, expected] of [
      [{ ...toBob, type: 'poem' }, '400 ERR_INVALID_MESSAGE_TYPE'],
      [{ ...toBob, metadata: '{' }, '400 ERR_BAD_REQUEST'],
      [{ ...toBob, metadata: JSON.stringify({ long: 'x'.repeat(6000) }) }, '400 ERR_BAD_REQUEST'],
      [{ ...toBob, receiverType: 'planet' }, '400 ERR_INVALID_RECEIVER_TYPE'],
      [{ ...toBob, muid: 'x'.repeat(300) }, '400 ERR_BAD_REQUEST'],
      [{ ...toBob, parentId: '999999999' }, '404 ERR_MESSAGE_ID_NOT_FOUND'],
      [{ ...toBob, receiver: 'alice', parentId: parent.id }, '400 ERR_WRONG_MESSAGE_THREAD'],
    ] as const) {
      expect(refusal(await answerToHead(world, named))).toBe(expected)
    }
    expect(refusal(await answerToHead(world, toBob, { path: '/messages/999999999/thread' }))).toBe(
      '404 ERR_MESSAGE_ID_NOT_FOUND',
    )
    expect(refusal(await answerToHead(world, toBob, { path: '/bots/alice/messages' }))).toBe('404 ERR_BOT_NOT_FOUND')
    expect(await rowsOf(world)).toEqual({ files: 0, bytes: 0, used: 0 })
  })

  it('when its files are too large together, by what is declared or by what comes', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const declared = openForm(world, { length: 150 * megabyte })
    declared.write('-')
    expect(refusal(await declared.answer)).toBe('400 ERR_FILE_SIZE_EXCEEDED')
    declared.abort()
    const coming = openForm(world)
    const part = Buffer.alloc(megabyte)
    coming.write(fields(toBob))
    for (let file = 0; file < 3; file++) {
      coming.write(fileHead('a.bin', 'image/png'))
      for (let count = 0; count < 40; count++) coming.write(part)
      coming.write('\r\n')
    }
    coming.end()
    expect(refusal(await coming.answer)).toBe('400 ERR_FILE_SIZE_EXCEEDED')
    expect(await rowsOf(world)).toEqual({ files: 0, bytes: 0, used: 0 })
    expect(storedFiles(world)).toEqual([])
  })
})

describe('quotas of uploads', () => {
  it('hold for a user and a day, whatever becomes of the files, and never for the app itself', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    await world.call('PATCH', `/apps/${world.app.name}/settings`, { uploadMegabytesPerDay: 1 })
    const large = { ...picture, content: 'x'.repeat(600_000) }
    const sent = dataOf(await sendForm(world, toBob, [large]))
    dataOf(await world.delete(`/messages/${sent.id}`, { permanent: true }, { as: 'alice' }))
    const refused = await sendForm(world, toBob, [large])
    expect(refusal(refused)).toBe('429 ERR_TOO_MANY_REQUESTS')
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
    expect(refused.body.error.devMessage).toContain('uploadMegabytesPerDay')
    // Refused by its length alone, and by what comes where nobody declares it.
    expect(refusal(await answerToHead(world, toBob))).toBe('429 ERR_TOO_MANY_REQUESTS')
    const open = openForm(world)
    open.write(`${fields(toBob)}${fileHead('a.png', 'image/png')}${large.content}${endOfForm}`)
    open.end()
    expect(refusal(await open.answer)).toBe('400 ERR_FILE_SIZE_EXCEEDED')
    dataOf(await sendForm(world, toBob, [picture]))
    dataOf(await sendForm(world, { ...toBob, receiver: 'alice' }, [large], { as: 'bob' }))
    dataOf(await sendForm(world, toBob, [large], { as: null }))
    await say(world, 'alice', 'bob', 'texts still go')
  })

  it('hold for all files of an app until these are removed', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    await world.call('PATCH', `/apps/${world.app.name}/settings`, { mediaMegabytes: 1 })
    const large = { ...picture, content: 'x'.repeat(600_000) }
    const sent = dataOf(await sendForm(world, toBob, [large]))
    for (const as of ['bob', null]) {
      const refused = await sendForm(world, { ...toBob, receiver: 'alice' }, [large], { as })
      expect(refusal(refused)).toBe('400 ERR_BAD_REQUEST')
      expect(refused.body.error.devMessage).toContain('mediaMegabytes')
    }
    dataOf(await world.delete(`/messages/${sent.id}`, { permanent: true }, { as: 'alice' }))
    await world.context.media.sweep()
    expect(await rowsOf(world)).toEqual({ files: 0, bytes: 0, used: 0 })
    dataOf(await sendForm(world, toBob, [large]))
  })

  it('are not passed by uploads at the same time', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    await world.call('PATCH', `/apps/${world.app.name}/settings`, { uploadMegabytesPerDay: 1, mediaMegabytes: 2 })
    const large = { ...picture, content: 'x'.repeat(300_000) }
    const answers = await Promise.all(Array.from({ length: 12 }, () => sendForm(world, toBob, [large])))
    expect(answers.filter(({ status }) => status === 200).length).toBe(3)
    expect(new Set(answers.filter(({ status }) => status !== 200).map(refusal))).toEqual(
      new Set(['429 ERR_TOO_MANY_REQUESTS']),
    )
    expect(await rowsOf(world)).toEqual({ files: 3, bytes: 900_000, used: 900_000 })
  })

  it('count nothing for uploads that break off', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const form = openForm(world, { length: 2 * megabyte })
    form.write(`${fields(toBob)}${fileHead('a.png', 'image/png')}${'x'.repeat(100_000)}`)
    await until(async () => (await rowsOf(world)).files === 1)
    form.abort()
    await until(async () => (await rowsOf(world)).files === 0)
    expect(await rowsOf(world)).toEqual({ files: 0, bytes: 0, used: 0 })
    expect(storedFiles(world)).toEqual([])
    const [day] = await world.context.database.run<{ bytes: number }>(sql`
      select bytes from upload_days where app_id = ${world.app.appId}`)
    expect(day?.bytes).toBe(0)
  })
})

describe('files that are refused', () => {
  it('are gone at once, those that came before their fields too', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const form = openForm(world)
    form.write(
      `${fileHead('a.png', 'image/png')}0123456789\r\n${fields({ ...toBob, receiver: 'nobody' })}--a-boundary-of-tests--\r\n`,
    )
    form.end()
    expect(refusal(await form.answer)).toBe('404 ERR_UID_NOT_FOUND')
    expect(storedFiles(world)).toEqual([])
    expect(await rowsOf(world)).toEqual({ files: 0, bytes: 0, used: 0 })
  })

  it('are gone at once when the message was sent before', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    dataOf(await sendForm(world, { ...toBob, muid: 'same' }, [picture]))
    dataOf(await sendForm(world, { ...toBob, muid: 'same' }, [picture]))
    expect(storedFiles(world)).toHaveLength(1)
  })
})

describe('the sweep', () => {
  it('goes on until nothing is left, past what cannot be removed', async () => {
    const stubborn = new Set<string>()
    const folder = path.join(os.tmpdir(), `parley-test-media-${process.pid}-stubborn`)
    const storage = createFolderStorage(folder)
    const service = await startService({}, undefined, undefined, {
      mediaStorage: {
        ...storage,
        remove: async (name) => {
          if ([...stubborn].some((key) => name.endsWith(key))) throw new Error('not now')
          await storage.remove(name)
        },
      },
    })
    try {
      const world = await createWorld(service)
      await createUsers(world, 'alice', 'bob')
      const { appId } = world.app
      const kept = dataOf(await sendForm(world, toBob, [picture]))
      const now = Math.floor(Date.now() / 1000)
      // The first of a thousand and more cannot be removed; some of them nobody has claimed in time.
      stubborn.add(`${'0'.repeat(31)}1`)
      await world.context.database.run(sql`
        insert into media_files (app_id, key, name, mime_type, size, created_at, removed_at, claim_by, arriving)
        select ${appId}, lpad(n::text, 32, '0'), 'x', 'text/plain', 1, ${now}::bigint - 90000,
          case when n <= 1200 then ${now}::bigint - 50 end, case when n > 1200 then ${now}::bigint - 10 end, n > 1900
        from generate_series(1, 2000) as n`)
      // As autovacuum would soon: by what it knew before, PostgreSQL may look for who uses a file a million times over.
      await world.context.database.run(sql`analyze media_files, media_uses`)
      await world.context.database.run(sql`
        update media_usage set bytes = bytes + 2000 where app_id = ${appId}`)
      await world.context.media.sweep()
      expect(await rowsOf(world)).toEqual({ files: 2, bytes: 11, used: 11 })
      stubborn.clear()
      await world.context.media.sweep()
      expect(await rowsOf(world)).toEqual({ files: 1, bytes: 10, used: 10 })
      expect(await (await fetch(kept.data.url)).text()).toBe('0123456789')
    } finally {
      await service.parley.close()
    }
  })
})

describe('a disk that is full', () => {
  const full = Object.assign(new Error('no space left on device, write'), { code: 'ENOSPC' })
  const empty = { remove: async () => {}, tidy: async () => {}, freeBytes: async () => 1e12 }

  it('answers uploads with 503 and Retry-After, texts still go, and nothing hangs', async () => {
    const mediaStorage: MediaStorage = {
      ...empty,
      read: async () => {
        throw full
      },
      sizeOf: async () => undefined,
      // As a disk does: after some bytes have been written.
      async write(_name, content) {
        for await (const chunk of content) if (chunk) throw full
        return 0
      },
    }
    const service = await startService({}, undefined, undefined, { mediaStorage })
    try {
      const world = await createWorld(service)
      await createUsers(world, 'alice', 'bob')
      for (const content of ['0123456789', 'x'.repeat(3 * megabyte)]) {
        const files = [{ ...picture, content }, picture]
        const refused = await sendForm(world, toBob, files)
        expect(refusal(refused)).toBe('503 ERR_MISSION_FAILED')
        expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
        expect(JSON.stringify(refused.body)).not.toContain('ENOSPC')
      }
      await say(world, 'alice', 'bob', 'still here')
      expect(await rowsOf(world)).toEqual({ files: 0, bytes: 0, used: 0 })
    } finally {
      await service.parley.close()
    }
  })

  it('is not waited for: below the mark of free space uploads are refused before they are read', async () => {
    let free = 90 * megabyte
    const folder = path.join(os.tmpdir(), `parley-test-media-${process.pid}-mark`)
    const mediaStorage = { ...createFolderStorage(folder), freeBytes: async () => free }
    const service = await startService({ MEDIA_MIN_FREE_MB: '100' }, undefined, undefined, { mediaStorage })
    try {
      const world = await createWorld(service)
      await createUsers(world, 'alice', 'bob')
      const refused = await answerToHead(world, toBob)
      expect(refusal(refused)).toBe('503 ERR_MISSION_FAILED')
      expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
      await say(world, 'alice', 'bob', 'still here')
      free = 120 * megabyte
      dataOf(await sendForm(world, toBob, [picture]))
      // What it declares would pass the mark.
      expect(refusal(await answerToHead(world, toBob))).toBe('503 ERR_MISSION_FAILED')
    } finally {
      await service.parley.close()
    }
  })
})
