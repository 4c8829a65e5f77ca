import type { NotificationGate } from '@parley/contract'
import { unknownMessage } from '../../chat/messages/read.ts'
import { readMessages } from '../../chat/messages/rows.ts'
import { isHeld } from '../../chat/messages/traits.ts'
import { identifyViewer, readVisible } from '../../chat/sight/sight.ts'
import type { Context } from '../../context.ts'
import type { Queryable } from '../../store/database.ts'
import { statement } from '../../store/statement.ts'

/** A message that an explanation is asked for, as far as that decides what is shown. */
export interface ExplainedMessage {
  readonly id: number
  readonly sender: string
  /** Its place in the history is left, and nothing else. */
  readonly isPurged: boolean
  /** E-mails and SMS may be about it. */
  readonly mayBeListed: boolean
}

const selectMessage = statement(`
  select id, sender, purged as "isPurged",
    countable and category not in ('action', 'call')
      and (category <> 'custom' or coalesce(data ->> 'sendNotification', '') = 'true') as "mayBeListed"
  from messages
  where app_id = $1
  and id = $2`)

/** A deletion is published of what is there no more. */
const selectEvent = statement(`
  select message
  from events
  where app_id = $1
  and id = $2
  and message is not null
  and trigger <> 'message_deleted'`)

/**
 * The message that is asked about, or that an event is about.
 * @returns undefined where an event is about none, or is kept no more
 * @throws 404 `ERR_MESSAGE_ID_NOT_FOUND`
 */
export async function readExplained(
  on: Queryable,
  appId: number,
  { messageId, eventId }: { readonly messageId: number | undefined; readonly eventId: number | undefined },
): Promise<ExplainedMessage | undefined> {
  const [event] =
    messageId === undefined
      ? await on.query<{ message: number }>(selectEvent, [appId, eventId])
      : [{ message: messageId }]
  if (event === undefined) return undefined
  const [found] = await on.query<ExplainedMessage>(selectMessage, [appId, event.message])
  if (found === undefined && messageId !== undefined) throw unknownMessage(messageId)
  return found
}

/** Of a message that is deleted, held by moderation, or hidden from the user, nothing is said but that: the one gate that says so. */
export async function readWithheld(
  { database, policies }: Context,
  appId: number,
  uid: string,
  ids: readonly number[],
): Promise<ReadonlyMap<number, NotificationGate>> {
  const messages = ids.length === 0 ? [] : [...(await readMessages(database, appId, [...new Set(ids)])).values()]
  const visible = await readVisible(database, appId, await identifyViewer(database, policies, appId, uid), messages)
  const gateOf = (value: string): NotificationGate => ({ gate: 'message', value, setBy: 'chat', passes: false })
  return new Map(
    messages.flatMap((message) => {
      const { id, deletedAt } = message
      if (isHeld(message)) return [[id, gateOf('held')]]
      if (deletedAt !== null) return [[id, gateOf('deleted')]]
      return visible.has(id) ? [] : [[id, gateOf('hidden')]]
    }),
  )
}
