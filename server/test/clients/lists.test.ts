import { describe, expect, it } from 'vitest'
import type { FrontEnd } from './front-end.ts'
import { createShop, serveTls } from './world.ts'

serveTls()

const many = 65

/**
 * Reads a cursor list as SDKs do: from the newest, `meta.cursor` of each page names the next, until a page is empty. Every
 * page must have what older clients wait for.
 */
async function readBack(tab: FrontEnd, path: string): Promise<string[]> {
  const seen: string[] = []
  let cursor = ''
  for (;;) {
    const joint = path.includes('?') ? '&' : '?'
    const { status, body } = await tab.call(
      'GET',
      `${path}${joint}per_page=30&affix=prepend&withThreadSubscribed=true${cursor}`,
    )
    expect(status, path).toBe(200)
    expect(body.meta.cursor, path).toMatchObject({ affix: 'prepend' })
    expect(body.meta.pagination, path).toEqual(expect.any(Object))
    expect(body.meta.pagination, path).not.toHaveProperty('total_pages')
    if (body.data.length === 0) return seen
    seen.unshift(...body.data.map(({ id }: { id: string }) => id))
    const { id, sentAt } = body.meta.cursor
    cursor = `&id=${id}&sentAt=${sentAt}`
  }
}

describe('Lists, over TLS, as front ends read them', () => {
  it('of messages go to their last page, which is empty, and have a cursor there too', async () => {
    const shop = await createShop('alice', 'bob')
    const { world } = shop
    await world.post('/data_import/groups', {
      groups: { team: { guid: 'team', name: 'Team', type: 'public', owner: 'alice' } },
    })
    const messages = Array.from({ length: many }, (_, i) => [
      {
        muid: `u${i}`,
        sender: 'bob',
        receiver: 'alice',
        receiverType: 'user',
        data: { text: `${i}` },
        sentAt: 1_700_000_000 + Math.floor(i / 4),
      },
      {
        muid: `g${i}`,
        sender: 'bob',
        receiver: 'team',
        receiverType: 'group',
        data: { text: `${i}` },
        sentAt: 1_700_000_000 + Math.floor(i / 4),
      },
      {
        muid: `r${i}`,
        sender: 'bob',
        receiver: 'alice',
        receiverType: 'user',
        data: { text: `reply ${i}` },
        sentAt: 1_700_000_500 + i,
        parentMuid: 'u0',
      },
    ]).flat()
    const outcomes = (await world.post('/data_import/messages', { messages })).body.data
    const idOf = (muid: string): string => outcomes[muid].data.id
    const ids = (kind: string) => Array.from({ length: many }, (_, i) => idOf(`${kind}${i}`))
    const alice = await shop.logIn('alice')
    expect(await readBack(alice, '/users/bob/messages?hideReplies=true')).toEqual(ids('u'))
    expect(await readBack(alice, '/groups/team/messages')).toEqual(ids('g'))
    expect(await readBack(alice, `/messages/${idOf('u0')}/thread`)).toEqual(ids('r'))
    expect(await readBack(alice, '/messages?pinned=1')).toEqual([])
    expect(await readBack(alice, '/messages?saved=1')).toEqual([])
    for (const muid of ['u3', 'u9', 'g1']) {
      await alice.data('POST', `/messages/${idOf(muid)}/pin`)
      await alice.data('POST', `/messages/${idOf(muid)}/save`)
    }
    expect((await readBack(alice, '/messages?pinned=1')).sort()).toEqual(['u3', 'u9', 'g1'].map(idOf).sort())
    expect((await readBack(alice, '/messages?saved=1')).sort()).toEqual(['u3', 'u9', 'g1'].map(idOf).sort())
    expect(await readBack(alice, '/users/bob/messages?searchKey=nothing')).toEqual([])
  })

  it('of people, groups and conversations are read by page, with exact totals, to their last page', async () => {
    const uids = Array.from({ length: 35 }, (_, i) => `u${String(i).padStart(2, '0')}`)
    const shop = await createShop('alice')
    const { world } = shop
    await world.post('/data_import/users', { users: uids.map((uid) => ({ uid, name: uid })) })
    const alice = await shop.logIn('alice')
    for (const uid of uids) await alice.say(uid, 'hi')
    await alice.data('POST', '/groups', { guid: 'team', name: 'Team', type: 'public' })
    await alice.data('PUT', '/groups/team/members', { participants: uids.slice(0, 25) })
    await alice.data('PUT', '/groups/team/members', { participants: uids.slice(25) })
    await alice.data('POST', '/blockedusers', { blockedUids: uids.slice(0, 3) })
    await world.post('/users/alice/friends', { accepted: uids.slice(5, 7) })

    /** Pages of a list, until all that it says to have were read. */
    const readAll = async (path: string, id: string): Promise<string[]> => {
      const seen: string[] = []
      for (let page = 1; ; page++) {
        const joint = path.includes('?') ? '&' : '?'
        const { status, body } = await alice.call('GET', `${path}${joint}per_page=20&page=${page}`)
        expect(status, path).toBe(200)
        const { pagination } = body.meta
        expect(pagination, path).toMatchObject({ current_page: page, per_page: 20, count: body.data.length })
        seen.push(...body.data.map((one: Record<string, string>) => one[id]))
        if (page >= pagination.total_pages) {
          expect(seen, path).toHaveLength(pagination.total)
          expect((await alice.call('GET', `${path}${joint}per_page=20&page=${page + 1}`)).body.data).toEqual([])
          return seen
        }
      }
    }
    expect(await readAll('/users', 'uid')).toEqual(uids)
    expect(await readAll('/users?searchKey=3', 'uid')).toEqual(uids.filter((uid) => uid.includes('3')))
    expect(await readAll('/users?friendsOnly=true', 'uid')).toEqual(uids.slice(5, 7))
    expect(await readAll('/users?hideBlockedUsers=true', 'uid')).toEqual(uids.slice(3))
    expect(await readAll('/friends', 'uid')).toEqual(uids.slice(5, 7))
    expect((await readAll('/blockedusers?direction=blockedByMe', 'uid')).sort()).toEqual(uids.slice(0, 3))
    expect(await readAll('/groups/team/members', 'uid')).toEqual(['alice', ...uids])
    expect(await readAll('/groups?hasJoined=true', 'guid')).toEqual(['team'])
    expect(await readAll('/groups?searchKey=none', 'guid')).toEqual([])
    const conversations = await readAll('/conversations?includeBlockedUsers=true', 'conversationId')
    expect(conversations.sort()).toEqual(['group_team', ...uids.map((uid) => `alice_user_${uid}`)].sort())
    const one = await alice.data('GET', `/users/${uids[0]}/conversation`)
    expect(one).toMatchObject({ conversationId: `alice_user_${uids[0]}`, conversationWith: { uid: uids[0] } })
  })
})
