import type { Queryable } from '../../store/database.ts'
import { lookup } from '../../store/lookups.ts'
import { statement } from '../../store/statement.ts'
import { type ConversationKind, kindSql, storedKind } from '../kind.ts'
import { orderPair } from '../naming.ts'

/** What identifies a conversation, and where its history ends. */
export interface FoundConversation {
  readonly key: number
  readonly kind: ConversationKind
  readonly first: string
  readonly second: string
  readonly lastSentAt: number | null
  readonly lastId: number | null
  /** For the contract it exists: it has a message, and was not deleted for everybody since. */
  readonly exists: boolean
}

const columns = `c.key, ${kindSql('c.kind')} as kind, c.first, c.second, c.last_sent_at as "lastSentAt", c.last_id as "lastId",
  c.listed_id is not null as exists`

type Parts = Pick<FoundConversation, 'kind' | 'first' | 'second'>

const selectByParts = lookup<Parts>(
  statement(`
  select ${columns}
  from unnest($2::smallint[], $3::text[], $4::text[]) as wanted(kind, first, second)
  join conversations c
    on c.app_id = $1 and c.kind = wanted.kind and c.first = wanted.first and c.second = wanted.second`),
  ({ kind, first, second }) => [storedKind(kind), first, second],
)

async function findByParts(on: Queryable, appId: number, parts: readonly Parts[]): Promise<FoundConversation[]> {
  if (parts.length === 0) return []
  return on.query<FoundConversation>(selectByParts, [
    appId,
    parts.map(({ kind }) => storedKind(kind)),
    parts.map(({ first }) => first),
    parts.map(({ second }) => second),
  ])
}

/** The conversation between two users, whether it has messages or not. */
export async function findUserConversation(
  on: Queryable,
  appId: number,
  a: string,
  b: string,
): Promise<FoundConversation | undefined> {
  const [first, second] = orderPair(a, b)
  const [row] = await findByParts(on, appId, [{ kind: 'user', first, second }])
  return row
}

/** The conversation of a group, whether it has messages or not. */
export async function findGroupConversation(
  on: Queryable,
  appId: number,
  guid: string,
): Promise<FoundConversation | undefined> {
  const [row] = await findByParts(on, appId, [{ kind: 'group', first: guid, second: '' }])
  return row
}

/** The conversations that a name on the wire may mean: several, since `a_user_b_user_c` can be cut in two places. */
export function findNamedConversations(on: Queryable, appId: number, name: string): Promise<FoundConversation[]> {
  return findByParts(on, appId, candidatesOf(name.toLowerCase()))
}

/** Two uids, with the marks of those that were given to somebody else since. Each place of a longer name would be asked for, with all of it. */
const longestName = 300

/** Every reading of a conversation id: `group_<guid>`, or two uids in byte order around one of its `_user_`. */
function candidatesOf(name: string): Parts[] {
  if (name.length > longestName) return []
  const candidates: Parts[] = []
  if (name.startsWith('group_')) candidates.push({ kind: 'group', first: name.slice('group_'.length), second: '' })
  const separator = '_user_'
  for (let at = name.indexOf(separator); at !== -1; at = name.indexOf(separator, at + 1)) {
    const first = name.slice(0, at)
    const second = name.slice(at + separator.length)
    if (first !== '' && second !== '' && first <= second) candidates.push({ kind: 'user', first, second })
  }
  return candidates
}
