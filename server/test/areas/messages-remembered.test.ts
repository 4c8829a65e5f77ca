import { describe, expect, it } from 'vitest'
import { statement } from '../../src/store/statement.ts'
import { createGroup, dataOf, refusal, say, sayInGroup, texts } from '../support/chat.ts'
import { groupText, importWell, text, usersNamed } from '../support/imports.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'

const sentAt = 1_700_000_000

const seen = statement('update users set last_active_at = 1700000000 where app_id = $1 and uid = $2')

/** Asks for nothing, but it is a filter: so who asks and who is seen are read, and not remembered. */
const unfiltered = 'hideDeleted=false'

const addTo = (path: string, parameter: string) => `${path}${path.includes('?') ? '&' : '?'}${parameter}`

/** A page as it is with what is remembered, which must be the one that is read anew. */
async function pageOf(world: World, path: string, as: string) {
  const [page, read] = [await world.get(path, { as }), await world.get(addTo(path, unfiltered), { as })]
  expect(page.status).toBe(read.status)
  // In the same order, too.
  expect(JSON.stringify(page.body.data)).toBe(JSON.stringify(read.body.data))
  expect(page.body.error?.code).toEqual(read.body.error?.code)
  return page
}

describe('A history that was read before', () => {
  it('shows the two as they are now', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const path = '/users/bob/messages'
    await say(world, 'bob', 'alice', 'hello')
    for (let i = 0; i < 2; i++) expect(texts(await pageOf(world, path, 'alice'))).toEqual(['hello'])

    await world.put('/users/alice', { name: 'Alicia' })
    await world.put('/users/bob', { name: 'Robert', metadata: { a: 1, '@private': { b: 2 } } })
    const [message] = dataOf(await pageOf(world, path, 'alice'))
    expect(message.data.entities).toMatchObject({
      sender: { entity: { name: 'Robert', metadata: { a: 1 } } },
      receiver: { entity: { name: 'Alicia' } },
    })
    // Whether they were there is told until they look away.
    await world.context.database.query(seen, [world.app.appId, 'bob'])
    expect(dataOf(await pageOf(world, path, 'alice'))[0].data.entities.sender.entity.lastActiveAt).toBe(1_700_000_000)
    dataOf(await world.post('/users/bob/blockedusers', { blockedUids: ['alice'] }))
    expect(dataOf(await pageOf(world, path, 'alice'))[0].data.entities.sender.entity.lastActiveAt).toBeUndefined()
    expect(dataOf(await pageOf(world, '/users/alice/messages', 'bob'))[0].data.entities.sender.entity).toMatchObject({
      lastActiveAt: 1_700_000_000,
    })

    await world.delete('/users/bob')
    expect(dataOf(await pageOf(world, path, 'alice'))[0].data.entities.sender.entity.deactivatedAt).toBeGreaterThan(0)
    expect(refusal(await pageOf(world, '/users/alice/messages', 'bob'))).toBe('404 ERR_UID_NOT_FOUND')
    await world.delete('/users/bob', { permanent: true })
    expect(refusal(await pageOf(world, path, 'alice'))).toBe('404 ERR_UID_NOT_FOUND')
    await world.delete('/users/alice', { permanent: true })
    expect(refusal(await pageOf(world, path, 'alice'))).toBe('404 ERR_UID_NOT_FOUND')
  })

  it('is refused to whose role may not list it, from then on', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const path = '/users/bob/messages'
    await say(world, 'bob', 'alice', 'hello')
    dataOf(await world.post('/roles', { role: 'guest', name: 'Guest' }))
    for (let i = 0; i < 2; i++) expect(texts(await pageOf(world, path, 'alice'))).toEqual(['hello'])
    dataOf(await world.put('/roles/guest/permissions', { permissions: { listMessages: 'deny' } }))
    expect(texts(await pageOf(world, path, 'alice'))).toEqual(['hello'])
    dataOf(await world.put('/users/alice', { role: 'guest' }))
    expect(refusal(await pageOf(world, path, 'alice'))).toBe('403 ERR_PERMISSION_DENIED')
    expect(refusal(await pageOf(world, path, 'alice'))).toBe('403 ERR_PERMISSION_DENIED')
    dataOf(await world.put('/users/alice', { role: 'default' }))
    expect(texts(await pageOf(world, path, 'alice'))).toEqual(['hello'])
  })

  it('shows a group and those who wrote as they are now, to those who are in it now', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol')
    await createGroup(world, 'team', 'alice', { participants: ['bob', 'carol'] })
    const path = '/groups/team/messages'
    for (const uid of ['alice', 'bob', 'carol']) await sayInGroup(world, uid, 'team', `from ${uid}`)
    const page = async () => dataOf(await pageOf(world, path, 'bob'))
    for (let i = 0; i < 2; i++) expect((await page()).length).toBe(3)

    await world.put('/users/carol', { name: 'Caroline' })
    await world.put('/groups/team', { name: 'The team' })
    expect((await page()).at(-1).data.entities).toMatchObject({
      sender: { entity: { name: 'Caroline' } },
      receiver: { entity: { name: 'The team' } },
    })
    await world.delete('/users/carol', { permanent: true })
    expect(JSON.stringify(await page())).not.toContain('Caroline')

    const permissions = { 'listMessages.allowedMessageTypes': ['image'] }
    dataOf(await world.put('/groups/team/scopes/participant/permissions', { permissions }))
    expect(texts(await pageOf(world, path, 'bob'))).not.toContain('from alice')
    dataOf(await world.delete('/groups/team/members/bob'))
    expect(refusal(await pageOf(world, path, 'bob'))).toBe('403 ERR_GROUP_NOT_JOINED')
    dataOf(await world.delete('/groups/team'))
    expect(refusal(await pageOf(world, path, 'alice'))).toBe('404 ERR_GUID_NOT_FOUND')
  })
})

describe('Many who are not remembered', () => {
  it('are shown as they are now, in a group and in a list of conversations', async () => {
    const world = await createWorld()
    const uids = Array.from({ length: 40 }, (_, i) => `u${i}`)
    await importWell(world, 'users', usersNamed('alice', ...uids))
    await createGroup(world, 'team', 'alice', { participants: uids.slice(0, 25) })
    const said = uids.flatMap((uid, i) => [
      text(`m${i}`, uid, 'alice', sentAt + i),
      ...(i < 25 ? [groupText(`g${i}`, uid, 'team', sentAt + i)] : []),
    ])
    await importWell(world, 'messages', said)
    const names = async () => {
      const page = dataOf(await pageOf(world, '/groups/team/messages?limit=50', 'alice'))
      const [list, composed] = [
        await world.get('/conversations?perPage=50', { as: 'alice' }),
        await world.get('/conversations?perPage=50&page=1', { as: 'alice' }),
      ]
      expect(dataOf(list)).toEqual(dataOf(composed))
      return {
        inGroup: page.map((message: Shown) => message.data.entities.sender.entity.name),
        inList: dataOf(list).map(
          ({ conversationWith }: { conversationWith: { name: string } }) => conversationWith.name,
        ),
      }
    }
    for (let i = 0; i < 2; i++) {
      expect((await names()).inGroup).toContain('U7')
      await world.put('/users/u7', { name: 'Seven', metadata: { text: 'a\u001eb "c" \\ d' } })
      const seven = await names()
      for (const shown of [seven.inGroup, seven.inList]) {
        expect(shown).toContain('Seven')
        expect(shown).not.toContain('U7')
      }
      await world.put('/users/u7', { name: 'U7' })
    }
  })
})

type Shown = {
  readonly data: { readonly entities: { readonly sender: { readonly entity: { readonly name: string } } } }
}

describe('What stands around the messages of a history', () => {
  it.each([
    ['one to one', 'user', '/users/alice/messages'],
    ['in a group', 'group', '/groups/team/messages'],
  ] as const)('is as lists show it, %s', async (_, kind, path) => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    await createGroup(world, 'team', 'alice', { participants: ['bob'] })
    const sayIt = (text: string, extra: object = {}) =>
      kind === 'user' ? say(world, 'alice', 'bob', text, extra) : sayInGroup(world, 'alice', 'team', text, extra)
    const [first, second] = [await sayIt('first'), await sayIt('second', { tags: ['x'] })]
    await sayIt('third', { quotedMessageId: first.id })
    const reply = await world.post(`/messages/${first.id}/thread`, { data: { text: 'a reply' } }, { as: 'alice' })
    dataOf(reply)
    for (const [reaction, as] of [
      ['thumbs_up', 'alice'],
      ['a "b" \\ c', 'alice'],
      ['\u{1f44d} yes', 'bob'],
      ['thumbs_up', 'bob'],
    ] as const) {
      dataOf(await world.post(`/messages/${first.id}/reactions/${encodeURIComponent(reaction)}`, {}, { as }))
    }
    dataOf(await world.put(`/messages/${second.id}`, { data: { text: 'second, edited' } }, { as: 'alice' }))
    const deleted = await sayIt('away with it')
    dataOf(await world.delete(`/messages/${deleted.id}`, undefined, { as: 'alice' }))
    await world.context.database.query(seen, [world.app.appId, 'alice'])

    const around = async () => {
      // Also where what an action is about stands on the page before.
      for (const query of [
        'limit=1',
        'limit=2',
        'limit=3&withTags=true',
        'affix=prepend&limit=2',
        'affix=prepend&limit=5',
      ]) {
        await pageOf(world, `${path}?${query}`, 'bob')
      }
      return dataOf(await pageOf(world, `${path}?limit=30`, 'bob'))
    }
    const [shown] = await around()
    expect(shown.reactions).toEqual([
      { reaction: 'thumbs_up', count: 2, reactedByMe: true },
      { reaction: 'a "b" \\ c', count: 1 },
      { reaction: '\u{1f44d} yes', count: 1, reactedByMe: true },
    ])
    expect(shown).toMatchObject({ replyCount: 1, unreadRepliesCount: 1 })
    expect((await around()).some(({ data }: { data: { entities: { on?: object } } }) => 'on' in data.entities)).toBe(
      true,
    )
    expect(shown.data.entities.sender.entity.lastActiveAt).toBe(1_700_000_000)
    dataOf(await world.post('/users/alice/blockedusers', { blockedUids: ['bob'] }))
    expect((await around())[0].data.entities.sender.entity.lastActiveAt).toBeUndefined()
    // A reset hides what actions are about, too.
    const reset = kind === 'user' ? '/users/alice/conversation' : '/groups/team/conversation'
    dataOf(await world.delete(reset, undefined, { as: 'bob' }))
    expect(await around()).toEqual([])
  })
})

describe('A list of conversations that was read before', () => {
  it('is of the user as they are now', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    await say(world, 'alice', 'bob', 'hello')
    const list = () => world.get('/conversations', { as: 'alice' })
    for (let i = 0; i < 2; i++) expect(dataOf(await list()).length).toBe(1)
    await world.put('/users/alice', { name: 'Alicia' })
    expect(dataOf(await list())[0].lastMessage.data.entities.sender.entity.name).toBe('Alicia')
    await world.delete('/users/alice')
    expect(refusal(await list())).toBe('404 ERR_UID_NOT_FOUND')
    dataOf(await world.put('/users', { uidsToActivate: ['alice'] }))
    expect(dataOf(await list()).length).toBe(1)
    expect(refusal(await world.get('/conversations?unique=true', { as: 'alice' }))).toBe('400 ERR_BAD_REQUEST')
  })
})
