import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { systemClock } from '../../src/cli/import/run.ts'
import { createGroup, dataOf, say, sayInGroup, texts } from '../support/chat.ts'
import { soon, until } from '../support/until.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'
import { startHosted } from './hosted.ts'
import { done, makeFolder, moveIn, startMoveBy } from './move-in-world.ts'

describe('parley move-in, following what leaves no trace in any time', () => {
  it('finds all of it by comparing, while it follows and at the cut-over', async () => {
    const [source, target] = [await createWorld(), await createWorld()]
    await done(source.post('/roles', { role: 'tutor', name: 'Tutor' }))
    await done(source.post('/roles', { role: 'guest', name: 'Guest' }))
    const permissions = { createGroup: 'deny' }
    dataOf(await source.put('/roles/tutor/permissions', { permissions }))
    dataOf(await source.post('/roles/tutor/restrictedfeatures', { featuresToRestrict: ['u.listGroups'] }))
    await createUsers(source, 'alice', 'bob', 'carol', 'dave', 'erin', 'frank', 'gina', 'henry')
    await createGroup(source, 'team', 'alice', { participants: ['bob', 'carol', 'erin'], moderators: ['frank'] })
    await createGroup(source, 'short', 'alice')
    await createGroup(source, 'passed', 'alice', { participants: ['bob'] })
    await done(source.put('/groups/team', { icon: 'https://example.com/team.png' }))
    await done(source.post('/groups/team/bannedusers/dave', {}))
    await done(source.post('/users/alice/friends', { accepted: ['bob'] }))
    await done(source.post('/users/alice/blockedusers', { blockedUids: ['gina'] }))
    const purged = await sayInGroup(source, 'bob', 'team', 'to be purged')
    const root = await sayInGroup(source, 'bob', 'team', 'a thread')
    for (const uid of ['alice', 'carol']) await sayInGroup(source, uid, 'team', `by ${uid}`, { parentId: root.id })
    const followed = await sayInGroup(source, 'bob', 'team', 'a thread that stays')
    await sayInGroup(source, 'carol', 'team', 'a reply that stays', { parentId: followed.id })
    const liked = await sayInGroup(source, 'alice', 'team', 'liked')
    const swapped = await sayInGroup(source, 'alice', 'team', 'liked by others')
    const pinned = await sayInGroup(source, 'alice', 'team', 'pinned')
    const saved = await say(source, 'alice', 'bob', 'saved')
    await say(source, 'gina', 'bob', 'from somebody who goes')
    const thumb = (id: string) => `/messages/${id}/reactions/${encodeURIComponent('👍')}`
    for (const id of [liked.id, swapped.id]) await done(source.post(thumb(id), {}, { as: 'bob' }))
    const ofHenry = await say(source, 'henry', 'bob', 'from somebody who is deactivated')
    await done(source.post(thumb(liked.id), {}, { as: 'erin' }))
    await done(source.post(thumb(ofHenry.id), {}, { as: 'henry' }))
    await done(source.post(`/messages/${pinned.id}/pin`, {}, { as: 'alice' }))
    await done(source.post(`/messages/${saved.id}/save`, {}, { as: 'bob' }))
    await done(source.put('/users/alice/conversation', { tags: ['work'] }, { as: 'bob' }))
    await done(source.post('/groups/team/conversation/pin', {}, { as: 'bob' }))
    await done(source.put('/conversations/pinned', { pinnedConversations: [{ guid: 'passed' }] }))

    await done(source.post('/groups/team/conversation/read', {}, { as: 'carol' }))

    const of = (list: string, uid: string) => `/notifications/v1/preferences${list}?uid=${uid}`
    const muted = { conversations: [{ id: 'bob', type: 'oneOnOne' }] }
    await done(source.put(of('/mute', 'alice'), muted))
    await done(source.call('PATCH', of('', 'alice'), { oneOnOnePreferences: { oneOnOneReactions: 1 } }))

    const hosted = await startHosted(source.url, { failed: 200, limited: 200, rows: 40 })
    const folder = await makeFolder()
    let ahead = 0
    const clock = { ...systemClock, now: () => systemClock.now() + ahead }
    const options = ['--follow', '--interval', '1', '--overlap', '3600']
    const move = startMoveBy(clock, source, hosted, target, folder, ...options)
    await until(() => move.written().includes(' behind:') || move.isOver())
    // A request that fails just when the clock jumps would be given up.
    hosted.troubles = { rows: 40 }
    const looks = () => move.written().split(' behind:').length
    const seen = looks()
    await until(() => looks() >= seen + 2 || move.isOver())

    await done(source.delete(`/messages/${purged.id}`, { permanent: true }))
    await done(source.delete(`/messages/${root.id}`, { permanent: true }))
    await done(source.delete(thumb(liked.id), {}, { as: 'bob' }))
    await done(source.delete(thumb(swapped.id), {}, { as: 'bob' }))
    await done(source.post(thumb(swapped.id), {}, { as: 'carol' }))
    await done(source.delete(`/messages/${pinned.id}/pin`, {}, { as: 'alice' }))
    await done(source.delete(`/messages/${saved.id}/save`, {}, { as: 'bob' }))
    // What people did before they left can be done in their name only as long as they are there.
    await done(source.delete(thumb(liked.id), {}, { as: 'erin' }))
    await done(source.delete(thumb(ofHenry.id), {}, { as: 'henry' }))
    await done(source.delete('/groups/team/members', {}, { as: 'erin' }))
    await done(source.delete('/groups/team/members/frank', {}))
    await done(source.delete('/groups/team/bannedusers/dave', {}))
    await done(source.delete('/users/alice/friends', { friends: ['bob'] }))
    await done(source.delete('/users/alice/blockedusers', { blockedUids: ['gina'] }))
    await done(source.put('/users/alice/conversation', { tags: [] }, { as: 'bob' }))
    await done(source.delete('/groups/team/conversation/pin', {}, { as: 'bob' }))
    await done(source.put('/conversations/pinned', { pinnedConversations: [] }))
    await done(source.delete('/groups/short', {}))
    await done(source.put('/groups/passed', { owner: 'bob' }))
    await done(source.put('/groups/team', { unset: ['icon'], description: 'what remains' }))
    await done(source.delete('/users/gina', { permanent: true }))
    await done(source.delete('/users/henry', {}))
    await done(source.delete('/roles/tutor/permissions/createGroup', {}))
    await done(source.delete('/roles/tutor/restrictedfeatures', { featuresToAllow: ['u.listGroups'] }))
    await done(source.delete('/roles/guest', {}))
    await done(source.post('/users/alice/conversation/read', {}, { as: 'bob' }))
    await done(source.delete(of('/mute', 'alice'), muted))
    await done(source.delete(of('', 'alice')))
    await done(source.call('PATCH', of('/timezone', 'bob'), { timezone: 'Europe/Oslo' }))
    await done(source.call('PATCH', '/notifications/v1/settings', { sound: { chat: 'bell' } }))
    await done(source.delete(`/messages/${followed.id}/thread/subscription`, {}, { as: 'carol' }))
    await done(source.delete('/groups/team/conversation/read', { messageId: swapped.id }, { as: 'carol' }))
    await done(source.delete('/users/bob/conversation', {}, { as: 'alice' }))
    await done(source.delete('/groups/team/conversation', {}, { as: 'bob' }))
    await sayInGroup(source, 'alice', 'team', 'after it was cleared')

    // A quarter of an hour later it compares.
    ahead = 15 * 60_000
    const unread = async (world: World) =>
      dataOf(await world.get('/groups/team/conversation', { as: 'carol' })).unreadMessageCount
    const partners = async (world: World) =>
      dataOf(await world.get('/conversations', { as: 'alice' })).map(
        ({ conversationId }: { conversationId: string }) => conversationId,
      )
    await soon(async () => {
      const gone = ['/users/gina', '/groups/short', '/roles/guest', `/messages/${purged.id}`, `/messages/${root.id}`]
      const statuses = await Promise.all(gone.map(async (at) => (await target.get(at)).status))
      expect(statuses).toEqual(gone.map(() => 404))
      expect(await partners(target)).toEqual(await partners(source))
      expect(await unread(target)).toBe(await unread(source))
    })
    expect(await partners(source)).not.toContain('alice_user_bob')
    hosted.troubles = { failed: 200, limited: 200, rows: 40 }
    move.cutOver()
    expect(await move.ended, move.written()).toBe(0)
    const inTeam = await target.get('/groups/team/messages?category=message', { as: 'bob' })
    expect(texts(inTeam)).toEqual(['after it was cleared'])
    const verified = await moveIn(source, hosted, target, folder, '--verify')
    expect(verified, verified.stdout).toMatchObject({ code: 0 })
    const { settled, notices } = JSON.parse(await readFile(path.join(folder, 'report.json'), 'utf8'))
    expect(settled).toMatchObject({
      // One for itself, a thread with its two replies, and what somebody wrote who is removed only after that.
      'followed: messages removed that were gone': 5,
      'followed: removed reactions': 4,
      'followed: removed pins': 1,
      'followed: members removed that had left': 2,
      'followed: bans removed that were lifted': 1,
      'followed: users removed that were gone': 1,
      'followed: groups removed that were gone': 1,
      'followed: roles removed that were gone': 1,
      'followed: permissions': 2,
      'followed: tags of conversations': 1,
      'followed: pinned conversations': 1,
      'followed: saved messages': 1,
      // Carol follows it no more, and the lists of bob have it no more since they cleared the conversation.
      'followed: followed messages': 2,
      'followed: pins for everybody': 1,
      'followed: notification settings': 1,
      'followed: notifications of users': 2,
    })
    expect(notices).toEqual([])
  })
})
