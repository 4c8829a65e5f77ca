import { Anchor, Badge, Box, Button, Group, Text } from '@mantine/core'
import type { Message } from '@parley/client'
import { type ReactNode, useState } from 'react'
import { useApp } from '../shell/session.tsx'
import { userAddress } from './addresses.ts'
import { countOf } from './figures.ts'
import { PageLink } from './PageLink.tsx'
import { Json, Time } from './page.tsx'

interface Attachment {
  readonly url: string
  readonly name?: string
  readonly mimeType?: string
  readonly size?: number
}

/**
 * One message, as whoever looks at it may see it: without its text where no reading is open. Many are drawn at once: they are elements of
 * HTML where components would do no more.
 */
export function MessageView({ message, actions }: { readonly message: Message; readonly actions?: ReactNode }) {
  const { appId } = useApp()
  const { sender, sentAt, editedAt, editedBy, deletedAt, deletedBy, reactions = [], replyCount = 0 } = message
  return (
    <article className="message in-sight" data-message-id={message.id}>
      <div className="message-main">
        <div className="message-head">
          <PageLink to={userAddress(appId, sender)}>{sender}</PageLink>
          <Time at={sentAt} />
          {message.category !== 'message' && (
            <Badge variant="light" color="gray" tt="none">{`${message.category} ${message.type}`}</Badge>
          )}
          {editedAt !== undefined && (
            <span>
              edited <Time at={editedAt} /> by {editedBy}
            </span>
          )}
          {deletedAt !== undefined && (
            <span className="message-deleted">
              deleted <Time at={deletedAt} /> by {deletedBy}
            </span>
          )}
        </div>
        <Content message={message} />
        {(reactions.length > 0 || replyCount > 0) && (
          <Group gap="xs">
            {reactions.map(({ reaction, count }) => (
              <Badge key={reaction} variant="light" color="gray" tt="none">
                {reaction} {count}
              </Badge>
            ))}
            {replyCount > 0 && <Badge variant="light">{countOf(replyCount, 'reply', 'replies')}</Badge>}
          </Group>
        )}
      </div>
      {actions}
    </article>
  )
}

/** What was written. */
function Content({ message }: { readonly message: Message }) {
  const { data, category, deletedAt } = message
  const {
    text,
    attachments = [],
    customData,
    interactiveData,
    metadata,
    action,
  } = data as {
    text?: string
    attachments?: readonly Attachment[]
    customData?: object
    interactiveData?: object
    metadata?: object
    action?: string
  }
  const isLeftOut =
    text === undefined &&
    attachments.length === 0 &&
    customData === undefined &&
    interactiveData === undefined &&
    action === undefined
  if (isLeftOut) {
    return (
      <p className="hidden-text">
        {deletedAt === undefined ? 'What was written is left out.' : 'Nothing is left of it.'}
      </p>
    )
  }
  return (
    <div className="message-content">
      {text !== undefined && (
        <p className="bubble" dir="auto">
          {text}
        </p>
      )}
      {category === 'action' && action !== undefined && <p>{action}</p>}
      {attachments.map((file) => (
        <File key={file.url} file={file} />
      ))}
      {customData !== undefined && <Json value={customData} />}
      {interactiveData !== undefined && <Json value={interactiveData} />}
      {metadata !== undefined && Object.keys(metadata).length > 0 && <Details value={metadata} />}
    </div>
  )
}

/** A file by its name. A picture of this service is shown when it is asked for: it may be one that nobody wants to see. */
function File({ file: { url, name = url, mimeType = '', size } }: { readonly file: Attachment }) {
  const [isShown, setShown] = useState(false)
  const address = URL.canParse(url) ? new URL(url) : undefined
  const isWeb = address?.protocol === 'https:' || address?.protocol === 'http:'
  const isOwn = address?.origin === location.origin
  return (
    <Box>
      <Group gap="xs">
        {isWeb ? (
          <Anchor href={url} target="_blank" rel="noreferrer noopener" size="sm">
            {name}
          </Anchor>
        ) : (
          <Text size="sm">{name}</Text>
        )}
        <Text size="xs" c="dimmed">
          {[mimeType, size === undefined ? '' : `${Math.ceil(size / 1024)} kB`].filter(Boolean).join(', ')}
        </Text>
        {isOwn && mimeType.startsWith('image/') && (
          <Button size="compact-xs" variant="default" onClick={() => setShown(!isShown)}>
            {isShown ? 'Hide' : 'Show'}
          </Button>
        )}
      </Group>
      {isShown && <img src={url} alt={name} className="picture" />}
    </Box>
  )
}

function Details({ value }: { readonly value: object }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <Box>
      <Button size="compact-xs" variant="subtle" onClick={() => setOpen(!isOpen)} aria-expanded={isOpen}>
        Metadata
      </Button>
      {isOpen && <Json value={value} />}
    </Box>
  )
}
