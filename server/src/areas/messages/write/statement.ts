import { insertIntoEvents, storedDataSql } from '../../../chat/events/stored.ts'
import { writeUsesSql } from '../../../chat/messages/file-uses.ts'
import { heldTraits, traits } from '../../../chat/messages/traits.ts'
import { writeRecordsSql } from '../../../chat/moderation/records.ts'
import { notHeldAmong } from '../../../chat/sight/participation.ts'
import { type Asked, joins, refusalOf } from '../../../chat/writing/rules.ts'
import { type Statement, statement } from '../../../store/statement.ts'
import { judgedRows, sentRows, tracedRows } from './columns.ts'
import { eventBits } from './row.ts'

/** What the messages of a batch have, one or the other of them; all else is not looked for. */
export interface Needs {
  /** Is sent to a group. */
  readonly groups: boolean
  /** Replies to a message. */
  readonly replies: boolean
  /** Its sender's role may forbid it. */
  readonly roles: boolean
  /** Has a muid, and may be stored already. */
  readonly muids: boolean
  /** Somebody hears of it. */
  readonly subscribed: boolean
  /** Mentions somebody, and that is published. */
  readonly mentions: boolean
  /** Uses files that are kept here. */
  readonly files: boolean
  /** Moderation holds it, or has something else to write beside it. */
  readonly moderated: boolean
  /** It is traced, and its events lead to it. */
  readonly traced: boolean
}

const when = (isNeeded: boolean, sql: string) => (isNeeded ? sql : '')

/** Of the rules of writing, those of a send: whom it is for must be there, and the conversation that it goes to. */
const asked = ({ groups, roles, replies }: Needs): Asked => {
  return { groups, roles, replies, isNew: true, conversation: 'there' }
}

const isNotImported = `
      and case when muid is null then true else not exists (
        select from messages i
        where i.app_id = checked.app_id and i.muid = checked.muid and i.imported
        and i.sender = checked.sender and i.conversation = checked.conversation
      ) end`

const unlessKnown = `
    on conflict (app_id, muid, sender, conversation) where muid is not null and not imported do nothing
    returning id`

const receiptData = storedDataSql('message_read_receipt', {
  kind: 'd.kind',
  first: 'd.first',
  second: 'd.second',
  uid: 'd.sender',
  at: '$1::bigint',
})

/** What was decided in this process is published at once; what waits is published when it is decided. */
const verdicts = `
      union all
      select id, 4, app_id, v.trigger, conversation, id, '{}'
      from stored
      cross join lateral (
        select case
          when traits & ${traits.disapproved} <> 0 and subscribed & ${eventBits.blocked} <> 0 then 'moderation_engine_blocked'
          when traits & ${traits.moderated | heldTraits} = ${traits.moderated} and subscribed & ${eventBits.approved} <> 0
            then 'moderation_engine_approved'
        end as trigger
      ) v
      where v.trigger is not null`

/** Uids that a text mentions may be nobody's. */
const mentionsOf = (published: string, data: string) => `
      union all
      select id, 3, app_id, 'user_mentioned', conversation, id, ${data}
      from ${published} o
      where subscribed & ${eventBits.mentioned} <> 0
      and case when mentioned is null then false else exists (
        select from users u
        where u.app_id = o.app_id and u.uid = any(o.mentioned::text[])
      ) end`

/**
 * What a sender received by sending is published as marks are (conversations/marks.ts): by the newest message of others
 * that is covered now and was not before, be it of this batch. It comes before the message.
 */
const events = ({ mentions, moderated, traced }: Needs, data = dataOf(moderated, traced)) => `,
  received as materialized (
    select d.n, d.app_id, d.conversation, d.id, d.subscribed, m.id as message,
      case when d.reads then 'message_read_receipt' else 'message_delivery_receipt' end as receipt,
      ${receiptData} as data
    from state d
    cross join lateral (
      select coalesce(
        (
          select max(o.id)
          from ${publishedFrom(moderated)} o
          where d.both_write
          and o.app_id = d.app_id
          and o.conversation = d.conversation
          and o.countable
          and o.sender <> d.sender
          and o.id < d.id
        ),
        (
          select m.id
          from messages m
          where m.app_id = d.app_id
          and m.conversation = d.conversation
          and m.countable
          and m.sender <> d.sender
          and (m.sent_at, m.id) > (
            case when d.reads then d.read_sent_at else d.delivered_sent_at end,
            case when d.reads then d.read_id else d.delivered_id end
          )
          order by m.sent_at desc, m.id desc
          limit 1
        )
      ) as id
    ) m
    where (d.delivers or d.reads)
    and d.subscribed & ${eventBits.receipts} <> 0
    and m.id is not null
  ),
  logged as (
    ${insertIntoEvents}
    select app_id, trigger, conversation, message, data, $1::bigint
    from (
      select id, 1 as place, app_id, receipt as trigger, conversation, message, data
      from received
      where subscribed & case receipt when 'message_read_receipt' then ${eventBits.read} else ${eventBits.delivered} end <> 0
      union all
      select id, 2, app_id, 'message_sent', conversation, id, ${data}
      from ${publishedFrom(moderated)} o
      where subscribed & ${eventBits.sent} <> 0
      ${when(mentions, mentionsOf(publishedFrom(moderated), data))}
      ${when(moderated, verdicts)}
      order by 1, 2
    ) e
  )`

/** What the log keeps of a message `o` of the batch: nothing, but for what leads to it. */
const dataOf = (moderated: boolean, traced: boolean) =>
  traced
    ? `coalesce(
        (
          select json_build_object('trace', x.trace)
          from ${(moderated ? tracedRows.ofModerated : tracedRows.ofPlain).sql}
          where x.n = o.n
        ),
        '{}'
      )`
    : `'{}'`

const receipts = `union all
    select n, null, message, null, null, null, conversation, receipt
    from received`

/** Where messages are published, those that are held are not among them. */
const publishedFrom = (moderated: boolean) => (moderated ? 'opened' : 'stored')

/** What is held is stored, and that is all: whatever follows from a message looks at those that everybody may see. */
const open = `,
  opened as materialized (
    select *
    from stored
    where ${notHeldAmong('stored')}
  )`

/** Notes which files messages use, so that they stay as long as these do. What is held uses them, too. */
const uses = `,
  naming as materialized (
    select s.app_id, s.id, f.key
    from stored s
    cross join unnest(s.files::text[]) as f(key)
  ),
  ${writeUsesSql}`

/** Writes what moderation keeps beside messages. */
const records = `,
  judged as materialized (
    select s.app_id, s.id, s.conversation, s.sender, s.sent_at, j.held, j.decisions, j.flagged_by
    from stored s
    join ${judgedRows.sql} on j.n = s.n
  ),
  holding as (${writeRecordsSql.held}
  ),
  deciding as (${writeRecordsSql.decisions}
  ),
  flagging as (${writeRecordsSql.flagged}
  )`

/**
 * Checks and writes a batch. Ids are drawn here, under the conversations' locks, and \`sent_at\` of what is sent live
 * never falls behind the conversation's last: in a conversation, commit order is position order.
 *
 * Sending a message marks the conversation as read for the sender: in a one-to-one conversation only if the last
 * message was the other's (or both write in this batch), since otherwise there is nothing new to read; in groups always,
 * because the group's staircase goes by every member's mark. A step of reading is one of delivery too.
 *
 * What became of the rows comes as one JSON array of arrays: that costs the driver less than as many rows of the protocol.
 *
 * A conversation is written to by the place of its version, which cannot change while it is locked: see \`latestByParts\`.
 *
 * What no message of a batch needs is left out: merely making ready to look costs as much as writing two messages.
 *
 * Two forms keep the planner from what is slow here: \`case\` in a join condition, so that nothing is looked up where it
 * cannot be, and \`(... in ...) is true\`, so that the rows are hashed and not compared one with another.
 */
const writing = (
  needs: Needs,
  { groups, muids, subscribed, files, moderated } = needs,
  published = publishedFrom(moderated),
) => `
  with request as materialized (
    select *
    from ${sentRows.sql}
  ),
  checked as materialized (
    select r.*, c.key as conversation, c.version, c.last_sent_at, c.last_id, c.last_sender,
      s.revision as sender_revision, ${groups ? 'coalesce(t.revision, g.revision)' : 't.revision'} as receiver_revision,
      ${refusalOf(asked(needs))} as refusal
    from request r
    ${joins(needs)}
    order by r.n
  ),
  numbered as materialized (
    select k.*, nextval('message_ids') as id, greatest($1::bigint, k.last_sent_at) as sent_at
    from (
      select *
      from checked
      where refusal is null
      ${when(muids, isNotImported)}
      order by n
    ) k
  ),
  inserted as (
    insert into messages (
      app_id, id, conversation, sender, kind, receiver, category, type, data, parent_id, quoted_id, muid, tags,
      mentioned, traits, countable, sent_at, updated_at
    )
    select app_id, id, conversation, sender, kind, receiver, category, type, data::json, parent_id, quoted_id, muid,
      tags::text[], mentioned::text[], traits, countable, sent_at, sent_at
    from numbered
    ${when(muids, unlessKnown)}
  ),
  stored as materialized (
    select n, app_id, id, conversation, version, sender, kind, first, second, sent_at, last_sent_at, last_id, both_write, countable,
      mentioned, subscribed, sender_revision, receiver_revision, ${when(files, 'files, ')}${when(moderated, 'traits, ')}kind = 2 or both_write or last_sender is distinct from sender as moves_marks
    from numbered
    ${when(muids, 'where (id in (select id from inserted)) is true')}
  )${when(moderated, open)},
  moved as (
    update conversations c
    set last_sent_at = l.sent_at,
      last_id = l.id,
      last_sender = l.sender,
      listed_sent_at = l.sent_at,
      listed_id = l.id
    from (
      select distinct on (app_id, conversation) version, sent_at, id, sender
      from ${published}
      order by app_id, conversation, id desc
    ) l
    where c.ctid = l.version
  ),
  state as materialized (
    select l.n, l.app_id, l.sender, l.conversation, l.kind, l.first, l.second, l.sent_at, l.id, l.both_write, l.subscribed,
      s.delivered_sent_at, s.delivered_id, s.read_sent_at, s.read_id,
      (s.delivered_sent_at, s.delivered_id) < (coalesce(l.last_sent_at, 0), coalesce(l.last_id, 0))
        or l.both_write as delivers,
      (s.read_sent_at, s.read_id) < (coalesce(l.last_sent_at, 0), coalesce(l.last_id, 0)) or l.both_write as reads
    from (
      select distinct on (m.app_id, m.conversation, m.sender) m.n, m.app_id, m.conversation, m.kind, m.first, m.second,
        m.sender, m.sent_at, m.id, m.last_sent_at, m.last_id, m.both_write, m.subscribed
      from ${published} m
      where m.moves_marks
      order by m.app_id, m.conversation, m.sender, m.id desc
    ) l
    join conversation_states s on s.app_id = l.app_id and s.uid = l.sender and s.conversation = l.conversation
  ),
  marked as (
    update conversation_states s
    set delivered_sent_at = d.sent_at, delivered_id = d.id,
      read_sent_at = d.sent_at, read_id = d.id,
      unread_sent_at = d.sent_at, unread_id = d.id,
      counted_sent_at = d.sent_at, counted_id = d.id, counted_unread = 0
    from state d
    where s.app_id = d.app_id and s.uid = d.sender and s.conversation = d.conversation
  ),
  stepped as (
    insert into receipt_steps (app_id, conversation, uid, kind, sent_at, id, at)
    select app_id, conversation, sender, case when reads then 2 else 1 end, sent_at, id, $1::bigint
    from state
    where delivers or reads
  )${when(subscribed, events(needs))}${when(files, uses)}${when(moderated, records)}
  select json_agg(
    json_build_array(n, refusal, id, sent_at, sender_revision, receiver_revision, conversation, receipt)
  ) as written
  from (
    select n, null as refusal, id, sent_at, sender_revision, receiver_revision, conversation, null as receipt
    from stored
    union all
    select n, refusal, null, null, sender_revision, receiver_revision, null, null
    from checked
    where n not in (select n from stored)
    ${when(subscribed, receipts)}
  ) w`

const statements = new Map<string, Statement>()

/** The statement for batches with these needs. */
export function writeStatement(needs: Needs): Statement {
  const key = `${needs.groups} ${needs.replies} ${needs.roles} ${needs.muids} ${needs.subscribed} ${needs.mentions} ${needs.files} ${needs.moderated} ${needs.traced}`
  const known = statements.get(key)
  if (known !== undefined) return known
  const made = statement(writing(needs))
  statements.set(key, made)
  return made
}
