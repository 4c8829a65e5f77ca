import { Button, Group, Paper, Select, SimpleGrid, Tabs } from '@mantine/core'
import type { User } from '@parley/client'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { codeOf } from '../api.ts'
import { conversationsOf, groupsOf, userOf, usersIn } from '../questions.ts'
import { useApp, useCan } from '../shell/session.tsx'
import { Actor } from '../ui/Actor.tsx'
import { AddressInput } from '../ui/AddressInput.tsx'
import { useAct, useSave } from '../ui/act.tsx'
import { useAddress } from '../ui/address.ts'
import { conversationAddress, groupAddress, userAddress } from '../ui/addresses.ts'
import { type Field, FormButton, type Values } from '../ui/Form.tsx'
import { useRows } from '../ui/lists.ts'
import { PageLink } from '../ui/PageLink.tsx'
import { Facts, Json, Page, Section, Status, Time } from '../ui/page.tsx'
import { Forbidden, Loaded } from '../ui/states.tsx'
import { Table } from '../ui/Table.tsx'
import { UserLink } from '../ui/UserLink.tsx'
import { DataOf, ErasedUser } from './user-data.tsx'
import { NotificationsOf, SessionsOf } from './user-devices.tsx'

const profile: readonly Field[] = [
  { name: 'name', label: 'Name', required: true },
  { name: 'avatar', label: 'Avatar', hint: 'Address of a picture' },
  { name: 'link', label: 'Link' },
  { name: 'role', label: 'Role' },
  { name: 'statusMessage', label: 'Status message' },
  { name: 'tags', label: 'Tags', kind: 'tags' },
  { name: 'metadata', label: 'Metadata', kind: 'json' },
]

/** The users of an app: find one, or create one. */
export function Users() {
  const { appId, client } = useApp()
  const can = useCan()
  const save = useSave()
  const navigate = useNavigate()
  const [address, change] = useAddress()
  const { q = '', show = '' } = address
  const list = useRows(...usersIn(appId, address))
  const create = (values: Values) =>
    save({
      run: () => client.users.create(values as never),
      done: 'The user was created',
      refresh: [['users', appId]],
    })
  return (
    <Page
      title="Users"
      actions={
        can('manage') && (
          <FormButton
            button="Create a user"
            title="Create a user"
            fields={[{ name: 'uid', label: 'User ID', required: true }, ...profile]}
            onSubmit={create}
          />
        )
      }
    >
      <Group>
        <AddressInput
          aria-label="Search by name or user ID"
          placeholder="Name or user ID"
          name="q"
          flex={1}
          miw={180}
        />
        <Select
          aria-label="Which users"
          data={[
            { value: 'all', label: 'All' },
            { value: 'online', label: 'Online' },
            { value: 'deactivated', label: 'Deactivated' },
          ]}
          value={show || 'all'}
          onChange={(next) => change({ show: next === 'all' ? undefined : (next ?? undefined) })}
          w={150}
          allowDeselect={false}
        />
        <AddressInput aria-label="Role" placeholder="Any role" name="role" w={130} />
      </Group>
      <Table
        label="Users"
        list={list}
        idOf={(user) => user.uid}
        onOpen={(user) => void navigate({ to: userAddress(appId, user.uid) })}
        empty={q === '' ? 'There are no users.' : `Nobody is found by “${q}”.`}
        columns={[
          { label: 'Name', width: '2fr', cell: (user) => <UserLink appId={appId} user={user} /> },
          { label: 'User ID', width: '1.5fr', cell: (user) => user.uid },
          { label: 'Role', cell: (user) => user.role },
          { label: 'Tags', cell: (user) => user.tags?.join(', ') },
          { label: 'State', width: '8rem', cell: (user) => <Status of={stateOf(user)} /> },
          { label: 'Last active', width: '11rem', cell: (user) => <Time at={user.lastActiveAt} /> },
        ]}
      />
    </Page>
  )
}

function stateOf({ status, deactivatedAt }: User): string {
  if (deactivatedAt !== undefined) return 'deactivated'
  return status === 'available' ? 'online' : 'offline'
}

/** One user: who they are, what they have, and what can be done about them. */
export function UserPage() {
  const { appId } = useApp()
  const mayRead = useCan()('read')
  const { uid } = useParams({ strict: false }) as { uid: string }
  const [{ tab = 'profile' }, change] = useAddress()
  const user = useQuery(userOf(appId, uid))
  const known = user.data
  if (codeOf(user.error) === 'ERR_UID_NOT_FOUND') return <ErasedUser uid={uid} />
  return (
    <Page
      title={known?.name ?? uid}
      hint={
        <Group gap="xs">
          {uid} {known !== undefined && <Status of={stateOf(known)} />}
        </Group>
      }
      actions={known !== undefined && <Actions user={known} />}
    >
      <Tabs value={tab} onChange={(next) => change({ tab: next ?? undefined })} keepMounted={false}>
        <Tabs.List>
          <Tabs.Tab value="profile">Profile</Tabs.Tab>
          {mayRead && <Tabs.Tab value="groups">Groups</Tabs.Tab>}
          {mayRead && <Tabs.Tab value="conversations">Conversations</Tabs.Tab>}
          <Tabs.Tab value="blocks">Blocks</Tabs.Tab>
          <Tabs.Tab value="sessions">Sessions</Tabs.Tab>
          <Tabs.Tab value="notifications">Notifications</Tabs.Tab>
          <Tabs.Tab value="data">Data</Tabs.Tab>
          <Tabs.Tab value="history">History</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="profile" pt="md">
          <Loaded query={user}>{(user) => <Profile user={user} />}</Loaded>
        </Tabs.Panel>
        <Tabs.Panel value="groups" pt="md">
          {mayRead ? <GroupsOf uid={uid} /> : <Forbidden right="read" />}
        </Tabs.Panel>
        <Tabs.Panel value="conversations" pt="md">
          {mayRead ? <ConversationsOf uid={uid} /> : <Forbidden right="read" />}
        </Tabs.Panel>
        <Tabs.Panel value="blocks" pt="md">
          <BlocksOf uid={uid} />
        </Tabs.Panel>
        <Tabs.Panel value="sessions" pt="md">
          <SessionsOf uid={uid} />
        </Tabs.Panel>
        <Tabs.Panel value="notifications" pt="md">
          <NotificationsOf uid={uid} />
        </Tabs.Panel>
        <Tabs.Panel value="data" pt="md">
          <DataOf uid={uid} />
        </Tabs.Panel>
        <Tabs.Panel value="history" pt="md">
          <HistoryOf uid={uid} />
        </Tabs.Panel>
      </Tabs>
    </Page>
  )
}

function Actions({ user }: { readonly user: User }) {
  const { appId, client } = useApp()
  const can = useCan()
  const act = useAct()
  const save = useSave()
  const navigate = useNavigate()
  const refresh = [
    ['user', appId, user.uid],
    ['users', appId],
  ]
  const { uid, deactivatedAt } = user
  return (
    <>
      {can('manage') && (
        <FormButton
          button="Edit"
          variant="default"
          title={`Edit ${user.name}`}
          fields={profile}
          initial={{ ...user }}
          changesOnly
          onSubmit={(values) =>
            save({ run: () => client.users.update({ uid, ...values }), done: 'The profile was changed', refresh })
          }
        />
      )}
      {can('moderate') && deactivatedAt === undefined && (
        <Button
          variant="light"
          color="orange"
          onClick={() =>
            void act({
              run: () => client.users.deactivate({ uidsToDeactivate: [uid] }),
              done: `${user.name} was deactivated`,
              refresh,
              question: {
                title: `Deactivate ${user.name}?`,
                text: 'They can no longer log in, and their sessions end. What they wrote stays. They can be reactivated.',
                label: 'Deactivate',
              },
            })
          }
        >
          Deactivate
        </Button>
      )}
      {can('moderate') && deactivatedAt !== undefined && (
        <Button
          variant="light"
          onClick={() =>
            void act({
              run: () => client.users.reactivate({ uidsToActivate: [uid] }),
              done: `${user.name} was reactivated`,
              refresh,
            })
          }
        >
          Reactivate
        </Button>
      )}
      {can('manage') && (
        <Button
          variant="light"
          color="red"
          onClick={async () => {
            const erased = await act({
              run: () => client.users.delete({ uid, permanent: true }),
              done: `${user.name} was erased`,
              refresh,
              question: {
                title: `Erase ${user.name} for good?`,
                text: 'Their profile, memberships, messages, files and devices are deleted. This cannot be undone.',
                label: 'Erase',
                typed: uid,
              },
            })
            // The page then has the certificate.
            if (erased !== undefined) await navigate({ to: userAddress(appId, uid) })
          }}
        >
          Erase
        </Button>
      )}
    </>
  )
}

function Profile({ user }: { readonly user: User }) {
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }}>
      <Paper withBorder p="sm">
        <Facts
          facts={{
            Name: user.name,
            'User ID': user.uid,
            Role: user.role,
            Tags: user.tags?.join(', '),
            'Status message': user.statusMessage,
            Avatar: user.avatar,
            Link: user.link,
            Created: <Time at={user.createdAt} />,
            Changed: <Time at={user.updatedAt} />,
            'Last active': <Time at={user.lastActiveAt} />,
            Deactivated: user.deactivatedAt && <Time at={user.deactivatedAt} />,
          }}
        />
      </Paper>
      {user.metadata !== undefined && (
        <Section title="Metadata">
          <Json value={user.metadata} />
        </Section>
      )}
    </SimpleGrid>
  )
}

function GroupsOf({ uid }: { readonly uid: string }) {
  const { appId } = useApp()
  const list = useRows(...groupsOf(appId, uid))
  return (
    <Table
      label="Groups"
      list={list}
      idOf={(group) => group.guid}
      empty="They are in no group."
      columns={[
        {
          label: 'Name',
          width: '2fr',
          cell: (group) => <PageLink to={groupAddress(appId, group.guid)}>{group.name}</PageLink>,
        },
        { label: 'Group ID', cell: (group) => group.guid },
        { label: 'Scope', width: '8rem', cell: (group) => group.scope },
        { label: 'Members', width: '6rem', cell: (group) => group.membersCount },
        { label: 'Joined', width: '11rem', cell: (group) => <Time at={group.joinedAt} /> },
      ]}
    />
  )
}

function ConversationsOf({ uid }: { readonly uid: string }) {
  const { appId } = useApp()
  const list = useRows(...conversationsOf(appId, uid))
  return (
    <Table
      label="Conversations"
      list={list}
      idOf={(conversation) => conversation.conversationId}
      empty="They have no conversation."
      columns={[
        {
          label: 'With',
          width: '2fr',
          cell: ({ conversationId, conversationWith }) => (
            <PageLink to={conversationAddress(appId, conversationId)}>
              {(conversationWith as { name?: string } | undefined)?.name ?? conversationId}
            </PageLink>
          ),
        },
        { label: 'Kind', width: '6rem', cell: (conversation) => conversation.conversationType },
        { label: 'Unread', width: '6rem', cell: (conversation) => conversation.unreadMessageCount },
        { label: 'Changed', width: '11rem', cell: (conversation) => <Time at={conversation.updatedAt} /> },
      ]}
    />
  )
}

function BlocksOf({ uid }: { readonly uid: string }) {
  const { appId, client } = useApp()
  const act = useAct()
  const can = useCan()
  const save = useSave()
  const list = useRows(['blocks-of', appId, uid], (place) =>
    client.users.blocks.list({ uid, direction: 'both', perPage: 100, ...place }),
  )
  const block = ({ blockedUids }: Values) =>
    save({
      run: async () => {
        const said = await client.users.blocks.add({ uid, blockedUids: blockedUids as string[] })
        // Each is answered for itself.
        const refused = Object.values(said).find(({ success }) => !success)
        if (refused !== undefined) throw new Error(refused.message)
      },
      done: 'They are blocked',
      refresh: [['blocks-of', appId, uid]],
    })
  return (
    <Section
      title="Whom they block, and who blocks them"
      actions={
        can('manage') && (
          <FormButton
            button="Block somebody"
            size="xs"
            variant="default"
            title="Block somebody in their name"
            verb="Block"
            fields={[{ name: 'blockedUids', label: 'User IDs', kind: 'tags', required: true }]}
            onSubmit={block}
          />
        )
      }
    >
      <Table
        label="Blocks"
        list={list}
        idOf={(user) => user.uid}
        empty="They block nobody, and nobody blocks them."
        columns={[
          { label: 'User', width: '2fr', cell: (user) => <UserLink appId={appId} user={user} /> },
          { label: 'Blocked by them', cell: (user) => user.blockedByMe && <Time at={user.blockedByMeAt} /> },
          { label: 'Blocks them', cell: (user) => user.hasBlockedMe && 'yes' },
          {
            label: 'Action',
            width: '8rem',
            isShown: can('manage') && list.rows.some(({ blockedByMe }) => blockedByMe === true),
            cell: (user) =>
              user.blockedByMe === true && (
                <Button
                  size="compact-xs"
                  variant="default"
                  onClick={() =>
                    void act({
                      run: () => client.users.blocks.remove({ uid, blockedUids: [user.uid] }),
                      done: 'The block was taken back',
                      of: user.uid,
                      refresh: [['blocks-of', appId, uid]],
                    })
                  }
                >
                  Unblock
                </Button>
              ),
          },
        ]}
      />
    </Section>
  )
}

function HistoryOf({ uid }: { readonly uid: string }) {
  const { appId, client } = useApp()
  const list = useRows(['history-of', appId, uid], (place) =>
    client.auditLog.list({ targetType: 'user', target: uid, limit: 100, ...place }),
  )
  return (
    <Table
      label="What was done about them"
      list={list}
      idOf={(entry) => entry.id}
      empty="Nothing was done about them that is recorded."
      columns={[
        { label: 'When', width: '11rem', cell: (entry) => <Time at={entry.createdAt} /> },
        { label: 'What', cell: (entry) => entry.action },
        { label: 'By', cell: (entry) => <Actor of={entry} /> },
      ]}
    />
  )
}
