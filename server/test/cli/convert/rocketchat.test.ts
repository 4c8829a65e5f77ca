import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { Binary, serialize } from 'bson'
import { describe, expect, it } from 'vitest'
import { dataOf } from '../../support/chat.ts'
import { withShortWrites } from '../short-writes.ts'
import { createGround, type Ground, imported, saidIn } from './ground.ts'

const at = (second: number) => new Date((1_600_000_000 + second) * 1000)
const dump = (...documents: object[]) => Buffer.concat(documents.map((document) => serialize(document)))
const names: Record<string, string> = { aB3: 'ann', ab3: 'Ann', c: 'carl.c' }
const message = (_id: string, rid: string, second: number, by: string, msg: string, more: object = {}) => {
  return { _id, rid, msg, ts: at(second), u: { _id: by, username: names[by] ?? by }, ...more }
}

async function putDump(ground: Ground, messages: object[] = []): Promise<void> {
  const users = Object.entries(names).map(([_id, username]) => ({
    _id,
    username,
    name: `${username}!`,
    createdAt: at(-9),
  }))
  await ground.put('users.bson', dump(...users, { _id: 'old', username: 'old', active: false, _updatedAt: at(99) }))
  await ground.put(
    'rocketchat_room.bson',
    dump(
      { _id: 'R1', t: 'c', name: 'general', ts: at(-5), topic: 'All' },
      { _id: 'R2', t: 'p', name: 'board', archived: true },
      { _id: 'R3', t: 'd', uids: ['aB3', 'c'], usernames: ['ann', 'carl.c'] },
      { _id: 'R4', t: 'd', uids: ['aB3', 'ab3', 'c'], usernames: ['ann', 'Ann', 'carl.c'] },
    ),
  )
  const joined = (rid: string, _id: string, roles: string[] = []) => ({ rid, u: { _id }, roles })
  await ground.put(
    'rocketchat_subscription.bson',
    dump(joined('R1', 'aB3', ['owner']), joined('R1', 'ab3'), joined('R2', 'c')),
  )
  await ground.put('rocketchat_message.bson', dump(...messages))
}

describe('parley convert rocketchat', () => {
  it('makes a folder that is imported whole, with files that were in the database', async () => {
    const ground = await createGround()
    await putDump(ground, [
      message('m2', 'R1', 2, 'ab3', 'Answer', { tmid: 'm1', tshow: true }),
      message('m1', 'R1', 1, 'aB3', 'Hi @carl.c. and @all, not @ann :smile:', {
        mentions: [
          { _id: 'c', username: 'carl.c' },
          { _id: 'all', username: 'all' },
        ],
        reactions: { ':+1:': { usernames: ['Ann', 'carl.c'] } },
        editedAt: at(8),
        pinned: true,
        pinnedAt: at(6),
        pinnedBy: { _id: 'c', username: 'carl.c' },
        starred: [{ _id: 'c' }],
      }),
      message('m3', 'R1', 3, 'aB3', '', { t: 'uj' }),
      message('m4', 'R1', 4, 'aB3', '', { t: 'rm', editedAt: at(7) }),
      message('m5', 'R1', 5, 'aB3', 'aGVsbG8=', { t: 'e2e' }),
      message('m6', 'R1', 6, 'c', '', {
        attachments: [{ description: 'A picture' }],
        files: [
          { _id: 'F1', name: 'a.png', type: 'image/png' },
          { _id: 'F2', name: 'thumb-a.png', type: 'image/png', typeGroup: 'thumb' },
        ],
      }),
      message('m7', 'R1', 7, 'c', '[ ](https://chat.acme.example/channel/general?msg=m6) Half', {
        file: { _id: 'F3', name: 'half.bin' },
      }),
      message('m12', 'R1', 12, 'c', '[ ](https://chat.acme.example/group/board?msg=m11) of elsewhere'),
      message('m8', 'R3', 1, 'c', 'Between us', { pinned: true }),
      message('m9', 'R4', 1, 'ab3', 'We three'),
      message('m10', 'R9', 1, 'c', 'No such room'),
      message('m11', 'R2', 1, 'visitor', 'Not among the users'),
    ])
    const file = (_id: string, length: number) => ({ _id, length, chunkSize: 4 })
    await ground.put('rocketchat_uploads.files.bson', dump(file('F1', 6), file('F3', 8)))
    const chunk = (files_id: string, n: number, text: string) => ({ files_id, n, data: new Binary(Buffer.from(text)) })
    await ground.put(
      'rocketchat_uploads.chunks.bson',
      dump(chunk('F1', 1, 'ef'), chunk('F1', 0, 'abcd'), chunk('F3', 0, 'half')),
    )
    const upload = (_id: string, name: string, type: string) => ({ _id, name, type })
    await ground.put('rocketchat_uploads.bson', dump(upload('F1', 'a.png', 'image/png'), upload('F3', 'half.bin', '')))

    const { code, err } = await ground.convert('rocketchat', '--files', 'https://files.acme.example')
    expect([code, err]).toEqual([0, ''])
    expect(await ground.reasons()).toEqual({
      'archived-channel': 1,
      'deleted-message': 1,
      'direct-group': 1,
      'encrypted-message': 1,
      'file-not-in-export': 1,
      'pinned-message': 1,
      'quote-without-message': 1,
      'record-not-valid': 1,
      'saved-message': 1,
      'shown-in-channel': 1,
      'system-message': 1,
      'user-not-in-export': 1,
    })
    const world = await imported(ground)
    const general = await saidIn(world, '/groups/general', 'ann')
    expect(
      general.map(({ sender, data }: { sender: string; data?: { text?: string } }) => [sender, data?.text]),
    ).toEqual([
      ['ann', 'Hi <@uid:carl-c>. and @all, not @ann 😄'],
      ['ann', undefined],
      ['carl-c', 'A picture'],
      ['carl-c', 'Half\n[half.bin]'],
      ['carl-c', 'of elsewhere'],
    ])
    const [first, , picture, half] = general
    expect(half.quotedMessage).toMatchObject({ id: picture.id })
    expect(first).toMatchObject({
      editedAt: 1_600_000_008,
      replyCount: 1,
      data: { reactions: [{ reaction: '👍', count: 2 }] },
      ...{ pinnedBy: 'carl-c', pinnedAt: 1_600_000_006 },
    })
    const records = await ground.records('messages')
    expect(records.flatMap(({ savedBy }) => savedBy ?? [])).toEqual([{ 'carl-c': 1_600_000_001 }])
    const [attachment] = picture.data.attachments
    expect(attachment).toMatchObject({ name: 'a.png', mimeType: 'image/png', size: 6 })
    const stored = path.join(ground.output, 'files', path.basename(attachment.url))
    expect(await readFile(stored, 'utf8')).toBe('abcdef')
    expect(await saidIn(world, '/users/ann', 'carl-c')).toMatchObject([
      { data: { text: 'Between us' }, pinnedBy: 'app_system', pinnedAt: 1_600_000_001 },
    ])
    expect(dataOf(await world.get('/groups/general'))).toMatchObject({ createdAt: 1_599_999_995, membersCount: 2 })
    const people = (await ground.records('users')).map(({ uid, name }) => [uid, name])
    expect(people).toEqual([
      ['ann', 'ann!'],
      ['ann-2', 'Ann!'],
      ['carl-c', 'carl.c!'],
      ['old', 'old'],
      ['visitor', 'visitor'],
    ])
  })

  it('leaves out what Rocket.Chat hides: former texts of edited messages, and deleted ones', async () => {
    const ground = await createGround()
    await putDump(ground, [
      message('m1', 'R1', 1, 'aB3', 'after', { editedAt: at(5) }),
      message('h1', 'R1', 1, 'aB3', 'before', { _hidden: true, parent: 'm1', editedAt: at(5) }),
      message('h2', 'R1', 2, 'ab3', 'taken back', { _hidden: true }),
    ])
    expect(await ground.convert('rocketchat')).toMatchObject({ code: 0 })
    expect((await ground.records('messages')).map(({ data }) => data.text)).toEqual(['after'])
    expect(await ground.reasons()).toEqual({ 'archived-channel': 1, 'direct-group': 1, 'hidden-message': 2 })
  })

  it('has what integrations show, and not twice what is a file or quoted', async () => {
    const ground = await createGround()
    const link = 'https://chat.acme.example/channel/general?msg=m1'
    await putDump(ground, [
      message('m1', 'R1', 1, 'aB3', '', { attachments: [{ title: 'Build 7', text: '', fallback: 'red' }] }),
      message('m2', 'R1', 2, 'aB3', `[ ](${link}) so it is`, { attachments: [{ message_link: link, text: 'red' }] }),
      message('m3', 'R1', 3, 'aB3', '', {
        attachments: [{ type: 'file', title: 'a.png', title_link: '/file-upload/F1/a.png', description: 'Look' }],
      }),
    ])
    expect(await ground.convert('rocketchat')).toMatchObject({ code: 0 })
    expect((await ground.records('messages')).map(({ data }) => data.text)).toEqual([
      'Build 7\nred',
      'so it is',
      'Look',
    ])
  })

  it('has whole files where a disk takes them in parts', async () => {
    const ground = await createGround()
    const upload = { files: [{ _id: 'F1', name: 'a.txt', type: 'text/plain' }] }
    await putDump(ground, [message('m1', 'R1', 1, 'aB3', 'A file', upload)])
    await ground.put('rocketchat_uploads.files.bson', dump({ _id: 'F1', length: 16, chunkSize: 8 }))
    const chunk = (n: number, text: string) => ({ files_id: 'F1', n, data: new Binary(Buffer.from(text)) })
    await ground.put('rocketchat_uploads.chunks.bson', dump(chunk(0, 'one half'), chunk(1, 'and more')))
    await ground.put('rocketchat_uploads.bson', dump({ _id: 'F1', name: 'a.txt', type: 'text/plain' }))
    const to = ['--files', 'https://files.acme.example/']
    const { code, err } = await withShortWrites(() => ground.convert('rocketchat', ...to))
    expect(code, err).toBe(0)
    expect(await readFile(path.join(ground.output, 'files', '1'), 'utf8')).toBe('one halfand more')
  })

  it('takes hostile ids and values for what they are, and writes nothing beyond the end of a file', async () => {
    const ground = await createGround()
    await putDump(ground, [
      message('m1', 'R1', 1, 'aB3', `@${'.-'.repeat(50_000)}a and @${'.'.repeat(100_000)}`, {
        mentions: [null, { _id: 7, username: 'carl.c' }, { _id: 'c', username: ['carl.c'] }],
        reactions: { ':x:': null, ':+1:': { usernames: 'ann' }, ':__proto__:': { usernames: ['__proto__', 7] } },
        starred: [null, { _id: {} }],
        files: [null, { _id: 'F1', name: '../../F1' }, { _id: { toString: 'no' }, name: 'F2' }],
        attachments: [null, { description: 7 }],
        pinnedBy: 'nobody',
        pinned: true,
      }),
      message('m2', 'R1', 2, 'aB3', 'of no time', { ts: 'yesterday' }),
      message('m3', 'R1', 3, 'aB3', 'of nobody', { u: null }),
      message('m4', 'toString', 4, 'aB3', 'in no room'),
      message('m5', 'R1', 5, 'aB3', 'to itself', { tmid: 'm5' }),
    ])
    const file = (_id: string, length: unknown, chunkSize: unknown) => ({ _id, length, chunkSize })
    await ground.put(
      'rocketchat_uploads.files.bson',
      dump(file('F1', 4, 4), file('beyond', 4, 2 ** 40), file('before', 4, -4), file('of-no-size', 'much', null)),
    )
    const chunk = (files_id: string, n: unknown, data: unknown) => ({ files_id, n, data })
    const four = new Binary(Buffer.from('four'))
    const chunks = ['F1', 'beyond', 'before', 'of-no-size', '__proto__'].map((id) => chunk(id, 1, four))
    await ground.put(
      'rocketchat_uploads.chunks.bson',
      dump(...chunks, chunk('F1', 0, 'four'), chunk('F1', 0, { buffer: 'four', position: 4 }), chunk('F1', 0, four)),
    )
    const uploads = ['F1', 'beyond', 'before', 'of-no-size'].map((_id) => ({ _id, name: '../../../evil', type: 7 }))
    await ground.put('rocketchat_uploads.bson', dump(...uploads))
    const { code, err } = await ground.convert('rocketchat', '--files', 'https://files.acme.example')
    expect([code, err]).toEqual([0, ''])
    expect(await ground.reasons()).toMatchObject({ 'record-not-valid': 3, 'file-not-in-export': 1 })
    const written = await readdir(path.join(ground.output, 'files'))
    expect(written).toEqual(['1'])
    expect(await readFile(path.join(ground.output, 'files/1'), 'utf8')).toBe('four')
    const world = await imported(ground)
    const [said] = await saidIn(world, '/groups/general', 'ann')
    expect(said).toMatchObject({
      data: { attachments: [{ name: '../../../evil', size: 4, url: 'https://files.acme.example/1' }] },
    })
  })

  it.each([
    ['ends within a document', (whole: Buffer) => whole.subarray(0, whole.length - 3), /ends within a document/],
    [
      'has a length that cannot be',
      (whole: Buffer) => Buffer.concat([whole, Buffer.from([1, 0, 0, 0, 0])]),
      /is damaged at byte \d+/,
    ],
    [
      'has a document that is none',
      (whole: Buffer) => Buffer.concat([whole, Buffer.from([6, 0, 0, 0, 99, 0])]),
      /is damaged at byte \d+/,
    ],
  ])('refuses a dump whose file %s', async (_, damage, expected) => {
    const ground = await createGround()
    await putDump(ground)
    await ground.put('rocketchat_message.bson', damage(dump(message('m1', 'R1', 1, 'c', 'x'))))
    const { code, err } = await ground.convert('rocketchat')
    expect([code, err]).toEqual([1, expect.stringMatching(expected)])
  })

  it('refuses a folder that is no dump, and says what is missing', async () => {
    const ground = await createGround()
    expect(await ground.convert('rocketchat')).toMatchObject({
      code: 1,
      err: expect.stringContaining('has no users.bson'),
    })
  })
})
