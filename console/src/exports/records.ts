import type { AppClient } from '@parley/client'
import type { Kind } from '../import.ts'
import { patiently } from '../patience.ts'

/** Where reading goes on. It is kept with what was read, so it consists of plain values. */
export type Place = Readonly<Record<string, unknown>>

/** Some records of a file. */
export interface Portion {
  readonly records: readonly object[]
  /** Where the next portion begins; undefined where there is none. */
  readonly next: Place | undefined
}

export interface Reader {
  readonly client: AppClient
  readonly signal: AbortSignal
  /** Is called before texts are read. */
  readonly keepReading: () => Promise<void>
}

/** What is read at once. */
const perPage = { profiles: 1_000, messages: 500, reactions: 100 }

/** What the lists of an app have for a file that an import takes, from a place on: `{}` is the first. */
export const portionsOf: Readonly<Record<Kind, (reader: Reader, from: Place) => AsyncGenerator<Portion>>> = {
  users: usersOf,
  groups: groupsOf,
  members: membersOf,
  messages: messagesOf,
}

interface NumberedPage<Row> {
  readonly data: readonly Row[]
  readonly meta: {
    readonly pagination: { readonly total: number; readonly total_pages: number; readonly per_page: number }
  }
}

/** A page, and how many rows there were in all when the one before it was read. */
interface NumberedPlace extends Place {
  readonly page: number
  readonly total?: number
}

/**
 * The pages of a list that has numbers. Where rows have gone, those after them are on pages before now, which are read again: an import
 * takes each row once.
 */
async function* numbered<Row extends object>(
  signal: AbortSignal,
  from: Place,
  ask: (page: number) => Promise<NumberedPage<Row>>,
): AsyncGenerator<{
  readonly records: readonly Row[]
  readonly at: NumberedPlace
  readonly next: NumberedPlace | undefined
}> {
  let place: NumberedPlace | undefined = { ...from, page: Number(from.page ?? 1) }
  while (place !== undefined) {
    const { page }: NumberedPlace = place
    const { data, meta } = await patiently(signal, () => ask(page))
    const { total, total_pages: pages, per_page: perPage } = meta.pagination
    const gone: number = (place.total ?? total) - total
    const next: NumberedPlace | undefined =
      gone > 0
        ? { page: Math.max(1, page - Math.ceil(gone / perPage)), total }
        : page < pages
          ? { page: page + 1, total }
          : undefined
    yield { records: data, at: { page, total }, next }
    place = next
  }
}

async function* usersOf({ client, signal }: Reader, from: Place): AsyncGenerator<Portion> {
  const all = { perPage: perPage.profiles, sortBy: 'uid', withDeactivated: true, withTags: true } as const
  const users = numbered(signal, from, (page) => client.users.list({ ...all, page }, { signal }))
  for await (const { records, next } of users) yield { records, next }
}

function groupPages({ client, signal }: Reader, from: Place) {
  const all = { perPage: perPage.profiles, sortBy: 'guid', withTags: true } as const
  return numbered(signal, from, (page) => client.groups.list({ ...all, page }, { signal }))
}

async function* groupsOf(reader: Reader, from: Place): AsyncGenerator<Portion> {
  for await (const { records, next } of groupPages(reader, from)) yield { records, next }
}

/** The members of each group, one after the other. A place is a page of groups, one of them, and a page of its members. */
async function* membersOf(reader: Reader, from: Place): AsyncGenerator<Portion> {
  const { client, signal } = reader
  let { guid: begun, membersFrom }: Place = from
  for await (const { records: groups, at, next: nextGroups } of groupPages(reader, from)) {
    // Where that group was deleted meanwhile, those before it are read again: an import takes each of them once.
    const found = groups.findIndex(({ guid }) => guid === begun)
    if (found === -1) membersFrom = undefined
    const first = Math.max(0, found)
    begun = undefined
    for (let place = first; place < groups.length; place++) {
      const guid = groups[place]?.guid ?? ''
      const ask = (page: number) => client.groups.members.list({ guid, perPage: perPage.profiles, page }, { signal })
      for await (const { records, next } of numbered(signal, (membersFrom ?? {}) as Place, ask)) {
        const following = groups[place + 1]?.guid
        yield {
          records: records.map((member) => ({ guid, ...member })),
          next:
            next !== undefined
              ? { ...at, guid, membersFrom: next }
              : following !== undefined
                ? { ...at, guid: following }
                : nextGroups,
        }
      }
      membersFrom = undefined
    }
  }
}

async function* messagesOf({ client, signal, keepReading }: Reader, from: Place): AsyncGenerator<Portion> {
  for (let place: Place | undefined = from; place !== undefined; ) {
    await keepReading()
    const at: object = place
    const { data, meta } = await patiently(signal, () =>
      client.messages.list({ affix: 'append', limit: perPage.messages, withTags: true, ...at }, { signal }),
    )
    const records: object[] = []
    for (const message of data) {
      // The counts of a message do not say who reacted.
      const reactions =
        message.reactions === undefined ? {} : { reactions: await reactionsTo(client, message.id, signal) }
      records.push({ ...message, ...reactions })
    }
    place = meta.next as Place | undefined
    yield { records, next: place }
  }
}

async function reactionsTo(client: AppClient, messageId: string, signal: AbortSignal): Promise<readonly object[]> {
  const all: object[] = []
  for (let place: object | undefined = {}; place !== undefined; ) {
    const from: object = place
    const { data, meta } = await patiently(signal, () =>
      client.messages.reactions.list({ messageId, affix: 'append', limit: perPage.reactions, ...from }, { signal }),
    )
    all.push(...data)
    place = meta.next
  }
  return all
}
