import { describe, expect, it } from 'vitest'
import { createGroup, dataOf, say, sayInGroup } from '../../../server/test/support/chat.ts'
import { moderatedWorld, review, takeRulesAway } from '../../../server/test/support/review.ts'
import { soon, until } from '../../../server/test/support/until.ts'
import { textsOf, useRoom } from './support/room.ts'

const { join, world: chatWorld } = useRoom()

describe('a message', () => {
  it('is shown at once, confirmed by the answer, and reaches the other user', async () => {
    const world = await chatWorld('alice', 'bob')
    const [alice, bob] = [await join(world, 'alice'), await join(world, 'bob')]
    const [mine, theirs] = [alice.openConversation({ uid: 'bob' }), bob.openConversation({ uid: 'alice' })]
    await until(() => mine.getSnapshot().isLoaded && theirs.getSnapshot().isLoaded)
    const muid = mine.send({ text: 'hi' })
    expect(mine.getSnapshot().pending).toMatchObject([{ muid, content: { text: 'hi' } }])
    await until(() => mine.getSnapshot().messages.length === 1)
    expect(mine.getSnapshot().pending).toEqual([])
    await until(() => theirs.getSnapshot().messages.length === 1)
    expect(textsOf(theirs)).toEqual(['hi'])
    await soon(() => {
      expect(bob.unread.getSnapshot()).toEqual({ messages: 1, conversations: 1 })
      expect(bob.conversations.getSnapshot().conversations).toMatchObject([
        { key: 'user:alice', unread: 1, lastMessage: { data: { text: 'hi' } } },
      ])
      expect(mine.getSnapshot().messages[0]?.deliveredAt).toBeGreaterThan(0)
    })
    theirs.markRead()
    expect(bob.unread.getSnapshot().messages).toBe(0)
    await until(() => mine.getSnapshot().messages[0]?.readAt)
  })

  it('that was edited, deleted, reacted to shows it in each store', async () => {
    const world = await chatWorld('alice', 'bob')
    await createGroup(world, 'team', 'alice', { participants: ['bob'] })
    const { id } = await sayInGroup(world, 'alice', 'team', 'frist')
    const [alice, bob] = [await join(world, 'alice'), await join(world, 'bob')]
    const [mine, theirs] = [alice.openConversation({ guid: 'team' }), bob.openConversation({ guid: 'team' })]
    await until(() => mine.getSnapshot().isLoaded && theirs.getSnapshot().isLoaded)
    const editing = alice.edit(id, { text: 'first' })
    expect(textsOf(mine)).toContain('first')
    await editing
    await until(() => textsOf(theirs).includes('first'))
    await bob.react(id, '👍')
    await soon(() => expect(mine.getSnapshot().messages.at(-1)?.reactions).toEqual([{ reaction: '👍', count: 1 }]))
    expect(theirs.getSnapshot().messages.at(-1)?.reactions).toEqual([{ reaction: '👍', count: 1, reactedByMe: true }])
    await alice.delete(id)
    await until(() => theirs.getSnapshot().messages.at(-1)?.deletedAt)
    expect(JSON.stringify(theirs.getSnapshot().messages)).not.toContain('first')
  })

  it('that somebody else reacts to while the own reaction is answered shows both', async () => {
    const world = await chatWorld('alice', 'bob')
    const { id } = await say(world, 'bob', 'alice', 'hello')
    let isAnswered = false
    let hasCome = false
    const late = async (url: string, init: { method?: string }) => {
      const answer = await fetch(url, init)
      if (init.method === 'POST' && url.includes('/reactions/')) {
        isAnswered = true
        await until(() => hasCome)
      }
      return answer
    }
    const alice = await join(world, 'alice', { fetch: late as never })
    const list = alice.openConversation({ uid: 'bob' })
    await until(() => list.getSnapshot().isLoaded)
    const reactions = () =>
      list
        .getSnapshot()
        .messages[0]?.reactions?.map(({ reaction }) => reaction)
        .toSorted()
    const listed = () => alice.conversations.getSnapshot().conversations[0]?.lastMessage?.reactions?.length
    const reacting = alice.react(id, 'mine')
    await until(() => isAnswered)
    dataOf(await world.post(`/messages/${id}/reactions/theirs`, {}, { as: 'bob' }))
    await until(() => reactions()?.includes('theirs'))
    hasCome = true
    await reacting
    await soon(() => expect([reactions(), listed()]).toEqual([['mine', 'theirs'], 2]))
  })

  describe('that moderation releases', () => {
    takeRulesAway()

    /** One of alice that is held, and two that came after it. */
    async function createHeld(options: object = {}) {
      const world = await moderatedWorld('alice', 'bob')
      const held = await say(world, 'alice', 'bob', 'bad')
      const [second] = [await say(world, 'bob', 'alice', 'second'), await say(world, 'bob', 'alice', 'third')]
      const alice = await join(world, 'alice', options)
      const list = alice.openConversation({ uid: 'bob' })
      await until(() => list.getSnapshot().isLoaded)
      const release = async () => {
        dataOf(await review(world, 'blocked', held.id, { status: 'approved', override: true }))
      }
      return { world, list, held, second, release }
    }
    const idsOf = (messages: ReadonlyArray<{ id: string }>) => messages.map(({ id }) => id)

    it('stands once, where the service has it', async () => {
      const { world, list, held, second, release } = await createHeld()
      const stored = async () => {
        return idsOf(dataOf(await world.get('/users/bob/messages?limit=100&hideReplies=1', { as: 'alice' })))
      }
      await release()
      await until(() => textsOf(list).at(-1) === 'bad')
      // The next changes look for their messages by place.
      dataOf(await world.post(`/messages/${held.id}/reactions/x`, {}, { as: 'bob' }))
      await until(() => list.getSnapshot().messages.at(-1)?.reactions)
      dataOf(await world.post(`/messages/${second.id}/reactions/x`, {}, { as: 'bob' }))
      await until(() => list.getSnapshot().messages.some(({ id, reactions }) => id === second.id && reactions))
      expect(idsOf(list.getSnapshot().messages)).toEqual(await stored())
    })

    it('leaves a part of the history that does not reach its new place', async () => {
      const { list, held, second, release } = await createHeld({ pageSize: 4 })
      await list.loadAround(held.id)
      expect(textsOf(list)).toEqual(['bad', 'second'])
      await release()
      await until(() => idsOf(list.getSnapshot().messages).join() === second.id)
      while (list.getSnapshot().hasNewer) await list.loadNewer()
      expect(textsOf(list)).toEqual(['second', 'third', 'bad'])
    })
  })

  it('is listed by pages without gap or repeat', async () => {
    const world = await chatWorld('alice', 'bob')
    for (let n = 0; n < 25; n++) await say(world, 'bob', 'alice', `m${n}`)
    const alice = await join(world, 'alice', { pageSize: 10 })
    const list = alice.openConversation({ uid: 'bob' })
    await until(() => list.getSnapshot().isLoaded)
    expect(list.getSnapshot().hasOlder).toBe(true)
    await Promise.all([list.loadOlder(), list.loadOlder()])
    expect(list.getSnapshot().messages).toHaveLength(20)
    await list.loadOlder()
    expect(textsOf(list)).toEqual(Array.from({ length: 25 }, (_, n) => `m${n}`))
    expect(list.getSnapshot().hasOlder).toBe(false)
    const middle = list.getSnapshot().messages[5]?.id ?? ''
    await list.loadAround(middle)
    expect(list.getSnapshot().hasNewer).toBe(true)
    while (list.getSnapshot().hasNewer) await list.loadNewer()
    expect(textsOf(list).at(-1)).toBe('m24')
  })
})

it('a thread shows its replies, and its parent how many there are', async () => {
  const world = await chatWorld('alice', 'bob')
  const { id } = await say(world, 'bob', 'alice', 'question')
  const alice = await join(world, 'alice')
  const main = alice.openConversation({ uid: 'bob' })
  const thread = alice.openThread({ uid: 'bob' }, id)
  await until(() => thread.getSnapshot().isLoaded && main.getSnapshot().isLoaded)
  thread.send({ text: 'answer' })
  await until(() => thread.getSnapshot().messages.length === 1)
  dataOf(
    await world.post(
      `/messages/${id}/thread`,
      { receiver: 'alice', receiverType: 'user', data: { text: 'thanks' } },
      { as: 'bob' },
    ),
  )
  await until(() => textsOf(thread).join() === 'answer,thanks')
  await until(() => main.getSnapshot().messages[0]?.replyCount === 2 && thread.parent.getSnapshot()?.replyCount === 2)
  expect(textsOf(main)).toEqual(['question'])
})

it('a thread whose message was removed for good says so', async () => {
  const world = await chatWorld('alice', 'bob')
  const { id } = await say(world, 'bob', 'alice', 'question')
  const alice = await join(world, 'alice')
  const thread = alice.openThread({ uid: 'bob' }, id)
  await until(() => thread.getSnapshot().isLoaded && thread.parent.getSnapshot())
  dataOf(await world.delete(`/messages/${id}`, { permanent: true }, { as: 'bob' }))
  await until(() => thread.parent.getSnapshot() === undefined)
  await until(() => thread.getSnapshot().error)
  expect(thread.getSnapshot().error).toMatchObject({ code: 'ERR_MESSAGE_ID_NOT_FOUND' })
})

it('a conversation whose only message is removed for good before it was read stands where the service has it', async () => {
  const world = await chatWorld('alice', 'bob', 'carol')
  await say(world, 'carol', 'alice', 'old')
  let isRemoved = false
  const late = async (url: string, init: object) => {
    if (url.endsWith('/users/bob/conversation')) await until(() => isRemoved)
    return fetch(url, init)
  }
  const alice = await join(world, 'alice', { fetch: late as never })
  const { id } = await say(world, 'bob', 'alice', 'new')
  dataOf(await world.delete(`/messages/${id}`, { permanent: true }, { as: 'bob' }))
  isRemoved = true
  const listed: Array<{ conversationId: string }> = dataOf(await world.get('/conversations', { as: 'alice' }))
  const shown = () => alice.conversations.getSnapshot().conversations
  await until(() => shown().length === 2)
  expect(shown().map(({ conversation }) => conversation.conversationId)).toEqual(
    listed.map(({ conversationId }) => conversationId),
  )
})
