import type pg from 'pg'
import { type Cast, receiverIn, type Talk } from './cast.ts'
import type { Ledger } from './ledger.ts'
import { expectSuccess, type Line } from './line.ts'

/** A message as the walk through the history finds it. */
interface Found {
  readonly id: string
  readonly sentAt: number
  readonly muid: string
  readonly text: string
  readonly sender: string
}

/**
 * Compares what the service holds with what its clients know, over HTTP and, for counts and positions, by SQL of its own.
 * The service must be at rest. @returns what is wrong, in words; nothing in a sound service
 */
export async function findFlaws(line: Line, database: pg.Client, cast: Cast, ledger: Ledger): Promise<string[]> {
  const flaws: string[] = []
  const sentAtOf = new Map<string, number>()
  const seen = new Set<string>()
  for (const talk of cast.talks) {
    const history = await walk(line, talk)
    for (const { id, sentAt } of history) sentAtOf.set(id, sentAt)
    flaws.push(...checkHistory(history, talk, ledger, seen))
    flaws.push(...(await checkNewest(line, talk, history.at(-1))))
  }
  for (const muid of ledger.acknowledged.keys()) if (!seen.has(muid)) flaws.push(`${muid} was answered and is gone`)
  flaws.push(...(await checkMarks(database, ledger, sentAtOf)))
  flaws.push(...(await checkPositions(database)))
  flaws.push(...(await checkUnread(line, database, cast)))
  return flaws
}

/** Reads a conversation from its beginning, page by page, as one of its members. */
async function walk(line: Line, talk: Talk): Promise<Found[]> {
  const history: Found[] = []
  const as = talk.members[0] as string
  const { receiver, receiverType } = receiverIn(talk, as)
  for (let cursor = ''; ; ) {
    const path = `/${receiverType}s/${receiver}/messages?limit=1000&affix=append&hideQuotedMessages=1${cursor}`
    const { data, meta } = await expectSuccess(line.call('GET', path, undefined, { as }))
    for (const { id, sentAt, muid, sender, data: content } of data) {
      history.push({ id, sentAt, muid, sender, text: content.text })
    }
    if (meta.next === undefined) return history
    cursor = `&id=${meta.next.id}&sentAt=${meta.next.sentAt}`
  }
}

/** Rising positions; each message once and as it was sent; each line's messages in the order it sent them. */
function checkHistory(history: readonly Found[], talk: Talk, ledger: Ledger, seen: Set<string>): string[] {
  const flaws: string[] = []
  const lastTurns = new Map<number, number>()
  for (const [i, message] of history.entries()) {
    const before = history[i - 1]
    const rises =
      before === undefined ||
      before.sentAt < message.sentAt ||
      (before.sentAt === message.sentAt && Number(before.id) < Number(message.id))
    if (!rises) flaws.push(`${message.id} stands after ${before.id} in ${talk.id}`)
    if (seen.has(message.muid)) flaws.push(`${message.muid} is stored twice`)
    seen.add(message.muid)

    const attempt = ledger.attempts.get(message.muid)
    const isAsSent = attempt?.talkId === talk.id && attempt.text === message.text && attempt.sender === message.sender
    if (!isAsSent) flaws.push(`${message.id} (${message.muid}) in ${talk.id} is not what was sent`)
    const answered = ledger.acknowledged.get(message.muid)
    if (answered === undefined) continue
    if (answered.id !== message.id) flaws.push(`${message.muid} was answered as ${answered.id}, is ${message.id}`)
    if ((lastTurns.get(answered.line) ?? -1) >= answered.turn) flaws.push(`${message.muid} stands before earlier ones`)
    lastTurns.set(answered.line, answered.turn)
  }
  return flaws
}

/** The conversation shows the newest message of its history. */
async function checkNewest(line: Line, talk: Talk, newest: Found | undefined): Promise<string[]> {
  if (newest === undefined) return []
  const as = talk.members[0] as string
  const { receiver, receiverType } = receiverIn(talk, as)
  const path = `/${receiverType}s/${receiver}/conversation`
  const { data } = await expectSuccess(line.call('GET', path, undefined, { as }))
  const isShown = data.lastMessage?.id === newest.id && data.updatedAt === newest.sentAt
  return isShown ? [] : [`${talk.id} ends with ${newest.id} and shows ${data.lastMessage?.id}`]
}

/** Every mark that was answered stands where it was put, or higher. */
async function checkMarks(database: pg.Client, ledger: Ledger, sentAtOf: Map<string, number>): Promise<string[]> {
  const { rows } = await database.query(`
    select s.uid,
      case c.kind when 1 then c.first || '_user_' || c.second else 'group_' || c.first end as talk_id,
      s.delivered_sent_at, s.delivered_id, s.read_sent_at, s.read_id
    from conversation_states s
    join conversations c on c.app_id = s.app_id and c.key = s.conversation`)
  const sides = new Map(rows.map((row) => [`${row.uid} ${row.talk_id}`, row]))
  return [...ledger.marks.values()].flatMap(({ uid, talkId, kind, id }) => {
    const side = sides.get(`${uid} ${talkId}`)
    const markSentAt = Number(side?.[`${kind}_sent_at`] ?? 0)
    const sentAt = sentAtOf.get(String(id)) ?? Number.POSITIVE_INFINITY
    const stands = markSentAt > sentAt || (markSentAt === sentAt && Number(side?.[`${kind}_id`]) >= id)
    return stands ? [] : [`the ${kind} mark of ${uid} in ${talkId} stands before ${id}, which was answered`]
  })
}

/** A conversation's last position is that of its newest message; a group's staircase is at its members' lowest mark. */
async function checkPositions(database: pg.Client): Promise<string[]> {
  const { rows: last } = await database.query(`
    select c.key, c.first, c.second, c.last_sent_at, c.last_id, n.sent_at, n.id
    from conversations c
    left join lateral (
      select m.sent_at, m.id
      from messages m
      where m.app_id = c.app_id
      and m.conversation = c.key
      and (not m.purged or m.purged)
      order by m.sent_at desc, m.id desc
      limit 1
    ) n on true
    where (c.last_sent_at, c.last_id, c.listed_sent_at, c.listed_id)
      is distinct from (n.sent_at, n.id, n.sent_at, n.id)`)
  const { rows: steps } = await database.query(`
    select c.first
    from conversations c
    cross join lateral (
      select min((lpad(s.read_sent_at::text, 12, '0') || lpad(s.read_id::text, 18, '0'))) as read,
        min((lpad(s.delivered_sent_at::text, 12, '0') || lpad(s.delivered_id::text, 18, '0'))) as delivered
      from conversation_states s
      where s.app_id = c.app_id
      and s.conversation = c.key
      and s.member
    ) lowest
    where c.kind = 2
    and (
      lowest.read <> lpad(c.all_read_sent_at::text, 12, '0') || lpad(c.all_read_id::text, 18, '0')
      or lowest.delivered <> lpad(c.all_delivered_sent_at::text, 12, '0') || lpad(c.all_delivered_id::text, 18, '0')
    )`)
  return [
    ...last.map((row) => `the last position of a conversation is wrong: ${JSON.stringify(row)}`),
    ...steps.map(({ first }) => `the staircase of the group ${first} is not at its members' lowest mark`),
  ]
}

/** The counts that users see are those of a plain recount. */
async function checkUnread(line: Line, database: pg.Client, cast: Cast): Promise<string[]> {
  const { rows } = await database.query(`
    select s.uid,
      case c.kind when 1 then c.first || '_user_' || c.second else 'group_' || c.first end as talk_id,
      count(m.id) as unread
    from conversation_states s
    join conversations c on c.app_id = s.app_id and c.key = s.conversation
    left join messages m
      on m.app_id = s.app_id
      and m.conversation = s.conversation
      and not m.purged
      and m.sender <> s.uid
      and m.category in ('message', 'custom', 'interactive')
      and m.deleted_at is null
      and (m.sent_at > s.unread_sent_at or m.sent_at = s.unread_sent_at and m.id > s.unread_id)
    group by s.uid, talk_id`)
  const recounted = new Map(rows.map((row) => [`${row.uid} ${row.talk_id}`, String(row.unread)]))
  const flaws: string[] = []
  for (const uid of cast.uids) {
    const { data } = await expectSuccess(line.call('GET', '/conversations?perPage=50', undefined, { as: uid }))
    for (const { conversationId, unreadMessageCount } of data) {
      const expected = recounted.get(`${uid} ${conversationId}`)
      if (unreadMessageCount !== expected) {
        flaws.push(`${uid} has ${unreadMessageCount} unread in ${conversationId}, by recount ${expected}`)
      }
    }
  }
  return flaws
}
