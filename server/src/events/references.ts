import type { Group, Message, User } from '@parley/contract'
import { countOnlineMembersOf } from '../chat/groups/online.ts'
import { readGroups, showGroup } from '../chat/groups/rows.ts'
import { type ConversationKind, kindSql } from '../chat/kind.ts'
import { readMessages } from '../chat/messages/rows.ts'
import { showMessages } from '../chat/messages/show.ts'
import { isHeld } from '../chat/messages/traits.ts'
import { conversationId, shownUid } from '../chat/naming.ts'
import { readUsers, showUserOrDeleted } from '../chat/users/rows.ts'
import type { Queryable } from '../store/database.ts'
import { statement } from '../store/statement.ts'

/** What is left of a message that was removed for good, as events show it. */
export type GoneMessage = Pick<Message, 'id'> & Partial<Pick<Message, 'conversationId' | 'sentAt' | 'deletedAt'>>

/** Everything that a page of events refers to, as it is now. */
export interface ResolvedReferences {
  /** As answers show it to no user in particular; undefined for one that was removed for good, or that moderation holds. */
  message(id: number): Message | undefined
  /** The same of one that moderation decided about, held or not. */
  judged(id: number): Message | undefined
  /** Who sent a message; undefined for one that was removed for good, or that moderation holds. */
  senderOf(id: number): string | undefined
  gone(id: number): GoneMessage
  user(uid: string): User
  group(guid: string): Partial<Group>
  /** Has `by` blocked `uid`? */
  hasBlocked(by: string, uid: string): boolean
}

/** What to read. */
export interface References {
  /** Messages that are shown. */
  readonly messages: ReadonlySet<number>
  /** Messages that are shown with what moderation decided about them. */
  readonly judged: ReadonlySet<number>
  /** Messages whose senders are named. */
  readonly senders: ReadonlySet<number>
  readonly uids: ReadonlySet<string>
  readonly guids: ReadonlySet<string>
  /** Pairs of users between whom blocks are looked up: who receives a receipt, and whose receipt it is. */
  pairs(senderOf: ResolvedReferences['senderOf']): ReadonlyArray<readonly [string, string]>
}

const selectGone = statement(`
  select m.id, m.sent_at as "sentAt", ${kindSql('c.kind')} as kind, c.first, c.second
  from messages m
  join conversations c on c.app_id = m.app_id and c.key = m.conversation
  where m.app_id = $1
  and m.id = any($2::bigint[])`)

const selectBlocks = statement(`
  select b.blocker, b.blocked
  from (select distinct * from unnest($2::text[], $3::text[]) as p(blocker, blocked)) p
  join blocks b on b.app_id = $1 and b.blocker = p.blocker and b.blocked = p.blocked`)

interface GoneRow {
  readonly id: number
  readonly sentAt: number
  readonly kind: ConversationKind
  readonly first: string
  readonly second: string
}

/** Reads what events refer to: one read for each kind of entity, however many events there are. */
export async function resolveReferences(on: Queryable, appId: number, wanted: References): Promise<ResolvedReferences> {
  const named = [...wanted.messages, ...wanted.judged, ...wanted.senders]
  const stored = await readMessages(on, appId, named)
  const held = new Set([...stored.values()].flatMap((row) => (isHeld(row) ? row.id : [])))
  const senderOf = (id: number) => (held.has(id) ? undefined : stored.get(id)?.sender)
  const rows = [...stored.values()].filter(({ id }) => wanted.messages.has(id) || wanted.judged.has(id))
  const missing = named.filter((id) => !stored.has(id) || held.has(id))
  const pairs = wanted.pairs(senderOf)
  const [shown, gone, users, groups, online, blocks] = await Promise.all([
    showMessages(on, appId, rows),
    missing.length === 0 ? [] : on.query<GoneRow>(selectGone, [appId, missing]),
    readUsers(on, appId, wanted.uids),
    readGroups(on, appId, wanted.guids),
    countOnlineMembersOf(on, appId, wanted.guids),
    readBlocks(on, appId, pairs),
  ])
  const messageOf = new Map(rows.map((row, i) => [row.id, shown[i] as Message]))
  const goneOf = new Map(gone.map((row) => [row.id, row]))
  return {
    message: (id) => (held.has(id) ? undefined : messageOf.get(id)),
    judged: (id) => messageOf.get(id),
    senderOf(id) {
      const sender = senderOf(id)
      return sender === undefined ? undefined : shownUid(sender)
    },
    gone(id) {
      const row = goneOf.get(id)
      if (row === undefined) return { id: String(id) }
      return { id: String(id), conversationId: conversationId(row.kind, row.first, row.second), sentAt: row.sentAt }
    },
    user: (uid) => showUserOrDeleted(uid, users.get(uid)),
    group(guid) {
      const row = groups.get(guid)
      if (row === undefined) return { guid, conversationId: conversationId('group', guid, '') }
      return { ...showGroup(row), onlineMembersCount: online.get(guid) ?? 0 }
    },
    hasBlocked: (by, uid) => blocks.has(`${by} ${uid}`),
  }
}

/** Both ways, for each pair. */
async function readBlocks(
  on: Queryable,
  appId: number,
  pairs: ReadonlyArray<readonly [string, string]>,
): Promise<ReadonlySet<string>> {
  if (pairs.length === 0) return new Set()
  const both = pairs.flatMap(([a, b]) => [[a, b] as const, [b, a] as const])
  const rows = await on.query<{ blocker: string; blocked: string }>(selectBlocks, [
    appId,
    both.map(([blocker]) => blocker),
    both.map(([, blocked]) => blocked),
  ])
  return new Set(rows.map(({ blocker, blocked }) => `${blocker} ${blocked}`))
}
