import {
  type AnswerOf,
  type AppSettings,
  addFriends as addFriendsOperation,
  listFriends,
  listMyFriends,
  type Operation,
  type QueryOf,
  removeFriends as removeFriendsOperation,
  tooManyUsers,
} from '@parley/contract'
import { type Call, serve } from '../../call.ts'
import { requireUser } from '../../chat/users/require.ts'
import { showUsers } from '../../chat/users/view.ts'
import type { Context } from '../../context.ts'
import { pageMeta, readPage, syncCursor } from '../../paging.ts'
import { addFriends, removeFriends, selectFriendsOf } from './friends.ts'

export const operations = [
  serve(addFriendsOperation, async ({ app, params, body }, { database, settings }) => {
    const uid = params.uid.toLowerCase()
    const { accepted = [], addToConversations = false } = body
    const limits = await settings.of(app.appId)
    requireFew('accepted', accepted, limits)
    return { data: { accepted: await addFriends(database, app.appId, uid, accepted, addToConversations, limits) } }
  }),

  serve(listFriends, async (call, context) => {
    const { uid } = await requireUser(context.database, call.app.appId, call.params.uid)
    return list(context, call, uid, call.query)
  }),

  serve(removeFriendsOperation, async ({ app, params, body }, { database, settings }) => {
    requireFew('friends', body.friends ?? [], await settings.of(app.appId))
    const { uid } = await requireUser(database, app.appId, params.uid)
    await removeFriends(database, app.appId, uid, body.friends ?? [])
    return { data: { success: true, message: `Friends of ${uid} were removed.` } }
  }),

  serve(listMyFriends, (call, context) => list(context, call, call.actor.uid, call.query)),
]

/** @throws 400 for more users than one request can name */
function requireFew(member: 'accepted' | 'friends', uids: readonly string[], limits: AppSettings): void {
  const { maxFriendsPerRequest: most } = limits
  if (most !== 0 && uids.length > most) throw tooManyUsers(`body/${member}`, uids.length, most)
}

async function list(
  { database }: Context,
  { app, caller }: Pick<Call<Operation>, 'app' | 'caller'>,
  uid: string,
  query: QueryOf<typeof listFriends>,
): Promise<AnswerOf<typeof listFriends>> {
  const page = readPage(query, caller)
  const { users, total } = await selectFriendsOf(database, app.appId, uid, query, page)
  const data = await showUsers(database, app.appId, uid, users, { seenByApp: caller.kind === 'app' })
  const cursor = syncCursor(users)
  return { data, meta: { ...pageMeta(page, total, data.length), ...(cursor && { cursor }) } }
}
