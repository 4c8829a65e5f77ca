import { limits } from '@parley/contract'
import { describe, expect, it } from 'vitest'
import { findDrift } from '../../src/doctor/drift.ts'
import { createGroup, dataOf, refusal, say, sayInGroup, texts } from '../support/chat.ts'
import { type Answer, createUsers, createWorld, type World } from '../support/world.ts'

const path = (id: string, reaction: string) => `/messages/${id}/reactions/${encodeURIComponent(reaction)}`
const react = (world: World, as: string, id: string, reaction: string) =>
  world.post(path(id, reaction), undefined, { as })
const takeBack = (world: World, as: string, id: string, reaction: string) =>
  world.delete(path(id, reaction), undefined, { as })

/** `uid reaction` of each row of a list of reactions. */
const rows = (answer: Answer): string[] =>
  dataOf(answer).map((row: { uid: string; reaction: string }) => `${row.uid} ${row.reaction}`)

/** alice and bob, and a message of alice to bob. */
async function createTalk() {
  const world = await createWorld()
  await createUsers(world, 'alice', 'bob', 'carol')
  return { world, message: await say(world, 'alice', 'bob', 'hi') }
}

describe('Adding a reaction', () => {
  it('answers the whole message with counts in data and beside it, in the order of first use', async () => {
    const { world, message } = await createTalk()
    dataOf(await react(world, 'alice', message.id, ':wave'))
    dataOf(await react(world, 'bob', message.id, '👍'))
    const answer = dataOf(await react(world, 'bob', message.id, ':wave'))
    const reactions = [
      { reaction: ':wave', count: 2, reactedByMe: true },
      { reaction: '👍', count: 1, reactedByMe: true },
    ]
    expect(answer).toEqual({ ...message, reactions, data: { ...message.data, reactions } })
    expect(answer.updatedAt).toBe(message.sentAt)
  })

  it('shows in every list and read, as one’s own only to the one who gave it', async () => {
    const { world, message } = await createTalk()
    await say(world, 'bob', 'alice', 'plain')
    dataOf(await react(world, 'bob', message.id, '😅'))
    const own = [{ reaction: '😅', count: 1, reactedByMe: true }]
    const others = [{ reaction: '😅', count: 1 }]
    const shown = async (url: string, as?: string) =>
      [dataOf(await world.get(url, as === undefined ? {} : { as }))].flat().map(({ reactions }) => reactions)
    expect(await shown('/users/alice/messages', 'bob')).toEqual([own, undefined])
    expect(await shown('/users/bob/messages', 'alice')).toEqual([others, undefined])
    expect(await shown('/messages', 'alice')).toEqual([others, undefined])
    expect(await shown(`/messages/${message.id}`, 'bob')).toEqual([own])
    expect(await shown(`/messages/${message.id}`)).toEqual([others])
  })

  it('given again changes nothing, also at the same instant', async () => {
    const { world, message } = await createTalk()
    const answers = await Promise.all(Array.from({ length: 8 }, () => react(world, 'bob', message.id, '👍')))
    expect(answers.map((answer) => answer.status)).toEqual(Array(8).fill(200))
    const again = dataOf(await react(world, 'bob', message.id, '👍'))
    expect(again.reactions).toEqual([{ reaction: '👍', count: 1, reactedByMe: true }])
    expect(rows(await world.get(`/messages/${message.id}/reactions`))).toEqual(['bob 👍'])
  })

  it('takes 25 different ones and not one more, even of 26 at the same time; the same ones stay open to others', async () => {
    const { world, message } = await createTalk()
    const kinds = Array.from({ length: limits.reactionsPerMessage + 1 }, (_, i) => `r${i}`)
    const answers = await Promise.all(kinds.map((kind) => react(world, 'bob', message.id, kind)))
    const refused = answers.flatMap((answer, i) => (answer.status === 200 ? [] : [kinds[i] as string]))
    expect(refused).toHaveLength(1)
    const late = answers.find((answer) => answer.status !== 200) as Answer
    expect(refusal(late)).toBe('400 ERR_BAD_REQUEST')
    expect(late.body.error.details).toEqual([
      { path: 'params/reaction', message: 'cannot be added: the message already has 25 different reactions' },
    ])
    const taken = kinds.find((kind) => !refused.includes(kind)) as string
    const reactions = dataOf(await react(world, 'alice', message.id, taken)).reactions
    expect(reactions).toHaveLength(25)
    expect(reactions.find((one: { reaction: string }) => one.reaction === taken).count).toBe(2)

    dataOf(await takeBack(world, 'bob', message.id, taken))
    expect(refusal(await react(world, 'bob', message.id, refused[0] as string))).toBe('400 ERR_BAD_REQUEST')
    dataOf(await takeBack(world, 'alice', message.id, taken))
    expect((await react(world, 'bob', message.id, refused[0] as string)).status).toBe(200)
  })

  it('counts up to 45 characters as code points, and refuses blanks', async () => {
    const { world, message } = await createTalk()
    const family = '👨‍👩‍👧‍👦'
    expect((await react(world, 'bob', message.id, family)).status).toBe(200)
    const longest = '😀'.repeat(45)
    expect((await react(world, 'bob', message.id, longest)).status).toBe(200)
    expect(refusal(await react(world, 'bob', message.id, `${longest}x`))).toBe('400 ERR_BAD_REQUEST')
    expect(refusal(await react(world, 'bob', message.id, '  '))).toBe('400 ERR_BAD_REQUEST')
    expect(refusal(await react(world, 'bob', message.id, 'a\0b'))).toBe('400 ERR_BAD_REQUEST')
    expect((await react(world, 'bob', message.id, 'a/b?c')).status).toBe(200)
    expect(rows(await world.get(`/messages/${message.id}/reactions`))).toEqual([
      `bob ${family}`,
      `bob ${longest}`,
      'bob a/b?c',
    ])
  })

  it('is for who takes part in the conversation, on messages that stand', async () => {
    const { world, message } = await createTalk()
    await createGroup(world, 'secret', 'alice', {}, { type: 'private' })
    await createGroup(world, 'open', 'alice', { participants: ['bob'] })
    const hidden = await sayInGroup(world, 'alice', 'secret', 'x')
    const visible = await sayInGroup(world, 'alice', 'open', 'x')
    const refused = async (as: string | undefined, id: string) =>
      refusal(await world.post(path(id, '👍'), undefined, as === undefined ? {} : { as }))
    expect(await refused('carol', message.id)).toBe('404 ERR_MESSAGE_ID_NOT_FOUND')
    expect(await refused('carol', visible.id)).toBe('404 ERR_MESSAGE_ID_NOT_FOUND')
    expect(await refused('carol', hidden.id)).toBe('404 ERR_MESSAGE_ID_NOT_FOUND')
    expect(await refused('bob', '999999999999')).toBe('404 ERR_MESSAGE_ID_NOT_FOUND')
    expect(await refused('bob', 'nonsense')).toBe('404 ERR_MESSAGE_ID_NOT_FOUND')
    expect(await refused('nobody', message.id)).toBe('404 ERR_UID_NOT_FOUND')
    expect(await refused(undefined, message.id)).toBe('400 ERR_BAD_REQUEST')
    const action = dataOf(await world.put(`/messages/${message.id}`, { data: { text: 'hey' } }, { as: 'alice' }))
    expect(await refused('bob', action.id)).toBe('403 ERR_MESSAGE_ACTION_NOT_ALLOWED')
    dataOf(await react(world, 'bob', message.id, '👍'))
    dataOf(await world.delete(`/messages/${message.id}`, undefined, { as: 'alice' }))
    expect(await refused('bob', message.id)).toBe('403 ERR_MESSAGE_ACTION_NOT_ALLOWED')
    // His own can still be taken back.
    expect(dataOf(await takeBack(world, 'bob', message.id, '👍')).reactions).toBeUndefined()
    dataOf(await world.delete('/users', { uidsToDeactivate: ['bob'] }))
    expect(await refused('bob', visible.id)).toBe('404 ERR_UID_NOT_FOUND')
  })

  it('is stopped by a block either way, one to one only', async () => {
    const { world, message } = await createTalk()
    await createGroup(world, 'team', 'alice', { participants: ['bob'] })
    const inGroup = await sayInGroup(world, 'alice', 'team', 'x')
    dataOf(await react(world, 'bob', message.id, 'before'))
    dataOf(await world.post('/users/alice/blockedusers', { blockedUids: ['bob'] }))
    expect(refusal(await react(world, 'alice', message.id, '👍'))).toBe('403 ERR_BLOCKED_RECEIVER')
    expect(refusal(await react(world, 'bob', message.id, '👍'))).toBe('403 ERR_BLOCKED_SENDER')
    expect((await takeBack(world, 'bob', message.id, 'before')).status).toBe(200)
    expect((await react(world, 'bob', inGroup.id, '👍')).status).toBe(200)
    dataOf(await world.delete('/users/alice/blockedusers', { blockedUids: ['bob'] }))
    expect((await react(world, 'bob', message.id, '👍')).status).toBe(200)
  })

  it('while the message is removed for good, leaves nothing behind and no 500', async () => {
    const { world } = await createTalk()
    for (let round = 0; round < 5; round++) {
      const message = await say(world, 'alice', 'bob', 'x')
      const answers = await Promise.all([
        react(world, 'bob', message.id, 'a'),
        world.delete(`/messages/${message.id}`, { permanent: true }),
        react(world, 'alice', message.id, 'b'),
      ])
      expect(answers.filter((answer) => answer.status >= 500)).toEqual([])
    }
    const left = await world.context.database.query<{ table: string }>(
      {
        name: 'test reactions left',
        text: `select 'reactions' as table from reactions where app_id = $1
          union all select 'reaction_counts' from reaction_counts where app_id = $1`,
      },
      [world.app.appId],
    )
    expect(left).toEqual([])
  })
})

describe('Removing a reaction', () => {
  it('answers the message as it is then, and changes nothing where there is none', async () => {
    const { world, message } = await createTalk()
    dataOf(await react(world, 'alice', message.id, '🎉'))
    dataOf(await react(world, 'bob', message.id, '🎉'))
    expect(dataOf(await takeBack(world, 'bob', message.id, '🎉')).data.reactions).toEqual([
      { reaction: '🎉', count: 1 },
    ])
    expect(dataOf(await takeBack(world, 'bob', message.id, '🎉')).reactions).toEqual([{ reaction: '🎉', count: 1 }])
    expect(dataOf(await takeBack(world, 'bob', message.id, 'never given')).reactions).toHaveLength(1)
    expect(dataOf(await takeBack(world, 'alice', message.id, '🎉'))).toEqual(message)
    expect(refusal(await takeBack(world, 'carol', message.id, '🎉'))).toBe('404 ERR_MESSAGE_ID_NOT_FOUND')
    expect(refusal(await world.delete(path(message.id, '🎉')))).toBe('400 ERR_BAD_REQUEST')
    expect(refusal(await takeBack(world, 'nobody', message.id, '🎉'))).toBe('404 ERR_UID_NOT_FOUND')
    expect(refusal(await takeBack(world, 'bob', '123456789', '🎉'))).toBe('404 ERR_MESSAGE_ID_NOT_FOUND')
  })

  it('at the same time as others add and remove leaves counts that are exact', async () => {
    const { world } = await createTalk()
    const uids = Array.from({ length: 12 }, (_, i) => `user${i}`)
    await createUsers(world, ...uids)
    await createGroup(world, 'team', 'alice', { participants: uids })
    const message = await sayInGroup(world, 'alice', 'team', 'vote')
    await Promise.all(
      uids.map(async (uid, i) => {
        dataOf(await react(world, uid, message.id, 'yes'))
        dataOf(await react(world, uid, message.id, 'no'))
        if (i % 2 === 0) dataOf(await takeBack(world, uid, message.id, 'yes'))
        if (i % 3 === 0) dataOf(await takeBack(world, uid, message.id, 'no'))
      }),
    )
    const { reactions } = dataOf(await world.get(`/messages/${message.id}`))
    const counts = Object.fromEntries(
      reactions.map(({ reaction, count }: { reaction: string; count: number }) => [reaction, count]),
    )
    expect(counts).toEqual({ yes: 6, no: 8 })
    expect(await findDrift(world.context.database, world.app.appId)).toEqual([])
    expect(rows(await world.get(`/messages/${message.id}/reactions/yes`))).toHaveLength(6)
  })
})

describe('Lists of reactions', () => {
  it('have a row for each user and reaction, in the order given, with the user', async () => {
    const { world, message } = await createTalk()
    dataOf(await react(world, 'alice', message.id, 'a'))
    dataOf(await react(world, 'alice', message.id, 'b'))
    dataOf(await react(world, 'bob', message.id, 'a'))
    const list = await world.get(`/messages/${message.id}/reactions`, { as: 'alice' })
    const [first, second, third] = dataOf(list)
    expect([first, second, third].map(({ uid, reaction }) => [uid, reaction])).toEqual([
      ['alice', 'a'],
      ['alice', 'b'],
      ['bob', 'a'],
    ])
    const user = { status: 'offline', role: 'default', createdAt: expect.any(Number) }
    expect(third).toEqual({
      id: expect.stringMatching(/^\d+$/),
      messageId: message.id,
      reaction: 'a',
      uid: 'bob',
      reactedAt: expect.any(Number),
      reactedBy: { uid: 'bob', name: 'Bob', ...user, conversationId: 'alice_user_bob' },
    })
    expect(first.reactedBy).toEqual({ uid: 'alice', name: 'Alice', ...user })
    expect(Number(second.id)).toBeGreaterThan(Number(first.id))
    expect(list.body.meta).toEqual({
      current: { limit: 100, count: 3 },
      cursor: { affix: 'append', id: third.id },
      pagination: { count: 3, per_page: 100 },
    })
    expect(rows(await world.get(path(message.id, 'a')))).toEqual(['alice a', 'bob a'])
    expect(rows(await world.get(path(message.id, 'c')))).toEqual([])
  })

  it.each(['append', 'prepend'])('are walked from end to end with %s, each reaction once', async (affix) => {
    const { world, message } = await createTalk()
    for (let i = 0; i < 7; i++) dataOf(await react(world, 'bob', message.id, `r${i}`))
    const pages: string[][] = []
    let query = `limit=3&affix=${affix}`
    for (;;) {
      const page = await world.get(`/messages/${message.id}/reactions?${query}`, { as: 'bob' })
      pages.push(rows(page))
      const { meta } = page.body
      expect(meta.current).toEqual({ limit: 3, count: pages.at(-1)?.length })
      const onward = affix === 'append' ? meta.next : meta.previous
      if (onward === undefined) break
      expect(meta.cursor).toEqual(onward)
      query = `limit=3&affix=${onward.affix}&id=${onward.id}`
    }
    const walked = affix === 'append' ? pages.flat() : pages.reverse().flat()
    expect(walked).toEqual(Array.from({ length: 7 }, (_, i) => `bob r${i}`))
  })

  it('name what lies behind, and check their query', async () => {
    const { world, message } = await createTalk()
    for (const reaction of ['a', 'b', 'c']) dataOf(await react(world, 'bob', message.id, reaction))
    const [a, b] = dataOf(await world.get(`/messages/${message.id}/reactions`))
    const after = await world.get(`/messages/${message.id}/reactions?id=${a.id}&limit=1`)
    expect(rows(after)).toEqual(['bob b'])
    expect(after.body.meta.previous).toEqual({ affix: 'prepend', id: b.id })
    expect(after.body.meta.next).toEqual({ affix: 'append', id: b.id })
    for (const query of ['limit=0', 'limit=1001', 'affix=sideways', 'id=x']) {
      expect(refusal(await world.get(`/messages/${message.id}/reactions?${query}`))).toBe('400 ERR_BAD_REQUEST')
    }
  })

  it('are for who may read the message', async () => {
    const { world, message } = await createTalk()
    for (const list of [`/messages/${message.id}/reactions`, path(message.id, 'a')]) {
      expect(refusal(await world.get(list, { as: 'carol' }))).toBe('404 ERR_MESSAGE_ID_NOT_FOUND')
      expect(refusal(await world.get(list, { as: 'nobody' }))).toBe('404 ERR_UID_NOT_FOUND')
      expect(dataOf(await world.get(list, { as: 'bob' }))).toEqual([])
    }
    expect(refusal(await world.get('/messages/1/reactions'))).toBe('404 ERR_MESSAGE_ID_NOT_FOUND')
  })
})

describe('hasReactions', () => {
  it('finds messages that have any, together with the other filters, until the last is gone', async () => {
    const { world, message } = await createTalk()
    await say(world, 'alice', 'bob', 'plain')
    const answer = await say(world, 'bob', 'alice', 'liked')
    dataOf(await react(world, 'bob', message.id, 'a'))
    dataOf(await react(world, 'alice', answer.id, 'a'))
    const found = async (query: string) => texts(await world.get(`/users/bob/messages?${query}`, { as: 'alice' }))
    expect(await found('hasReactions=true')).toEqual(['hi', 'liked'])
    expect(await found('hasReactions=true&sender=bob')).toEqual(['liked'])
    expect(await found('hasReactions=false')).toEqual(['hi', 'plain', 'liked'])
    expect(texts(await world.get('/messages?hasReactions=1'))).toEqual(['hi', 'liked'])
    dataOf(await takeBack(world, 'bob', message.id, 'a'))
    expect(await found('hasReactions=true')).toEqual(['liked'])
  })

  it('does not find a message whose only reactions went with their user', async () => {
    const { world } = await createTalk()
    await createGroup(world, 'team', 'alice', { participants: ['bob', 'carol'] })
    const message = await sayInGroup(world, 'alice', 'team', 'x')
    dataOf(await react(world, 'bob', message.id, 'a'))
    dataOf(await react(world, 'carol', message.id, 'b'))
    dataOf(await world.delete('/users/bob', { permanent: true }))
    expect(dataOf(await world.get(`/messages/${message.id}`)).reactions).toEqual([{ reaction: 'b', count: 1 }])
    dataOf(await world.delete('/users/carol', { permanent: true }))
    expect(dataOf(await world.get(`/messages/${message.id}`)).reactions).toBeUndefined()
    expect(dataOf(await world.get('/groups/team/messages?hasReactions=1'))).toEqual([])
  })
})

describe('The permissions of a scope', () => {
  const set = async (world: World, scope: string, permissions: object) =>
    dataOf(await world.put(`/groups/g/scopes/${scope}/permissions`, { permissions }))
  const unset = async (world: World, scope: string, key: string) =>
    dataOf(await world.delete(`/groups/g/scopes/${scope}/permissions/${key}`))
  const actors = { admin: 'bob', moderator: 'mike', participant: 'pete' } as const

  async function createTeam() {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'mike', 'pete')
    await createGroup(world, 'g', 'alice', { admins: ['bob'], moderators: ['mike'], participants: ['pete'] })
    return { world, message: await sayInGroup(world, 'alice', 'g', 'x') }
  }

  const uses = [
    ['addReaction', 'adding', (world: World, as: string, id: string) => react(world, as, id, 'a')],
    ['addReaction', 'removing', (world: World, as: string, id: string) => takeBack(world, as, id, 'a')],
    [
      'listReactions',
      'listing all',
      (world: World, as: string, id: string) => world.get(`/messages/${id}/reactions`, { as }),
    ],
    ['listReactions', 'listing one', (world: World, as: string, id: string) => world.get(path(id, 'a'), { as })],
  ] as const

  describe.each(uses)('%s (%s)', (key, _, act) => {
    it.each(Object.entries(actors))(
      'allows by default, denies when set and allows again for %s',
      async (scope, uid) => {
        const { world, message } = await createTeam()
        expect((await act(world, uid, message.id)).status).toBe(200)
        await set(world, scope, { [key]: 'deny' })
        expect(refusal(await act(world, uid, message.id))).toBe('403 ERR_PERMISSION_DENIED')
        for (const other of Object.values(actors).filter((actor) => actor !== uid)) {
          expect((await act(world, other, message.id)).status).toBe(200)
        }
        await set(world, scope, { [key]: 'allow' })
        expect((await act(world, uid, message.id)).status).toBe(200)
        await set(world, scope, { [key]: 'deny' })
        await unset(world, scope, key)
        expect((await act(world, uid, message.id)).status).toBe(200)
      },
    )
  })

  it('listReactions.allowedScopes shows only reactions of members of these scopes', async () => {
    const { world, message } = await createTeam()
    for (const uid of ['alice', ...Object.values(actors)]) dataOf(await react(world, uid, message.id, 'a'))
    const shown = async (as?: string) =>
      rows(await world.get(path(message.id, 'a'), as === undefined ? {} : { as })).map((row) => row.split(' ')[0])
    expect(await shown('pete')).toEqual(['alice', 'bob', 'mike', 'pete'])
    await set(world, 'participant', { 'listReactions.allowedScopes': 'moderator' })
    expect(await shown('pete')).toEqual(['mike'])
    await set(world, 'participant', { 'listReactions.allowedScopes': ['admin', 'participant'] })
    expect(await shown('pete')).toEqual(['alice', 'bob', 'pete'])
    expect(await shown('mike')).toHaveLength(4)
    expect(await shown()).toHaveLength(4)
    await unset(world, 'participant', 'listReactions.allowedScopes')
    expect(await shown('pete')).toHaveLength(4)
  })
})

it.each([
  ['scope', { listReactions: 'deny' }, 'groups/g/scopes/participant'],
  ['scope', { 'listReactions.allowedScopes': 'moderator' }, 'groups/g/scopes/participant'],
  ['role', { listReactions: 'deny' }, 'roles/narrow'],
])('Whoever may not see who reacted, by their %s, is told how many did', async (_, permissions, path) => {
  const world = await createWorld()
  await createUsers(world, 'alice', 'pete')
  dataOf(await world.post('/roles', { role: 'narrow', name: 'Narrow' }))
  if (path.startsWith('roles')) dataOf(await world.put('/users/pete', { role: 'narrow' }))
  await createGroup(world, 'g', 'alice', { participants: ['pete'] })
  const { id } = await sayInGroup(world, 'alice', 'g', 'x')
  for (const uid of ['alice', 'pete']) dataOf(await react(world, uid, id, 'a'))
  dataOf(await world.put(`/${path}/permissions`, { permissions }))
  const answer = await world.get(`/messages/${id}/reactions`, { as: 'pete' })
  expect(answer.status === 403 || rows(answer).length === 0).toBe(true)
  const counts = [{ reaction: 'a', count: 2, reactedByMe: true }]
  const seen = async (way: string) => dataOf(await world.get(way, { as: 'pete' }))
  expect((await seen(`/messages/${id}`)).reactions).toEqual(counts)
  expect((await seen('/conversations'))[0].lastMessage.reactions).toEqual(counts)
  for (const filter of ['', '?category=message', '?hasReactions=1']) {
    expect((await seen(`/groups/g/messages${filter}`)).at(-1).reactions, filter).toEqual(counts)
  }
})

it('A user’s token reacts and lists as its user', async () => {
  const { world, message } = await createTalk()
  const { authToken: token } = dataOf(await world.post('/users/bob/auth_tokens', {}))
  const answer = dataOf(await world.post(path(message.id, '👍'), undefined, { token }))
  expect(answer.reactions).toEqual([{ reaction: '👍', count: 1, reactedByMe: true }])
  expect(rows(await world.get(`/messages/${message.id}/reactions`, { token }))).toEqual(['bob 👍'])
  expect(dataOf(await world.delete(path(message.id, '👍'), undefined, { token })).reactions).toBeUndefined()
})
