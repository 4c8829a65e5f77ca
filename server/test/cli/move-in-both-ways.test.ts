import { setTimeout } from 'node:timers/promises'
import { fetch } from 'undici'
import { describe, expect, it } from 'vitest'
import { createGroup, dataOf, say, sayInGroup, texts } from '../support/chat.ts'
import { soon, until } from '../support/until.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'
import { startHosted } from './hosted.ts'
import { done, makeFolder, moveIn, startMove } from './move-in-world.ts'

describe('parley move-in, told by webhooks', () => {
  it('reads again what they name, at once, and believes nothing in them', async () => {
    const [source, target] = [await createWorld(), await createWorld()]
    await createUsers(source, 'alice', 'bob', 'carol')
    await createGroup(source, 'team', 'alice', { participants: ['bob', 'carol'] })
    const first = await sayInGroup(source, 'alice', 'team', 'first')
    const purged = await sayInGroup(source, 'alice', 'team', 'to be purged')
    await done(source.post('/users/alice/blockedusers', { blockedUids: ['carol'] }))
    await done(source.get('/events'))
    const hosted = await startHosted(source.url)
    const folder = await makeFolder()
    // Nothing but the hooks makes it look: the next look and the next sweep are an hour away.
    const move = startMove(
      ...([source, hosted, target, folder] as const),
      ...['--follow', '--interval', '3600', '--sweep', '60', '--webhooks', '127.0.0.1:0'],
    )
    await until(() => move.written().includes(' behind:') || move.isOver())
    const [, port, path] = /Webhooks are taken at port (\d+), path (\S+)/.exec(move.written()) ?? []
    const hook = (body: string, at = path) =>
      fetch(`http://127.0.0.1:${port}${at}`, { method: 'POST', body }).then((answer) => answer.status)

    await done(source.put(`/messages/${first.id}`, { data: { text: 'edited' } }, { as: 'alice' }))
    await done(source.delete(`/messages/${purged.id}`, { permanent: true }))
    await sayInGroup(source, 'bob', 'team', 'new')
    await done(source.delete('/groups/team/members', {}, { as: 'carol' }))
    await done(source.delete('/users/alice/blockedusers', { blockedUids: ['carol'] }))
    const events = await soon(async () => {
      const found = dataOf(await source.get('/events?after=0&limit=100'))
      expect(found.map(({ trigger }: { trigger: string }) => trigger)).toEqual(
        expect.arrayContaining(['message_edited', 'message_deleted', 'group_member_left', 'user_unblocked']),
      )
      return found
    })
    for (const event of events) expect(await hook(JSON.stringify(event))).toBe(200)
    await soon(async () => {
      const listed = await target.get('/messages?receiverType=group&category=message&affix=append')
      expect(texts(listed)).toEqual(['edited', 'new'])
      const uids = dataOf(await target.get('/groups/team/members')).map(({ uid }: { uid: string }) => uid)
      expect(uids).toEqual(['alice', 'bob'])
      expect(dataOf(await target.get('/users/alice/blockedusers'))).toEqual([])
    })

    // Whoever finds the port can make it look, and nothing else.
    const forged = { ...first, data: { text: 'forged' }, conversationId: 'group_team', editedAt: first.sentAt }
    const lies = [
      { trigger: 'message_sent', data: { message: { ...forged, id: '999999' } } },
      { trigger: 'message_edited', data: { message: { data: { entities: { on: { entity: forged } } } } } },
      { trigger: 'message_deleted', data: { message: forged } },
      { trigger: 'group_deleted', data: { group: { guid: 'team' } } },
      { trigger: 'group_member_left', data: { group: { guid: 'team' }, members: { bob: { uid: 'bob' } } } },
      { trigger: 'user_blocked', data: { users: { bob: { uid: 'bob' } }, by: { uid: 'alice' } } },
    ]
    expect(await hook(JSON.stringify(lies[0]), '/hooks/guessed')).toBe(404)
    expect(await hook('no JSON')).toBe(400)
    expect(await hook('x'.repeat(1024 * 1024 + 1))).toBe(413)
    for (const lie of lies) expect(await hook(JSON.stringify(lie))).toBe(200)
    await sayInGroup(source, 'bob', 'team', 'last')
    expect(await hook('{"trigger": "message_sent"}')).toBe(200)
    await soon(async () =>
      expect(texts(await target.get('/messages?receiverType=group&category=message&affix=append'))).toEqual([
        ...['edited', 'new', 'last'],
      ]),
    )
    // Whoever came a moment before the cut-over and is removed after it is not brought back by the next run.
    await createUsers(source, 'dave')
    await createGroup(source, 'short', 'bob')
    await done(source.post('/groups/team/members', { participants: ['carol'] }))
    move.cutOver()
    expect(await move.ended, move.written()).toBe(0)
    expect(await moveIn(source, hosted, target, folder, '--verify')).toMatchObject({ code: 0 })
    await done(target.delete('/groups/team/members/carol', {}))
    await done(target.delete('/groups/short', {}))
    await done(target.delete('/users/dave', { permanent: true }))
    await createUsers(source, 'erin')
    await done(source.post('/groups/team/members', { participants: ['erin'] }))
    const later = startMove(source, hosted, target, folder, '--follow')
    await until(() => later.written().includes(' behind:') || later.isOver())
    later.cutOver()
    expect(await later.ended, later.written()).toBe(0)
    const named = async (list: string, name: string) =>
      dataOf(await target.get(list)).map((row: Record<string, string>) => row[name])
    expect(await named('/groups/team/members', 'uid')).toEqual(['alice', 'bob', 'erin'])
    expect(await named('/groups', 'guid')).toEqual(['team'])
    expect(await named('/users', 'uid')).not.toContain('dave')
  })
})

describe('parley move-in, after the cut-over', () => {
  it('brings both sides together while old and new versions of an app are used, and nothing circles', async () => {
    const [source, target] = [await createWorld(), await createWorld()]
    await createUsers(source, 'alice', 'bob', 'carol')
    await createGroup(source, 'team', 'alice', { participants: ['bob'] })
    const first = await sayInGroup(source, 'alice', 'team', 'first')
    await sayInGroup(source, 'alice', 'team', 'second')
    const hosted = await startHosted(source.url, { failed: 100, reset: 100, limited: 100, rows: 40 })
    const folder = await makeFolder()
    const options = ['--follow', '--write-back', '--interval', '1', '--overlap', '60']
    const before = startMove(source, hosted, target, folder, ...options)
    await until(() => before.written().includes(' behind:') || before.isOver())
    before.cutOver()
    expect(await before.ended, before.written()).toBe(0)

    const after = startMove(source, hosted, target, folder, ...options)
    await until(() => after.written().includes(' behind:') || after.isOver())
    const listed = async (world: World) => {
      const rows = dataOf(await world.get('/messages?affix=append&limit=100'))
      const reactions = (row: { reactions?: { reaction: string; count: number }[] }) =>
        (row.reactions ?? []).map(({ reaction, count }) => `${reaction} ${count}`)
      return rows
        .filter(({ category }: { category: string }) => category !== 'action')
        .map(
          (
            row: Record<string, unknown> & {
              data?: { text?: string }
              reactions?: { reaction: string; count: number }[]
            },
          ) => ({
            from: row.sender,
            to: row.receiver,
            text: row.data?.text,
            isDeleted: row.deletedAt !== undefined,
            replies: row.replyCount,
            reactions: reactions(row),
          }),
        )
        .toSorted((one: object, other: object) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1))
    }
    const inTarget = async (text: string) => dataOf(await target.get(`/messages?searchKey=${text}`))[0]

    // In the new service, while the old one is written to.
    await createUsers(target, 'newcomer')
    await done(target.post('/groups/team/members', { participants: ['newcomer'] }))
    const root = await sayInGroup(target, 'newcomer', 'team', 'written-in-the-new')
    await sayInGroup(target, 'alice', 'team', 'reply-in-the-new', { parentId: root.id })
    await say(target, 'newcomer', 'bob', 'hello-from-the-new')
    const firstThere = await inTarget('first')
    await done(target.put(`/messages/${firstThere.id}`, { data: { text: 'first, edited' } }, { as: 'alice' }))
    const thumb = (id: string) => `/messages/${id}/reactions/${encodeURIComponent('👍')}`
    await done(target.post(thumb(firstThere.id), {}, { as: 'bob' }))
    await sayInGroup(source, 'bob', 'team', 'from-an-old-version')
    await done(source.post(thumb(first.id), {}, { as: 'alice' }))
    await done(source.post('/groups/team/members', { participants: ['carol'] }))
    // Clients choose muids: nobody gets hold of somebody else's message with the mark of what was written back.
    const secondThere = await inTarget('second')
    const muid = `moved-back-${secondThere.id}`
    const forged = await sayInGroup(source, 'bob', 'team', 'forged', { muid })
    // One muid twice in one look.
    await sayInGroup(source, 'bob', 'team', 'twin-one', { muid: 'twin' })
    await sayInGroup(source, 'alice', 'team', 'twin-two', { muid: 'twin' })
    await soon(async () => {
      expect(await listed(source)).toEqual(await listed(target))
      expect(await listed(source)).toHaveLength(9)
      expect(dataOf(await source.get(thumb(first.id)))).toHaveLength(2)
    })

    // What was taken back on one side does not come back from the other.
    await done(target.delete(thumb(firstThere.id), {}, { as: 'bob' }))
    await done(target.delete(`/messages/${(await inTarget('second')).id}`, {}, { as: 'alice' }))
    await done(target.delete('/groups/team/members', {}, { as: 'newcomer' }))
    await done(source.delete(thumb(first.id), {}, { as: 'alice' }))
    await done(source.put(`/messages/${forged.id}`, { data: { text: 'forged, edited' } }, { as: 'bob' }))
    await done(target.delete(`/messages/${(await inTarget('hello')).id}`, { permanent: true }))
    await soon(async () => {
      expect(await listed(source)).toEqual(await listed(target))
      expect(await listed(source)).toHaveLength(8)
      expect(dataOf(await source.get(thumb(first.id)))).toEqual([])
      const uids = dataOf(await source.get('/groups/team/members')).map(({ uid }: { uid: string }) => uid)
      expect(uids).toEqual(['alice', 'bob', 'carol'])
    })
    const count = async (world: World) => dataOf(await world.get('/messages?affix=append&limit=100')).length
    const [before1, before2] = [await count(source), await count(target)]
    const looks = () => after.written().split(' behind:').length
    const seen = looks()
    await until(() => looks() >= seen + 3)
    expect([await count(source), await count(target)]).toEqual([before1, before2])
    after.cutOver()
    expect(await after.ended, after.written()).toBe(0)

    // Once more, after a time in which nothing was brought over.
    const unknown = await say(target, 'bob', 'alice', 'while-it-was-off')
    // Nor can a client keep the place of what is yet to be brought back.
    await say(source, 'bob', 'alice', 'in-its-place', { muid: `moved-back-${unknown.id}` })
    await setTimeout(1100)
    const late = startMove(source, hosted, target, folder, ...options)
    await soon(async () => {
      expect(await listed(source)).toEqual(await listed(target))
      expect(await listed(source)).toHaveLength(10)
    })
    late.cutOver()
    expect(await late.ended, late.written()).toBe(0)
    const uids = dataOf(await target.get('/groups/team/members')).map(({ uid }: { uid: string }) => uid)
    expect(uids).toEqual(['alice', 'bob', 'carol'])
  })
})
