import { Button, Group, Select, Stack, Tabs, TextInput } from '@mantine/core'
import type { Message } from '@parley/client'
import { Link, useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { conversationsIn, texts, wholeApp } from '../questions.ts'
import { useApp, useCan } from '../shell/session.tsx'
import { AddressInput } from '../ui/AddressInput.tsx'
import { useAddress } from '../ui/address.ts'
import { conversationAddress } from '../ui/addresses.ts'
import { useRows } from '../ui/lists.ts'
import { MessageView } from '../ui/MessageView.tsx'
import { PageLink } from '../ui/PageLink.tsx'
import { Page, Time } from '../ui/page.tsx'
import { ReadingBar, useReading } from '../ui/Reading.tsx'
import { Empty, Forbidden, Loading, Problem } from '../ui/states.tsx'
import { Table } from '../ui/Table.tsx'

/** What was written in an app: find a message, or a conversation. */
export function Messages() {
  const [{ tab = 'conversations' }, change] = useAddress()
  const mayRead = useCan()('read')
  return (
    <Page title="Messages">
      <Tabs value={tab} onChange={(next) => change({ tab: next ?? undefined })} keepMounted={false}>
        <Tabs.List>
          <Tabs.Tab value="conversations">Conversations</Tabs.Tab>
          {mayRead && <Tabs.Tab value="search">Search</Tabs.Tab>}
        </Tabs.List>
        <Tabs.Panel value="conversations" pt="md">
          <Conversations />
        </Tabs.Panel>
        <Tabs.Panel value="search" pt="md">
          {mayRead ? <Search /> : <Forbidden right="read" />}
        </Tabs.Panel>
      </Tabs>
    </Page>
  )
}

function Conversations() {
  const { appId } = useApp()
  const navigate = useNavigate()
  const [address, change] = useAddress()
  const { q = '', type = '' } = address
  const list = useRows(...conversationsIn(appId, address))
  return (
    <Stack>
      <Group>
        <AddressInput
          aria-label="Search by the name of the group or of a user"
          placeholder="Name of the group or of a user"
          name="q"
          flex={1}
          miw={180}
        />
        <Select
          aria-label="Kind"
          placeholder="Any kind"
          data={[
            { value: 'user', label: 'Of two users' },
            { value: 'group', label: 'Of a group' },
          ]}
          clearable
          value={type || null}
          onChange={(next) => change({ type: next ?? undefined })}
          w={150}
        />
      </Group>
      <Table
        label="Conversations"
        list={list}
        idOf={({ conversationId }) => conversationId}
        onOpen={({ conversationId }) => void navigate({ to: conversationAddress(appId, conversationId) })}
        empty={q === '' ? 'Nobody has written yet.' : `No conversation is found by “${q}”.`}
        columns={[
          {
            label: 'Conversation',
            width: '2fr',
            cell: ({ conversationId, conversationType, conversationWith, lastMessage }) => (
              <PageLink to={conversationAddress(appId, conversationId)}>
                {conversationType === 'group'
                  ? ((conversationWith as { name?: string } | undefined)?.name ?? conversationId)
                  : namesIn(conversationId, lastMessage)}
              </PageLink>
            ),
          },
          { label: 'Kind', width: '6rem', cell: ({ conversationType }) => conversationType },
          { label: 'Last by', cell: ({ lastMessage }) => lastMessage?.sender },
          { label: 'Changed', width: '11rem', cell: ({ updatedAt }) => <Time at={updatedAt} /> },
        ]}
      />
    </Stack>
  )
}

/** Both users of a conversation. */
function namesIn(conversationId: string, lastMessage: Message | undefined): string {
  if (lastMessage === undefined) return conversationId.replace('_user_', ' and ')
  return [lastMessage.sender, lastMessage.receiver].sort().join(' and ')
}

/** Finds messages by a text, of which whoever finds them learns something: it asks for a reading of the whole app. */
function Search() {
  const { appId, client } = useApp()
  const [{ q = '', sender = '', deleted = '' }, change] = useAddress()
  const [typed, setTyped] = useState(q)
  const { open } = useReading(wholeApp)
  const isAsked = open !== undefined && (q !== '' || sender !== '')
  const list = useRows<Message>(
    [texts, appId, 'search', q, sender, deleted],
    (place) =>
      client.messages.list({
        affix: 'prepend',
        limit: 50,
        ...(q !== '' && { searchKey: q }),
        ...(sender !== '' && { sender }),
        ...(deleted === 'no' && { hideDeleted: true }),
        ...place,
      }),
    { isBackwards: true, enabled: isAsked },
  )
  const submit = (event: FormEvent) => {
    event.preventDefault()
    change({ q: typed.trim() })
  }
  return (
    <Stack>
      <ReadingBar of={wholeApp} />
      {open !== undefined && (
        <Group component="form" onSubmit={submit}>
          <TextInput
            aria-label="Text to look for"
            placeholder="Text to look for, in any script"
            value={typed}
            onChange={(event) => setTyped(event.currentTarget.value)}
            flex={1}
            miw={180}
          />
          <AddressInput aria-label="User ID of the sender" placeholder="User ID of the sender" name="sender" />
          <Button type="submit">Search</Button>
        </Group>
      )}
      {isAsked ? <Found list={list} /> : open !== undefined && <Empty>Type a text to look for, or a sender.</Empty>}
    </Stack>
  )
}

function Found({ list: { rows, query } }: { readonly list: ReturnType<typeof useRows<Message>> }) {
  const { appId } = useApp()
  if (query.isError) return <Problem error={query.error} onRetry={() => void query.refetch()} />
  if (query.isPending) return <Loading />
  if (rows.length === 0) return <Empty>Nothing is found.</Empty>
  return (
    <Stack gap="xs">
      {[...rows]
        .sort((a, b) => b.sentAt - a.sentAt)
        .map((message) => (
          <MessageView
            key={message.id}
            message={message}
            actions={
              <Button
                component={Link}
                to={conversationAddress(appId, message.conversationId, message.id)}
                size="compact-xs"
                variant="default"
              >
                In its conversation
              </Button>
            }
          />
        ))}
      {query.hasNextPage && (
        <Button variant="default" loading={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
          Older ones
        </Button>
      )}
    </Stack>
  )
}
