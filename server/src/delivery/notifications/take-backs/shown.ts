import { mayBeShownSql } from '../../../chat/notifications/shown.ts'
import { nowMs } from '../../../store/clock.ts'

/** Of what was sent to a user on all their devices, the newest that are looked at: devices show fewer by far. */
const mostLookedAt = 500

/** Whether a notification `d` was taken back on its device, by a delivery for which `condition` holds, whose name is `b`. */
export const takenBackSql = (condition: string) => `exists (
      select
      from notification_deliveries b
      where b.app_id = d.app_id
      and b.uid = d.uid
      and b.trigger = 'messages_read'
      and b.provider = d.provider
      and b.digest is not distinct from d.digest
      and d.message = any(b.messages)
      and ${condition}
    )`

/**
 * Messages that a user has read and that a device of theirs may show still: rows `(message, is_under_way)`. Under way is what
 * has had no answer yet. `$1` is the app; the other expressions name the device.
 */
export const readButShownSql = (device: {
  readonly uid: string
  readonly provider: string
  readonly digest: string
  /** Which takings back `b` count. */
  readonly takenBack: string
}) => `
    select d.message, d.status = 'pending' and d.attempts = 0 as is_under_way
    from (
      select *
      from notification_deliveries
      where app_id = $1
      and uid = ${device.uid}
      order by id desc
      limit ${mostLookedAt}
    ) d
    join messages m on m.app_id = d.app_id and m.id = d.message
    join conversation_states s on s.app_id = d.app_id and s.uid = d.uid and s.conversation = m.conversation
    where d.channel = 'push'
    and d.provider = ${device.provider}
    and d.digest is not distinct from ${device.digest}
    and d.trigger in ('after_message', 'message_edited', 'message_deleted')
    and ${mayBeShownSql}
    and (d.status <> 'pending' or d.attempts > 0 or d.due_at <= ${nowMs})
    and (m.sent_at, m.id) <= (s.read_sent_at, s.read_id)
    and not ${takenBackSql(device.takenBack)}`
