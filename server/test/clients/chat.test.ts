import { FormData } from 'undici'
import { describe, expect, it } from 'vitest'
import { eventually } from '../support/socket.ts'
import type { FrontEnd } from './front-end.ts'
import { createShop, serveTls } from './world.ts'

serveTls()

const isAction =
  (action: string) => (frame: { body: { category: string; action?: string; data: { action?: string } } }) =>
    frame.body.category === 'action' && (frame.body.data.action ?? frame.body.action) === action

/** A group with its first members, made by its owner's front end. */
const createGroup = (owner: FrontEnd, guid: string, ...participants: string[]) =>
  owner.data('POST', '/groups', { guid, name: guid, type: 'public', members: { participants } })

describe('Front ends that chat over TLS', () => {
  it('send, hear, and see that it was received and read', async () => {
    const shop = await createShop('alice', 'bob')
    const [alice, phone, bob] = [await shop.open('alice'), await shop.open('alice'), await shop.open('bob')]
    bob.tell({
      type: 'typing_indicator',
      sender: 'bob',
      receiver: 'alice',
      receiverType: 'user',
      body: { action: 'started', user: { uid: 'bob' } },
    })
    expect((await alice.hear('typing_indicator')).body).toMatchObject({ action: 'started', user: { uid: 'bob' } })

    const sent = await alice.say('bob', 'hi', { muid: 'one' })
    expect(await alice.say('bob', 'hi', { muid: 'one' })).toMatchObject({ id: sent.id })
    expect((await bob.hearText('hi')).body).toMatchObject({ id: sent.id, sender: 'alice', receiverType: 'user' })
    // Another device of the sender hears it too, the one that sent it does not.
    expect((await phone.hearText('hi')).body.id).toBe(sent.id)
    expect(await bob.data('GET', '/messages?unread=1&count=1&hideMessagesFromBlockedUsers=0')).toEqual([
      { entityId: 'alice', entityType: 'user', count: 1 },
    ])
    for (const action of ['delivered', 'read']) {
      const envelope = {
        type: 'receipts',
        sender: 'bob',
        receiver: 'alice',
        receiverType: 'user',
        messageSender: 'alice',
      }
      bob.tell({ ...envelope, body: { action, messageId: sent.id } })
    }
    for (const action of ['delivered', 'read']) {
      const receipt = await alice.hear('receipts', ({ body }) => body.action === action)
      expect(receipt.body).toMatchObject({ messageId: sent.id, user: { uid: 'bob' }, timestamp: expect.any(Number) })
    }
    const [shown] = await alice.data('GET', '/users/bob/messages?per_page=30&affix=prepend&withThreadSubscribed=true')
    expect(shown).toMatchObject({ id: sent.id, deliveredAt: expect.any(Number), readAt: expect.any(Number) })
    const unread = await bob.data('DELETE', '/users/alice/conversation/read', { messageId: sent.id })
    expect(unread).toMatchObject({ success: true, conversation: { conversationId: 'alice_user_bob' } })
    await bob.socket?.pong()
    expect(alice.socket?.frames.filter(({ type }) => type === 'message')).toEqual([])
    bob.tell({
      type: 'transient_message',
      sender: 'bob',
      receiver: 'alice',
      receiverType: 'user',
      body: { user: { uid: 'bob' }, data: { wave: 1 } },
    })
    expect((await alice.hear('transient_message')).body.data).toEqual({ wave: 1 })
  })

  it('send a picture, and get it back over TLS', async () => {
    const shop = await createShop('alice', 'bob')
    const [alice, bob] = [await shop.logIn('alice'), await shop.open('bob')]
    const form = new FormData()
    const png = Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
      'base64',
    )
    const fields = { type: 'image', category: 'message', receiver: 'bob', receiverType: 'user', caption: 'a dot' }
    for (const [name, value] of Object.entries(fields)) form.append(name, value)
    form.append('files[]', new File([png], 'dot.png', { type: 'image/png' }))
    const sent = await alice.data('POST', '/messages', form)
    expect(sent.data.attachments).toMatchObject([{ name: 'dot.png', mimeType: 'image/png', url: expect.any(String) }])
    expect(sent.data.url).toBe(sent.data.attachments[0].url)
    expect(new URL(sent.data.url).protocol).toBe('https:')
    expect((await bob.hearText('a dot')).body.data.attachments[0].url).toBe(sent.data.url)
    expect(await alice.fetch(sent.data.url)).toEqual(png)
  })

  it('react, pin, save, reply, edit and delete, and each is heard as its own frame', async () => {
    const shop = await createShop('alice', 'bob')
    const [alice, phone, bob] = [await shop.open('alice'), await shop.open('alice'), await shop.open('bob')]
    const { id } = await alice.say('bob', 'first')
    await bob.hearText('first')
    await bob.data('POST', `/messages/${id}/reactions/${encodeURIComponent('👍')}`)
    expect((await alice.hear('reaction')).body).toMatchObject({
      action: 'message_reaction_added',
      id: expect.any(String),
      messageId: id,
      reaction: '👍',
      uid: 'bob',
      reactedAt: expect.any(Number),
      reactedBy: { uid: 'bob' },
      conversationId: 'alice_user_bob',
      receiver: 'alice',
      receiverType: 'user',
    })
    await bob.data('DELETE', `/messages/${id}/reactions/${encodeURIComponent('👍')}`)
    expect((await alice.hear('reaction')).body.action).toBe('message_reaction_removed')

    await alice.data('POST', `/messages/${id}/pin`)
    expect((await bob.hear('message_pin')).body).toMatchObject({
      action: 'pinned',
      message: { id, pinnedBy: 'alice', pinnedAt: expect.any(Number), data: { text: 'first' } },
    })
    expect(await bob.data('GET', '/users/alice/messages?pinned=1&per_page=10&affix=prepend')).toMatchObject([{ id }])
    await alice.data('POST', `/messages/${id}/save`)
    expect((await phone.hear('message_save')).body).toMatchObject({ action: 'saved', message: { id } })
    expect(await alice.data('GET', '/messages?saved=1&per_page=10&affix=prepend')).toMatchObject([{ id }])
    await alice.data('POST', '/users/bob/conversation/pin')
    expect((await phone.hear('conversation_pin')).body).toMatchObject({
      action: 'pinned',
      conversation: { conversationId: 'alice_user_bob' },
    })

    const reply = await bob.data('POST', `/messages/${id}/thread`, {
      ...{ receiver: 'alice', receiverType: 'user', category: 'message', type: 'text', data: { text: 'reply' } },
    })
    expect((await alice.hearText('reply')).body.parentId).toBe(id)
    expect(await alice.data('GET', `/messages/${id}/thread?per_page=30&affix=prepend`)).toMatchObject([
      { id: reply.id },
    ])
    expect((await alice.data('POST', `/messages/${id}/thread/subscription`)).message).toEqual(
      expect.stringMatching(/./),
    )
    expect(await alice.data('GET', '/users/bob/threads?limit=10&affix=prepend')).toMatchObject([{ id, replyCount: 1 }])

    await alice.data('PUT', `/messages/${id}`, { data: { text: 'second' } })
    const edit = await bob.hear('message', isAction('edited'))
    expect(edit.body.data.entities.on.entity).toMatchObject({ id, data: { text: 'second' } })
    await bob.data('DELETE', `/messages/${reply.id}`)
    expect((await alice.hear('message', isAction('deleted'))).body.data.entities.on.entity.id).toBe(reply.id)
  })

  it('hear when they are added to a group, and when they are kicked, as the last of it', async () => {
    const shop = await createShop('alice', 'bob', 'carol')
    const [alice, bob, carol] = [await shop.open('alice'), await shop.open('bob'), await shop.open('carol')]
    const made = await createGroup(alice, 'team', 'bob')
    expect(made).toMatchObject({ guid: 'team', hasJoined: true, scope: 'admin' })
    expect(made.members.data.participants).toEqual({ bob: { success: true } })
    expect((await bob.hear('message', isAction('added'))).receiver).toBe('team')
    const joined = await carol.data('POST', '/groups/team/members', { guid: 'team' })
    expect(joined).toMatchObject({ category: 'action', data: { action: 'joined' } })
    expect(Object.keys(joined.data.entities).sort()).toEqual(['by', 'for', 'on'])
    const group = { receiver: 'team', receiverType: 'group' }
    await bob.say('', 'hello all', group)
    await carol.hearText('hello all')
    expect(await carol.data('GET', '/groups/team/members?per_page=30')).toHaveLength(3)
    await eventually(
      () => carol.online({ groups: ['team'] }),
      ({ groups }) => groups.team === 3,
    )

    await alice.data('DELETE', '/groups/team/members/bob')
    const kick = await bob.hear('message', isAction('kicked'))
    expect(kick.body.data.entities.on.entity.uid).toBe('bob')
    await alice.say('', 'without bob', group)
    await carol.hearText('without bob')
    await bob.socket?.pong()
    expect(bob.socket?.frames.filter(({ body }) => body?.data?.text === 'without bob')).toEqual([])
    expect((await bob.call('POST', '/messages', { ...group, data: { text: 'x' } })).body.error.code).toBe(
      'ERR_GROUP_NOT_JOINED',
    )
    const ids = (await bob.data('GET', '/conversations?per_page=50')).map(
      (one: { conversationId: string }) => one.conversationId,
    )
    expect(ids).not.toContain('group_team')
    await alice.data('PATCH', '/groups/team/owner', { owner: 'carol' })
    await alice.data('DELETE', '/groups/team/members')
  })

  it('come back after the line was cut, and list what they missed', async () => {
    const shop = await createShop('alice', 'bob')
    const [alice, bob] = [await shop.open('alice'), await shop.open('bob')]
    // Who comes and goes within a second is not told of at all.
    await alice.hear('presence', ({ sender, body }) => sender === 'bob' && body.action === 'online')
    const { id } = await alice.say('bob', 'before')
    await bob.hearText('before')
    bob.socket?.ws.terminate()
    await alice.hear('presence', ({ sender, body }) => sender === 'bob' && body.action === 'offline')
    await alice.say('bob', 'one missed')
    await alice.say('bob', 'another')
    await bob.connect()
    const missed = await bob.data('GET', `/users/alice/messages?per_page=30&affix=append&id=${id}`)
    expect(missed.map(({ data }: { data: { text: string } }) => data.text)).toEqual(['one missed', 'another'])
    await alice.say('bob', 'live again')
    await bob.hearText('live again')
  })
})
