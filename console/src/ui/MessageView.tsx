import { Anchor, Badge, Box, Button, Group, Text } from '@mantine/core'
import type { Message } from '@parley/client'
import { type ReactNode, useState } from 'react'
import { useApp } from '../shell/session.tsx'
import { userAddress } from './addresses.ts'
import { Boundary } from './Boundary.tsx'
import { countOf } from './figures.ts'
import { PageLink } from './PageLink.tsx'
import { Json, Time } from './page.tsx'

/** The text of a message, as far as it has one. */
export function textOf({ data }: Pick<Message, 'data'>): string | undefined {
  const { text } = data as Record<string, unknown>
  return typeof text === 'string' ? text : undefined
}

/**
 * One message, as whoever looks at it may see it: without its text where no reading is open. Many are drawn at once: they are elements of
 * HTML where components would do no more.
 */
export function MessageView({ message, actions }: { readonly message: Message; readonly actions?: ReactNode }) {
  return (
    <article className="message in-sight" data-message-id={message.id}>
      <div className="message-main">
        <Boundary of={message} instead={<p className="hidden-text">This message cannot be shown.</p>}>
          <Main message={message} />
        </Boundary>
      </div>
      {actions}
    </article>
  )
}

/** Who wrote what, and what came of it. */
function Main({ message }: { readonly message: Message }) {
  const { appId } = useApp()
  const { sender, sentAt, editedAt, editedBy, deletedAt, deletedBy, reactions = [], replyCount = 0 } = message
  return (
    <>
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
    </>
  )
}

/** What was written. What is of another kind than front ends take it for is shown as it stands. */
function Content({ message }: { readonly message: Message }) {
  const { data, category, deletedAt } = message
  const { text, attachments = [], customData, interactiveData, metadata, action } = data as Record<string, unknown>
  const files: unknown[] = Array.isArray(attachments) ? attachments : [attachments]
  const isLeftOut =
    text === undefined &&
    files.length === 0 &&
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
      {typeof text === 'string' ? (
        <p className="bubble" dir="auto">
          {text}
        </p>
      ) : (
        text !== undefined && <Json value={text} />
      )}
      {category === 'action' && typeof action === 'string' && <p>{action}</p>}
      {files.map(
        (file, n) =>
          // biome-ignore-start lint/suspicious/noArrayIndexKey: files have no other name, and do not move
          isFile(file) ? <File key={n} file={file} /> : <Json key={n} value={file} />,
        // biome-ignore-end lint/suspicious/noArrayIndexKey: files have no other name, and do not move
      )}
      {customData !== undefined && <Json value={customData} />}
      {interactiveData !== undefined && <Json value={interactiveData} />}
      {typeof metadata === 'object' && metadata !== null && Object.keys(metadata).length > 0 && (
        <Details value={metadata} />
      )}
    </div>
  )
}

interface Attachment {
  readonly url: string
  readonly name?: unknown
  readonly mimeType?: unknown
  readonly size?: unknown
}

function isFile(value: unknown): value is Attachment {
  return typeof (value as Partial<Attachment> | null)?.url === 'string'
}

/** A file by its name. A picture of this service is shown when it is asked for: it may be one that nobody wants to see. */
function File({ file }: { readonly file: Attachment }) {
  const [isShown, setShown] = useState(false)
  const { url } = file
  const name = typeof file.name === 'string' ? file.name : url
  const mimeType = typeof file.mimeType === 'string' ? file.mimeType : ''
  const kilobytes = Math.ceil(Number(file.size ?? Number.NaN) / 1024)
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
          {[mimeType, Number.isNaN(kilobytes) ? '' : `${kilobytes} kB`].filter(Boolean).join(', ')}
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
