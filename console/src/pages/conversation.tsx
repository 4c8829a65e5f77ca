import { Button, Group, Menu, ScrollArea, Stack, Text, TextInput } from '@mantine/core'
import type { Message, Result } from '@parley/client'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { type FormEvent, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { texts } from '../questions.ts'
import { useApp, useCan } from '../shell/session.tsx'
import { useAct } from '../ui/act.tsx'
import { useAddress } from '../ui/address.ts'
import { useRows } from '../ui/lists.ts'
import { MessageView } from '../ui/MessageView.tsx'
import { OpenedDrawer, useOpened } from '../ui/Opened.tsx'
import { Facts, Page, SmallTable, Status, Time } from '../ui/page.tsx'
import { ReadingBar, useReading } from '../ui/Reading.tsx'
import { RowMenu } from '../ui/RowMenu.tsx'
import { SearchedTable } from '../ui/SearchedTable.tsx'
import { Empty, isRefusal, Loaded, Loading, Problem } from '../ui/states.tsx'
import { inOrder, type Timeline, useTimeline } from '../ui/timeline.ts'

/** One conversation, as it goes on: the newest message at the bottom. */
export function ConversationPage() {
  const { conversationId } = useParams({ strict: false }) as { conversationId: string }
  const [{ at }, change] = useAddress()
  return (
    <Page
      title="Conversation"
      hint={conversationId}
      actions={
        at !== undefined && (
          <Button variant="default" size="xs" onClick={() => change({ at: undefined })}>
            To the newest
          </Button>
        )
      }
    >
      <ReadingBar of={conversationId} />
      <Messages key={`${conversationId} ${at}`} conversationId={conversationId} at={at} />
    </Page>
  )
}

function Messages({ conversationId, at }: { readonly conversationId: string; readonly at: string | undefined }) {
  const { appId, client } = useApp()
  const reading = useReading(conversationId)
  const timeline = useTimeline(conversationId, at, reading.isLoading ? undefined : (reading.open?.of ?? ''))
  const thread = useOpened('thread')
  const details = useOpened('about')
  const place = useScrolling(timeline)
  const { messages, error, since, isLoading } = timeline
  if (isLoading) return <Loading />
  const refusal = [error, timeline.olderError, timeline.newerError].find(isRefusal)
  if (refusal !== undefined) return <Problem error={refusal} />
  if (error !== undefined && messages.length === 0) return <Problem error={error} onRetry={timeline.reload} />
  if (messages.length === 0) return <Empty>Nothing was written in this conversation.</Empty>
  const read = (messageId: string) => client.messages.get({ messageId })
  return (
    <>
      {error !== undefined && <Problem error={error} since={since} onRetry={timeline.reload} />}
      <ScrollArea
        h="max(18rem, calc(100dvh - 15rem))"
        viewportRef={place}
        viewportProps={{ tabIndex: 0, 'aria-label': 'Messages' }}
      >
        <Stack gap="xs">
          {timeline.olderError !== undefined && <Problem error={timeline.olderError} />}
          {timeline.hasOlder && (
            <Button variant="default" size="xs" loading={timeline.isLoadingOlder} onClick={timeline.loadOlder}>
              Older ones
            </Button>
          )}
          {messages.map((message) => (
            <MessageView
              key={message.id}
              message={message}
              actions={
                <Actions
                  message={message}
                  onThread={() => thread.open(message.id)}
                  onDetails={() => details.open(message.id)}
                  onChange={timeline.reload}
                />
              }
            />
          ))}
          {timeline.newerError !== undefined && <Problem error={timeline.newerError} />}
          {at !== undefined && timeline.hasNewer && (
            <Button variant="default" size="xs" onClick={timeline.loadNewer}>
              Newer ones
            </Button>
          )}
        </Stack>
      </ScrollArea>
      <OpenedDrawer of={thread} title="Thread" queryKey={[texts, appId, 'message']} ask={read}>
        {(message) => <Thread parent={message} />}
      </OpenedDrawer>
      <OpenedDrawer of={details} title="About this message" queryKey={[texts, appId, 'message']} ask={read}>
        {(message) => <Details message={message} />}
      </OpenedDrawer>
    </>
  )
}

/** Stays at the newest message while it is on screen, and where it is while older ones come. */
function useScrolling({ messages, at }: Timeline) {
  const place = useRef<HTMLDivElement>(null)
  const before = useRef({ first: '', height: 0, isAtEnd: true })
  const first = messages[0]?.id ?? ''
  const last = messages.at(-1)?.id ?? ''
  // biome-ignore lint/correctness/useExhaustiveDependencies: as often as messages come
  useLayoutEffect(() => {
    const view = place.current
    if (view === null) return
    const { first: firstBefore, height, isAtEnd } = before.current
    if (firstBefore === '' && at !== undefined) {
      view.querySelector(`[data-message-id="${CSS.escape(at)}"]`)?.scrollIntoView({ block: 'center' })
    } else if (firstBefore !== '' && firstBefore !== first) view.scrollTop += view.scrollHeight - height
    else if (isAtEnd && at === undefined) view.scrollTop = view.scrollHeight
    before.current = { first, height: view.scrollHeight, isAtEnd }
  }, [first, last])
  // biome-ignore lint/correctness/useExhaustiveDependencies: the element is there once messages are
  useEffect(() => {
    const view = place.current
    if (view === null) return
    const note = () => {
      before.current.isAtEnd = view.scrollHeight - view.scrollTop - view.clientHeight < 40
    }
    view.addEventListener('scroll', note, { passive: true })
    return () => view.removeEventListener('scroll', note)
  }, [first === ''])
  return place
}

function Actions(props: {
  readonly message: Message
  readonly onThread: () => void
  readonly onDetails: () => void
  readonly onChange: () => void
}) {
  const { message, onThread, onDetails, onChange } = props
  const { client } = useApp()
  const can = useCan()
  const act = useAct()
  const remove = async () => {
    const deleted = await act({
      run: () => client.messages.delete({ messageId: message.id }),
      done: 'The message was deleted',
      question: {
        title: 'Delete this message?',
        text: 'Everybody in the conversation sees that it was deleted, and no longer what it said.',
        label: 'Delete',
      },
    })
    if (deleted !== undefined) onChange()
  }
  return (
    <RowMenu label="…" name={`What to do with the message ${message.id}`} width={220}>
      {(message.replyCount ?? 0) > 0 && <Menu.Item onClick={onThread}>Show the thread</Menu.Item>}
      <Menu.Item onClick={onDetails}>Receipts and notifications</Menu.Item>
      {can('moderate') && message.deletedAt === undefined && message.category !== 'action' && (
        <Menu.Item color="red" onClick={() => void remove()}>
          Delete
        </Menu.Item>
      )}
    </RowMenu>
  )
}

/** A message with the replies to it: the newest, and older ones when they are asked for. */
function Thread({ parent }: { readonly parent: Message }) {
  const { appId, client } = useApp()
  const { rows, query } = useRows<Message>(
    [texts, appId, 'thread', parent.id],
    (place) =>
      client.call('GET /messages/{messageId}/thread', { messageId: parent.id, affix: 'prepend', limit: 50, ...place }),
    { isBackwards: true, refetchInterval: 5_000 },
  )
  return (
    <Stack gap="xs">
      <MessageView message={parent} />
      {query.isPending && <Loading />}
      {query.isError && <Problem error={query.error} onRetry={() => void query.refetch()} />}
      {query.hasNextPage && (
        <Button
          variant="default"
          size="xs"
          loading={query.isFetchingNextPage}
          onClick={() => void query.fetchNextPage()}
        >
          Older ones
        </Button>
      )}
      {inOrder(rows).map((reply) => (
        <MessageView key={reply.id} message={reply} />
      ))}
    </Stack>
  )
}

/** Who received and read a message, and why somebody was or was not notified of it. */
function Details({ message }: { readonly message: Result<'GET /messages/{messageId}'> }) {
  return (
    <Stack>
      <Facts
        facts={{
          ID: message.id,
          muid: message.muid,
          Sent: <Time at={message.sentAt} />,
          Delivered: message.deliveredAt && <Time at={message.deliveredAt} />,
          Read: message.readAt && <Time at={message.readAt} />,
          Edited: message.editedAt && <Time at={message.editedAt} />,
          'Edited by': message.editedBy,
          Tags: message.tags?.join(', '),
        }}
      />
      {message.editedAt !== undefined && (
        <Text size="xs" c="dimmed">
          What it said before it was edited is not kept.
        </Text>
      )}
      {message.receiverType === 'group' && (
        <SearchedTable
          label="Receipts"
          name="member"
          textOf={({ recipient }) => `${recipient.uid} ${recipient.name}`}
          rows={message.receipts?.data ?? []}
          idOf={({ recipient }) => recipient.uid}
          empty="Nobody has received it yet."
          columns={[
            { label: 'Member', cell: ({ recipient }) => recipient.name },
            { label: 'Received', cell: ({ deliveredAt }) => <Time at={deliveredAt} /> },
            { label: 'Read', cell: ({ readAt }) => (readAt === undefined ? 'not yet' : <Time at={readAt} />) },
          ]}
        />
      )}
      <WhyNotNotified message={message} />
    </Stack>
  )
}

function WhyNotNotified({ message }: { readonly message: Message }) {
  const { appId, client } = useApp()
  const [uid, setUid] = useState(message.receiverType === 'user' ? message.receiver : '')
  const [asked, setAsked] = useState('')
  const explanation = useQuery({
    queryKey: ['explain', appId, message.id, asked],
    queryFn: () => client.notifications.explain({ uid: asked, messageId: message.id }),
    enabled: asked !== '',
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    setAsked(uid.trim())
  }
  return (
    <Stack gap="xs">
      <Group component="form" onSubmit={submit} align="flex-end">
        <TextInput
          label="Why was somebody notified, or not?"
          placeholder="User ID"
          value={uid}
          onChange={(event) => setUid(event.currentTarget.value)}
          flex={1}
        />
        <Button type="submit" variant="default" disabled={uid.trim() === ''}>
          Explain
        </Button>
      </Group>
      {asked !== '' && (
        <Loaded query={explanation}>
          {({ notifications, unplanned, channels = [] }) => (
            <Stack gap="xs">
              {unplanned !== undefined && <Text size="sm">Not notified: {unplanned}</Text>}
              {channels.map((one) => (
                <Text key={one.channel} size="sm">
                  Not by {one.channel}: {one.unplanned}
                </Text>
              ))}
              {notifications.map((one) => (
                <Stack key={one._id} gap={4}>
                  <Group gap="xs">
                    <Text size="sm" fw={600}>
                      {one.channel} by {one.provider}
                    </Text>
                    <Status
                      of={
                        one.success === true
                          ? 'delivered'
                          : one.success === false
                            ? 'failed'
                            : (one.reason ?? 'waiting')
                      }
                    />
                  </Group>
                  <SmallTable
                    label="Gates"
                    rows={one.gates}
                    idOf={({ gate }) => gate}
                    empty="Nothing was looked at yet."
                    columns={[
                      { label: 'Gate', cell: ({ gate }) => gate },
                      { label: 'Value', cell: ({ value }) => String(value) },
                      { label: 'Set by', cell: ({ setBy }) => setBy },
                      { label: 'Lets it pass', cell: ({ passes }) => (passes ? 'yes' : 'no') },
                    ]}
                  />
                </Stack>
              ))}
            </Stack>
          )}
        </Loaded>
      )}
    </Stack>
  )
}
