import { describe, expect, it } from 'vitest'
import { attackerAs } from '../support/attacker.ts'
import { createGroup, dataOf, refusal, sayInGroup } from '../support/chat.ts'
import { connect } from '../support/socket.ts'
import { createUsers, createWorld } from '../support/world.ts'

/** A newcomer may not read what was said before they joined; somebody edits it, and it comes along with the news. */
describe('What was said before somebody joined', () => {
  it('is told to them by no edit, deletion or quote of it, in lists or over sockets', async () => {
    const world = await createWorld()
    await createUsers(world, 'owner', 'mallory')
    await createGroup(world, 'team', 'owner')
    dataOf(
      await world.put('/groups/team/scopes/participant/permissions', {
        permissions: { 'listMessages.historyBeforeJoin': 'deny' },
      }),
    )
    const secret = await sayInGroup(world, 'owner', 'team', 'the secret')
    const doomed = await sayInGroup(world, 'owner', 'team', 'the other secret')
    dataOf(await world.post('/groups/team/members', { participants: ['mallory'] }))
    const [mallory, socket] = [await attackerAs(world, 'mallory'), await connect(world, 'mallory')]

    const owner = { as: 'owner' }
    dataOf(await world.put(`/messages/${secret.id}`, { tags: ['a'] }, owner))
    dataOf(await world.put(`/messages/${secret.id}`, { data: { text: 'the secret, edited' } }, owner))
    await sayInGroup(world, 'owner', 'team', 'see above', { quotedMessageId: secret.id })
    dataOf(await world.post(`/messages/${secret.id}/thread`, { data: { text: 'a reply' } }, owner))
    dataOf(await world.delete(`/messages/${doomed.id}`, undefined, owner))
    await sayInGroup(world, 'owner', 'team', 'the end')
    await socket.takeText('the end')

    expect(JSON.stringify(socket.frames)).not.toContain('secret')
    for (const path of [
      '/groups/team/messages',
      '/groups/team/messages?searchKey=secret',
      '/messages',
      '/messages?searchKey=secret',
      '/threads',
      '/conversations',
      '/groups/team/conversation',
    ]) {
      expect(JSON.stringify(dataOf(await mallory.get(path))), path).not.toContain('secret')
    }
    for (const path of ['', '/thread', '/reactions']) {
      expect(refusal(await mallory.get(`/messages/${secret.id}${path}`)), path).toBe('404 ERR_MESSAGE_ID_NOT_FOUND')
    }
  })
})
