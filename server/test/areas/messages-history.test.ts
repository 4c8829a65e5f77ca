import { describe, expect, it } from 'vitest'
import { createGroup, dataOf, refusal, say, sayInGroup } from '../support/chat.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'

/** Asks for nothing, but it is a filter: so the page is read as any list is. */
const unfiltered = '&hideDeleted=false'

/** Every page of a history in both directions and from every message, each beside the one that any list would give. */
async function expectSamePages(world: World, path: string, as: string): Promise<void> {
  const whole = dataOf(await world.get(`${path}?limit=100${unfiltered}`, { as }))
  const cursors = ['', ...whole.map(({ id, sentAt }: { id: string; sentAt: number }) => `&id=${id}&sentAt=${sentAt}`)]
  for (const affix of ['append', 'prepend']) {
    for (const cursor of cursors) {
      const url = `${path}?affix=${affix}&limit=4${cursor}`
      const [page, listed] = await Promise.all([world.get(url, { as }), world.get(`${url}${unfiltered}`, { as })])
      expect(page.status).toBe(200)
      expect(page.body, url).toEqual(listed.body)
    }
  }
}

describe('A history without filters', () => {
  it('is the same as any list of it: with receipts, quotes, edits, deletions, and all that hangs on messages', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const first = await say(world, 'alice', 'bob', 'one')
    dataOf(await world.post('/users/alice/conversation/delivered', {}, { as: 'bob' }))
    await say(world, 'alice', 'bob', 'two', { tags: ['important'], muid: 'two "quoted"' })
    dataOf(await world.post('/users/alice/conversation/read', {}, { as: 'bob' }))
    await say(world, 'bob', 'alice', 'three <@uid:alice>', { quotedMessageId: first.id })
    dataOf(await world.post(`/messages/${first.id}/reactions/wave`, {}, { as: 'bob' }))
    dataOf(await world.put(`/messages/${first.id}`, { data: { text: 'one, mended "data":{}' } }, { as: 'alice' }))
    const deleted = await say(world, 'alice', 'bob', 'four')
    dataOf(await world.delete(`/messages/${deleted.id}`, {}, { as: 'alice' }))
    await say(world, 'alice', 'bob', 'a reply', { parentId: first.id })
    await world.post(
      '/messages',
      { receiver: 'bob', receiverType: 'user', category: 'custom', type: '"data":{}', data: { customData: {} } },
      { as: 'alice' },
    )
    await say(world, 'alice', 'alice', 'to herself')
    await expectSamePages(world, '/users/bob/messages', 'alice')
    await expectSamePages(world, '/users/alice/messages', 'bob')
    await expectSamePages(world, '/users/alice/messages', 'alice')
    dataOf(await world.delete('/users/bob/conversation', {}, { as: 'alice' }))
    await say(world, 'bob', 'alice', 'after the reset')
    await expectSamePages(world, '/users/bob/messages', 'alice')
    await expectSamePages(world, '/users/alice/messages', 'bob')
  })

  it('is the same in a group, with actions, and receipts of all members', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob', 'carol')
    await createGroup(world, 'team', 'alice', { participants: ['bob'] })
    await sayInGroup(world, 'alice', 'team', 'one')
    dataOf(await world.post('/groups/team/conversation/read', {}, { as: 'bob' }))
    dataOf(await world.post('/groups/team/members', { participants: ['carol'] }, { as: 'alice' }))
    await sayInGroup(world, 'bob', 'team', 'two')
    dataOf(await world.post('/groups/team/conversation/read', {}, { as: 'carol' }))
    dataOf(await world.post('/groups/team/conversation/read', {}, { as: 'alice' }))
    await sayInGroup(world, 'carol', 'team', 'three')
    dataOf(await world.delete('/users/bob', { permanent: true }))
    for (const as of ['alice', 'carol']) await expectSamePages(world, '/groups/team/messages', as)
    expect(refusal(await world.get('/groups/team/messages', { as: 'bob' }))).toBe('404 ERR_UID_NOT_FOUND')
  })

  it('is the same whatever stands in a text, a type, a tag or a muid', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const odd = ' \u001e\u001f\u007f\u2028\\"\n\t{}😀'
    await say(world, 'alice', 'bob', odd, { muid: odd, tags: [odd, 'plain'] })
    await say(world, 'alice', 'bob', 'plain', { muid: 'é', category: 'message', metadata: { [odd]: odd } })
    const custom = {
      receiver: 'bob',
      receiverType: 'user',
      category: 'custom',
      type: odd,
      data: { customData: { odd } },
    }
    const sent = dataOf(await world.post('/messages', custom, { as: 'alice' }))
    await expectSamePages(world, '/users/bob/messages', 'alice')
    const shown = dataOf(await world.get('/users/bob/messages?withTags=true', { as: 'alice' }))
    expect(shown.map(({ muid }: { muid?: string }) => muid)).toEqual([odd, 'é', undefined])
    expect(shown[0]).toMatchObject({ data: { text: odd }, tags: [odd, 'plain'] })
    expect(shown[2]).toEqual(sent)
  })

  it('goes on from where the message of a cursor is, whatever time the cursor says', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    for (const text of ['one', 'two', 'three', 'four']) await say(world, 'alice', 'bob', text)
    const all = dataOf(await world.get('/users/bob/messages', { as: 'alice' }))
    for (const { id, sentAt } of all) {
      for (const time of [sentAt - 100, sentAt + 100, sentAt, 1]) {
        for (const affix of ['append', 'prepend']) {
          const url = `/users/bob/messages?affix=${affix}&id=${id}&sentAt=${time}&limit=2`
          const [page, listed] = await Promise.all([
            world.get(url, { as: 'alice' }),
            world.get(`${url}${unfiltered}`, { as: 'alice' }),
          ])
          expect(page.body, url).toEqual(listed.body)
        }
      }
    }
  })

  it('says which user, and which cursor, there is not', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const get = (path: string) => world.get(path, { as: 'alice' }).then(refusal)
    expect(await get('/users/nobody/messages?id=1')).toBe('404 ERR_UID_NOT_FOUND')
    expect(await get('/users/bob/messages?id=1')).toBe('404 ERR_MESSAGE_ID_NOT_FOUND')
    expect(dataOf(await world.get('/users/bob/messages', { as: 'alice' }))).toEqual([])
  })
})
