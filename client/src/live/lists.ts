import type { CreateCell } from './cell.ts'
import type { Changes } from './changes.ts'
import type { Conversations } from './conversations.ts'
import type { Live, MessageList, MessagesSnapshot, OpenConversation, OpenThread, PeerKey } from './interface.ts'
import { createMembers, type OpenMembers } from './members.ts'
import { readMessage } from './message-asker.ts'
import type { Outbox } from './outbox.ts'
import { keyOf, pathOf, peerOf } from './peers.ts'
import type { Port } from './port.ts'
import type { Receipts } from './receipts.ts'
import type { Insist } from './retries.ts'
import type { Screens } from './screens.ts'
import type { Timeline } from './timeline.ts'
import type { Typing } from './typing.ts'

/** What a front end opens, and closes again. */
export type Lists = Pick<Live, 'openConversation' | 'openThread' | 'openMembers'>

export interface ListsParts {
  readonly port: Port
  readonly cell: CreateCell
  readonly insist: Insist
  /** Whether what is opened can be read now. */
  isOpen(): boolean
  readonly screens: Screens
  readonly conversations: Conversations
  readonly changes: Changes
  readonly typing: Typing
  readonly receipts: Receipts
  readonly outbox: Outbox
  /** Lists of members that are open, by guid: filled here. */
  readonly openMembers: Map<string, OpenMembers>
}

export function createLists(parts: ListsParts): Lists {
  const { port, cell, insist, isOpen, screens, conversations, changes, typing, receipts, outbox, openMembers } = parts
  const open = createShared()
  const shownIn = (timeline: Timeline) => (changes.isEmpty ? timeline.messages : timeline.messages.map(changes.shown))

  const createList = (
    name: string,
    key: PeerKey,
    parentId: string | undefined,
    close: () => void,
  ): MessageList & { timeline: Timeline } => {
    const path = parentId === undefined ? `${pathOf(key)}/messages` : `/messages/${parentId}/thread`
    const hidden = parentId === undefined && { hideReplies: 1 }
    const { timeline, view } = screens.add<MessagesSnapshot>(
      name,
      key,
      parentId,
      (query, signal) => port.call('GET', path, { query: { ...query, ...hidden }, signal }),
      (own) => ({
        messages: shownIn(own),
        pending: outbox.of(key, parentId),
        ...own.progress(),
      }),
    )
    return {
      ...view,
      ...timeline.loads,
      send: (message) => outbox.send(peerOf(key), { ...message, ...(parentId !== undefined && { parentId }) }),
      close,
      timeline,
    }
  }

  return {
    openConversation(peer) {
      const key = keyOf(peer)
      const make = (close: () => void): OpenConversation => {
        const { timeline, ...list } = createList(key, key, undefined, close)
        if (isOpen()) conversations.learn(key)
        return {
          ...list,
          key,
          peer: peerOf(key),
          typing: typing.view(key),
          summary: conversations.summary(key),
          markRead: (messageId) => receipts.markRead(key, timeline, messageId),
          markUnread: (messageId) => receipts.markUnread(key, messageId),
          setTyping: (isTyping = true) => typing.set(key, isTyping),
        }
      }
      return open(key, make, () => screens.remove(key))
    },
    openThread(peer, parentId) {
      const key = keyOf(peer)
      const name = `${key} ${parentId}`
      const ofParent = `${name} parent`
      const make = (close: () => void): OpenThread => {
        const { timeline: _, ...list } = createList(name, key, parentId, close)
        const { view } = screens.add(
          ofParent,
          key,
          null,
          async (_query, signal) => ({ data: [await readMessage(port, key, parentId, signal)] }),
          (own) => shownIn(own)[0],
        )
        return { ...list, parentId, parent: view }
      }
      return open(name, make, () => {
        screens.remove(name)
        screens.remove(ofParent)
      })
    },
    openMembers(peer) {
      const guid = peer.toLowerCase()
      const make = (close: () => void) => {
        const list = createMembers(guid, cell, port, insist, close)
        openMembers.set(guid, list)
        if (isOpen()) void insist((signal) => list.reload(signal))
        return list
      }
      return open(`members ${guid}`, make, () => openMembers.delete(guid))
    },
  }
}

/** Of what several open at once there is one, until the last of them closes it. */
function createShared() {
  const opened = new Map<string, { readonly list: object; users: number }>()
  /** @param name of what is opened: the same name is the same object while it is open */
  return <T extends { close(): void }>(name: string, make: (close: () => void) => T, end: () => void): T => {
    const known = opened.get(name)
    if (known !== undefined) {
      known.users++
      return known.list as T
    }
    const list = make(() => {
      const own = opened.get(name)
      if (own?.list !== list || --own.users > 0) return
      opened.delete(name)
      end()
    })
    opened.set(name, { list, users: 1 })
    return list
  }
}
