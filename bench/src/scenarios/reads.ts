import { type Bench, repeat, times } from '../bench.ts'
import type { Scenario } from '../measure.ts'
import { fetchBody, getRequest } from '../requests.ts'
import { groupOf, hub, hubs, partner, shortConversations } from './imports.ts'

/** A page as a user asks for it. */
export interface PageRequest {
  readonly as: string
  /** With its query, as on the request line. */
  readonly url: string
  /** Which history, and before which message; of conversation lists nothing. */
  readonly history?: { readonly peer: string; readonly isGroup: boolean; readonly before?: Place }
}

interface Place {
  readonly id: string
  readonly sentAt: number
}

/** Pages of one kind. */
export interface PageKind {
  readonly id: string
  readonly name: string
  requests(): Promise<PageRequest[]>
}

const connections = 64
const limit = 30
const newest = `affix=prepend&limit=${limit}`

/** The pages that chats ask for most, of what the first round has imported. */
function pageKinds(bench: Bench): PageKind[] {
  let older: Promise<PageRequest[]> | undefined
  return [
    {
      id: 'history-newest',
      name: `History, newest page of ${limit}`,
      requests: async () => times(hubs, (h) => times(shortConversations + 1, (p) => newestWith(h, p))).flat(),
    },
    {
      id: 'history-back',
      name: `History, paging back, ${limit} a page`,
      requests: () => {
        older ??= Promise.all(times(hubs, (h) => walkBack(bench, h))).then((walks) => walks.flat())
        return older
      },
    },
    {
      id: 'history-group',
      name: `History of a group, newest page of ${limit}`,
      requests: async () =>
        times(hubs, (h) => {
          const peer = groupOf(0, h)
          return { as: hub(0, h), url: `/v3/groups/${peer}/messages?${newest}`, history: { peer, isGroup: true } }
        }),
    },
    {
      id: 'conversations',
      name: 'Conversation lists, first page',
      requests: async () => times(hubs, (h) => ({ as: hub(0, h), url: '/v3/conversations' })),
    },
  ]
}

/** The same, but of newest pages only those that are full. */
export function fullPages(bench: Bench): PageKind[] {
  const [first, ...others] = pageKinds(bench)
  return [{ ...(first as PageKind), requests: async () => times(hubs, (h) => newestWith(h, 0)) }, ...others]
}

/** Reads what the first round has imported, so they come after that. */
export function reads(bench: Bench): Scenario[] {
  return pageKinds(bench).map(({ id, name, requests }) => ({
    id,
    name: `${name}, ${connections} connections`,
    beside: ['empty-64'],
    run: async () => repeat(bench, bench.service.port, dealRequests(bench, await requests(), connections)),
  }))
}

/** The same requests on every connection, each beginning elsewhere. */
export function dealRequests(bench: Bench, pages: readonly PageRequest[], connections: number): string[][] {
  const { apiKey } = bench.service
  return deal(
    pages.map(({ as, url }) => getRequest(url, { apiKey, as })),
    connections,
  )
}

export function deal<T>(values: readonly T[], connections: number): T[][] {
  return times(connections, (c) => {
    const from = Math.floor((c * values.length) / connections)
    return [...values.slice(from), ...values.slice(0, from)]
  })
}

function newestWith(h: number, p: number): PageRequest {
  const peer = partner(0, h, p)
  return { as: hub(0, h), url: `/v3/users/${peer}/messages?${newest}`, history: { peer, isGroup: false } }
}

interface Page {
  meta: { cursor?: Place; previous?: object }
}

/** Walks the long conversation of a hub from its end to its beginning, once; gives its pages but the first. */
async function walkBack({ service }: Bench, h: number): Promise<PageRequest[]> {
  const first = newestWith(h, 0)
  const { as, history } = first
  const pages: PageRequest[] = []
  for (let page = first; ; ) {
    const { meta } = JSON.parse(await fetchBody(service.port, 'GET', page.url, { apiKey: service.apiKey, as })) as Page
    if (page !== first) pages.push(page)
    const before = meta.cursor
    if (meta.previous === undefined || before === undefined || history === undefined) return pages
    page = { as, url: `${first.url}&id=${before.id}&sentAt=${before.sentAt}`, history: { ...history, before } }
  }
}
