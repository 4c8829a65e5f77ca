import { describe, expect, it } from 'vitest'
import { createGroup, dataOf, say, sayInGroup } from '../support/chat.ts'
import { connect } from '../support/socket.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'

const limitScope = async (world: World, permissions: object) =>
  dataOf(await world.put('/groups/team/scopes/participant/permissions', { permissions }))
const edit = async (world: World, id: string, text: string) =>
  dataOf(await world.put(`/messages/${id}`, { data: { text } }, { as: 'alice' }))

interface Listed {
  readonly category: string
  readonly data: { readonly entities: { readonly on: { readonly entity: { readonly id: string } } } }
}

/** What the newest edit of a list tells of. */
async function subjectListed(world: World, path: string, as: string) {
  const page: Listed[] = dataOf(await world.get(path, { as }))
  return page.findLast(({ category }) => category === 'action')?.data.entities.on.entity
}

const inTeam = '/groups/team/messages?category=action&type=message'

describe('The edit of a message that somebody does not see', () => {
  it('does not show it to a scope that may read text only, in lists and over sockets', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    await createGroup(world, 'team', 'alice', { participants: ['bob'] })
    await limitScope(world, { 'listMessages.allowedMessageTypes': ['text'] })
    const image = { type: 'image', data: { url: 'https://example.com/a.png' } }
    const { id } = await sayInGroup(world, 'alice', 'team', '', image)
    const bob = await connect(world, 'bob')
    await edit(world, id, 'caption')
    expect(await subjectListed(world, inTeam, 'bob')).toEqual({ id })
    expect(await subjectListed(world, inTeam, 'alice')).toMatchObject({ id, data: { text: 'caption' } })
    await sayInGroup(world, 'alice', 'team', 'next')
    await bob.takeText('next')
    expect(bob.frames).toEqual([])
  })

  it('does not show what was said before they joined, in lists and over sockets', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    await createGroup(world, 'team', 'alice')
    await limitScope(world, { 'listMessages.historyBeforeJoin': 'deny' })
    const { id } = await sayInGroup(world, 'alice', 'team', 'before')
    dataOf(await world.post('/groups/team/members', { participants: ['bob'] }))
    const bob = await connect(world, 'bob')
    await edit(world, id, 'still from before')
    expect(await subjectListed(world, inTeam, 'bob')).toEqual({ id })
    expect(await subjectListed(world, inTeam, 'alice')).toMatchObject({ id, data: { text: 'still from before' } })
    await sayInGroup(world, 'alice', 'team', 'quoting', { quotedMessageId: id })
    const frame = await bob.takeText('quoting')
    expect(frame.body).toMatchObject({ quotedMessageId: id })
    expect(frame.body).not.toHaveProperty('quotedMessage')
    expect(bob.frames).toEqual([])
  })

  it('does not show what they have reset, in lists and over sockets', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const { id } = await say(world, 'alice', 'bob', 'before')
    dataOf(await world.delete('/users/alice/conversation', undefined, { as: 'bob' }))
    const bob = await connect(world, 'bob')
    await edit(world, id, 'still from before')
    expect(await subjectListed(world, '/users/alice/messages?category=action', 'bob')).toEqual({ id })
    await say(world, 'alice', 'bob', 'quoting', { quotedMessageId: id })
    const frame = await bob.takeText('quoting')
    expect(frame.body).not.toHaveProperty('quotedMessage')
    expect(bob.frames).toEqual([])
    expect((await say(world, 'alice', 'bob', 'again', { quotedMessageId: id })).quotedMessage.id).toBe(id)
  })
})
