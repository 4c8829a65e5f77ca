import { Button, Menu, Paper, Group as Row, Select, SimpleGrid, Tabs, Text } from '@mantine/core'
import type { Group, Result } from '@parley/client'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { groupOf, groupsIn, type Member, membersOf } from '../questions.ts'
import { useApp, useCan } from '../shell/session.tsx'
import { AddressInput } from '../ui/AddressInput.tsx'
import { useAct, useSave } from '../ui/act.tsx'
import { useAddress } from '../ui/address.ts'
import { groupAddress } from '../ui/addresses.ts'
import { type Field, FormButton, type Values } from '../ui/Form.tsx'
import { countOf } from '../ui/figures.ts'
import { useRows } from '../ui/lists.ts'
import { PageLink } from '../ui/PageLink.tsx'
import { Facts, Json, Page, Section, Time } from '../ui/page.tsx'
import { RowMenu } from '../ui/RowMenu.tsx'
import { Loaded, Problem } from '../ui/states.tsx'
import { Table } from '../ui/Table.tsx'
import { UserLink } from '../ui/UserLink.tsx'
import { RetentionOfGroup } from './group-retention.tsx'

const types = ['public', 'password', 'private'] as const
const scopes = ['admin', 'moderator', 'participant'] as const

const profile: readonly Field[] = [
  { name: 'name', label: 'Name', required: true },
  { name: 'type', label: 'Type', kind: 'choice', options: types, required: true },
  { name: 'password', label: 'Password', hint: 'Of a group of type password' },
  { name: 'description', label: 'Description', kind: 'long' },
  { name: 'icon', label: 'Icon', hint: 'Address of a picture' },
  { name: 'tags', label: 'Tags', kind: 'tags' },
  { name: 'metadata', label: 'Metadata', kind: 'json' },
]

/** The groups of an app: find one, or create one. */
export function Groups() {
  const { appId, client } = useApp()
  const can = useCan()
  const save = useSave()
  const navigate = useNavigate()
  const [address, change] = useAddress()
  const { q = '', type = '' } = address
  const list = useRows(...groupsIn(appId, address))
  const create = (values: Values) =>
    save({
      run: () => client.groups.create(values as never),
      done: 'The group was created',
      refresh: [['groups', appId]],
    })
  return (
    <Page
      title="Groups"
      actions={
        can('manage') && (
          <FormButton
            button="Create a group"
            title="Create a group"
            fields={[
              { name: 'guid', label: 'Group ID', required: true },
              { name: 'owner', label: 'Owner', hint: 'ID of a user, who becomes an admin' },
              ...profile,
            ]}
            initial={{ type: 'public' }}
            onSubmit={create}
          />
        )
      }
    >
      <Row>
        <AddressInput
          aria-label="Search by name or group ID"
          placeholder="Name or group ID"
          name="q"
          flex={1}
          miw={180}
        />
        <Select
          aria-label="Type"
          placeholder="Any type"
          data={[...types]}
          clearable
          value={type || null}
          onChange={(next) => change({ type: next ?? undefined })}
          w={150}
        />
      </Row>
      <Table
        label="Groups"
        list={list}
        idOf={(group) => group.guid}
        onOpen={(group) => void navigate({ to: groupAddress(appId, group.guid) })}
        empty={q === '' ? 'There are no groups.' : `No group is found by “${q}”.`}
        columns={[
          {
            label: 'Name',
            width: '2fr',
            cell: (group) => <PageLink to={groupAddress(appId, group.guid)}>{group.name}</PageLink>,
          },
          { label: 'Group ID', width: '1.5fr', cell: (group) => group.guid },
          { label: 'Type', width: '7rem', cell: (group) => group.type },
          { label: 'Members', width: '6rem', cell: (group) => group.membersCount },
          { label: 'Owner', cell: (group) => group.owner },
          { label: 'Created', width: '11rem', cell: (group) => <Time at={group.createdAt} /> },
        ]}
      />
    </Page>
  )
}

/** One group: what it is, who is in it, who is banned, what each scope may do. */
export function GroupPage() {
  const { appId } = useApp()
  const { guid } = useParams({ strict: false }) as { guid: string }
  const [{ tab = 'members' }, change] = useAddress()
  const group = useQuery(groupOf(appId, guid))
  const known = group.data
  if (group.isError && known === undefined) {
    return (
      <Page title={guid}>
        <Problem error={group.error} onRetry={() => void group.refetch()} />
      </Page>
    )
  }
  return (
    <Page
      title={known?.name ?? guid}
      hint={known === undefined ? guid : `${guid} · ${known.type}`}
      actions={known !== undefined && <Actions group={known} />}
    >
      <Tabs value={tab} onChange={(next) => change({ tab: next ?? undefined })} keepMounted={false}>
        <Tabs.List>
          <Tabs.Tab value="members">Members</Tabs.Tab>
          <Tabs.Tab value="bans">Bans</Tabs.Tab>
          <Tabs.Tab value="permissions">Permissions</Tabs.Tab>
          <Tabs.Tab value="retention">Retention</Tabs.Tab>
          <Tabs.Tab value="profile">Profile</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="members" pt="md">
          <Members guid={guid} group={known} />
        </Tabs.Panel>
        <Tabs.Panel value="bans" pt="md">
          <Bans guid={guid} />
        </Tabs.Panel>
        <Tabs.Panel value="permissions" pt="md">
          <Permissions guid={guid} />
        </Tabs.Panel>
        <Tabs.Panel value="retention" pt="md">
          <RetentionOfGroup guid={guid} />
        </Tabs.Panel>
        <Tabs.Panel value="profile" pt="md">
          <Loaded query={group}>{(group) => <Profile group={group} />}</Loaded>
        </Tabs.Panel>
      </Tabs>
    </Page>
  )
}

function Actions({ group }: { readonly group: Group }) {
  const { appId, client } = useApp()
  const can = useCan()
  const act = useAct()
  const save = useSave()
  const navigate = useNavigate()
  const { guid } = group
  const refresh = [
    ['group', appId, guid],
    ['groups', appId],
  ]
  const remove = async () => {
    const deleted = await act({
      run: () => client.groups.delete({ guid }),
      done: `${group.name} was deleted`,
      refresh: [['groups', appId]],
      question: {
        title: `Delete ${group.name}?`,
        text: 'The group, its members and its messages are deleted. This cannot be undone.',
        label: 'Delete',
        typed: guid,
      },
    })
    if (deleted !== undefined) await navigate({ to: `/apps/${encodeURIComponent(appId)}/groups` })
  }
  return (
    <>
      <Button
        component={Link}
        variant="default"
        to={`/apps/${encodeURIComponent(appId)}/conversations/group_${encodeURIComponent(guid)}`}
      >
        Messages
      </Button>
      {can('manage') && (
        <>
          <FormButton
            button="Edit"
            variant="default"
            title={`Edit ${group.name}`}
            fields={profile}
            initial={{ ...group }}
            changesOnly
            onSubmit={(values) =>
              save({ run: () => client.groups.update({ guid, ...values }), done: 'The group was changed', refresh })
            }
          />
          <FormButton
            button="Change the owner"
            variant="default"
            title="Change the owner"
            fields={[
              { name: 'owner', label: 'User ID of the new owner', hint: 'A member of the group', required: true },
            ]}
            onSubmit={(values) =>
              save({
                run: () => client.call('PATCH /groups/{guid}/owner', { guid, owner: String(values.owner) }),
                done: 'The group has a new owner',
                refresh: [...refresh, ['members', appId, guid]],
              })
            }
          />
          <Button variant="light" color="red" onClick={() => void remove()}>
            Delete
          </Button>
        </>
      )}
    </>
  )
}

function Members({ guid, group }: { readonly guid: string; readonly group: Group | undefined }) {
  const { appId, client } = useApp()
  const can = useCan()
  const act = useAct()
  const save = useSave()
  const [address, change] = useAddress()
  const { scope = '' } = address
  const list = useRows(...membersOf(appId, guid, address))
  const refresh = [
    ['members', appId, guid],
    ['group', appId, guid],
    ['bans', appId, guid],
  ]
  const add = ({ uids, as }: Values) =>
    save({
      run: async () => {
        const outcome = await client.call('POST /groups/{guid}/members', { guid, [`${as}s`]: uids as string[] })
        const refused = Object.entries(Object.values(outcome)[0] ?? {}).filter(([, { success }]) => success !== true)
        if (refused.length > 0)
          throw new Error(`Not added: ${refused.map(([uid, { error }]) => `${uid} (${error?.message})`).join(', ')}`)
      },
      done: 'Added to the group',
      refresh,
    })
  const setScope = ({ uid }: Member, next: Member['scope']) =>
    act({
      run: () => client.call('PUT /groups/{guid}/members/{uid}', { guid, uid, scope: next }),
      done: `${uid} is a ${next} now`,
      refresh,
    })
  const kick = ({ uid, name }: Member) =>
    act({
      run: () => client.call('DELETE /groups/{guid}/members/{uid}', { guid, uid }),
      done: `${name} was kicked`,
      refresh,
      question: { title: `Kick ${name}?`, text: 'They leave the group, and can join again.', label: 'Kick' },
    })
  const ban = ({ uid, name }: Member) =>
    act({
      run: () => client.call('POST /groups/{guid}/bannedusers/{uid}', { guid, uid }),
      done: `${name} was banned`,
      refresh,
      question: {
        title: `Ban ${name}?`,
        text: 'They leave the group, and cannot join again until unbanned.',
        label: 'Ban',
      },
    })
  return (
    <Section
      title={group === undefined ? 'Members' : countOf(group.membersCount ?? 0, 'member')}
      actions={
        can('manage') && (
          <FormButton
            button="Add members"
            size="xs"
            title="Add members"
            verb="Add"
            fields={[
              { name: 'uids', label: 'User IDs', kind: 'tags', required: true },
              { name: 'as', label: 'Scope', kind: 'choice', options: scopes, required: true },
            ]}
            initial={{ as: 'participant' }}
            onSubmit={add}
          />
        )
      }
    >
      <Row>
        <AddressInput aria-label="Search among the members" placeholder="Name or user ID" name="q" />
        <Select
          aria-label="Scope"
          placeholder="Any scope"
          data={[...scopes]}
          clearable
          value={scope || null}
          onChange={(next) => change({ scope: next ?? undefined })}
          w={150}
        />
      </Row>
      <Table
        label="Members"
        list={list}
        idOf={(member) => member.uid}
        empty="Nobody is found."
        height="max(16rem, calc(100dvh - 22rem))"
        columns={[
          { label: 'Name', width: '2fr', cell: (member) => <UserLink appId={appId} user={member} /> },
          { label: 'User ID', cell: (member) => member.uid },
          {
            label: 'Scope',
            width: '8rem',
            cell: ({ uid, scope }) => (uid === group?.owner ? `${scope}, owner` : scope),
          },
          { label: 'Joined', width: '11rem', cell: (member) => <Time at={member.joinedAt} /> },
          {
            label: 'Actions',
            width: '7rem',
            isShown: can('manage') || can('moderate'),
            cell: (member) => (
              <RowMenu label="Change" name={`Change ${member.name}`} width={190}>
                {can('manage') &&
                  scopes
                    .filter((one) => one !== member.scope)
                    .map((one) => (
                      <Menu.Item key={one} onClick={() => void setScope(member, one)}>
                        Make {one}
                      </Menu.Item>
                    ))}
                {can('moderate') && <Menu.Item onClick={() => void kick(member)}>Kick</Menu.Item>}
                {can('moderate') && (
                  <Menu.Item color="red" onClick={() => void ban(member)}>
                    Ban
                  </Menu.Item>
                )}
              </RowMenu>
            ),
          },
        ]}
      />
    </Section>
  )
}

function Bans({ guid }: { readonly guid: string }) {
  const { appId, client } = useApp()
  const can = useCan()
  const act = useAct()
  const save = useSave()
  const list = useRows(['bans', appId, guid], (place) =>
    client.call('GET /groups/{guid}/bannedusers', { guid, perPage: 100, ...place }),
  )
  const ban = ({ uid }: Values) =>
    save({
      run: () => client.call('POST /groups/{guid}/bannedusers/{uid}', { guid, uid: String(uid) }),
      done: `${uid} was banned`,
      refresh: [
        ['bans', appId, guid],
        ['members', appId, guid],
        ['group', appId, guid],
      ],
    })
  return (
    <Section
      title="Who cannot join"
      actions={
        can('moderate') && (
          <FormButton
            button="Ban somebody"
            size="xs"
            variant="default"
            title="Ban somebody"
            verb="Ban"
            fields={[{ name: 'uid', label: 'User ID', hint: 'Also of somebody who is no member', required: true }]}
            onSubmit={ban}
          />
        )
      }
    >
      <Table
        label="Bans"
        list={list}
        idOf={(user) => user.uid}
        empty="Nobody is banned."
        columns={[
          { label: 'Name', width: '2fr', cell: (user) => <UserLink appId={appId} user={user} /> },
          { label: 'User ID', cell: (user) => user.uid },
          {
            label: 'Action',
            width: '8rem',
            isShown: can('moderate'),
            cell: ({ uid, name }) => (
              <Button
                size="compact-xs"
                variant="default"
                onClick={() =>
                  void act({
                    run: () => client.call('DELETE /groups/{guid}/bannedusers/{uid}', { guid, uid }),
                    done: `${name} can join again`,
                    of: uid,
                    refresh: [['bans', appId, guid]],
                  })
                }
              >
                Unban
              </Button>
            ),
          },
        ]}
      />
    </Section>
  )
}

function Permissions({ guid }: { readonly guid: string }) {
  const [{ of = 'participant' }, change] = useAddress()
  return (
    <Section
      title="What each scope may do in this group"
      actions={
        <Select
          aria-label="Scope"
          size="xs"
          data={[...scopes]}
          value={of}
          allowDeselect={false}
          onChange={(next) => change({ of: next ?? undefined })}
        />
      }
    >
      <PermissionsOf key={of} guid={guid} scope={of} />
    </Section>
  )
}

type Permission = Result<'GET /groups/{guid}/scopes/{scope}/permissions'>['data'][number]

function PermissionsOf({ guid, scope }: { readonly guid: string; readonly scope: string }) {
  const { appId, client } = useApp()
  const can = useCan()
  const save = useSave()
  const act = useAct()
  const key = ['scope-permissions', appId, guid, scope]
  const list = useRows<Permission>(key, (place) =>
    client.groups.permissions.list({ guid, scope, perPage: 100, ...place }),
  )
  const set = (id: string, value: unknown) =>
    save({
      run: () => client.groups.permissions.set({ guid, scope, permissions: { [id]: value } }),
      done: 'The permission was changed',
      refresh: [key],
    })
  const unset = (permission: string) =>
    act({
      run: () => client.groups.permissions.unset({ guid, scope, permission }),
      done: 'The permission is as by default',
      of: permission,
      refresh: [key],
    })
  return (
    <Table
      label={`Permissions of ${scope}`}
      list={list}
      idOf={({ id }) => id}
      empty="There are none."
      height="max(16rem, calc(100dvh - 20rem))"
      columns={[
        {
          label: 'Permission',
          width: '3fr',
          cell: ({ title, description }) => (
            <Text size="sm" span title={description}>
              {title}
            </Text>
          ),
        },
        { label: 'Value', width: '1.5fr', cell: ({ value, defaultValue }) => shown(value ?? defaultValue) },
        { label: 'Default', width: '1.5fr', cell: ({ defaultValue }) => shown(defaultValue) },
        {
          label: 'Action',
          width: '11rem',
          isShown: can('configure'),
          cell: ({ id, title, dataType, availableValues, value, defaultValue }) => (
            <Row gap={4} wrap="nowrap">
              <FormButton
                button="Change"
                size="compact-xs"
                variant="default"
                title={title}
                fields={[
                  {
                    name: 'value',
                    label: title,
                    kind: dataType === 'string' ? 'choice' : 'choices',
                    options: availableValues,
                  },
                ]}
                initial={{ value: value ?? defaultValue }}
                onSubmit={({ value }) => set(id, value)}
              />
              {value !== undefined && (
                <Button size="compact-xs" variant="default" onClick={() => void unset(id)}>
                  Default
                </Button>
              )}
            </Row>
          ),
        },
      ]}
    />
  )
}

function shown(value: string | string[]): string {
  return Array.isArray(value) ? value.join(', ') || 'none' : value
}

function Profile({ group }: { readonly group: Group }) {
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }}>
      <Paper withBorder p="sm">
        <Facts
          facts={{
            Name: group.name,
            'Group ID': group.guid,
            Type: group.type,
            Owner: group.owner,
            Description: group.description,
            Tags: group.tags?.join(', '),
            Icon: group.icon,
            Members: group.membersCount,
            Created: <Time at={group.createdAt} />,
            Changed: <Time at={group.updatedAt} />,
          }}
        />
      </Paper>
      {group.metadata !== undefined && (
        <Section title="Metadata">
          <Json value={group.metadata} />
        </Section>
      )}
    </SimpleGrid>
  )
}
