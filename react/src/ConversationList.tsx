import type { Message, Peer } from '@parley/client'
import { memo } from 'react'
import { VList } from 'virtua'
import { Avatar } from './Avatar.tsx'
import { useParleyContext } from './context.tsx'
import { entitiesOf, nameOfEntity, piecesOf, timeOf } from './format.ts'
import { isSamePeer, useConnection, useConversations, usePresence } from './hooks.ts'
import { Icon } from './Icon.tsx'
import type { ConversationItemProps } from './props.ts'
import type { Texts } from './texts.ts'

export interface ConversationListProps {
  readonly selected?: Peer | undefined
  readonly onSelect: (peer: Peer) => void
}

/** Rows from the end at which the next page is asked for. */
const aheadRows = 20

/** The conversations of the user, with their last messages and how many are unread. */
export function ConversationList({ selected, onSelect }: ConversationListProps) {
  const { texts, components } = useParleyContext()
  const { conversations, isLoaded, hasMore, isLoading, loadMore, error } = useConversations()
  const isStopped = useConnection().status === 'stopped'
  const Item = components.ConversationItem ?? ConversationItem
  const more = () => void loadMore().catch(() => {})
  const ask = (row: number) => {
    if (hasMore && !isLoading && error === undefined && row >= conversations.length - aheadRows) more()
  }
  // The bar says why, and nothing is on its way.
  if (!isLoaded && isStopped) return null
  if (!isLoaded) return <p className="parley-empty">{error === undefined ? texts.loading : texts.problem}</p>
  if (conversations.length === 0) return <p className="parley-empty">{texts.noConversations}</p>
  return (
    <>
      <nav className="parley-conversations" aria-label={texts.conversations}>
        <VList data={conversations} className="parley-scroller">
          {(summary, row) => {
            const isSelected = isSamePeer(summary.peer, selected)
            ask(row)
            return (
              <button
                type="button"
                key={summary.key}
                className="parley-conversation"
                aria-current={isSelected || undefined}
                onClick={() => onSelect(summary.peer)}
              >
                <Item summary={summary} isSelected={isSelected} />
              </button>
            )
          }}
        </VList>
      </nav>
      {error !== undefined && (
        <p className="parley-rest" role="status">
          {texts.problem}{' '}
          {hasMore && (
            <button type="button" onClick={more}>
              {texts.retry}
            </button>
          )}
        </p>
      )}
    </>
  )
}

/** What a conversation shows of itself in the list. */
export const ConversationItem = memo(function ConversationItem({ summary }: ConversationItemProps) {
  const { texts, locale } = useParleyContext()
  const { with: other, lastMessage, unread, isPinned } = summary
  const name = nameOfEntity(other)
  const presence = usePresence('uid' in other ? other.uid : undefined)
  const isOnline = 'uid' in other && (presence?.status ?? other.status) === 'available'
  return (
    <>
      <Avatar name={name} src={'uid' in other ? other.avatar : other.icon} isOnline={isOnline} />
      <span className="parley-conversation-name" dir="auto">
        {isPinned && <Icon name="pin" />}
        {name}
      </span>
      {lastMessage !== undefined && <time>{timeOf(lastMessage.sentAt, locale)}</time>}
      <span className="parley-conversation-text" dir="auto">
        {lastMessage === undefined ? '' : previewOf(lastMessage, texts)}
      </span>
      {unread > 0 && (
        <span className="parley-badge">
          <span aria-hidden="true">{unread}</span>
          <span className="parley-hidden">{texts.unread(unread)}</span>
        </span>
      )}
    </>
  )
})

/** One line about a message, for those who do not see it. */
export function previewOf(message: Message, texts: Texts): string {
  if (message.deletedAt !== undefined) return texts.deleted
  if (message.category === 'action') return eventOf(message, texts)
  const said = piecesOf(message).map((piece) => {
    if (piece.is === 'words') return piece.text
    return piece.is === 'mention' ? `@${piece.name}` : piece.href
  })
  return said.join('') || texts.file
}

/** What happened in a group. */
export function eventOf(message: Message, texts: Texts): string {
  const { by, on } = entitiesOf(message)
  return texts.groupEvent(String(message.data.action ?? ''), by?.entity?.name ?? message.sender, on?.entity?.name ?? '')
}
