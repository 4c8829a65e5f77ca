import type { PageRequest } from '../scenarios/reads.ts'

/** A bare limit: what a page is made of, by one plain query. */
export interface PlainPage {
  readonly name: string
  readonly text: string
  values(page: PageRequest): unknown[]
  /** What a row of it and an item of the service's answer must have in common. */
  ofRow(row: Record<string, unknown>): string
  ofItem(item: Item): string
}

/** A message or a conversation as the service answers it. */
export interface Item {
  readonly id?: string
  readonly conversationId?: string
  readonly unreadMessageCount?: string
  readonly lastMessage?: { readonly id: string }
}

const messageColumns = `m.id, m.conversation, m.sender, m.kind, m.receiver, m.category, m.type, m.data, m.parent_id, m.quoted_id,
  m.subject_id, m.muid, m.tags, m.traits, m.mentioned, m.sent_at, m.updated_at, m.delivered_at, m.read_at, m.edited_at,
  m.edited_by, m.deleted_at, m.deleted_by`

/** The newest messages of a history, or those before a place in it, as they are stored. */
const historyPage = (name: string, isFurtherBack: boolean): PlainPage => ({
  name,
  text: `
    select ${messageColumns}
    from messages m
    where m.app_id = 1
    and m.conversation = (select key from conversations where app_id = 1 and kind = $1 and first = $2 and second = $3)
    ${isFurtherBack ? 'and (m.sent_at, m.id) < ($4, $5)' : ''}
    order by m.sent_at desc, m.id desc
    limit 30`,
  values({ as, history }) {
    if (history === undefined) throw new Error('this page is of no history')
    const { peer, isGroup, before } = history
    const parts = isGroup ? [peer, ''] : [as, peer].sort()
    return [isGroup ? 2 : 1, ...parts, ...(before === undefined ? [] : [before.sentAt, before.id])]
  },
  ofRow: ({ id }) => String(id),
  ofItem: ({ id }) => String(id),
})

const userColumns = (alias: string): string =>
  ['uid', 'name', 'avatar', 'link', 'role', 'status_message', 'metadata', 'tags', 'created_at', 'updated_at', 'online']
    .concat(['last_active_at', 'deactivated_at'])
    .map((column) => `${alias}.${column} as ${alias}_${column}`)
    .join(', ')

/**
 * All that a list of conversations shows: order, pins, blocks, last messages, those who take part, unread counts, total.
 * The user who asks takes part in all of them, and comes with the first row only.
 */
const conversationsPage: PlainPage = {
  name: 'conversations',
  text: `
    select p.*, ${messageColumns}, d.at as delivered, r.at as read, ${userColumns('other')}, ${userColumns('me')},
      g.guid, g.name, g.type as group_type, g.icon, g.description, g.owner, g.metadata, g.tags as group_tags,
      g.members_count, g.created_at as group_created_at, g.updated_at as group_updated_at, gm.scope, gm.joined_at,
      n.unread
    from (
      select c.key, c.kind as side, c.first, c.second, c.created_at, c.listed_sent_at, c.listed_id, c.version,
        s.tags as own_tags, s.pinned_at, ap.place, ap.pinned_at as app_pinned_at, s.unread_sent_at, s.unread_id,
        s.counted_version, s.counted_sent_at, s.counted_id, s.counted_unread, count(*) over () as total,
        row_number() over (
          order by ap.place nulls last, s.pinned_at desc nulls last, c.listed_sent_at desc, c.listed_id desc
        ) as n
      from conversation_states s
      join conversations c on c.app_id = s.app_id and c.key = s.conversation
      left join app_pinned_conversations ap on ap.app_id = c.app_id and ap.kind = c.kind
        and ap.peer = case when c.kind = 2 or c.second = s.uid then c.first else c.second end
      where s.app_id = 1
      and s.uid = $1
      and (c.kind = 1 or s.member)
      and c.listed_id is not null
      and (not s.hidden or (c.listed_sent_at, c.listed_id) > (s.cleared_sent_at, s.cleared_id))
      and not (c.kind = 1 and exists (
        select from blocks b
        where b.app_id = 1 and b.blocker = $1 and b.blocked in (c.first, c.second)
      ))
      order by n
      limit 100
    ) p
    join messages m on m.app_id = 1 and m.id = p.listed_id
    left join lateral (
      select t.at
      from receipt_steps t
      where t.app_id = 1 and t.conversation = m.conversation and t.kind = 1
      and t.uid = case m.kind when 2 then '' else m.receiver end
      and (t.sent_at, t.id) >= (m.sent_at, m.id)
      order by t.sent_at, t.id
      limit 1
    ) d on true
    left join lateral (
      select t.at
      from receipt_steps t
      where t.app_id = 1 and t.conversation = m.conversation and t.kind = 2
      and t.uid = case m.kind when 2 then '' else m.receiver end
      and (t.sent_at, t.id) >= (m.sent_at, m.id)
      order by t.sent_at, t.id
      limit 1
    ) r on true
    left join users other on other.app_id = 1 and other.uid = case when m.sender = $1 then m.receiver else m.sender end
    left join users me on p.n = 1 and me.app_id = 1 and me.uid = $1
    left join groups g on p.side = 2 and g.app_id = 1 and g.guid = p.first
    left join group_members gm on p.side = 2 and gm.app_id = 1 and gm.guid = p.first and gm.uid = $1
    cross join lateral (
      select case when p.counted_version = p.version then p.counted_unread else 0 end + count(*) as unread
      from messages x
      where x.app_id = 1
      and x.conversation = p.key
      and (x.sent_at, x.id) > (
        case when p.counted_version = p.version then p.counted_sent_at else p.unread_sent_at end,
        case when p.counted_version = p.version then p.counted_id else p.unread_id end
      )
      and x.countable
      and x.sender <> $1
    ) n
    order by p.n`,
  values: ({ as }) => [as],
  ofRow: ({ side, first, second, listed_id, unread }) =>
    `${side === 2 ? `group_${first}` : `${first}_user_${second}`} ${listed_id} ${unread}`,
  ofItem: ({ conversationId, lastMessage, unreadMessageCount }) =>
    `${conversationId} ${lastMessage?.id} ${unreadMessageCount}`,
}

/** The plain query of each kind of page. */
export const plainPages: Readonly<Record<string, PlainPage>> = {
  'history-newest': historyPage('newest', false),
  'history-back': historyPage('back', true),
  'history-group': historyPage('group', false),
  conversations: conversationsPage,
}
