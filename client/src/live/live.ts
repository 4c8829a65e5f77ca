import type { Message, User } from '../contract.ts'
import { statusOf } from '../errors.ts'
import type { Signal } from '../platform.ts'
import { createAsker } from './asker.ts'
import { attempt, createCells } from './cell.ts'
import { createChanges } from './changes.ts'
import { createConnection, type Frame } from './connection.ts'
import { createConversations, keyOfConversation } from './conversations.ts'
import { eachOf } from './each.ts'
import { createEdits } from './edits.ts'
import { createFeed } from './feed.ts'
import { here, listenToPage } from './here.ts'
import type {
  Live,
  LiveEvent,
  LiveOptions,
  MemberList,
  MessageList,
  MessagesSnapshot,
  OpenConversation,
  OpenThread,
  OutgoingMessage,
  Peer,
  PeerKey,
} from './interface.ts'
import { createMembers, type OpenMembers } from './members.ts'
import { createMessageAsker, readMessage } from './message-asker.ts'
import { createMessageChanges, subjectOf } from './message-changes.ts'
import { createOutbox } from './outbox.ts'
import { keyFor, keyOf, pathOf, peerOf, receiverOf } from './peers.ts'
import { type Answered, mayPass, type Port } from './port.ts'
import { createPresences } from './presence.ts'
import { createReceipts } from './receipts.ts'
import { createRetries } from './retries.ts'
import { createScreens, type Screen } from './screens.ts'
import { createSession } from './session.ts'
import { isAboutMessage, type Timeline } from './timeline.ts'
import { createTyping } from './typing.ts'
import { createUnread } from './unread.ts'

/** Where more messages than this have changed, the list is read instead of each. */
const mostAsked = 10

/** Of this many ids it is kept that they were heard of early. */
const mostEarly = 1000

/** Makes the live face of a user's client. Nothing happens before `connect`. */
export function createLive(port: Port, options: LiveOptions = {}): Live {
  const { pageSize = 30, onError = (error) => here.console?.error(error) } = options
  const backoff = { first: options.backoff?.first ?? 500, most: options.backoff?.most ?? 20_000 }
  const cell = createCells(onError)
  const retries = createRetries(backoff, onError)
  const { persist, insist } = retries
  const session = createSession(cell, port)
  const screens = createScreens({
    cell,
    session,
    insist,
    pageSize,
    isOpen: () => connection.isOpen(),
    onRows: (key, rows) => confirmRows(key, rows),
  })
  const asker = createMessageAsker({ port, insist, screens })
  let isRunning = false
  let forgetPage = () => {}
  /** Frames that came while what was missed is fetched. */
  let waiting: Frame[] | undefined
  const openMembers = new Map<string, OpenMembers>()
  const opened = new Map<string, { readonly list: object; users: number }>()
  const listeners = new Set<(event: LiveEvent) => void>()
  /** Messages that frames say something of though they have not come: own ones whose answer is under way. */
  const early = new Set<string>()
  const emit = (event: LiveEvent) => {
    for (const listener of listeners) attempt(() => listener(event), onError)
  }

  const changes = createChanges((id) => {
    for (const { timeline, view } of screens.all()) if (timeline.find(id) !== undefined) view.changed()
    conversations.changed()
  })
  const unread = createUnread()
  const total = cell(() => unread.total)
  const presences = createPresences(cell, port, insist)
  const conversations = createConversations({
    port,
    cell,
    unread,
    pageSize,
    shown: changes.shown,
    insist,
    onRow(row) {
      total.changed()
      presences.learn(row.conversationWith as Partial<User>)
      const { lastMessage } = row
      if (lastMessage === undefined) return
      const key = keyOfConversation(row)
      confirmRows(key, [lastMessage])
      if (Number(row.unreadMessageCount ?? 0) > 0) receipts.deliver(key, lastMessage)
    },
  })
  const feed = createFeed(port)
  const connection = createConnection({ port, cell, options, backoff, resync, onFrame, onPong: feed.onPong })
  const typing = createTyping(cell, connection.send)
  const shared = {
    port,
    options,
    onError,
    persist,
    insist,
    session,
    screens,
    asker,
    conversations,
    unread,
    countChanged,
    send: connection.send,
  }
  const receipts = createReceipts(shared)
  const messageChanges = createMessageChanges({ ...shared, onHeard: noteEarly, onReaction: (id) => edits.reacted(id) })
  const edits = createEdits({ ...shared, changes, messageChanges })
  const all = cell(() => outbox.all())
  const outbox = createOutbox({
    storage: options.storage,
    backoff,
    createMuid: port.newMuid,
    onError,
    async post({ muid, peer, content }, onProgress, signal) {
      const { text, files, ...rest } = content
      const to = receiverOf(peer)
      const attachments =
        files &&
        (await port.upload(files, {
          ...to,
          parentMessageId: rest.parentId,
          signal,
          onProgress: (sent, total) => onProgress(total === 0 ? 1 : sent / total),
        }))
      const data = { ...content.data, ...(text !== undefined && { text }), ...(attachments && { attachments }) }
      const type = content.type ?? (files ? kindOf(files[0]?.type) : 'text')
      const body = { category: 'message', ...rest, ...to, type, data, muid }
      return (await port.call<Answered<Message>>('POST', '/messages', { body, signal })).data
    },
    onSent(key, message, attempts) {
      typing.set(key, false)
      receive(key, message, false)
      // It is as it was when it was stored: what was heard of it before the answer is missing.
      if (attempts === 1 && !early.has(message.id) && Number(message.id) > receipts.last(key)) return
      asker.ask(message.id)
      conversations.ask(key)
    },
    onUnsure: (key) => unsure.ask(key),
    onFailed: (peer, muid, error) => emit({ type: 'sendFailed', peer, muid, error }),
    onChange(key) {
      for (const { view } of screens.of(key)) view.changed()
      all.changed()
    },
  })

  function confirmRows(key: PeerKey, rows: readonly Message[]): void {
    for (const row of rows) {
      // Its answer may be lost, so the rest of what is shown hears of it here.
      if (row.sender !== session.uid || !outbox.confirm(key, row)) continue
      for (const { parentId, timeline } of screens.of(key)) if (parentId === row.parentId) timeline.put(row)
      // What was heard of it since it was listed is missing.
      asker.ask(row.id)
      if (row.parentId !== undefined) asker.ask(row.parentId)
      conversations.ask(key)
    }
  }
  function countChanged(key: PeerKey): void {
    conversations.changed(key)
    total.changed()
  }
  /** Conversations to which something was sent of which nobody knows whether it has arrived. */
  const unsure = createAsker(async (key) => {
    conversations.ask(key)
    await eachOf(screens.of(key), ({ timeline }) => insist((signal) => timeline.reload(signal)))
  })
  /** A new message, or one that was sent by this client. */
  function receive(key: PeerKey, message: Message, isMissed: boolean): void {
    const { uid: me } = session
    if (message.sender === me) outbox.confirm(key, message)
    typing.heard(key, { uid: message.sender } as User, false)
    for (const { parentId, timeline } of screens.of(key)) {
      if (parentId === message.parentId) timeline.put(message)
      else if (message.parentId !== undefined) asker.ask(message.parentId)
    }
    // Edits and deletions do not move their conversation.
    if (!isAboutMessage(message)) {
      conversations.add(key, message)
      unread.add(key, message, me)
      if (message.sender === me) conversations.outdate(key)
      countChanged(key)
    }
    if (message.sender !== me && message.category !== 'action') {
      // Who writes has read what was there, and of what was written in the same moment no receipt comes.
      if (key.startsWith('user:')) receipts.markOwn(key, Number(message.id), true, message.sentAt)
      receipts.deliver(key, message)
    }
    emit({ type: 'message', peer: peerOf(key), message, isMissed })
  }

  function onMembership(key: PeerKey, action: Message, isMissed: boolean): void {
    const guid = action.receiver
    openMembers.get(guid)?.changed()
    const what = String(action.data.action)
    const { uid } = (subjectOf(action) ?? {}) as { uid?: string }
    if (uid !== session.uid || what === 'scopeChanged') {
      receive(key, action, isMissed)
      conversations.ask(key)
      return
    }
    if (what === 'kicked' || what === 'banned' || what === 'left') {
      const error = Object.assign(new Error(`The user was ${what}.`), { code: 'ERR_GROUP_NOT_JOINED', status: 403 })
      for (const { timeline } of screens.of(key)) timeline.shut(error)
      conversations.ask(key)
      emit({ type: 'removed', peer: peerOf(key), action: what, message: action })
    } else {
      // They may be told of it by a message that no list has.
      conversations.ask(key)
      for (const { timeline } of screens.of(key)) void insist((signal) => timeline.reload(signal))
    }
  }

  function noteEarly(key: PeerKey, id: string): void {
    if (outbox.of(key, undefined).length > 0 && early.size < mostEarly) early.add(id)
    else if (outbox.all().length === 0) early.clear()
  }

  /** @param isMissed it happened while there was no connection, or while what was missed was fetched */
  function handle(frame: Frame, isMissed: boolean): void {
    const { type, body } = frame
    if (type === 'presence') {
      const { user, action, timestamp } = body
      presences.learn({ lastActiveAt: timestamp, ...user, status: action === 'online' ? 'available' : 'offline' })
      return
    }
    if (type === 'error') {
      emit({ type: 'refused', ...body })
      return
    }
    const key = keyFor(session.uid, frame)
    switch (type) {
      case 'message':
        if (isAboutMessage(body)) messageChanges.act(key, body)
        else if (body.category === 'action' && body.type === 'groupMember') onMembership(key, body, isMissed)
        else receive(key, body, isMissed)
        return
      case 'typing_indicator':
        if (body.user.uid !== session.uid) typing.heard(key, body.user, body.action === 'started')
        return
      case 'receipts':
        receipts.heard(key, frame)
        return
      case 'reaction':
        messageChanges.react(key, body, isMissed)
        return
      case 'message_pin':
        messageChanges.mark(key, body, ['pinnedAt', 'pinnedBy'])
        return
      case 'message_save':
        messageChanges.mark(key, body, ['savedAt'])
        return
      case 'conversation_pin':
        conversations.ask(key)
        return
      case 'interaction_completed':
        asker.ask(body.messageId)
        return
      case 'on_moderation_status_changed':
        messageChanges.apply(key, body.id, () => body)
        asker.touch(body.id)
        return
      case 'transient_message':
        emit({ type: 'transient', peer: peerOf(key), user: body.user, data: body.data })
    }
  }

  function onFrame(frame: Frame): void {
    if (waiting === undefined) handle(frame, false)
    else waiting.push(frame)
  }

  /** After each login: what was missed. Counts, pins and clearings are in no feed, so the conversations are read again. */
  async function resync(signal: Signal): Promise<void> {
    waiting = []
    typing.clear()
    const failed = screens.all().filter(({ timeline }) => timeline.progress().failed !== undefined)
    await session.logIn(signal)
    if (signal.aborted) throw signal.reason
    outbox.start(session.uid as string)
    const missed = await feed.read(signal)
    for (const frame of missed ?? []) handle(frame, true)
    await reload(signal, missed === undefined)
    await presences.reload(signal)
    if (signal.aborted) throw signal.reason
    feed.keep()
    const frames = waiting
    waiting = undefined
    for (const frame of frames) handle(frame, true)
    outbox.wake()
    // Whether that works is said where it is shown.
    for (const { timeline } of failed) timeline.loads.loadAgain(signal).catch(() => {})
  }

  /** What is on screen comes first. @param isGap what was missed is not known */
  async function reload(signal: Signal, isGap: boolean): Promise<void> {
    const asked = asker.due()
    const isStale = ({ timeline }: Screen) =>
      isGap || !timeline.progress().isLoaded || asked.filter((id) => timeline.find(id) !== undefined).length > mostAsked
    const [stale, whole] = [new Set<Screen>(), new Set<Screen>()]
    for (const screen of screens.all()) (isStale(screen) ? stale : whole).add(screen)
    const read = asked.filter((id) => ![...whole].some(({ timeline }) => timeline.find(id) !== undefined))
    for (const id of read) asker.drop(id)
    try {
      await eachOf(stale, async ({ timeline }) => {
        try {
          await timeline.reload(signal)
        } catch (error) {
          if (signal.aborted) throw error
          passable(error)
          timeline.shut(error)
        }
      })
    } catch (error) {
      // Not all of it comes from the feed, which says it again.
      for (const id of read) asker.ask(id)
      throw error
    }
    await asker.hurry()
    await conversations.reload(signal)
    await eachOf(openMembers.values(), (list) => list.reload(signal).catch(passable))
  }

  const shownIn = (timeline: Timeline) => (changes.isEmpty ? timeline.messages : timeline.messages.map(changes.shown))

  /** @param name of what is opened: the same name is the same object while it is open */
  const open = <T extends { close(): void }>(name: string, make: (close: () => void) => T, end: () => void): T => {
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

  const openConversation = (peer: Peer): OpenConversation => {
    const key = keyOf(peer)
    const make = (close: () => void): OpenConversation => {
      const { timeline, ...list } = createList(key, key, undefined, close)
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
  }

  const openThread = (peer: Peer, parentId: string): OpenThread => {
    const key = keyOf(peer)
    const name = `${key} ${parentId}`
    const ofParent = `${name} parent`
    const make = (close: () => void): OpenThread => {
      const { timeline: _, ...list } = createList(name, key, parentId, close)
      const { view } = screens.add(
        ofParent,
        key,
        null,
        async (_query, signal) => {
          return { data: [await readMessage(port, parentId, signal)] }
        },
        (own) => shownIn(own)[0],
      )
      return { ...list, parentId, parent: view }
    }
    return open(name, make, () => {
      screens.remove(name)
      screens.remove(ofParent)
    })
  }

  const openMemberList = (peer: string): MemberList => {
    const guid = peer.toLowerCase()
    const make = (close: () => void): MemberList => {
      const list = createMembers(guid, cell, port, insist, close)
      openMembers.set(guid, list)
      if (connection.isOpen()) void insist((signal) => list.reload(signal))
      return list
    }
    return open(`members ${guid}`, make, () => openMembers.delete(guid))
  }

  return {
    connection: connection.state,
    me: session.me,
    conversations,
    unread: total,
    outbox: all,
    connect() {
      if (!isRunning) {
        isRunning = true
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
      isRunning = false
      forgetPage()
      retries.stop()
      connection.close()
      outbox.stop()
      receipts.stop()
      typing.clear()
    },
    openConversation,
    openThread,
    openMembers: openMemberList,
    presence: (uid) => presences.view(uid.toLowerCase()),
    send: (peer, message: OutgoingMessage) => outbox.send(peer, message),
    retry: outbox.retry,
    discard: outbox.discard,
    edit: edits.edit,
    delete: edits.delete,
    react: edits.react,
    sendTransient: (peer, data) => connection.send({ type: 'transient_message', ...receiverOf(peer), body: { data } }),
    on(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}

function kindOf(mimeType = ''): string {
  const kind = mimeType.slice(0, mimeType.indexOf('/'))
  return ['image', 'video', 'audio'].includes(kind) ? kind : 'file'
}

function passable(error: unknown): void {
  if (mayPass(error) || statusOf(error) === 401) throw error
}
