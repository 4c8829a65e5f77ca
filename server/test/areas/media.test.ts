import { rm } from 'node:fs/promises'
import path from 'node:path'
import { fetch } from 'undici'
import { describe, expect, it, vi } from 'vitest'
import { readRange } from '../../src/http/media.ts'
import { dataOf, refusal, say } from '../support/chat.ts'
import { picture, sendForm, toBob } from '../support/forms.ts'
import { mediaFolder } from '../support/service.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'

async function keptFiles(world: World): Promise<number> {
  const { sql } = await import('kysely')
  const [row] = await world.context.database.run<{ count: number }>(sql`
    select count(*) as count from media_files where app_id = ${world.app.appId} and removed_at is null`)
  return row?.count ?? -1
}

describe('a file sent with a message', () => {
  it('may come in a thread and from a bot as well', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    dataOf(await world.post('/roles', { role: 'bot', name: 'Bot' }))
    dataOf(await world.post('/users', { uid: 'helper', name: 'Helper', role: 'bot' }))
    const parent = await say(world, 'alice', 'bob', 'parent')
    const shown = { attachments: [{ name: 'cat.png', mimeType: 'image/png', size: '10' }] }
    for (const path of [`/messages/${parent.id}/thread`, '/bots/helper/messages']) {
      const sent = dataOf(await sendForm(world, { ...toBob, caption: 'a cat' }, [picture], { path }))
      expect(sent.data).toMatchObject({ text: 'a cat', ...shown })
      expect(await (await fetch(sent.data.url)).text()).toBe('0123456789')
      expect(dataOf(await world.get(`/messages/${sent.id}`)).data.attachments).toEqual(sent.data.attachments)
    }
    expect(await keptFiles(world)).toBe(2)
    const refused = await sendForm(world, { ...toBob, receiver: 'nobody' }, [picture], {
      path: '/bots/helper/messages',
    })
    expect(refusal(refused)).toBe('404 ERR_UID_NOT_FOUND')
    expect(await keptFiles(world)).toBe(2)
  })

  it('is kept and served, whole and in ranges, with its type and never sniffed', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const sent = dataOf(
      await sendForm(world, { ...toBob, caption: 'my cat', metadata: '{"k":1}', tags: '["red"]', muid: 'm1' }, [
        picture,
      ]),
    )
    expect(sent).toMatchObject({ type: 'image', sender: 'alice', muid: 'm1', tags: ['red'] })
    expect(sent.data).toMatchObject({
      text: 'my cat',
      metadata: { k: 1 },
      attachments: [{ name: 'cat.png', mimeType: 'image/png', extension: 'png', size: '10' }],
    })
    const { url } = sent.data
    expect(url).toBe(sent.data.attachments[0].url)
    const whole = await fetch(url)
    expect([whole.status, await whole.text()]).toEqual([200, '0123456789'])
    expect(whole.headers.get('content-type')).toBe('image/png')
    expect(whole.headers.get('x-content-type-options')).toBe('nosniff')
    expect(whole.headers.get('content-length')).toBe('10')
    const part = await fetch(url, { headers: { range: 'bytes=2-4' } })
    expect([part.status, part.headers.get('content-range'), await part.text()]).toEqual([206, 'bytes 2-4/10', '234'])
    const beyond = await fetch(url, { headers: { range: 'bytes=20-' } })
    expect([beyond.status, beyond.headers.get('content-range')]).toEqual([416, 'bytes */10'])
    const head = await fetch(url, { method: 'HEAD' })
    expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, '10', ''])
  })

  it('that cannot be read for a moment is an error that nobody keeps in its place', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const { url } = dataOf(await sendForm(world, toBob, [picture])).data
    vi.spyOn(world.context.media, 'open').mockRejectedValueOnce(new Error('the disk is away'))
    const failed = await fetch(url, { headers: { range: 'bytes=2-4' } })
    expect(failed.status).toBe(500)
    expect(await failed.json()).toMatchObject({ error: { code: expect.any(String) } })
    for (const name of ['cache-control', 'etag', 'content-disposition', 'content-range', 'accept-ranges']) {
      expect(failed.headers.get(name), name).toBeNull()
    }
    expect(await (await fetch(url)).text()).toBe('0123456789')
  })

  it('is not found once its bytes are gone, and that is not said of the database', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const { url } = dataOf(await sendForm(world, toBob, [picture])).data
    await rm(path.join(mediaFolder, String(world.app.appId)), { recursive: true })
    const gone = await fetch(url)
    expect(gone.status).toBe(404)
    expect(await gone.json()).toMatchObject({ error: { code: 'ERR_API_NOT_FOUND' } })
    const head = await fetch(url, { method: 'HEAD' })
    expect([head.status, head.headers.get('content-type')]).toEqual([404, gone.headers.get('content-type')])
    expect(head.headers.get('etag')).toBeNull()
  })

  it('that cannot be opened for want of open files is no matter of the database', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const { url } = dataOf(await sendForm(world, toBob, [picture])).data
    const full = Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE', syscall: 'open' })
    vi.spyOn(world.context.media, 'open').mockRejectedValueOnce(full)
    const failed = await fetch(url)
    expect([failed.status, await failed.text()]).toEqual([500, expect.not.stringContaining('database')])
  })

  it('that is a page or a script is offered as a download', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    for (const type of ['text/html', 'image/svg+xml', 'application/javascript', 'nonsense']) {
      const file = { name: 'x.html', type, content: '<script>alert(1)</script>' }
      const { url } = dataOf(await sendForm(world, { ...toBob, type: 'file' }, [file])).data
      const answer = await fetch(url)
      expect(answer.headers.get('content-type')).toBe('application/octet-stream')
      expect(answer.headers.get('content-disposition')).toContain('attachment')
      expect(answer.headers.get('content-security-policy')).toContain('sandbox')
      await answer.text()
    }
  })

  it('keeps a name that is safe, whatever was sent', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    for (const [name, kept] of [
      ['../../etc/passwd', 'passwd'],
      ['..\\..\\boot.ini', 'boot.ini'],
      ['猫 写真.png', '猫 写真.png'],
      ['.hidden', 'hidden'],
    ] as const) {
      const { attachments, url } = dataOf(await sendForm(world, toBob, [{ ...picture, name }])).data
      expect(attachments[0].name).toBe(kept)
      expect((await fetch(url)).status).toBe(200)
    }
  })

  it('is gone when the message is deleted, softly or for good, and when an edit drops it', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    for (const end of [
      (id: string) => world.delete(`/messages/${id}`, {}, { as: 'alice' }),
      (id: string) => world.delete(`/messages/${id}`, { permanent: true }, { as: 'alice' }),
      (id: string) =>
        world.put(
          `/messages/${id}`,
          { data: { url: 'https://example.com/b.png', attachments: [{ url: 'https://example.com/b.png' }] } },
          { as: 'alice' },
        ),
      (id: string) => {
        const attachments = [{ url: 'https://example.com/b.png', mimeType: 'image/png' }]
        return world.put(`/messages/${id}`, { data: { attachments } }, { as: 'alice' })
      },
      () => world.delete('/users/bob/conversation', { deleteMessagesPermanently: true }, { as: 'alice' }),
      () => world.delete('/users/bob', { permanent: true }),
    ]) {
      const message = dataOf(await sendForm(world, toBob, [picture]))
      expect((await fetch(message.data.url)).status).toBe(200)
      dataOf(await end(message.id))
      expect((await fetch(message.data.url)).status).toBe(404)
    }
    expect(await keptFiles(world)).toBe(0)
  })

  it('stays as long as another message uses it', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol')
    const message = dataOf(await sendForm(world, toBob, [picture]))
    const forwarded = await say(world, 'bob', 'carol', 'look', {
      type: 'image',
      data: { attachments: message.data.attachments },
    })
    dataOf(await world.delete(`/messages/${message.id}`, {}, { as: 'alice' }))
    expect((await fetch(message.data.url)).status).toBe(200)
    dataOf(await world.delete(`/messages/${forwarded.id}`, {}, { as: 'bob' }))
    expect((await fetch(message.data.url)).status).toBe(404)
  })

  it('is not kept when the message is refused, or when its muid was sent before', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    expect(refusal(await sendForm(world, { ...toBob, receiver: 'nobody' }, [picture]))).toBe('404 ERR_UID_NOT_FOUND')
    expect(refusal(await sendForm(world, { ...toBob, metadata: '{' }, [picture]))).toBe('400 ERR_BAD_REQUEST')
    expect(refusal(await sendForm(world, { ...toBob, type: 'poem' }, [picture]))).toBe('400 ERR_INVALID_MESSAGE_TYPE')
    for (const attachments of [{ url: 'https://example.com/a.png' }, 'https://example.com/a.png', null]) {
      const data = JSON.stringify({ attachments })
      expect(refusal(await sendForm(world, { ...toBob, data }, [picture])), data).toBe('400 ERR_INVALID_MEDIA_MESSAGE')
      expect(refusal(await sendForm(world, { receiver: 'bob', receiverType: 'user', data }, [picture])), data).toBe(
        '400 ERR_INVALID_MEDIA_MESSAGE',
      )
    }
    expect(await keptFiles(world)).toBe(0)
    const first = dataOf(await sendForm(world, { ...toBob, muid: 'same' }, [picture]))
    const again = dataOf(await sendForm(world, { ...toBob, muid: 'same' }, [picture]))
    expect(again.id).toBe(first.id)
    expect(await keptFiles(world)).toBe(1)
    // Nor where nothing may be sent by now; whoever sends it again gets what is stored.
    dataOf(await world.post('/users/bob/blockedusers', { blockedUids: ['alice'] }))
    expect(dataOf(await sendForm(world, { ...toBob, muid: 'same' }, [picture])).id).toBe(first.id)
    expect(refusal(await sendForm(world, { ...toBob, muid: 'other' }, [picture]))).toBe('403 ERR_BLOCKED_SENDER')
    expect(await keptFiles(world)).toBe(1)
  })

  it('is one of ten at most, and only where files are taken', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    expect(refusal(await sendForm(world, toBob, Array(11).fill(picture)))).toBe('400 ERR_FILE_COUNT_EXCEEDED')
    expect(refusal(await sendForm(world, { name: 'x' }, [picture], { path: '/users/bob/conversation/read' }))).toBe(
      '415 ERR_BAD_REQUEST',
    )
    expect(await keptFiles(world)).toBe(0)
  })

  it('is not found under another app, key or name of a key', async () => {
    const [world, other] = [await createWorld(), await createWorld()]
    await createUsers(world, 'alice', 'bob')
    const { url } = dataOf(await sendForm(world, toBob, [picture])).data
    expect((await fetch(url.replace(world.app.name, other.app.name))).status).toBe(404)
    expect((await fetch(url.replace(/[0-9a-f]{32}/, '0'.repeat(32)))).status).toBe(404)
    expect((await fetch(url.replace(/[0-9a-f]{32}/, '..%2f..%2fkeys.env'))).status).toBe(404)
  })
})

describe('the Range header', () => {
  it.each([
    [undefined, undefined],
    ['bytes=0-0', { start: 0, end: 0 }],
    ['bytes=3-', { start: 3, end: 9 }],
    ['bytes=-4', { start: 6, end: 9 }],
    ['bytes=5-99', { start: 5, end: 9 }],
    ['bytes=-99', { start: 0, end: 9 }],
    ['bytes=10-', 'unsatisfiable'],
    ['bytes=5-2', 'unsatisfiable'],
    ['bytes=0-1,3-4', undefined],
    ['lines=1-2', undefined],
    ['bytes=-', undefined],
  ])('%s of 10 bytes', (header, range) => {
    expect(readRange(header, 10)).toEqual(range)
  })
})
