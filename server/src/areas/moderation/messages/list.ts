import type { AnswerOf, listModeratedMessages, Message, QueryOf } from '@parley/contract'
import { sql } from 'kysely'
import { findGroupConversation } from '../../../chat/conversations/find.ts'
import type { App } from '../../../chat/identity.ts'
import { readMessages, type StoredMessage } from '../../../chat/messages/rows.ts'
import { showMessages } from '../../../chat/messages/show.ts'
import { heldTraits, traits } from '../../../chat/messages/traits.ts'
import { notHeldAmong } from '../../../chat/sight/participation.ts'
import { cursorMeta } from '../../../paging.ts'
import type { Database, Queryable } from '../../../store/database.ts'
import type { Fragment } from '../../../store/statement.ts'
import { behind, beyond, messagesOf, pointTo, readingOrder, readPaging, type Source } from '../../messages/index.ts'

type Query = QueryOf<typeof listModeratedMessages>

const defaultLimit = 100

/** A page of the messages that moderation judged, held ones too. @throws 404 for a cursor that was never given */
export async function listJudged(
  database: Database,
  app: App,
  query: Query,
): Promise<AnswerOf<typeof listModeratedMessages>> {
  const limit = query.limit ?? defaultLimit
  const paging = await readPaging(database, { appId: app.appId, viewer: undefined }, query, limit)
  const source = await sourceOf(database, app.appId, query)
  const conditions = conditionsOf(query)
  const order = readingOrder(paging)
  const select = (where: Fragment | undefined, most: number) => {
    const page = messagesOf(source, where === undefined ? conditions : [...conditions, where], { order, limit: most })
    return database.run(sql<{ id: number }>`select m.id from (${page}) m order by ${order}`)
  }
  const [found, before] = await Promise.all([
    select(beyond(paging), limit + 1),
    paging.cursor === undefined ? [] : select(behind(paging), 1),
  ])
  const stored = await readMessages(
    database,
    app.appId,
    found.slice(0, limit).map(({ id }) => id),
  )
  const rows = [...stored.values()].sort(byPosition)
  const data: Message[] = await showMessages(database, app.appId, rows, { withTags: true })
  const around = { beyond: found.length > limit, behind: before.length > 0 }
  return { data, meta: cursorMeta(paging, rows, around, (row) => pointTo(paging, row)) }
}

function byPosition(a: StoredMessage, b: StoredMessage): number {
  return a.sentAt - b.sentAt || a.id - b.id
}

/** Where the messages are: in a group, in the conversations of a user and what they said in groups, or anywhere in the app. */
async function sourceOf(on: Queryable, appId: number, { sender, receiverUID, receiverGUID }: Query): Promise<Source> {
  if (receiverGUID !== undefined) {
    const group = await findGroupConversation(on, appId, receiverGUID.toLowerCase())
    return { of: 'conversations', appId, conversations: group === undefined ? [] : [group.key] }
  }
  const uid = receiverUID ?? sender
  return uid === undefined ? { of: 'app', appId } : { of: 'user', appId, uid: uid.toLowerCase() }
}

/** What is held is found by the index `messages_held`. */
function conditionsOf({ sender, receiverUID, receiverGUID, category, type, moderationStatus }: Query): Fragment[] {
  const conditions: Fragment[] = [
    sql`m.traits & ${sql.raw(String(traits.moderated | heldTraits))} <> 0`,
    sql`not m.purged`,
  ]
  if (moderationStatus === 'approved') conditions.push(sql.raw(notHeldAmong('m')))
  else if (moderationStatus !== undefined) {
    const bit = moderationStatus === 'pending' ? traits.pending : traits.disapproved
    conditions.push(sql`m.traits & ${sql.raw(String(heldTraits))} <> 0`, sql`m.traits & ${sql.raw(String(bit))} <> 0`)
  }
  if (sender !== undefined) conditions.push(sql`m.sender = ${sender.toLowerCase()}`)
  if (receiverUID !== undefined) conditions.push(sql`m.kind = 1`, sql`m.receiver = ${receiverUID.toLowerCase()}`)
  if (receiverGUID !== undefined) conditions.push(sql`m.kind = 2`, sql`m.receiver = ${receiverGUID.toLowerCase()}`)
  if (category !== undefined) conditions.push(sql`m.category = ${category}`)
  if (type !== undefined) conditions.push(sql`m.type = ${type}`)
  return conditions
}
