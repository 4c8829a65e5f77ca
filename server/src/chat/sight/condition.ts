import { sql } from 'kysely'
import { allOf, type Fragment } from '../../store/statement.ts'
import { systemUid } from '../apps.ts'
import { type ConversationKind, storedKind } from '../kind.ts'

/** A place in a history: histories are ordered by time, then id. */
export interface Position {
  readonly sentAt: number
  readonly id: number
}

/** A message as far as rules look at it. */
export interface MessageFacts extends Position {
  readonly kind: ConversationKind
  readonly sender: string
  readonly category: string
  readonly type: string
  /** Bits, see `chat/messages/traits.ts`. */
  readonly traits: number
}

/** What a rule may ask about the sender of a message; looked up only where one does. */
export interface SenderFacts {
  readonly role: string | undefined
  /** A friend of the viewer. */
  readonly isFriend: boolean
}

/**
 * A condition on a message, said once as data. `conditionSql` makes SQL of it for lists and counts, `holds` asks it of a
 * message in memory. A rule that needs another kind of condition adds it here, in both.
 */
export type Condition =
  | { readonly is: 'never' }
  | { readonly is: 'categoryIn' | 'typeIn' | 'receiverTypeIn' | 'senderRoleIn'; readonly values: readonly string[] }
  | { readonly is: 'fromFriend' }
  /** Written by the viewer, or by the app itself. */
  | { readonly is: 'ownOrOfApp' }
  /** At this position or after it. */
  | { readonly is: 'from'; readonly position: Position }
  | { readonly is: 'not'; readonly condition: Condition }
  | { readonly is: 'either'; readonly conditions: readonly Condition[] }

/** The condition on messages `m`, as one viewer meets it. */
export function conditionSql(condition: Condition, viewer: string): Fragment {
  switch (condition.is) {
    case 'never':
      return sql`false`
    case 'categoryIn':
      return sql`m.category = any(${condition.values}::text[])`
    case 'typeIn':
      return sql`m.type = any(${condition.values}::text[])`
    case 'receiverTypeIn':
      return sql`m.kind = any(${condition.values.map((kind) => storedKind(kind as ConversationKind))}::smallint[])`
    case 'senderRoleIn':
      return sql`exists (
        select from users u
        where u.app_id = m.app_id and u.uid = m.sender and u.role = any(${condition.values}::text[])
      )`
    case 'fromFriend':
      return sql`exists (
        select from friends f
        where f.app_id = m.app_id and f.uid = ${viewer} and f.friend = m.sender
      )`
    case 'ownOrOfApp':
      return sql`m.sender in (${viewer}, ${systemUid})`
    case 'from':
      return sql`(m.sent_at, m.id) >= (${condition.position.sentAt}::bigint, ${condition.position.id}::bigint)`
    case 'not':
      return sql`not (${conditionSql(condition.condition, viewer)})`
    case 'either':
      return sql`(${sql.join(
        condition.conditions.map((one) => conditionSql(one, viewer)),
        sql` or `,
      )})`
  }
}

/** All of some conditions on messages `m`. */
export function conditionsSql(conditions: readonly Condition[], viewer: string): Fragment {
  return allOf(conditions.map((condition) => conditionSql(condition, viewer)))
}

/** The same condition, asked of a message in memory. */
export function holds(condition: Condition, message: MessageFacts, viewer: string, sender: SenderFacts): boolean {
  switch (condition.is) {
    case 'never':
      return false
    case 'categoryIn':
      return condition.values.includes(message.category)
    case 'typeIn':
      return condition.values.includes(message.type)
    case 'receiverTypeIn':
      return condition.values.includes(message.kind)
    case 'senderRoleIn':
      return sender.role !== undefined && condition.values.includes(sender.role)
    case 'fromFriend':
      return sender.isFriend
    case 'ownOrOfApp':
      return message.sender === viewer || message.sender === systemUid
    case 'from':
      return !isBefore(message, condition.position)
    case 'not':
      return !holds(condition.condition, message, viewer, sender)
    case 'either':
      return condition.conditions.some((one) => holds(one, message, viewer, sender))
  }
}

/** Whether a condition needs to know about the sender of the message. */
export function asksSender(condition: Condition): boolean {
  switch (condition.is) {
    case 'senderRoleIn':
    case 'fromFriend':
      return true
    case 'not':
      return asksSender(condition.condition)
    case 'either':
      return condition.conditions.some(asksSender)
    default:
      return false
  }
}

/** Whether a position lies before another one. */
export function isBefore(a: Position, b: Position): boolean {
  return a.sentAt < b.sentAt || (a.sentAt === b.sentAt && a.id < b.id)
}
