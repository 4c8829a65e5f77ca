import { Anchor, Badge, Box, Button, Group, Paper, Stack, Text } from '@mantine/core'
import type { Message } from '@parley/client'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { useApp } from '../shell/session.tsx'
import { Json, Time } from './page.tsx'

interface Attachment {
  readonly url: string
  readonly name?: string
  readonly mimeType?: string
  readonly size?: number
}

/** One message, as whoever looks at it may see it: without its text where no reading is open. */
export function MessageView({ message, actions }: { readonly message: Message; readonly actions?: ReactNode }) {
  const { appId } = useApp()
  const { sender, sentAt, editedAt, editedBy, deletedAt, deletedBy, reactions = [], replyCount = 0 } = message
  return (
    <Paper withBorder p="xs" component="article" className="in-sight" data-message-id={message.id}>
      <Group justify="space-between" align="flex-start" wrap="nowrap">
        <Stack gap={4} miw={0}>
          <Group gap="xs">
            <Anchor
              component={Link}
              to={`/apps/${encodeURIComponent(appId)}/users/${encodeURIComponent(sender)}`}
              size="sm"
              fw={600}
            >
              {sender}
            </Anchor>
            <Text size="xs" c="dimmed">
              <Time at={sentAt} />
            </Text>
            {message.category !== 'message' && (
              <Badge variant="light" color="gray" tt="none">{`${message.category} ${message.type}`}</Badge>
            )}
            {editedAt !== undefined && (
              <Text size="xs" c="dimmed">
                edited <Time at={editedAt} /> by {editedBy}
              </Text>
            )}
            {deletedAt !== undefined && (
              <Text size="xs" c="red.8">
                deleted <Time at={deletedAt} /> by {deletedBy}
              </Text>
            )}
          </Group>
          <Content message={message} />
          {(reactions.length > 0 || replyCount > 0) && (
            <Group gap="xs">
              {reactions.map(({ reaction, count }) => (
                <Badge key={reaction} variant="light" color="gray" tt="none">
                  {reaction} {count}
                </Badge>
              ))}
              {replyCount > 0 && <Badge variant="light">{replyCount} replies</Badge>}
            </Group>
          )}
        </Stack>
        <Group gap={4} wrap="nowrap">
          {actions}
        </Group>
      </Group>
    </Paper>
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
      <Text size="sm" className="hidden-text">
        {deletedAt === undefined ? 'What was written is left out.' : 'Nothing is left of it.'}
      </Text>
    )
  }
  return (
    <Stack gap={4}>
      {text !== undefined && (
        <Text size="sm" className="bubble" dir="auto">
          {text}
        </Text>
      )}
      {category === 'action' && action !== undefined && <Text size="sm">{action}</Text>}
      {attachments.map((file) => (
        <File key={file.url} file={file} />
      ))}
      {customData !== undefined && <Json value={customData} />}
      {interactiveData !== undefined && <Json value={interactiveData} />}
      {metadata !== undefined && Object.keys(metadata).length > 0 && <Details value={metadata} />}
    </Stack>
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
