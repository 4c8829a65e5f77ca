import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { dataOf } from '../../support/chat.ts'
import { createGround, type Ground, imported, saidIn } from './ground.ts'

const ts = (second: number, part = 0) => `${1_600_000_000 + second}.${String(part).padStart(6, '0')}`
const said = (second: number, user: string, text: string, more: object = {}) => {
  return { type: 'message', user, text, ts: ts(second), ...more }
}
const person = (id: string, name: string, more: object = {}) => {
  return { id, name, profile: { real_name: `${name} of Acme`, display_name: '' }, ...more }
}

/** A small workspace, with everything that an export can have. */
async function putWorkspace(ground: Ground): Promise<void> {
  await ground.put('users.json', [
    person('U0aB', 'mara', { profile: { display_name: 'Mara', email: 'mara@acme.example', title: 'CTO' } }),
    // Differs from the one before in nothing but upper and lower case.
    person('U0Ab', 'Mara'),
    person('U2', 'josé.lópez'),
    person('U3', 'gone', { deleted: true, updated: 1_650_000_000 }),
    person('B1', 'robot', { is_bot: true }),
  ])
  await ground.put('channels.json', [
    {
      ...{ id: 'C1', name: 'general', created: 1_590_000_000, creator: 'U0aB', members: ['U0aB', 'U2', 'U9'] },
      ...{ topic: { value: 'All of us' }, purpose: { value: '' } },
      pins: [{ id: ts(10), type: 'C', created: 1_600_000_099, user: 'U2', owner: 'U0aB' }],
    },
    { id: 'C2', name: '../secrets', created: 1_590_000_000, creator: null, members: ['U2'], is_archived: true },
  ])
  await ground.put('groups.json', [{ id: 'G1', name: 'board', created: 1_590_000_000, members: ['U0aB', 'U0Ab'] }])
  await ground.put('dms.json', [
    { id: 'D1', created: 1_590_000_000, members: ['U0aB', 'U2'] },
    { id: 'D2', created: 1_590_000_000, members: ['U2', 'U2'] },
  ])
  await ground.put('mpims.json', [
    { id: 'G2', name: 'mpdm-a-b-c', created: 1_590_000_000, members: ['U0aB', 'U2', 'U3'] },
  ])
  await ground.put('general/2020-09-14.json', [
    said(20, 'U2', 'In the thread', { thread_ts: ts(10) }),
    said(
      10,
      'U0aB',
      'Hi <@U2>, see <https://acme.example/a?b=1&amp;c=2|the page> &amp; <#C2|secrets> :wave::skin-tone-3:',
      {
        thread_ts: ts(10),
        edited: { user: 'U0aB', ts: ts(15) },
        reactions: [
          { name: 'thumbsup', users: ['U2', 'U3'], count: 3 },
          { name: 'partyparrot', users: ['U2'], count: 1 },
        ],
      },
    ),
    said(11, 'U7', 'A person who is not in users.json', { user_profile: { display_name: 'Ghost' } }),
    said(12, 'U2', '<@U2> has joined', { subtype: 'channel_join' }),
    said(13, 'U2', 'to a message of long ago', { thread_ts: ts(-999) }),
    { type: 'message', subtype: 'tombstone', user: 'USLACKBOT', text: 'This message was deleted.', ts: ts(14) },
    {
      type: 'message',
      subtype: 'bot_message',
      bot_id: 'B1',
      text: '',
      ts: ts(16),
      attachments: [{ title: 'Build 7', fallback: 'red' }],
    },
    said(17, 'U2', 'waves', { subtype: 'me_message' }),
    said(18, 'U2', 'Two pictures', {
      files: [
        {
          id: 'F1',
          name: 'a.png',
          mimetype: 'image/png',
          size: 10,
          url_private_download: 'https://files.acme.example/a.png?t=xoxe-1',
        },
        { id: 'F2', name: 'b.png', mode: 'tombstone' },
      ],
    }),
  ])
  await ground.put('general/2020-09-15.json', [
    said(90_000, 'U2', `${'long words '.repeat(2_000)}end`),
    said(90_001, 'U3', ''),
  ])
  await ground.put('D1/2020-09-14.json', [said(1, 'U0aB', 'Between us &lt;two&gt;'), said(2, 'U2', 'Yes')])
  await ground.put('D2/2020-09-14.json', [said(1, 'U2', 'Note to self')])
  await ground.put('mpdm-a-b-c/2020-09-14.json', [said(1, 'U3', 'We three')])
}

describe('parley convert slack', () => {
  it('has replies to a deleted message between two people as ordinary ones', async () => {
    const ground = await createGround()
    await putWorkspace(ground)
    const tombstone = { type: 'message', subtype: 'tombstone', user: 'USLACKBOT', ts: ts(1), thread_ts: ts(1) }
    const replies = [said(2, 'U2', 'first reply', { thread_ts: ts(1) }), said(3, 'U0aB', 'to it', { thread_ts: ts(1) })]
    await ground.put('D1/2020-09-14.json', [tombstone, ...replies])
    expect(await ground.convert('slack')).toMatchObject({ code: 0 })
    expect(await ground.reasons()).toMatchObject({ 'reply-without-thread': 3 })
    const world = await imported(ground)
    const between = await saidIn(world, '/users/mara', 'jose-lopez')
    expect(between.map(({ data }: { data: { text: string } }) => data.text)).toEqual(['first reply', 'to it'])
  })

  it('makes a folder that is imported whole, and says what has no counterpart', async () => {
    const ground = await createGround()
    await putWorkspace(ground)
    const { code, out, err } = await ground.convert('slack')
    expect([code, err]).toEqual([0, ''])
    expect(out).toMatch(/users +7\ngroups +5\n/)
    expect(await ground.reasons()).toEqual({
      'archived-channel': 1,
      'conversation-with-oneself': 1,
      'custom-emoji': 1,
      'deleted-message': 1,
      'direct-group': 1,
      'empty-message': 1,
      'file-link-of-export': 1,
      'file-not-in-export': 1,
      'member-without-user': 1,
      'reactions-without-users': 1,
      'reply-without-thread': 1,
      'split-message': 1,
      'system-message': 1,
      'user-not-in-export': 2,
    })
    const world = await imported(ground)

    const users = dataOf(await world.get('/users?perPage=100'))
    expect(users.map(({ uid, name }: { uid: string; name: string }) => [uid, name]).sort()).toEqual(
      [
        ['gone', 'gone of Acme'],
        ['jose-lopez', 'josé.lópez of Acme'],
        ['mara', 'Mara'],
        ['mara-2', 'Mara of Acme'],
        ['robot', 'robot of Acme'],
      ].filter(([uid]) => uid !== 'gone'),
    )
    expect(dataOf(await world.get('/users/gone')).deactivatedAt).toBe(1_650_000_000)

    const general = await saidIn(world, '/groups/general', 'mara')
    const texts = general.map(({ data }: { data: { text?: string } }) => data.text?.slice(0, 90))
    expect(texts.slice(0, 7)).toEqual([
      'Hi <@uid:jose-lopez>, see the page (https://acme.example/a?b=1&c=2) & #secrets 👋🏼',
      'A person who is not in users.json',
      'to a message of long ago',
      // Deleted.
      undefined,
      'Build 7\nred',
      '_waves_',
      'Two pictures\n[b.png]',
    ])
    expect(texts.slice(7).map((text: string) => text.slice(0, 10))).toEqual(['long words', 'long words', 'long words'])
    const [first, , , deleted, bot, , pictures] = general
    expect(deleted.deletedAt).toBe(1_600_000_014)
    expect(first).toMatchObject({
      ...{ sender: 'mara', sentAt: 1_600_000_010, editedAt: 1_600_000_015, replyCount: 1 },
      ...{ pinnedBy: 'jose-lopez', pinnedAt: 1_600_000_099 },
      data: {
        mentions: { 'jose-lopez': { uid: 'jose-lopez' } },
        reactions: expect.arrayContaining([
          { reaction: '👍', count: 2 },
          { reaction: ':partyparrot:', count: 1 },
        ]),
      },
    })
    expect(bot.sender).toBe('robot')
    expect(pictures).toMatchObject({ type: 'image', data: { attachments: [{ name: 'a.png', size: 10 }] } })
    const [reply] = dataOf(await world.get(`/messages/${first.id}/thread`, { as: 'mara' }))
    expect(reply).toMatchObject({ sender: 'jose-lopez', data: { text: 'In the thread' }, parentId: first.id })

    const direct = await saidIn(world, '/users/mara', 'jose-lopez')
    expect(direct.map(({ data }: { data: { text: string } }) => data.text)).toEqual(['Between us <two>', 'Yes'])
    expect(dataOf(await world.get('/groups/general'))).toMatchObject({ type: 'public', owner: 'mara', membersCount: 2 })
    expect(dataOf(await world.get('/groups/secrets'))).toMatchObject({ tags: ['archived'] })
    expect(dataOf(await world.get('/groups/board'))).toMatchObject({ type: 'private', membersCount: 2 })
    expect(await saidIn(world, '/groups/mpdm-a-b-c', 'mara')).toMatchObject([{ sender: 'gone' }])
  })

  it('has what a message shows below what it says, but for previews of links that it says itself', async () => {
    const ground = await createGround()
    await putWorkspace(ground)
    const preview = { title: 'A page', text: 'Of two & more', from_url: 'https://acme.example/?a=1&b=2' }
    const alarm = { title: 'db-3 is down', text: 'See <https://acme.example/db-3|the chart>', fallback: 'down' }
    await ground.put('D1/2020-09-14.json', [
      said(1, 'U2', 'New alarms:', { attachments: [alarm, { fallback: 'db-4 is slow' }] }),
      said(2, 'U2', 'Look at <https://acme.example?a=1&amp;b=2|this>', { attachments: [preview, { text: 'Mine' }] }),
      said(3, 'U2', 'No link', { attachments: [preview] }),
    ])
    expect(await ground.convert('slack')).toMatchObject({ code: 0 })
    const texts = (await ground.records('messages')).flatMap(({ receiverType, data }) =>
      receiverType === 'user' ? [data.text] : [],
    )
    expect(texts).toEqual([
      'New alarms:\ndb-3 is down\nSee the chart (https://acme.example/db-3)\ndb-4 is slow',
      'Look at this (https://acme.example?a=1&b=2)\nMine',
      'No link\nA page\nOf two & more',
    ])
    expect(await ground.reasons()).toMatchObject({ 'link-preview': 1 })
  })

  it('gives the same folder again, and keeps the ids of an earlier run', async () => {
    const [one, other] = [await createGround(), await createGround()]
    for (const ground of [one, other]) {
      await putWorkspace(ground)
      expect((await ground.convert('slack')).code).toBe(0)
    }
    for (const kind of ['groups', 'members', 'messages', 'ids']) {
      expect(await other.records(kind)).toEqual(await one.records(kind))
    }
    const later = await createGround()
    await putWorkspace(later)
    // Somebody came before the others in the list, and has a name that is given already.
    const users = JSON.parse(await readFile(path.join(later.folder, 'users.json'), 'utf8'))
    await later.put('users.json', [person('U0', 'mara'), ...users])
    expect((await later.convert('slack', '--ids', path.join(one.output, 'ids.ndjson'))).code).toBe(0)
    const ids = new Map((await later.records('ids')).map(({ kind, from, to }) => [`${kind} ${from}`, to]))
    expect([ids.get('user U0aB'), ids.get('user U0Ab'), ids.get('user U0')]).toEqual(['mara', 'mara-2', 'mara-3'])
    expect(await later.records('messages')).toEqual(await one.records('messages'))
  })

  it('finds the folder of a channel whose accents were taken apart, and names folders that belong to none', async () => {
    const ground = await createGround()
    await ground.put('users.json', [person('U1', 'mara')])
    await ground.put('channels.json', [
      { id: 'C1', name: 'café', members: ['U1'] },
      { id: 'C2', name: 'straße', members: ['U1'] },
      { id: 'C3', name: 'silent', members: ['U1'] },
    ])
    await ground.put(`${'café'.normalize('NFD')}/2020-09-14.json`, [said(1, 'U1', 'in the café')])
    await ground.put('stra├ƒe/2020-09-14.json', [said(2, 'U1', 'in the street')])
    expect((await ground.convert('slack')).code).toBe(0)
    const texts = (await ground.records('messages')).map((record) => JSON.stringify(record))
    expect(texts).toEqual([expect.stringContaining('in the café')])
    expect(await ground.reasons()).toEqual({ 'folder-without-channel': 1 })
  })

  it('reads nothing outside the export, whatever a channel is called', async () => {
    const ground = await createGround()
    await putWorkspace(ground)
    await writeFile(path.join(ground.folder, '..', 'secrets'), '')
    await ground.put('../secrets-of-others/2020-09-14.json', [said(1, 'U2', 'not of this export')])
    await ground.link('board', '../secrets-of-others')
    await ground.link('D1/2020-09-15.json', '../secrets-of-others/2020-09-14.json')
    await ground.put('channels.json', [
      { id: 'C2', name: '../secrets-of-others', members: ['U2'] },
      { id: 'C3', name: 'users.json', members: ['U2'] },
    ])
    const { code, err } = await ground.convert('slack')
    expect([code, err]).toEqual([0, ''])
    expect(JSON.stringify(await ground.records('messages'))).not.toContain('not of this export')
  })

  it('takes hostile ids and values for what they are', async () => {
    const ground = await createGround()
    await ground.put('users.json', [
      person('__proto__', 'constructor'),
      person('U1', '<script>alert(1)</script>', {
        profile: { display_name: 'x'.repeat(300), image_512: 'javascript:alert(1)' },
      }),
      ...[null, 7, { name: 'without an id' }, { id: 'U2', name: {}, profile: null }],
    ])
    await ground.put('channels.json', [{ id: 'toString', name: 'valueOf', members: ['__proto__', 7, null] }])
    await ground.put('valueOf/2020-01-01.json', [
      said(1, '__proto__', '<@U1> <@nobody> <!date^1^x|then> <broken', {
        reactions: [{ name: 'constructor', users: ['U1'] }],
      }),
      said(2, 'U1', 'x', { ts: 'not a time' }),
      said(3, 'U1', 'y', { ts: 1_600_000_000 }),
      said(4, 'U1', 'in the future', { ts: '9999999999.000000' }),
      ...[null, 7, { type: 'something else', ts: ts(5) }],
    ])
    const { code, err } = await ground.convert('slack')
    expect([code, err]).toEqual([0, ''])
    expect(await ground.reasons()).toMatchObject({ 'shortened-name': 1, 'record-not-valid': 4, 'custom-emoji': 1 })
    const world = await imported(ground)
    const messages = await saidIn(world, '/groups/valueof', 'constructor')
    expect(messages.map(({ data }: { data: { text: string } }) => data.text)).toEqual([
      '<@uid:script-alert-1-script> <@uid:nobody> then <broken',
    ])
    expect(dataOf(await world.get('/users/script-alert-1-script')).avatar).toBeUndefined()
  })

  it.each([
    ['without users.json', 'channels.json', '[]', /has no users.json/],
    ['with a file that is cut off', 'users.json', '[{"id": "U1"', /users\.json is not valid JSON/],
    ['with a file of something else', 'users.json', '{}', /users\.json must be an array/],
  ])('refuses an export %s, and leaves nothing behind', async (_, name, content, expected) => {
    const ground = await createGround()
    await ground.put(name, content)
    const { code, err } = await ground.convert('slack')
    expect([code, err]).toEqual([1, expect.stringMatching(expected)])
    await expect(readFile(path.join(ground.output, 'report.json'))).rejects.toThrow('ENOENT')
    await expect(readFile(path.join(`${ground.output}.partial`, 'ids.ndjson'))).rejects.toThrow('ENOENT')
  })

  it('does not overwrite anything', async () => {
    const ground = await createGround()
    await putWorkspace(ground)
    expect((await ground.convert('slack')).code).toBe(0)
    const { code, err } = await ground.convert('slack')
    expect([code, err]).toEqual([1, expect.stringContaining('is not empty')])
    expect((await ground.records('users')).length).toBe(7)
  })
})
