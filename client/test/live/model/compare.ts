import { expect } from 'vitest'
import { dataOf } from '../../../../server/test/support/chat.ts'
import { soon, until } from '../../../../server/test/support/until.ts'
import type { Conversation, Message, MessageList, Peer } from '../../../src/index.ts'
import type { Scene, Tab } from './world.ts'

/** Of a message: all that the service says of it, but what changes with time or is private to the device. */
function seen(message: Message & { changing?: boolean }, uid: string) {
  const { id, muid, sender, data, editedAt, editedBy, deletedAt, deletedBy, replyCount = 0 } = message
  const { pinnedAt, pinnedBy, category, type, parentId } = message
  // Ticks are for who sent it. In a group the author of the last message alone hears of a receipt.
  const { deliveredAt, readAt } = message.receiverType === 'user' && sender === uid ? message : {}
  const reactions = [...(message.reactions ?? [])].sort((a, b) => (a.reaction < b.reaction ? -1 : 1))
  const { text, action } = data
  return {
    ...{ id, muid, sender, category, type, parentId, text, action, reactions, replyCount },
    ...{ editedAt, editedBy, deletedAt, deletedBy, deliveredAt, readAt, pinnedAt, pinnedBy },
  }
}

const isShown = ({ category, type }: Message) => !(category === 'action' && type === 'message')
const pathOf = (peer: Peer) => ('uid' in peer ? `/users/${peer.uid}` : `/groups/${peer.guid}`)

/** Waits until nothing is on its way, and then compares what each tab shows with what the lists answer its user. */
export async function expectTruth(scene: Scene): Promise<void> {
  for (const { line } of scene.tabs) line.heal()
  const progress = () =>
    scene.tabs.map(({ live }) => `${live.connection.getSnapshot().status} ${live.outbox.getSnapshot().length}`).join()
  await until(
    () =>
      scene.tabs.every(
        ({ live }) => live.connection.getSnapshot().status === 'live' && live.outbox.getSnapshot().length === 0,
      ),
    { progress },
  )
  for (const tab of scene.tabs) await soon(() => expectTab(scene, tab), { interval: 100 })
}

async function expectTab({ ground, guids }: Scene, tab: Tab): Promise<void> {
  const { live, uid, token } = tab
  const ask = async (path: string) => dataOf(await ground.get(path, { token }))

  const listed: Conversation[] = await ask('/conversations?perPage=100')
  const { conversations, hasMore } = live.conversations.getSnapshot()
  const shown = conversations.map(({ key, unread, lastMessage }) => [
    key,
    unread,
    lastMessage && seen(lastMessage, uid),
  ])
  const there = listed.map(({ conversationType, conversationWith, unreadMessageCount, lastMessage }) => {
    const { uid: other, guid } = conversationWith as { uid?: string; guid?: string }
    return [`${conversationType}:${other ?? guid}`, Number(unreadMessageCount), lastMessage && seen(lastMessage, uid)]
  })
  expect(shown, `conversations of ${tab.name}`).toEqual(hasMore ? there.slice(0, shown.length) : there)

  const counts: Array<{ count: number }> = await ask('/messages?unread=1&count=1')
  const messages = counts.reduce((sum, { count }) => sum + count, 0)
  expect(live.unread.getSnapshot(), `unread of ${tab.name}`).toEqual({ messages, conversations: counts.length })

  for (const chat of tab.chats.values())
    await expectList(tab, chat, `${pathOf(chat.peer)}/messages?hideReplies=1&`, ask)
  for (const [id, thread] of tab.threads) {
    const parent = await ground.get(`/messages/${id}`, { token })
    if (parent.status !== 200) {
      // It was removed for good, or the user may see it no more.
      expect(thread.getSnapshot().messages, `the thread of ${id}, which is gone for ${tab.name}`).toEqual([])
      expect(thread.parent.getSnapshot()).toBeUndefined()
      continue
    }
    await expectList(tab, thread, `/messages/${id}/thread?`, ask)
    const own = thread.parent.getSnapshot()
    expect(own && seen(own, uid), `the parent ${id} of ${tab.name}`).toEqual(seen(parent.body.data, uid))
  }
  if (tab.members !== undefined) {
    const answer = await ground.get(`/groups/${guids[0]}/members`, { token })
    const there = answer.status === 200 ? answer.body.data.map(nameAndScope) : []
    expect(tab.members.getSnapshot().members.map(nameAndScope), `members for ${tab.name}`).toEqual(there)
  }
}

const nameAndScope = ({ uid, scope }: { uid: string; scope?: string }) => [uid, scope]

async function expectList(
  tab: Tab,
  list: MessageList,
  path: string,
  ask: (path: string) => Promise<Message[]>,
): Promise<void> {
  let all: Message[] = []
  try {
    all = await ask(`${path}affix=prepend&limit=1000`)
  } catch {
    // The user may see it no more.
  }
  const there = all.filter(isShown).map((message) => seen(message, tab.uid))
  const { messages, hasOlder, hasNewer, pending } = list.getSnapshot()
  const shown = messages.map((message) => seen(message, tab.uid))
  const from = hasOlder ? there.findIndex(({ id }) => id === shown[0]?.id) : 0
  const to = hasNewer ? there.findIndex(({ id }) => id === shown.at(-1)?.id) + 1 : there.length
  expect(shown, `${path} of ${tab.name}`).toEqual(there.slice(Math.max(0, from), to))
  expect(pending).toEqual([])
  expect(messages.filter(({ changing }) => changing === true)).toEqual([])
}

/** Everything that was sent is stored once, unless it was refused or removed for good. */
export async function expectLedger({ ground, sent, refused, uids, guids }: Scene): Promise<void> {
  const stored = new Map<string, number>()
  const count = (messages: Message[]) => {
    for (const { muid } of messages) if (muid !== undefined) stored.set(muid, (stored.get(muid) ?? 0) + 1)
  }
  for (const [at, uid] of uids.entries()) {
    for (const other of uids.slice(at + 1)) {
      const answer = await ground.get(`/users/${other}/messages?affix=prepend&limit=1000`, { as: uid })
      if (answer.status === 200) count(answer.body.data)
    }
  }
  for (const guid of guids) count(dataOf(await ground.get(`/groups/${guid}/messages?affix=prepend&limit=1000`)))
  expect(
    [...stored].filter(([, times]) => times > 1),
    'stored twice',
  ).toEqual([])
  expect(
    [...sent.keys()].filter((muid) => !stored.has(muid) && !refused.has(muid)),
    'lost',
  ).toEqual([])
}
