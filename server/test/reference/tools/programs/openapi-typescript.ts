import createClient from 'openapi-fetch'
import type { components, paths } from '../generated/openapi.js'
import { baseUrl, headers, mine, same } from './settings.js'

// What the two main calls answer has one type, and one name.
type Message = components['schemas']['Message']
type User = components['schemas']['User']

const client = createClient<paths>({ baseUrl, headers })
const alice = `${mine}-alice`
const bob = `${mine}-bob`
const guid = `${mine}-team`
const asAlice = { header: { onBehalfOf: alice } }
const asBob = { header: { onBehalfOf: bob } }

/** The answer to a call that must succeed. */
async function ok<Data>(call: Promise<{ data?: Data; error?: components['schemas']['Error'] }>): Promise<Data> {
  const { data, error } = await call
  if (data === undefined) throw new Error(error?.error.devMessage ?? 'no answer')
  return data
}

const created = await ok(client.POST('/users', { body: { uid: alice, name: 'Alice' } }))
same(created.data.uid, alice)
await ok(client.POST('/users', { body: { uid: bob, name: 'Bob' } }))
const user: User = (await ok(client.GET('/users/{uid}', { params: { path: { uid: bob } } }))).data
same(user.name, 'Bob')
const renamed = await ok(client.PUT('/users/{uid}', { params: { path: { uid: bob } }, body: { name: 'Robert' } }))
same(renamed.data.name, 'Robert')
const users = await ok(client.GET('/users', { params: { query: { searchKey: mine, perPage: 10 } } }))
same(users.data.length, 2)
same(users.meta.pagination.total, 2)
const login = await ok(client.POST('/users/{uid}/auth_tokens', { params: { path: { uid: alice } }, body: {} }))

const group = await ok(client.POST('/groups', { body: { guid, name: 'Team', type: 'public', owner: alice } }))
same(group.data.owner, alice)
const added = await ok(
  client.POST('/groups/{guid}/members', { params: { path: { guid } }, body: { participants: [bob] } }),
)
same(added.data.participants?.[bob]?.success, true)
const members = await ok(client.GET('/groups/{guid}/members', { params: { path: { guid } } }))
same(
  members.data
    .map(({ scope }) => scope)
    .sort()
    .join(),
  'admin,participant',
)

const sent = await ok(
  client.POST('/messages', {
    params: asAlice,
    body: { receiver: bob, receiverType: 'user', data: { text: 'Shall we meet at six?' } },
  }),
)
const message: Message = sent.data
const { id } = message
same(message.sender, alice)
await ok(
  client.POST('/messages', { params: asBob, body: { receiver: guid, receiverType: 'group', data: { text: 'Hello' } } }),
)
const talk = await ok(
  client.GET('/users/{uid}/messages', { params: { ...asBob, path: { uid: alice }, query: { affix: 'prepend' } } }),
)
const messages: Message[] = talk.data
same(messages[0]?.id, id)
same(talk.meta.current.count, 1)
const inGroup = await ok(client.GET('/groups/{guid}/messages', { params: { ...asAlice, path: { guid } } }))
same(inGroup.data.at(-1)?.sender, bob)
const one = await ok(client.GET('/messages/{id}', { params: { ...asBob, path: { id } } }))
same(one.data.id, id)
const edit = await ok(
  client.PUT('/messages/{id}', { params: { ...asAlice, path: { id } }, body: { data: { text: 'At seven?' } } }),
)
same(edit.data.category, 'action')
const reply = await ok(
  client.POST('/messages/{id}/thread', { params: { ...asBob, path: { id } }, body: { data: { text: 'Gladly' } } }),
)
same(reply.data.parentId, id)
const thread = await ok(client.GET('/messages/{id}/thread', { params: { ...asAlice, path: { id } } }))
same(thread.data.length, 1)
const reacted = await ok(
  client.POST('/messages/{id}/reactions/{reaction}', { params: { ...asBob, path: { id, reaction: '👍' } } }),
)
same(reacted.data.reactions?.[0]?.count, 1)
await ok(client.POST('/users/{uid}/conversation/read', { params: { ...asAlice, path: { uid: bob } }, body: {} }))
const conversations = await ok(client.GET('/conversations', { params: { ...asAlice, query: { perPage: 10 } } }))
same(conversations.data.length, 2)
const blocked = await ok(client.POST('/blockedusers', { params: asAlice, body: { blockedUids: [bob] } }))
same(blocked.data[bob]?.success, true)
await ok(client.DELETE('/messages/{id}', { params: { ...asAlice, path: { id } }, body: {} }))

const front = createClient<paths>({ baseUrl, headers: { appId: headers.appId, authToken: login.data.authToken } })
const me = await ok(front.GET('/me'))
same(me.data.uid, alice)

// An error has a code, and what is missing does not compile.
const unknown = await client.GET('/users/{uid}', { params: { path: { uid: 'nobody' } } })
same<string | undefined>(unknown.error?.error.code, 'ERR_UID_NOT_FOUND')
// @ts-expect-error the receiver is missing
void (() => client.POST('/messages', { body: { receiverType: 'user', data: { text: 'x' } } }))
// @ts-expect-error nobody is called a "channel"
void (() => client.POST('/messages', { body: { receiver: bob, receiverType: 'channel', data: { text: 'x' } } }))
// @ts-expect-error the body is missing
void (() => client.POST('/users'))

console.log('done')
