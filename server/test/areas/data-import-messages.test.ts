import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { dataOf, refusal, say, sayInGroup } from '../support/chat.ts'
import { codes, groupText, importAll, importWell, muids, text, usersNamed } from '../support/imports.ts'
import { createWorld, type World } from '../support/world.ts'

const t0 = 1_650_000_000

async function worldOf(...uids: string[]): Promise<World> {
  const world = await createWorld()
  await importWell(world, 'users', usersNamed(...uids))
  return world
}

/** The history between two users, as one of them sees it. */
async function history(world: World, viewer: string, other: string) {
  return dataOf(await world.get(`/users/${other}/messages?limit=1000`, { as: viewer }))
}

async function conversationOf(world: World, viewer: string, other: string) {
  return dataOf(await world.get(`/users/${other}/conversation`, { as: viewer }))
}

describe('the import of messages', () => {
  it('answers whole messages with the entities of sender and receiver', async () => {
    const world = await createWorld()
    const attachment = {
      name: 'a.webp',
      extension: 'webp',
      size: '350.2',
      mimeType: 'image/webp',
      url: 'https://example.com/a.webp',
    }
    const answer = await world.post('/data_import/messages', {
      guid: 'x',
      name: 'tolerated',
      type: 'public',
      messages: {
        m1: {
          muid: 'm1',
          sender: 'Bob',
          receiverType: 'user',
          receiver: 'alice',
          type: 'text',
          category: 'message',
          data: { text: 'hi', attachments: [attachment], metadata: { k: 'v' }, custodata: { k: 'v' }, entities: {} },
          sentAt: '1700000000',
          deliveredAt: '1700000100',
          readAt: '1700000100',
          senderUserDetails: { uid: 'bob', name: 'Bob', createdAt: '1700000050', metadata: { k: 'v' } },
          receiverUserDetails: { uid: 'alice', name: 'Alice', type: 'public', icon: 5, createdAt: '1700000050' },
          tags: ['red'],
          mentionedUserDetails: { carol: { uid: 'carol', name: 'Carol' } },
        },
      },
    })
    expect(answer.status).toBe(200)
    const user = { status: 'offline', role: 'default', createdAt: 1_700_000_050, updatedAt: expect.any(Number) }
    expect(answer.body.data.m1).toEqual({
      success: true,
      data: {
        id: expect.stringMatching(/^[1-9][0-9]*$/),
        muid: 'm1',
        conversationId: 'alice_user_bob',
        sender: 'bob',
        receiverType: 'user',
        receiver: 'alice',
        category: 'message',
        type: 'text',
        data: {
          text: 'hi',
          attachments: [attachment],
          metadata: { k: 'v' },
          custodata: { k: 'v' },
          entities: {
            sender: { entity: { uid: 'bob', name: 'Bob', metadata: { k: 'v' }, ...user }, entityType: 'user' },
            receiver: {
              entity: { uid: 'alice', name: 'Alice', ...user, conversationId: 'alice_user_bob' },
              entityType: 'user',
            },
          },
        },
        sentAt: 1_700_000_000,
        deliveredAt: 1_700_000_100,
        readAt: 1_700_000_100,
        updatedAt: 1_700_000_000,
        tags: ['red'],
      },
    })
    expect(dataOf(await world.get('/users/carol')).name).toBe('Carol')
    expect(dataOf(await world.get(`/messages/${answer.body.data.m1.data.id}`))).toEqual(answer.body.data.m1.data)
  })

  it('takes whatever could be sent, from those who have a list of it', async () => {
    const [source, world] = [await worldOf('alice', 'bob'), await worldOf('alice', 'bob')]
    const url = 'https://example.com/cat.png'
    const message = (type: string, data: object) => ({ category: 'message', type, data })
    const custom = (data: object) => ({ category: 'custom', type: 'poll', data })
    const sent = [
      message('image', { url }),
      message('image', { url, attachments: [] }),
      message('file', { attachments: [{ url }] }),
      message('video', { attachments: [{ url, name: 7, mimeType: null, extension: {}, size: [1] }] }),
      message('text', { text: 'hi', attachments: [{ url, kind: 'another' }], customData: 'x', metadata: [1] }),
      custom({ customData: [1, 2], text: 'hi' }),
    ]
    const listed = []
    for (const content of sent) {
      const answer = await source.post(
        '/messages',
        { receiver: 'bob', receiverType: 'user', ...content },
        { as: 'alice' },
      )
      listed.push(dataOf(answer))
    }
    const records = listed.map(({ id, category, type, data }, n) =>
      text(`m${n}`, 'alice', 'bob', t0 + n, { id, category, type, data }),
    )
    await importWell(world, 'messages', records)
    const contentOf = ({ data: { entities: _, ...data } }: { data: Record<string, unknown> }) => data
    expect((await history(world, 'alice', 'bob')).map(contentOf)).toEqual(listed.map(contentOf))
  })

  it('names the file of the first attachment in place of what is no address', async () => {
    const world = await worldOf('alice', 'bob')
    const attachments = [{ url: 'https://example.com/a.png' }]
    const records = ['javascript:x', { a: 1 }].map((url, n) =>
      text(`m${n}`, 'alice', 'bob', t0 + n, { id: n + 1, type: 'image', data: { attachments, url } }),
    )
    await importWell(world, 'messages', records)
    const stored = await history(world, 'alice', 'bob')
    expect(stored.map(({ data: { url } }: { data: { url: unknown } }) => url)).toEqual(
      Array(2).fill(attachments[0]?.url),
    )
  })

  it('keeps content of every kind', async () => {
    const world = await worldOf('alice', 'bob')
    const attachment = { name: 'a', extension: 'png', mimeType: 'image/png', url: 'https://example.com/a.png', size: 5 }
    const wild = 'quotes " \\ {} , NULL \n tab\t 中文 👍🏽 \u2028'
    const stored = await importWell(world, 'messages', [
      text('plain', 'alice', 'bob', t0, {
        data: { text: wild, metadata: { [wild]: [wild, null, 1.5] } },
        tags: [wild, 'b'],
      }),
      text('media', 'alice', 'bob', t0, { type: 'image', data: { text: 'caption', attachments: [attachment] } }),
      text('poll', 'alice', 'bob', t0, {
        category: 'custom',
        type: 'extension_poll',
        data: { customData: { q: wild } },
      }),
      text('card', 'alice', 'bob', t0, { category: 'interactive', data: { interactiveData: { text: wild } } }),
      text('call', 'alice', 'bob', t0, { category: 'call', type: 'video', data: { action: 'ended' } }),
      text('self', 'alice', 'alice', t0),
      text('muid "with" \\ {wild}, 中', 'alice', 'bob', t0),
    ])
    expect(stored.plain).toMatchObject({
      data: { text: wild, metadata: { [wild]: [wild, null, 1.5] } },
      tags: [wild, 'b'],
    })
    expect(stored.media).toMatchObject({ type: 'image', data: { url: attachment.url, attachments: [attachment] } })
    expect(stored.card).toMatchObject({ category: 'interactive', type: 'card' })
    const read = await history(world, 'alice', 'bob')
    expect(muids(read)).toEqual(['plain', 'media', 'poll', 'card', 'call', 'muid "with" \\ {wild}, 中'])
    expect(read[0].data.text).toBe(wild)
    expect(muids(dataOf(await world.get('/users/bob/messages?attachmentTypes=image', { as: 'alice' })))).toEqual([
      'media',
    ])
    expect(muids(dataOf(await world.get(`/users/bob/messages?tags=b&withTags=true`, { as: 'alice' })))).toEqual([
      'plain',
    ])
  })

  it('keeps the order in which messages came within one second, in arrays, maps and from one request to the next', async () => {
    const world = await worldOf('alice', 'bob')
    const array = Array.from({ length: 300 }, (_, i) =>
      text(String((i * 7919) % 300), i % 2 ? 'alice' : 'bob', i % 2 ? 'bob' : 'alice', t0),
    )
    await importWell(world, 'messages', array)
    const map = Array.from({ length: 100 }, (_, i) => text(`k${(i * 37) % 100}`, 'alice', 'bob', t0))
    await importWell(world, 'messages', Object.fromEntries(map.map((message) => [message.muid, message])))
    await importWell(world, 'messages', [
      text('earlier', 'bob', 'alice', t0 - 1),
      text('later', 'bob', 'alice', t0 + 1),
    ])
    expect(muids(await history(world, 'alice', 'bob'))).toEqual(['earlier', ...muids(array), ...muids(map), 'later'])
  })

  it('refuses what is not sound, record by record', async () => {
    const world = await worldOf('alice', 'bob')
    await importWell(world, 'groups', [{ guid: 'team', name: 'Team', type: 'public' }])
    const now = Math.floor(Date.now() / 1000)
    const outcomes = await importAll(world, 'messages', {
      ok: text('ok', 'alice', 'bob', now + 30),
      ahead: text('ahead', 'alice', 'bob', now + 120),
      other: text('another', 'alice', 'bob', t0),
      sender: text('sender', 'nobody', 'bob', t0),
      receiver: text('receiver', 'alice', 'nobody', t0),
      group: groupText('group', 'alice', 'nowhere', t0),
      action: text('action', 'alice', 'bob', t0, { category: 'action', type: 'groupMember' }),
      empty: text('empty', 'alice', 'bob', t0, { data: {} }),
      reaction: text('reaction', 'alice', 'bob', t0, { reactions: { '👍': ['nobody'] } }),
      a: null,
      b: [],
      c: 7,
      d: 'text',
      e: { muid: { $gt: '' }, sender: { $ne: null }, receiver: [], receiverType: {}, sentAt: {}, data: [] },
      toString: text('toString', 'alice', 'bob', t0),
      constructor: text('constructor', 'alice', 'bob', t0),
    })
    const format = 'ERR_IMPORT_INVALID_MESSAGE_FORMAT'
    expect(codes(outcomes)).toEqual({
      ok: 'stored',
      ahead: 'ERR_BAD_REQUEST',
      other: format,
      sender: 'ERR_UID_NOT_FOUND',
      receiver: 'ERR_UID_NOT_FOUND',
      group: 'ERR_GUID_NOT_FOUND',
      action: 'ERR_IMPORT_INVALID_MESSAGE_FORMAT',
      empty: format,
      reaction: 'ERR_UID_NOT_FOUND',
      a: format,
      b: format,
      c: format,
      d: format,
      e: format,
      toString: 'stored',
      constructor: 'stored',
    })
    expect(muids(await history(world, 'alice', 'bob'))).toEqual(['toString', 'constructor', 'ok'])
    for (const messages of [undefined, null, 'x', 3]) {
      const refused = await world.post('/data_import/messages', { messages })
      expect(refusal(refused)).toBe(`400 ${format}`)
      expect(refused.body.error.devMessage).toContain('body/messages')
    }
  })

  it('answers records of arrays without a usable id by their place', async () => {
    const world = await worldOf('alice', 'bob')
    const outcomes = await importAll(world, 'messages', [
      text('__proto__', 'alice', 'bob', t0),
      null,
      text('1', 'alice', 'bob', t0),
      text('1', 'alice', 'bob', t0),
    ])
    expect(Object.keys(outcomes).toSorted()).toEqual(['1', '[1]', '[3]', '__proto__'].toSorted())
    expect(outcomes['[3]'].error.code).toBe('ERR_IMPORT_MUID_ALREADY_EXISTS')
    expect(Object.getOwnPropertyDescriptor(outcomes, '__proto__')?.value.success).toBe(true)
    expect(await history(world, 'alice', 'bob')).toHaveLength(2)
  })

  it('takes messages of deactivated users and of those who are no members', async () => {
    const world = await worldOf('alice', 'bob')
    await importWell(world, 'users', [{ uid: 'gone', name: 'Gone', deactivatedAt: t0 }])
    await importWell(world, 'groups', [{ guid: 'team', name: 'Team', type: 'private', owner: 'alice' }])
    await importWell(world, 'messages', [
      text('a', 'gone', 'alice', t0),
      text('b', 'alice', 'gone', t0 + 1),
      groupText('c', 'bob', 'TEAM', t0),
      groupText('d', 'gone', 'team', t0),
    ])
    expect(muids(await history(world, 'alice', 'gone'))).toEqual(['a', 'b'])
    expect(muids(dataOf(await world.get('/groups/team/messages', { as: 'alice' })))).toEqual(['c', 'd'])
  })

  it('makes groups, owners and mentioned users on the fly and changes none that exist', async () => {
    const world = await worldOf('alice')
    const team = { guid: 'team', name: 'Team', type: 'public', createdAt: t0 }
    const outcomes = await importAll(world, 'messages', [
      groupText('a', 'bob', 'team', t0, {
        senderUserDetails: { uid: 'bob', name: 'Bob' },
        receiverGroupDetails: team,
        receiverGroupOwnerDetails: { uid: 'carol', name: 'Carol' },
        data: { text: 'hello <@uid:Dave> and <@uid:alice>' },
        mentionedUserDetails: { dave: { uid: 'dave', name: 'Dave' }, alice: { uid: 'alice', name: 'Other' } },
      }),
      groupText('b', 'alice', 'team', t0, { receiverGroupDetails: { ...team, name: 'Other', owner: 'nobody' } }),
      groupText('c', 'erin', 'team', t0, { senderUserDetails: { uid: 'erin', name: 'Erin', role: 'none' } }),
      groupText('d', 'alice', 'lost', t0, { receiverGroupDetails: { ...team, guid: 'lost', owner: 'nobody' } }),
      // Neither group nor sender may stay behind of what is refused.
      groupText('e', 'frank', 'nowhere', t0, { senderUserDetails: { uid: 'frank', name: 'Frank' } }),
    ])
    expect(codes(outcomes)).toEqual({
      a: 'stored',
      b: 'stored',
      c: 'ERR_ROLE_NOT_FOUND',
      d: 'ERR_UID_NOT_FOUND',
      e: 'ERR_GUID_NOT_FOUND',
    })
    expect(outcomes.a.data.data.text).toBe('hello <@uid:Dave> and <@uid:alice>')
    expect(outcomes.a.data.data.entities.receiver).toMatchObject({
      entity: { guid: 'team', name: 'Team', owner: 'carol', membersCount: 1, conversationId: 'group_team' },
      entityType: 'group',
    })
    expect(dataOf(await world.get('/groups/team', { as: 'carol' }))).toMatchObject({ name: 'Team', scope: 'admin' })
    expect(dataOf(await world.get('/users/alice')).name).toBe('Alice')
    expect(dataOf(await world.get('/users/dave')).name).toBe('Dave')
    for (const uid of ['erin', 'frank']) expect(refusal(await world.get(`/users/${uid}`))).toBe('404 ERR_UID_NOT_FOUND')
    expect(refusal(await world.get('/groups/lost'))).toBe('404 ERR_GUID_NOT_FOUND')
  })

  it('answers ids alone where nobody asks for more, with all that is said about refusals', async () => {
    const world = await worldOf('alice', 'bob')
    const send = async (...messages: object[]) =>
      (await world.post('/data_import/messages?idsOnly=true', { messages })).body.data
    const first = await send(
      text('m1', 'alice', 'bob', t0),
      text('m2', 'alice', 'nobody', t0),
      text('m3', 'bob', 'alice', t0, { quotedMuid: 'nowhere', colour: 'red' }),
    )
    const [one, three] = await history(world, 'alice', 'bob')
    expect([one.muid, three.muid]).toEqual(['m1', 'm3'])
    expect(first).toEqual({
      m1: { success: true, id: one.id },
      m2: { success: false, error: expect.objectContaining({ code: 'ERR_UID_NOT_FOUND' }) },
      m3: { success: true, id: three.id, ignored: ['colour', 'quotedMuid'] },
    })
    const details = { uid: 'carol', name: 'Carol' }
    const second = await send(
      text('m1', 'alice', 'bob', t0),
      text('m4', 'alice', 'carol', t0, { receiverUserDetails: details }),
    )
    expect(second).toMatchObject({ m1: { success: false, id: one.id }, m4: { success: true, id: expect.any(String) } })
    expect(second.m4.data).toBeUndefined()
    expect(dataOf(await world.get('/users/carol')).name).toBe('Carol')
  })

  it('can be run again: all is there already, and nothing changes', async () => {
    const world = await worldOf('alice', 'bob')
    const messages = Array.from({ length: 50 }, (_, i) =>
      text(`m${i}`, 'alice', 'bob', t0 + i, { readAt: t0 + 100 + i }),
    )
    await importWell(world, 'messages', messages.slice(0, 30))
    const second = codes(await importAll(world, 'messages', messages))
    expect(Object.values(second).filter((code) => code === 'stored')).toHaveLength(20)
    const before = [await history(world, 'bob', 'alice'), await conversationOf(world, 'bob', 'alice')]
    const third = codes(await importAll(world, 'messages', messages))
    expect(new Set(Object.values(third))).toEqual(new Set(['ERR_IMPORT_MUID_ALREADY_EXISTS']))
    expect([await history(world, 'bob', 'alice'), await conversationOf(world, 'bob', 'alice')]).toEqual(before)
  })

  it('stores each message once when the same import runs four times at the same time', async () => {
    const world = await createWorld()
    const uids = Array.from({ length: 20 }, (_, i) => `u${i}`)
    const messages = Array.from({ length: 400 }, (_, i) => {
      const [sender, receiver] = [uids[i % 20] as string, uids[(i * 7 + 1) % 20] as string]
      return text(`m${i}`, sender, receiver, t0 + i, {
        senderUserDetails: { uid: sender, name: sender },
        receiverUserDetails: { uid: receiver, name: receiver },
      })
    })
    const runs = await Promise.all(
      [messages, messages.toReversed(), messages, messages.toReversed()].map((records) =>
        importAll(world, 'messages', records),
      ),
    )
    const all = runs.flatMap((outcomes) => Object.values(codes(outcomes)))
    expect(all.filter((code) => code === 'stored')).toHaveLength(400)
    expect(all.filter((code) => code === 'ERR_IMPORT_MUID_ALREADY_EXISTS')).toHaveLength(1200)
    const counts = dataOf(await world.get('/messages?count=true'))
    expect(counts.reduce((sum: number, { count }: { count: number }) => sum + count, 0)).toBe(400)
  })

  it('looks for a muid in the whole app, among imported and sent messages, but not in other apps', async () => {
    const [world, elsewhere] = [await worldOf('alice', 'bob', 'carol'), await worldOf('alice', 'bob')]
    await importWell(world, 'messages', [text('old', 'alice', 'bob', t0)])
    await say(world, 'alice', 'bob', 'live', { muid: 'sent' })
    const outcomes = await importAll(world, 'messages', [
      text('old', 'bob', 'carol', t0),
      text('sent', 'carol', 'bob', t0),
    ])
    expect(codes(outcomes)).toEqual({ old: 'ERR_IMPORT_MUID_ALREADY_EXISTS', sent: 'ERR_IMPORT_MUID_ALREADY_EXISTS' })
    await importWell(elsewhere, 'messages', [text('old', 'alice', 'bob', t0), text('sent', 'alice', 'bob', t0)])
    // Sent again by its sender in its conversation, an imported message is answered as it is stored.
    const again = await say(world, 'alice', 'bob', 'other words', { muid: 'old' })
    expect(again).toMatchObject({ muid: 'old', sentAt: t0, data: { text: 'old' } })
  })

  it('lets one muid win that two requests bring at the same moment for different conversations', async () => {
    const world = await worldOf('alice', 'bob', 'carol')
    for (let round = 0; round < 10; round++) {
      const of = (sender: string, receiver: string) =>
        Array.from({ length: 20 }, (_, i) => text(`r${round} ${i}`, sender, receiver, t0))
      const runs = await Promise.all([
        importAll(world, 'messages', of('alice', 'bob')),
        importAll(world, 'messages', of('carol', 'alice').toReversed()),
      ])
      const all = runs.flatMap((outcomes) => Object.values(codes(outcomes)))
      expect(all.filter((code) => code === 'stored')).toHaveLength(20)
      expect(all.filter((code) => code === 'ERR_IMPORT_MUID_ALREADY_EXISTS')).toHaveLength(20)
    }
  })

  it('begins anew between users of whom one was removed for good and made again', async () => {
    const world = await worldOf('alice', 'bob')
    await importWell(world, 'messages', [text('before', 'alice', 'bob', t0)])
    dataOf(await world.delete('/users/bob', { permanent: true }))
    await importWell(
      world,
      'users',
      usersNamed('bob').map((user) => ({ ...user, recreate: true })),
    )
    await importWell(world, 'messages', [text('after', 'bob', 'alice', t0)])
    expect(muids(await history(world, 'alice', 'bob'))).toEqual(['after'])
  })

  it('keeps two conversations apart whose ids look alike', async () => {
    const world = await worldOf('a', 'b_user_c', 'a_user_b', 'c')
    await importWell(world, 'messages', [text('one', 'a', 'b_user_c', t0), text('two', 'c', 'a_user_b', t0)])
    expect(muids(await history(world, 'a', 'b_user_c'))).toEqual(['one'])
    expect(muids(await history(world, 'c', 'a_user_b'))).toEqual(['two'])
  })

  it('goes on while people chat: their messages stay after what was there, and none is lost', async () => {
    const world = await worldOf('alice', 'bob')
    await importWell(world, 'groups', [{ guid: 'team', name: 'Team', type: 'public', owner: 'alice' }])
    const old = Array.from({ length: 300 }, (_, i) => text(`m${i}`, 'alice', 'bob', t0 + i))
    const sends = Array.from({ length: 30 }, (_, i) => say(world, 'bob', 'alice', `live ${i}`))
    const groupSends = Array.from({ length: 10 }, (_, i) => sayInGroup(world, 'alice', 'team', `live ${i}`))
    const imports = [0, 100, 200].map((from) => importWell(world, 'messages', old.slice(from, from + 100)))
    await Promise.all([
      ...sends,
      ...groupSends,
      ...imports,
      importWell(world, 'messages', [groupText('g', 'bob', 'team', t0)]),
    ])
    const read = await history(world, 'alice', 'bob')
    expect(read).toHaveLength(330)
    expect(muids(read).slice(0, 300)).toEqual(muids(old))
  })

  it('does not fail as a whole over a row that the database refuses', async () => {
    const world = await worldOf('alice', 'bob')
    const { database } = world.context
    const { appId } = world.app
    const constraint = `refuses_poison_${appId}`
    await database.run(
      sql.raw(
        `alter table messages add constraint ${constraint} check (app_id <> ${appId} or muid <> 'poison') not valid`,
      ),
    )
    try {
      const messages = Array.from({ length: 21 }, (_, i) => text(i === 13 ? 'poison' : `m${i}`, 'alice', 'bob', t0))
      const outcomes = codes(await importAll(world, 'messages', messages))
      expect(outcomes.poison).toBe('ERR_EXCEPTION')
      expect(Object.values(outcomes).filter((code) => code === 'stored')).toHaveLength(20)
      const sound = messages.filter(({ muid }) => muid !== 'poison')
      expect(muids(await history(world, 'alice', 'bob'))).toEqual(muids(sound))
    } finally {
      await database.run(sql.raw(`alter table messages drop constraint ${constraint}`))
    }
  })

  it('takes bodies of up to 16 MB', async () => {
    const world = await worldOf('alice', 'bob')
    const messages = (count: number) =>
      Array.from({ length: count }, (_, i) => text(`m${i}`, 'alice', 'bob', t0, { data: { text: 'x'.repeat(9000) } }))
    const stored = await importAll(world, 'messages', messages(1000))
    expect(new Set(Object.values(codes(stored)))).toEqual(new Set(['stored']))
    const many = await world.post('/data_import/messages', { messages: messages(1001) })
    expect(refusal(many)).toBe('400 ERR_BAD_REQUEST')
    expect(many.body.error.devMessage).toContain('1000')
    const large = await world.post('/data_import/messages', { messages: messages(1900) })
    expect(refusal(large)).toBe('413 ERR_BAD_REQUEST')
  })
})
