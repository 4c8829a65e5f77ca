import type { GroupMember, Message, ParleyError, Peer, User } from '@parley/client'
import { type FormEvent, type KeyboardEvent, type ReactNode, useLayoutEffect, useRef, useState } from 'react'
import { VList } from 'virtua'
import { Avatar } from './Avatar.tsx'
import { Composer } from './Composer.tsx'
import { previewOf } from './ConversationList.tsx'
import { useClientKey, useParleyContext } from './context.tsx'
import { senderName, timeOf } from './format.ts'
import { nameOf, useMe, useMembers, useParent, usePresence, useSearch, useThread, useUsers } from './hooks.ts'
import { Icon } from './Icon.tsx'
import { MessageItem } from './MessageItem.tsx'
import { MessageList, type Sought } from './MessageList.tsx'

interface PanelProps {
  readonly title: string
  readonly onClose: () => void
  readonly children: ReactNode
}

/** What stands beside a conversation. Escape closes it, and the focus is then where it was before. */
export function Panel({ title, onClose, children }: PanelProps) {
  const { texts } = useParleyContext()
  const opener = useRef<Element>(null)
  useLayoutEffect(() => {
    opener.current = document.activeElement
  }, [])
  const close = () => {
    onClose()
    if (opener.current instanceof HTMLElement && opener.current.isConnected) opener.current.focus()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    // Whatever is open within it closes first, and a field for searching is emptied.
    const { target } = event
    const isSearch = target instanceof HTMLInputElement && target.type === 'search' && target.value !== ''
    const isTaken = event.defaultPrevented || isSearch
    if (event.key === 'Escape' && !isTaken) close()
  }
  return (
    <section className="parley-panel" aria-label={title} onKeyDown={onKeyDown}>
      <header className="parley-header">
        <h2>{title}</h2>
        <button type="button" className="parley-icon" aria-label={texts.close} onClick={close}>
          <Icon name="close" />
        </button>
      </header>
      {children}
    </section>
  )
}

export interface ThreadViewProps {
  readonly peer: Peer
  readonly parentId: string
  readonly sought?: Sought | undefined
  readonly onClose: () => void
}

/** A message and the replies to it. */
export function ThreadView(props: ThreadViewProps) {
  const { peer, parentId } = props
  return <ThreadOfUser key={`${useClientKey()} ${nameOf(peer)} ${parentId}`} {...props} />
}

function ThreadOfUser({ peer, parentId, sought, onClose }: ThreadViewProps) {
  const { client, texts } = useParleyContext()
  const me = useMe()
  const thread = useThread(peer, parentId)
  const parent = useParent(thread)
  return (
    <Panel title={texts.thread} onClose={onClose}>
      {parent !== undefined && (
        <div className="parley-parent">
          <MessageItem
            message={parent}
            isOwn={parent.sender === me?.uid}
            isContinued={false}
            actions={{ react: (reaction, isOn) => void client.live.react(parent.id, reaction, isOn).catch(() => {}) }}
          />
        </div>
      )}
      <MessageList list={thread} label={texts.thread} sought={sought} />
      <Composer
        label={texts.reply}
        guid={'guid' in peer ? peer.guid : undefined}
        onSend={(message) => thread?.send(message)}
      />
    </Panel>
  )
}

/** The members of a group, and who of them is there. */
export function MembersView({ guid, onClose }: { readonly guid: string; readonly onClose: () => void }) {
  const { texts } = useParleyContext()
  const { members, hasMore, loadMore, isLoaded, error } = useMembers(guid)
  return (
    <Panel title={texts.members} onClose={onClose}>
      {!isLoaded && error === undefined && <p className="parley-empty">{texts.loading}</p>}
      <VList data={members} className="parley-scroller" role="list">
        {(member) => <MemberRow key={member.uid} member={member} />}
      </VList>
      {error !== undefined && (
        <p className="parley-rest" role="status">
          {texts.problem}
        </p>
      )}
      {hasMore && (
        <button type="button" onClick={() => void loadMore().catch(() => {})}>
          {texts.loadMore}
        </button>
      )}
    </Panel>
  )
}

function MemberRow({ member }: { readonly member: GroupMember }) {
  const { texts } = useParleyContext()
  const presence = usePresence(member.uid)
  const isOnline = (presence?.status ?? member.status) === 'available'
  return (
    // biome-ignore lint/a11y/useSemanticElements: a row of a virtual list
    <div className="parley-member" role="listitem">
      <Avatar name={member.name} src={member.avatar} isOnline={isOnline} />
      <bdi>{member.name}</bdi>
      <span className="parley-hidden">{isOnline ? texts.online : texts.offline}</span>
      <small>{texts.scope(member.scope)}</small>
    </div>
  )
}

export interface SearchViewProps {
  /** Only in this conversation; without it in all. */
  readonly peer?: Peer | undefined
  readonly onSelect: (message: Message) => void
  readonly onClose: () => void
}

/** Finds messages by what they say. */
export function SearchView({ peer, onSelect, onClose }: SearchViewProps) {
  const { texts, locale } = useParleyContext()
  const [text, setText] = useState('')
  const { found, isLoading, error } = useSearch(text, peer)
  return (
    <Panel title={texts.search} onClose={onClose}>
      <input
        type="search"
        className="parley-search"
        placeholder={texts.searchMessages}
        aria-label={texts.searchMessages}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <div className="parley-hits" role="status">
        {isLoading && text.trim() !== '' && <p className="parley-empty">{texts.loading}</p>}
        {error !== undefined && <p className="parley-empty">{texts.problem}</p>}
        {found?.length === 0 && <p className="parley-empty">{texts.noHits}</p>}
      </div>
      <ul className="parley-scroller parley-found">
        {found?.map((message) => (
          <li key={message.id}>
            <button type="button" onClick={() => onSelect(message)}>
              <b>{senderName(message)}</b> <time>{timeOf(message.sentAt, locale)}</time>
              <span dir="auto">{previewOf(message, texts)}</span>
            </button>
          </li>
        ))}
      </ul>
    </Panel>
  )
}

/** Finds somebody to talk with, or makes a group. */
export function NewChat({
  onSelect,
  onClose,
}: {
  readonly onSelect: (peer: Peer) => void
  readonly onClose: () => void
}) {
  const { client, texts } = useParleyContext()
  const [text, setText] = useState('')
  const [picked, setPicked] = useState<readonly User[]>([])
  const [groupName, setGroupName] = useState('')
  const [problem, setProblem] = useState('')
  const [isCreating, setCreating] = useState(false)
  /** What was asked for last: asked for again, since no answer came, it is the same group. */
  const asked = useRef({ what: '', guid: '' })
  const { found } = useUsers(text)
  const toggle = (user: User) => {
    const others = picked.filter(({ uid }) => uid !== user.uid)
    setPicked(others.length === picked.length ? [...picked, user] : others)
  }
  const create = async (event: FormEvent) => {
    event.preventDefault()
    if (isCreating) return
    const name = groupName.trim()
    const participants = picked.map(({ uid }) => uid)
    const what = JSON.stringify([name, participants])
    const isAgain = asked.current.what === what
    if (!isAgain) asked.current = { what, guid: newGuid() }
    const { guid } = asked.current
    setCreating(true)
    setProblem('')
    try {
      await client.groups.create({ guid, name, type: 'private', members: { participants } })
      onSelect({ guid })
    } catch (error) {
      const isThere = isAgain && (error as ParleyError).code === 'ERR_GUID_ALREADY_EXISTS'
      if (isThere) onSelect({ guid })
      else setProblem((error as Error).message)
    } finally {
      setCreating(false)
    }
  }
  return (
    <Panel title={texts.newChat} onClose={onClose}>
      <input
        type="search"
        className="parley-search"
        placeholder={texts.search}
        aria-label={texts.search}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <ul className="parley-scroller parley-people">
        {found?.map((user) => (
          <li key={user.uid}>
            <button type="button" onClick={() => onSelect({ uid: user.uid })}>
              <Avatar name={user.name} src={user.avatar} isOnline={user.status === 'available'} />
              <bdi>{user.name}</bdi>
            </button>
            <input
              type="checkbox"
              aria-label={`${texts.newGroup}: ${user.name}`}
              checked={picked.some(({ uid }) => uid === user.uid)}
              onChange={() => toggle(user)}
            />
          </li>
        ))}
      </ul>
      {picked.length > 0 && (
        <form className="parley-new-group" onSubmit={create}>
          <input
            required
            maxLength={100}
            placeholder={texts.groupName}
            aria-label={texts.groupName}
            value={groupName}
            onChange={(event) => setGroupName(event.target.value)}
          />
          <button type="submit" disabled={isCreating}>
            {texts.create}
          </button>
        </form>
      )}
      {problem !== '' && <p role="alert">{problem}</p>}
    </Panel>
  )
}

function newGuid(): string {
  return `g-${Date.now().toString(36)}-${Math.random().toString(36).slice(2, 8)}`
}
