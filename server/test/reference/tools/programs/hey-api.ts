import { client } from '../generated/hey/client.gen.js'
import type { Message, User } from '../generated/hey/index.js'
import * as parley from '../generated/hey/index.js'
import { baseUrl, headers, mine, same } from './settings.js'

client.setConfig({ baseUrl, headers })
const alice = `${mine}-alice`
const bob = `${mine}-bob`
const guid = `${mine}-team`
const asAlice = { headers: { onBehalfOf: alice }, throwOnError: true } as const
const asBob = { headers: { onBehalfOf: bob }, throwOnError: true } as const
const asApp = { throwOnError: true } as const

const created = await parley.createUser({ ...asApp, body: { uid: alice, name: 'Alice' } })
same(created.data.data.uid, alice)
await parley.createUser({ ...asApp, body: { uid: bob, name: 'Bob' } })
const user: User = (await parley.getUser({ ...asApp, path: { uid: bob } })).data.data
same(user.name, 'Bob')
const renamed = await parley.updateUser({ ...asApp, path: { uid: bob }, body: { name: 'Robert' } })
same(renamed.data.data.name, 'Robert')
const users = await parley.listUsers({ ...asApp, query: { searchKey: mine, perPage: 10 } })
same(users.data.data.length, 2)
same(users.data.meta.pagination.total, 2)
const login = await parley.createAuthtoken({ ...asApp, path: { uid: alice }, body: {} })

const group = await parley.createGroup({ ...asApp, body: { guid, name: 'Team', type: 'public', owner: alice } })
same(group.data.data.owner, alice)
const added = await parley.addGroupMembers({ ...asApp, path: { guid }, body: { participants: [bob] } })
same(added.data.data.participants?.[bob]?.success, true)
const members = await parley.listGroupMembers({ ...asApp, path: { guid } })
same(
  members.data.data
    .map(({ scope }) => scope)
    .sort()
    .join(),
  'admin,participant',
)

const sent = await parley.sendMessage({
  ...asAlice,
  body: { receiver: bob, receiverType: 'user', data: { text: 'Shall we meet at six?' } },
})
const message: Message = sent.data.data
const { id } = message
same(message.sender, alice)
await parley.sendMessage({ ...asBob, body: { receiver: guid, receiverType: 'group', data: { text: 'Hello' } } })
const talk = await parley.userListUserMessages({ ...asBob, path: { uid: alice }, query: { affix: 'prepend' } })
const messages: Message[] = talk.data.data
same(messages[0]?.id, id)
same(talk.data.meta.current.count, 1)
const inGroup = await parley.userListGroupMessages({ ...asAlice, path: { guid } })
same(inGroup.data.data.at(-1)?.sender, bob)
const one = await parley.getMessageDetails({ ...asBob, path: { id } })
same(one.data.data.id, id)
const edit = await parley.updateMessage({ ...asAlice, path: { id }, body: { data: { text: 'At seven?' } } })
same(edit.data.data.category, 'action')
const reply = await parley.sendThreadMessage({ ...asBob, path: { id }, body: { data: { text: 'Gladly' } } })
same(reply.data.data.parentId, id)
const thread = await parley.listAllThreadMessages({ ...asAlice, path: { id } })
same(thread.data.data.length, 1)
const reacted = await parley.addMessageReactions({ ...asBob, path: { id, reaction: '👍' } })
same(reacted.data.data.reactions?.[0]?.count, 1)
await parley.markConversationAsRead({ ...asAlice, path: { uid: bob }, body: {} })
const conversations = await parley.listAllConversations({ ...asAlice, query: { perPage: 10 } })
same(conversations.data.data.length, 2)
const blocked = await parley.blockUsersAsMe({ ...asAlice, body: { blockedUids: [bob] } })
same(blocked.data.data[bob]?.success, true)
await parley.deleteMessage({ ...asAlice, path: { id }, body: {} })

client.setConfig({ baseUrl, headers: { apikey: null, appId: headers.appId, authToken: login.data.data.authToken } })
const me = await parley.getMe({ throwOnError: true })
same(me.data.data.uid, alice)

// An error has a code, and what is missing does not compile.
client.setConfig({ baseUrl, headers })
const unknown = await parley.getUser({ path: { uid: 'nobody' } })
same<string | undefined>(unknown.error?.error.code, 'ERR_UID_NOT_FOUND')
// @ts-expect-error the receiver is missing
void (() => parley.sendMessage({ body: { receiverType: 'user', data: { text: 'x' } } }))
// @ts-expect-error nobody is called a "channel"
void (() => parley.sendMessage({ body: { receiver: bob, receiverType: 'channel', data: { text: 'x' } } }))
// @ts-expect-error the body is missing
void (() => parley.createUser())

console.log('done')
