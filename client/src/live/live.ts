import type { User } from '../contract.ts'
import { attempt, createCells } from './cell.ts'
import { createChanges } from './changes.ts'
import { createConnection } from './connection.ts'
import { createConversations, keyOfConversation } from './conversations.ts'
import { createEdits } from './edits.ts'
import { createEvents } from './events.ts'
import { createFeed } from './feed.ts'
import { here, listenToPage } from './here.ts'
import type { Live, LiveEvent, LiveOptions, PeerKey } from './interface.ts'
import { createLists } from './lists.ts'
import type { OpenMembers } from './members.ts'
import { createMessageAsker } from './message-asker.ts'
import { createMessageChanges } from './message-changes.ts'
import { receiverOf } from './peers.ts'
import type { Port } from './port.ts'
import { createPresences } from './presence.ts'
import { createReceipts } from './receipts.ts'
import { createRetries } from './retries.ts'
import { createScreens } from './screens.ts'
import { createSending } from './sending.ts'
import { createSession } from './session.ts'
import { createSync } from './sync.ts'
import { createTyping } from './typing.ts'
import { createUnread } from './unread.ts'

/** Makes the live face of a user's client. Nothing happens before `connect`. */
export function createLive(port: Port, options: LiveOptions = {}): Live {
  const { pageSize = 30, onError = (error) => here.console?.error(error) } = options
  const backoff = { first: options.backoff?.first ?? 500, most: options.backoff?.most ?? 20_000 }
  const cell = createCells(onError)
  const { persist, insist, ...retries } = createRetries(backoff, onError)
  const session = createSession(cell, port)
  const unread = createUnread()
  const total = cell(() => unread.total)
  const countChanged = (key?: PeerKey) => {
    conversations.changed(key)
    total.changed()
  }
  const listeners = new Set<(event: LiveEvent) => void>()
  const emit = (event: LiveEvent) => {
    for (const listener of listeners) attempt(() => listener(event), onError)
  }

  // What parts are given is there before them. What comes after them they call when something happens.
  const base = { port, options, pageSize, backoff, cell, persist, insist, session, unread, countChanged, emit, onError }
  const feed = createFeed(port)
  const connection = createConnection({
    ...base,
    resync: (signal) => sync.resync(signal),
    onFrame: (frame) => sync.onFrame(frame),
    onPong: feed.onPong,
  })
  const { isOpen, send } = connection
  const typing = createTyping(cell, send)
  const presences = createPresences(cell, port, insist)
  const screens = createScreens({ ...base, isOpen, onRows: (key, rows) => sending.confirm(key, rows) })
  const asker = createMessageAsker({ ...base, screens })
  const changes = createChanges((id) => {
    for (const { timeline, view } of screens.all()) if (timeline.find(id) !== undefined) view.changed()
    conversations.changed()
  })
  const conversations = createConversations({
    ...base,
    shown: changes.shown,
    onRow(row) {
      presences.learn(row.conversationWith as Partial<User>)
      const { lastMessage } = row
      if (lastMessage === undefined) return
      const key = keyOfConversation(row)
      sending.confirm(key, [lastMessage])
      if (Number(row.unreadMessageCount ?? 0) > 0) receipts.deliver(key, lastMessage)
    },
  })
  const openMembers = new Map<string, OpenMembers>()
  const stores = { ...base, typing, presences, screens, asker, changes, conversations, openMembers }

  const receipts = createReceipts({ ...stores, send })
  const sending = createSending({ ...stores, receipts, receive: (...message) => events.receive(...message) })
  const { outbox, pending } = sending
  const messageChanges = createMessageChanges({
    ...stores,
    onHeard: sending.heard,
    onReaction: (id) => reacted(id),
  })
  const { reacted, ...edits } = createEdits({ ...stores, messageChanges })
  const events = createEvents({ ...stores, receipts, sending, messageChanges })
  const sync = createSync({ ...stores, feed, outbox, handle: events.handle })
  const lists = createLists({ ...stores, isOpen, receipts, outbox })

  /** There while it runs. */
  let forgetPage: (() => void) | undefined
  return {
    connection: connection.state,
    me: session.me,
    conversations,
    unread: total,
    outbox: pending,
    connect() {
      if (forgetPage === undefined) {
        retries.start()
        forgetPage = listenToPage(() => {
          connection.wake()
          outbox.wake()
        })
        receipts.start()
        if (session.uid !== undefined) outbox.start(session.uid)
        outbox.restore()
      }
      connection.connect()
    },
    close() {
      forgetPage?.()
      forgetPage = undefined
      retries.stop()
      connection.close()
      outbox.stop()
      receipts.stop()
      typing.clear()
    },
    ...lists,
    presence: (uid) => presences.view(uid.toLowerCase()),
    send: outbox.send,
    retry: outbox.retry,
    discard: outbox.discard,
    ...edits,
    sendTransient: (peer, data) => send({ type: 'transient_message', ...receiverOf(peer), body: { data } }),
    on(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}
