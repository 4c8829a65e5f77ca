import { describe, expect, it } from 'vitest'
import { createGroup, dataOf, refusal, say, sayInGroup } from '../support/chat.ts'
import { codes, groupText, importAll, importWell, text, usersNamed } from '../support/imports.ts'
import { soon } from '../support/until.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'

const t0 = 1_650_000_000

async function worldOf(...uids: string[]): Promise<World> {
  const world = await createWorld()
  await importWell(world, 'users', usersNamed(...uids))
  return world
}

const messageOf = async (world: World, id: number | string) => dataOf(await world.get(`/messages/${id}`))
const idsOf = (outcomes: Record<string, { id: string }>) =>
  Object.fromEntries(Object.entries(outcomes).map(([muid, { id }]) => [muid, Number(id)]))

/** Ids that nothing else in this run has: other apps draw theirs from the same sequence. */
let next = 500_000_000
const someId = () => {
  next += 1000
  return next
}

describe('ids of imported messages', () => {
  it('are taken as they are into an app without messages, also those that other apps have had', async () => {
    const other = await worldOf('alice', 'bob')
    const { id: used } = await say(other, 'alice', 'bob', 'in another app')
    const world = await worldOf('alice', 'bob')
    const high = someId()
    const stored = await importWell(world, 'messages', [
      text('a', 'alice', 'bob', t0, { id: Number(used) }),
      text('b', 'bob', 'alice', t0, { id: String(high) }),
    ])
    expect(idsOf(stored)).toEqual({ a: Number(used), b: high })
    expect((await messageOf(world, used)).data.text).toBe('a')
    expect((await messageOf(other, used)).data.text).toBe('in another app')
  })

  it('are taken by later requests of the same import, and what is sent meanwhile lies beyond them', async () => {
    const world = await worldOf('alice', 'bob')
    const first = someId()
    await importWell(world, 'messages', [text('a', 'alice', 'bob', t0, { id: first })])
    const sent = await say(world, 'bob', 'alice', 'live')
    expect(Number(sent.id)).toBeGreaterThan(first)
    const stored = await importWell(world, 'messages', [text('b', 'alice', 'bob', t0 + 1, { id: first + 7 })])
    expect(idsOf(stored)).toEqual({ b: first + 7 })
    expect(Number((await say(world, 'bob', 'alice', 'live too')).id)).toBeGreaterThan(first + 7)
  })

  it('are drawn anew where the app has messages, or another message has the id', async () => {
    const lively = await worldOf('alice', 'bob')
    await say(lively, 'alice', 'bob', 'live')
    const wanted = someId()
    expect(idsOf(await importWell(lively, 'messages', [text('a', 'alice', 'bob', t0, { id: wanted })])).a).not.toBe(
      wanted,
    )

    const world = await worldOf('alice', 'bob')
    const stored = await importWell(world, 'messages', [
      text('a', 'alice', 'bob', t0, { id: wanted }),
      text('b', 'alice', 'bob', t0, { id: wanted }),
    ])
    expect(stored.a.id).toBe(String(wanted))
    expect(stored.b.id).not.toBe(String(wanted))
  })

  it('do not store a message twice when the import is repeated', async () => {
    const world = await worldOf('alice', 'bob')
    const id = someId()
    const records = [
      text('a', 'alice', 'bob', t0, { id }),
      { ...text('b', 'bob', 'alice', t0 + 1, { id: id + 1 }), muid: undefined },
    ]
    await importWell(world, 'messages', records)
    const again = await importAll(world, 'messages', records)
    expect(codes(again)).toEqual({
      a: 'ERR_IMPORT_MUID_ALREADY_EXISTS',
      [String(id + 1)]: 'ERR_IMPORT_MUID_ALREADY_EXISTS',
    })
    expect(dataOf(await world.get('/users/bob/messages', { as: 'alice' }))).toHaveLength(2)
  })

  it('that cannot be taken are left out, and nothing else', async () => {
    const world = await worldOf('alice', 'bob')
    const stored = await importWell(
      world,
      'messages',
      ['x', 0, -1, 1.5, 10 ** 12, null].map((id, i) => text(`m${i}`, 'alice', 'bob', t0 + i, { id })),
    )
    for (const { id } of Object.values(stored)) expect(Number(id)).toBeLessThan(10 ** 12)
  })

  it('are taken once the first record has come that has any, even one that cannot be taken', async () => {
    const world = await worldOf('alice', 'bob')
    const id = someId()
    await importWell(world, 'messages', [text('a', 'alice', 'bob', t0, { id: String(10 ** 12) })])
    expect(idsOf(await importWell(world, 'messages', [text('b', 'alice', 'bob', t0 + 1, { id })]))).toEqual({ b: id })

    const without = await worldOf('alice', 'bob')
    await importWell(without, 'messages', [text('a', 'alice', 'bob', t0, { id: null })])
    expect((await importWell(without, 'messages', [text('b', 'alice', 'bob', t0 + 1, { id })])).b.id).not.toBe(
      String(id),
    )
  })

  it('are found by searches, wherever the index has come to', async () => {
    const other = await worldOf('alice', 'bob')
    const { id } = await say(other, 'alice', 'bob', 'zebra crossing')
    const find = async (world: World, searchKey: string) =>
      dataOf(await world.get(`/messages?searchKey=${searchKey}`)).map((message: { id: string }) => message.id)
    await soon(async () => expect(await find(other, 'zebra')).toEqual([id]))
    const world = await worldOf('alice', 'bob')
    const record = text('a', 'alice', 'bob', t0, { id, data: { text: 'a giraffe' } })
    await importWell(world, 'messages', [record])
    expect(await find(world, 'giraffe')).toEqual([id])
    expect(await find(other, 'giraffe')).toEqual([])
    dataOf(await world.put(`/messages/${id}`, { data: { text: 'an okapi' } }, { as: 'alice' }))
    expect(await find(world, 'giraffe')).toEqual([])
    expect(await find(world, 'okapi')).toEqual([id])
  })
})

describe('what hangs on imported messages', () => {
  it('comes with its times: quotes, reactions, pins, saves, edits, deletions', async () => {
    const world = await worldOf('alice', 'bob', 'carol')
    await importWell(world, 'messages', [
      text('a', 'alice', 'bob', t0, { pinnedAt: t0 + 5, pinnedBy: 'BOB', savedBy: { Bob: t0 + 6 } }),
      text('b', 'bob', 'alice', t0 + 1, { quotedMuid: 'a', editedAt: t0 + 9, editedBy: 'app_system' }),
      text('c', 'bob', 'alice', t0 + 2, { reactions: { '👍': ['alice', { uid: 'bob', reactedAt: t0 + 8 }] } }),
      text('d', 'bob', 'alice', t0 + 3, { deletedAt: t0 + 9, deletedBy: 'alice' }),
    ])
    const [a, b, c, d] = dataOf(await world.get('/users/alice/messages?withTags=1', { as: 'bob' }))
    expect(a).toMatchObject({ pinnedAt: t0 + 5, pinnedBy: 'bob', savedAt: t0 + 6 })
    expect(b).toMatchObject({ quotedMessageId: a.id, editedAt: t0 + 9, editedBy: 'app_system' })
    expect(d).toMatchObject({ deletedAt: t0 + 9, deletedBy: 'alice' })
    const reactions = dataOf(await world.get(`/messages/${c.id}/reactions`))
    expect(reactions.map(({ uid, reactedAt }: { uid: string; reactedAt: number }) => [uid, reactedAt])).toEqual([
      ['alice', t0 + 2],
      ['bob', t0 + 8],
    ])
  })

  it('A quote of what is not there is left out and named; a saver who is not there is a reason to refuse', async () => {
    const world = await worldOf('alice', 'bob')
    const outcomes = await importAll(world, 'messages', [
      text('a', 'alice', 'bob', t0, { quotedMuid: 'nothing' }),
      text('b', 'alice', 'bob', t0, { savedBy: { nobody: t0 } }),
      text('c', 'alice', 'bob', t0, { quotedMuid: 'c' }),
    ])
    expect(outcomes.a).toMatchObject({ success: true, ignored: ['quotedMuid'] })
    expect(outcomes.b.error.code).toBe('ERR_UID_NOT_FOUND')
    expect(outcomes.c.error).toMatchObject({ code: 'ERR_BAD_REQUEST', details: [{ path: 'quotedMuid' }] })
  })
})

describe('bans and passwords', () => {
  it('Bans keep who gave them and when', async () => {
    const world = await worldOf('alice', 'bob')
    await importWell(world, 'groups', [{ guid: 'team', name: 'Team', type: 'public', owner: 'alice', createdAt: t0 }])
    const ban = {
      memberId: 'team_member_bob',
      guid: 'team',
      uid: 'bob',
      isBanned: true,
      bannedBy: 'Alice',
      bannedAt: t0 + 7,
    }
    await importWell(world, 'members', [ban])
    expect(dataOf(await world.get('/groups/team/bannedusers'))).toMatchObject([{ uid: 'bob' }])
  })

  it('A group that comes with the hash of its password is joined with the password alone', async () => {
    const world = await worldOf('alice', 'bob')
    // scryptSync('open sesame', 'sixteen bytes...', 32) with N 16384, r 8, p 1
    const { scryptSync } = await import('node:crypto')
    const salt = Buffer.from('sixteen bytes...')
    const key = scryptSync('open sesame', salt, 32, { N: 2 ** 14, r: 8, p: 1 })
    const passwordHash = ['scrypt', 16384, 8, 1, salt.toString('base64'), key.toString('base64')].join('$')
    const group = { guid: 'vault', name: 'Vault', type: 'password', owner: 'alice' }
    await importWell(world, 'groups', [{ ...group, passwordHash }])
    const join = (password: string) => world.post('/groups/vault/members', { password }, { as: 'bob' })
    const token = dataOf(await world.post('/users/bob/auth_tokens', {})).authToken
    const joinAs = (password: string) =>
      fetch(`${world.url}/v3/groups/vault/members`, {
        method: 'POST',
        headers: { authtoken: token, appid: world.app.name, 'content-type': 'application/json' },
        body: JSON.stringify({ password }),
      })
    expect(join).toBeTypeOf('function')
    expect((await joinAs('wrong')).status).toBe(403)
    expect((await joinAs('open sesame')).status).toBe(200)
    const outcomes = await importAll(world, 'groups', [{ ...group, guid: 'other', passwordHash: 'scrypt$2$8$1$x$y' }])
    expect(outcomes.other.error).toMatchObject({ code: 'ERR_BAD_REQUEST', details: [{ path: 'passwordHash' }] })
  })
})

describe('the import of further records', () => {
  const records = async (world: World, ...given: object[]) => {
    const answer = await world.post('/data_import/records', { records: given })
    expect(answer.status).toBe(200)
    return answer.body.data
  }
  const verdicts = (outcomes: Parameters<typeof codes>[0]) => Object.values(codes(outcomes))

  it('stores friends and blocks, once', async () => {
    const world = await worldOf('alice', 'bob', 'carol')
    const given = [
      { kind: 'friend', uid: 'Alice', friend: 'Bob', createdAt: t0 },
      { kind: 'block', uid: 'alice', blocked: 'carol', blockedAt: t0 },
    ]
    expect(verdicts(await records(world, ...given))).toEqual(['stored', 'stored'])
    expect(dataOf(await world.get('/users/bob/friends'))).toMatchObject([{ uid: 'alice' }])
    expect(dataOf(await world.get('/users/alice/blockedusers'))).toMatchObject([{ uid: 'carol' }])
    expect(verdicts(await records(world, ...given))).toEqual(['ERR_IMPORT_ALREADY_EXISTS', 'ERR_IMPORT_ALREADY_EXISTS'])
  })

  it('brings the marks of a group with it: who has read up to where, and what is unread', async () => {
    const world = await worldOf('alice', 'bob', 'carol')
    await importWell(world, 'groups', [{ guid: 'team', name: 'Team', type: 'public', owner: 'alice', createdAt: t0 }])
    const member = (uid: string) => ({ memberId: `team_member_${uid}`, guid: 'team', uid, joinedAt: t0 })
    await importWell(world, 'members', [member('bob'), member('carol')])
    const said = ['a', 'b', 'c'].map((muid, i) => groupText(muid, 'alice', 'team', t0 + i, { countsAsUnread: true }))
    const stored = await importWell(world, 'messages', said)
    const side = { kind: 'conversation', receiverType: 'group', receiver: 'team' }
    const outcomes = await records(
      world,
      { ...side, uid: 'bob', read: { muid: 'c', at: t0 + 50 }, tags: ['work'], pinnedAt: t0 + 60 },
      { ...side, uid: 'carol', delivered: { messageId: stored.b.id }, read: { muid: 'a', at: t0 + 40 } },
      { ...side, uid: 'alice', read: { muid: 'c' } },
    )
    expect(verdicts(outcomes)).toEqual(['stored', 'stored', 'stored'])
    const of = async (uid: string) => dataOf(await world.get('/groups/team/conversation', { as: uid }))
    expect(await of('bob')).toMatchObject({ unreadMessageCount: '0', tags: ['work'] })
    expect(await of('carol')).toMatchObject({ unreadMessageCount: '2' })
    // Everybody has read the first.
    const [a, b] = dataOf(await world.get('/groups/team/messages', { as: 'alice' }))
    expect(a.readAt).toBeGreaterThan(t0)
    expect(b.readAt).toBeUndefined()
    expect(verdicts(await records(world, { ...side, uid: 'bob', read: { muid: 'b', at: t0 } }))).toEqual([
      'ERR_IMPORT_ALREADY_EXISTS',
    ])
  })

  it('brings the marks, resets and unread pointers of one-to-one conversations with it', async () => {
    const world = await worldOf('alice', 'bob')
    await importWell(
      world,
      'messages',
      ['a', 'b', 'c', 'd'].map((muid, i) => text(muid, 'alice', 'bob', t0 + i)),
    )
    const side = { kind: 'conversation', uid: 'bob', receiverType: 'user', receiver: 'alice' }
    await records(world, { ...side, read: { muid: 'd', at: t0 + 50 }, unreadFrom: { muid: 'c' }, reset: { muid: 'a' } })
    const conversation = dataOf(await world.get('/users/alice/conversation', { as: 'bob' }))
    expect(conversation.unreadMessageCount).toBe('2')
    const seen = dataOf(await world.get('/users/alice/messages', { as: 'bob' }))
    expect(seen.map(({ muid }: { muid: string }) => muid)).toEqual(['b', 'c', 'd'])
    const sent = dataOf(await world.get('/users/bob/messages', { as: 'alice' }))
    expect(sent.map(({ readAt }: { readAt: number }) => readAt)).toEqual([t0 + 50, t0 + 50, t0 + 50, t0 + 50])
  })

  it('brings the state of a conversation that somebody has with themselves', async () => {
    const world = await worldOf('alice')
    const stored = await importWell(world, 'messages', [
      text('a', 'alice', 'alice', t0),
      text('b', 'alice', 'alice', t0 + 1),
    ])
    const state = { kind: 'conversation', uid: 'alice', receiverType: 'user', receiver: 'Alice' }
    const given = {
      ...state,
      tags: ['notes'],
      pinnedAt: t0 + 60,
      reset: { messageId: stored.a.id },
      read: { muid: 'b' },
    }
    expect(verdicts(await records(world, given))).toEqual(['stored'])
    const conversation = dataOf(await world.get('/users/alice/conversation', { as: 'alice' }))
    expect(conversation).toMatchObject({ tags: ['notes'], pinnedAt: t0 + 60, unreadMessageCount: '0' })
    const seen = dataOf(await world.get('/users/alice/messages', { as: 'alice' }))
    expect(seen.map(({ muid }: { muid: string }) => muid)).toEqual(['b'])
    expect(verdicts(await records(world, given))).toEqual(['ERR_IMPORT_ALREADY_EXISTS'])
  })

  it('keeps people logged in, and keys good', async () => {
    const world = await worldOf('alice', 'bob')
    const apiKey = '0123456789abcdef'.repeat(3).slice(0, 40)
    const authToken = 'alice_1700000000aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'
    const given = [
      { kind: 'authToken', uid: 'alice', authToken, platform: 'WEB', createdAt: t0 },
      { kind: 'apiKey', apiKey, name: 'Back end', scope: 'fullAccess' },
    ]
    expect(verdicts(await records(world, ...given))).toEqual(['stored', 'stored'])
    const me = await fetch(`${world.url}/v3/me`, { headers: { authtoken: authToken, appid: world.app.name } })
    expect(((await me.json()) as { data: { uid: string } }).data.uid).toBe('alice')
    const users = await fetch(`${world.url}/v3/users/bob`, { headers: { apikey: apiKey, appid: world.app.name } })
    expect(users.status).toBe(200)
    // In another app neither opens anything.
    const other = await createWorld()
    for (const headers of [{ authtoken: authToken }, { apikey: apiKey }]) {
      const refused = await fetch(`${other.url}/v3/me`, { headers: { ...headers, appid: other.app.name } as never })
      expect(refused.status).toBe(401)
    }
    const again = await records(world, { ...given[0], uid: 'bob' }, ...given)
    expect(verdicts(again)).toEqual([
      'ERR_AUTHTOKEN_NOT_ACCESSIBLE',
      'ERR_IMPORT_ALREADY_EXISTS',
      'ERR_IMPORT_ALREADY_EXISTS',
    ])
  })

  it('names messages of this app alone, and nothing of the others', async () => {
    const other = await worldOf('alice', 'bob')
    await importWell(other, 'messages', [text('theirs', 'alice', 'bob', t0)])
    const { id } = await say(other, 'alice', 'bob', 'theirs, too')
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    await createGroup(world, 'team', 'alice', { participants: ['bob'] })
    const mine = await sayInGroup(world, 'alice', 'team', 'ours')
    const side = { kind: 'conversation', uid: 'bob', receiverType: 'user', receiver: 'alice' }
    const outcomes = await records(
      world,
      { kind: 'save', uid: 'bob', messageId: id },
      { kind: 'pin', muid: 'theirs' },
      { kind: 'subscription', uid: 'bob', messageId: Number(id) },
      { ...side, receiverType: 'group', receiver: 'team', read: { messageId: id } },
      side,
      { kind: 'save', uid: 'bob', messageId: mine.id, savedAt: t0 },
      { kind: 'pin', messageId: mine.id, pinnedBy: 'alice', pinnedAt: t0 },
      { kind: 'subscription', uid: 'bob', messageId: mine.id, subscribedAt: t0 },
    )
    const unknown = 'ERR_MESSAGE_ID_NOT_FOUND'
    expect(verdicts(outcomes)).toEqual([
      ...[unknown, unknown, unknown, unknown, 'ERR_CONVERSATION_NOT_FOUND'],
      ...['stored', 'stored', 'stored'],
    ])
    expect(dataOf(await world.get(`/messages/${mine.id}`, { as: 'bob' }))).toMatchObject({ pinnedAt: t0, savedAt: t0 })
    expect(dataOf(await other.get(`/messages/${id}`)).pinnedAt).toBeUndefined()
  })

  it('refuses what is no record by its place, and stores the others', async () => {
    const world = await worldOf('alice', 'bob')
    const outcomes = await records(
      world,
      ...([
        7,
        {},
        { kind: 'wish' },
        { kind: 'friend', uid: 'alice' },
        { kind: 'friend', uid: 'alice', friend: 'ALICE' },
        { kind: 'pin' },
        { kind: 'authToken', uid: 'alice', authToken: 'short' },
        { kind: 'block', uid: 'alice', blocked: 'bob', mood: 'grim' },
      ] as object[]),
    )
    expect(
      Object.values(outcomes).map(
        (outcome) => (outcome as { error?: { details: [{ path: string }] } }).error?.details[0].path,
      ),
    ).toEqual(['', 'kind', 'kind', 'friend', 'friend', 'messageId', 'authToken', undefined])
    expect(outcomes['[7]']).toMatchObject({ success: true, ignored: ['mood'] })
    expect(refusal(await world.post('/data_import/records', {}))).toBe('400 ERR_IMPORT_INVALID_RECORD_FORMAT')
  })

  it('refuses a token that would be taken for one of an issuer', async () => {
    const world = await worldOf('alice')
    const part = Buffer.from('{"alg":"RS256","typ":"JWT"}').toString('base64url')
    const token = { kind: 'authToken', uid: 'alice', authToken: `${part}.${part}.${'a'.repeat(40)}` }
    const outcomes = await records(world, token, { ...token, authToken: `alice_${part}.${part}` })
    expect(outcomes['[0]']).toMatchObject({ success: false, error: { details: [{ path: 'authToken' }] } })
    expect(outcomes['[1]']).toMatchObject({ success: true })
  })
})
