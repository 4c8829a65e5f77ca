import type { ConversationSummary, Message, OpenConversation, Peer, ShownMessage } from '@parley/client'
import { useCallback, useEffect, useState } from 'react'
import { Announcer } from './Announcer.tsx'
import { Composer } from './Composer.tsx'
import { ConnectionBar } from './ConnectionBar.tsx'
import { ConversationList } from './ConversationList.tsx'
import { useClientKey, useParleyContext } from './context.tsx'
import { isSamePeer, nameOf, useConversation, useMe, usePresence, useSummaryPart, useTyping } from './hooks.ts'
import { Icon } from './Icon.tsx'
import { MessageList, type Sought } from './MessageList.tsx'
import { MembersView, NewChat, SearchView, ThreadView } from './Panels.tsx'

export interface ChatProps {
  /** Whom the user talks with at first. */
  readonly initialPeer?: Peer | undefined
  readonly onPeerChange?: (peer: Peer | undefined) => void
}

type Beside =
  | { readonly is: 'thread'; readonly parentId: string; readonly sought?: Sought }
  | { readonly is: 'members' | 'search' | 'searchAll' | 'newChat' }

/** A whole chat: conversations, messages, threads, members, search. It fills the element that it stands in. */
export function Chat(props: ChatProps) {
  return <ChatOfUser key={useClientKey()} {...props} />
}

function ChatOfUser({ initialPeer, onPeerChange }: ChatProps) {
  const { texts } = useParleyContext()
  const me = useMe()
  const [peer, setPeer] = useState(initialPeer)
  const [beside, setBeside] = useState<Beside>()
  const [sought, setSought] = useState<Sought>()
  const close = () => setBeside(undefined)
  const select = (chosen: Peer | undefined, messageId?: string) => {
    setPeer(chosen)
    setSought(messageId === undefined ? undefined : { id: messageId })
    setBeside(undefined)
    onPeerChange?.(chosen)
  }
  // Another page, such as a notification, may lead to another conversation.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the name says who it is
  useEffect(() => {
    if (initialPeer === undefined || isSamePeer(peer, initialPeer)) return
    setPeer(initialPeer)
    setSought(undefined)
    setBeside(undefined)
  }, [initialPeer && nameOf(initialPeer)])
  const found = (message: Message) => {
    const isGroup = message.receiverType === 'group'
    const uid = message.sender === me?.uid ? message.receiver : message.sender
    const { id, parentId } = message
    select(isGroup ? { guid: message.receiver } : { uid }, parentId === undefined ? id : undefined)
    if (parentId !== undefined) setBeside({ is: 'thread', parentId, sought: { id } })
  }
  return (
    <div className="parley" data-has-peer={peer !== undefined || undefined} data-beside={beside?.is}>
      <aside className="parley-side">
        <header className="parley-header">
          <h1>{texts.conversations}</h1>
          <button
            type="button"
            className="parley-icon"
            aria-label={texts.search}
            onClick={() => setBeside({ is: 'searchAll' })}
          >
            <Icon name="search" />
          </button>
          <button
            type="button"
            className="parley-icon"
            aria-label={texts.newChat}
            onClick={() => setBeside({ is: 'newChat' })}
          >
            <Icon name="edit" />
          </button>
        </header>
        <ConnectionBar />
        <ConversationList selected={peer} onSelect={select} />
      </aside>
      {peer === undefined ? (
        <main className="parley-main" />
      ) : (
        <ConversationView peer={peer} sought={sought} onBack={() => select(undefined)} onShow={setBeside} />
      )}
      {peer !== undefined && beside?.is === 'thread' && (
        <ThreadView peer={peer} parentId={beside.parentId} sought={beside.sought} onClose={close} />
      )}
      {peer !== undefined && 'guid' in peer && beside?.is === 'members' && (
        <MembersView guid={peer.guid} onClose={close} />
      )}
      {beside?.is === 'search' && <SearchView peer={peer} onSelect={found} onClose={close} />}
      {beside?.is === 'searchAll' && <SearchView onSelect={found} onClose={close} />}
      {beside?.is === 'newChat' && <NewChat onSelect={select} onClose={close} />}
      <Announcer />
    </div>
  )
}

interface ConversationViewProps {
  readonly peer: Peer
  readonly sought?: Sought | undefined
  readonly onBack?: () => void
  readonly onShow: (beside: Beside) => void
}

/** One conversation: who it is with, its messages, and where one writes. */
export function ConversationView(props: ConversationViewProps) {
  return <ConversationOfUser key={`${useClientKey()} ${nameOf(props.peer)}`} {...props} />
}

function ConversationOfUser({ peer, sought, onBack, onShow }: ConversationViewProps) {
  const { texts } = useParleyContext()
  const conversation = useConversation(peer)
  const [quoted, setQuoted] = useState<ShownMessage>()
  const [edited, setEdited] = useState<ShownMessage>()
  const name = useNameOf(peer, conversation)
  // Replies in threads count, too, and may be newer than what the list shows.
  const lastReply = useSummaryPart(conversation, lastReplyOf)
  const onSeen = useCallback(
    ({ id }: ShownMessage) => conversation?.markRead(Number(lastReply) > Number(id) ? lastReply : id),
    [conversation, lastReply],
  )
  const onQuote = useCallback((message: ShownMessage) => {
    setEdited(undefined)
    setQuoted(message)
  }, [])
  const onEdit = useCallback((message: ShownMessage) => {
    setQuoted(undefined)
    setEdited(message)
  }, [])
  const onOpenThread = useCallback((message: ShownMessage) => onShow({ is: 'thread', parentId: message.id }), [onShow])
  const onCancel = useCallback(() => {
    setQuoted(undefined)
    setEdited(undefined)
  }, [])
  return (
    <main className="parley-main">
      <header className="parley-header">
        {onBack !== undefined && (
          <button type="button" className="parley-icon parley-back" aria-label={texts.back} onClick={onBack}>
            <Icon name="back" />
          </button>
        )}
        <h2 dir="auto">{name}</h2>
        <Status peer={peer} />
        <button
          type="button"
          className="parley-icon"
          aria-label={texts.searchMessages}
          onClick={() => onShow({ is: 'search' })}
        >
          <Icon name="search" />
        </button>
        {'guid' in peer && (
          <button
            type="button"
            className="parley-icon"
            aria-label={texts.members}
            onClick={() => onShow({ is: 'members' })}
          >
            <Icon name="members" />
          </button>
        )}
      </header>
      <MessageList
        list={conversation}
        label={texts.messages(name)}
        sought={sought}
        onSeen={onSeen}
        onQuote={onQuote}
        onEdit={onEdit}
        onOpenThread={onOpenThread}
      />
      <Typing conversation={conversation} />
      <Composer
        label={texts.write(name)}
        guid={'guid' in peer ? peer.guid : undefined}
        quoted={quoted}
        edited={edited}
        onCancel={onCancel}
        onSend={(message) => conversation?.send(message)}
        onTyping={(isTyping) => conversation?.setTyping(isTyping)}
      />
    </main>
  )
}

/** The id of the last message where it is a reply; 0 where it is none. */
function lastReplyOf(summary: ConversationSummary | undefined): string {
  const last = summary?.lastMessage
  return last?.parentId === undefined ? '0' : last.id
}

function withNameOf(summary: ConversationSummary | undefined): string | undefined {
  return summary?.with.name
}

/** The name of the other side: from the list of conversations, else asked for. */
function useNameOf(peer: Peer, conversation: OpenConversation | undefined): string {
  const { client } = useParleyContext()
  const known = useSummaryPart(conversation, withNameOf)
  const [asked, setAsked] = useState<string>()
  const id = 'uid' in peer ? peer.uid : peer.guid
  const isKnown = known !== undefined
  // biome-ignore lint/correctness/useExhaustiveDependencies: the id says who it is
  useEffect(() => {
    if (isKnown) return
    const controller = new AbortController()
    const { signal } = controller
    const found =
      'uid' in peer ? client.users.get({ uid: id }, { signal }) : client.groups.get({ guid: id }, { signal })
    found.then(({ name }) => setAsked(name)).catch(() => {})
    return () => controller.abort()
  }, [client, id, isKnown])
  return known ?? asked ?? id
}

function Status({ peer }: { readonly peer: Peer }) {
  const { texts } = useParleyContext()
  const presence = usePresence('uid' in peer ? peer.uid : undefined)
  if (presence === undefined) return <span className="parley-status" />
  return <span className="parley-status">{presence.status === 'available' ? texts.online : texts.offline}</span>
}

function Typing({ conversation }: { readonly conversation: OpenConversation | undefined }) {
  const { texts } = useParleyContext()
  const users = useTyping(conversation)
  return <p className="parley-typing">{users.length > 0 && texts.typing(users.map(({ name }) => name))}</p>
}
