import type pg from 'pg'
import { times } from '../bench.ts'
import { getRequest, type RequestOptions, requestWithBody, textTo } from '../requests.ts'

/** How the mixed load is measured: so many connections, each with so many requests of its own. */
export const mixedShape = { connections: 32, each: 2000 }

/** What users do, in how many requests for each message that they send. */
const weights = {
  send: 1,
  open: 6.5,
  scroll: 2,
  unread: 1,
  conversations: 1,
  threads: 0.6,
  reaction: 0.13,
  edit: 0.04,
  search: 0.02,
} as const

export type Deed = keyof typeof weights

/** What users do, and how much of all requests that is. */
export const deeds = Object.entries(weights) as Array<[Deed, number]>
const whole = deeds.reduce((sum, [, weight]) => sum + weight, 0)

export function shareOf(deed: Deed): number {
  return weights[deed] / whole
}

/** A message that somebody sent to somebody, with the place of it in the history. */
interface Talk {
  readonly id: string
  readonly sent_at: string
  readonly kind: number
  readonly sender: string
  readonly receiver: string
}

/** Drawn so that the same world gives the same load: messages between active users, and of members of groups. */
const selectTalks = `
  select m.id, m.sent_at, m.kind, m.sender, m.receiver
  from messages m
  join users s on s.app_id = m.app_id and s.uid = m.sender and s.deactivated_at is null
  left join users r on m.kind = 1 and r.app_id = m.app_id and r.uid = m.receiver
  where m.app_id = $1
  and m.category = 'message'
  and m.type = 'text'
  and m.deleted_at is null
  and (m.kind = 2 or (r.deactivated_at is null and m.sender <> m.receiver))
  and not exists (
    select from blocks b
    where m.kind = 1
    and b.app_id = m.app_id
    and (b.blocker, b.blocked) in ((m.sender, m.receiver), (m.receiver, m.sender))
  )
  and m.id % greatest(1, (select count(*) / 40000 from messages where app_id = $1)) = 0
  order by hashint8(m.id)
  limit 20000`

/**
 * Requests for so many connections, mixed as in real use: most look at conversations, few send, fewer still edit or
 * search. Who acts is drawn by what was said, so that those who talk more do more.
 * @param only this alone, as it is in the mix
 */
export async function mixedRequests(
  database: pg.Client,
  appId: number,
  apiKey: string,
  { connections, each }: { connections: number; each: number },
  only?: Deed,
): Promise<string[][]> {
  const { rows: talks } = await database.query<Talk>(selectTalks, [appId])
  if (talks.length < 100) throw new Error('the world is too small for a mixed load')
  const random = numbers(1)
  const drawDeed = (): Deed => {
    if (only !== undefined) return only
    let left = random() * whole
    for (const [deed, weight] of deeds) {
      left -= weight
      if (left < 0) return deed
    }
    return 'open'
  }
  const drawTalk = () => talks[Math.floor(random() * talks.length)] as Talk
  return times(connections, () => times(each, () => request(drawDeed(), drawTalk(), apiKey)))
}

/** What the sender of a message does next. */
function request(deed: Deed, { id, sent_at: sentAt, kind, sender, receiver }: Talk, apiKey: string): string {
  const options: RequestOptions = { apiKey, as: sender }
  const other = kind === 1 ? 'user' : 'group'
  const get = (path: string) => getRequest(`/v3${path}`, options)
  const write = (method: 'POST' | 'PUT', path: string, body: object) =>
    requestWithBody(method, `/v3${path}`, body, options)
  switch (deed) {
    case 'send':
      return write('POST', '/messages', textTo(receiver, other))
    case 'open':
      return get(`/${other}s/${receiver}/messages?affix=prepend&limit=30`)
    case 'scroll':
      return get(`/${other}s/${receiver}/messages?affix=prepend&limit=30&id=${id}&sentAt=${sentAt}`)
    case 'unread':
      return get('/messages?unread=true&count=true')
    case 'conversations':
      return get('/conversations?perPage=30')
    case 'threads':
      return get('/threads?limit=30')
    case 'reaction':
      return write('POST', `/messages/${id}/reactions/wave`, {})
    case 'edit':
      return write('PUT', `/messages/${id}`, { data: { text: 'Better so.' } })
    case 'search':
      return get('/messages?affix=prepend&limit=30&searchKey=station')
  }
}

/** The same numbers from 0 to 1 each time (a linear congruence of 32 bits). */
function numbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}
