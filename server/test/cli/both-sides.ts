import { createHash } from 'node:crypto'
import { fetch } from 'undici'
import { each, forEach } from '../../src/cli/move-in/for-each.ts'
import { type Answer, type RequestOptions, send } from '../support/world.ts'

type Json = Record<string, unknown>
// biome-ignore lint/suspicious/noExplicitAny: tests look at answers as a client would, without types
type Row = Record<string, any>

/** A service that is called over HTTP alone, again and again while it is away. */
export interface Side {
  readonly url: string
  call(method: string, path: string, body?: unknown, options?: RequestOptions): Promise<Answer>
}

/** @param url where it is now: a process that was killed comes back elsewhere */
export function sideAt(url: string, apiKey: string, app?: string): Side {
  return {
    url,
    async call(method, path, body, options = {}) {
      const headers = { apikey: apiKey, ...(app !== undefined && { appid: app }) }
      for (let attempt = 1; ; attempt++) {
        try {
          const as = options.as === undefined ? {} : { onbehalfof: options.as }
          const answer = await send(url, method, path, body, { ...headers, ...as })
          if (answer.status < 500 || attempt === 100) return answer
        } catch (error) {
          if (attempt === 100) throw error
        }
        await new Promise((resolve) => setTimeout(resolve, 200))
      }
    },
  }
}

/** All rows of a list that goes by pages. */
async function pages(side: Side, path: string, as?: string): Promise<Row[]> {
  const rows: Row[] = []
  for (let page = 1; ; page++) {
    const at = `${path}${path.includes('?') ? '&' : '?'}perPage=1000&page=${page}`
    const { status, body } = await side.call('GET', at, undefined, { ...(as !== undefined && { as }) })
    if (status !== 200) return [{ refused: body.error.code }]
    rows.push(...body.data)
    if (body.data.length < 1000) return rows
  }
}

/** What is gone is not told of in the new service. */
function isAboutNothing({ category, type, data }: Row): boolean {
  return category === 'action' && type === 'message' && data.entities.on.entity.sender === undefined
}

/** The first and the last so many messages of a list. */
async function endsOf(side: Side, most: number, filters: string, as?: string): Promise<Row[]> {
  const rows = await Promise.all(
    ['append', 'prepend'].map(async (affix) => {
      // More than are wanted, since those that tell of nothing are on one side only.
      const at = `/messages?affix=${affix}&limit=${5 * most}&withTags=true${filters}`
      const { status, body } = await side.call('GET', at, undefined, { ...(as !== undefined && { as }) })
      if (status !== 200) return [{ refused: body.error.code }]
      const rows: Row[] = body.data.filter((row: Row) => !isAboutNothing(row))
      return affix === 'append' ? rows.slice(0, most) : rows.slice(-most)
    }),
  )
  return rows.flat()
}

/** All messages of a list that goes by cursors. */
export async function messages(side: Side, filters = '', as?: string): Promise<Row[]> {
  const rows: Row[] = []
  for (let cursor = ''; ; ) {
    const at = `/messages?affix=append&limit=1000&withTags=true${filters}${cursor}`
    const { status, body } = await side.call('GET', at, undefined, { ...(as !== undefined && { as }) })
    if (status !== 200) return [{ refused: body.error.code }]
    rows.push(...body.data.filter((row: Row) => !isAboutNothing(row)))
    const last = body.data.at(-1)
    if (last === undefined || body.data.length < 1000) return rows
    cursor = `&sentAt=${last.sentAt}&id=${last.id}`
  }
}

/**
 * What no list of the old service tells, so that it cannot be the same: when marks of groups were made, when an edit, a deletion, a
 * reaction or a pin was followed, and what the service makes anew with every change.
 */
const untold = [
  'updatedAt',
  'lastActiveAt',
  'status',
  'editedAt',
  'deletedAt',
  'reactedAt',
  'pinnedAt',
  'readAt',
  'deliveredAt',
  'readByMeAt',
  'deliveredToMeAt',
  'savedAt',
  'bannedAt',
  'blockedAt',
]

/**
 * Everything that each user finds in their lists, and the app in its own, with ids of the new service.
 * @param ends of the messages of each user only so many at either end of the list: of a large group, all of its members list all
 */
export async function listsOf(
  side: Side,
  idOf: (id: string) => string,
  { isWithEach = true, ends }: { readonly isWithEach?: boolean; readonly ends?: number | undefined } = {},
): Promise<Map<string, unknown>> {
  const found = new Map<string, unknown>()
  const digests = new Map<string, Promise<string>>()
  const fileOf = (url: string): Promise<string> => {
    const known = digests.get(url) ?? digestOf(url)
    digests.set(url, known)
    return known
  }
  const told = (value: unknown): unknown => tell(value, idOf)
  const messagesOf = async (filters: string, as?: string) => {
    const rows = as === undefined || ends === undefined ? messages(side, filters, as) : endsOf(side, ends, filters, as)
    return Promise.all(
      (await rows).map(async (row) => {
        const attachments = row.data?.attachments as { url: string }[] | undefined
        if (attachments === undefined) return told(row)
        const files = await Promise.all(attachments.map(({ url }) => fileOf(url)))
        const named = attachments.map(({ url: _, ...file }, place) => ({ ...file, digest: files[place] }))
        const { url: _, ...data } = row.data
        return told({ ...row, data: { ...data, attachments: named } })
      }),
    )
  }
  const users = (await pages(side, '/users?withTags=true&withDeactivated=true')).filter(
    ({ name, deactivatedAt }) => !(name === 'Deleted user' && deactivatedAt !== undefined),
  )
  const groups = await pages(side, '/groups?withTags=true')
  found.set('users', users.map(told))
  found.set('groups', groups.map(told))
  found.set('messages', await messagesOf(''))
  for (const { guid } of groups) {
    found.set(`members ${guid}`, (await pages(side, `/groups/${guid}/members`)).map(told))
    found.set(`bans ${guid}`, (await pages(side, `/groups/${guid}/bannedusers`)).map(told))
  }
  for (const row of await messages(side))
    if (row.reactions !== undefined) {
      const { body } = await side.call('GET', `/messages/${row.id}/reactions?limit=100`)
      const people = body.data.map(({ reaction, uid }: Row) => `${reaction} ${uid}`).sort()
      found.set(`reactions ${idOf(row.id)}`, people)
    }
  await forEach(each(users), 8, async ({ uid, deactivatedAt }) => {
    // Conversations whose last messages are of the same second have no order of their own.
    const own = async (name: string, path: string) =>
      found.set(
        `${name} ${uid}`,
        (await pages(side, path, uid))
          .toSorted((one, other) => (String(one.conversationId) < String(other.conversationId) ? -1 : 1))
          .map(told),
      )
    found.set(`friends ${uid}`, (await pages(side, `/users/${uid}/friends`)).map(told))
    found.set(`blocks ${uid}`, (await pages(side, `/users/${uid}/blockedusers`)).map(told))
    found.set(`tokens ${uid}`, (await pages(side, `/users/${uid}/auth_tokens`)).map(told))
    if (deactivatedAt !== undefined || !isWithEach) return
    await own('conversations', '/conversations?withTags=true')
    found.set(`messages ${uid}`, await messagesOf('', uid))
    found.set(`saved ${uid}`, await messagesOf('&saved=true', uid))
    found.set(`unread ${uid}`, await messagesOf('&unread=true', uid))
  })
  return found
}

/** Names of what both sides do not have alike, with the first thing in which it differs. */
export function differencesOf(one: Map<string, unknown>, other: Map<string, unknown>): string[] {
  const names = new Set([...one.keys(), ...other.keys()])
  return [...names].flatMap((name) => {
    const difference = firstDifference(one.get(name), other.get(name), name)
    return difference === undefined ? [] : [difference]
  })
}

function firstDifference(one: unknown, other: unknown, at: string): string | undefined {
  if (Object.is(one, other)) return undefined
  const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null
  if (!isObject(one) || !isObject(other)) return `${at}: ${short(one)} and ${short(other)}`
  if (Array.isArray(one) && Array.isArray(other) && one.length !== other.length)
    return `${at}: ${one.length} and ${other.length} rows`
  for (const name of new Set([...Object.keys(one), ...Object.keys(other)])) {
    const difference = firstDifference(one[name], other[name], `${at}/${name}`)
    if (difference !== undefined) return difference
  }
  return undefined
}

function short(value: unknown): string {
  return String(JSON.stringify(value)).slice(0, 200)
}

/** Of groups, no list tells who received and read a message. */
const receipts = ['readAt', 'deliveredAt', 'readByMeAt', 'deliveredToMeAt']

const ids = ['id', 'parentId', 'quotedMessageId', 'messageId']

/** A value of an answer under the map of ids, with its members in one order, and of what is untold only that it is there. */
function tell(value: unknown, idOf: (id: string) => string): unknown {
  if (Array.isArray(value)) return value.map((inner) => tell(inner, idOf))
  if (typeof value !== 'object' || value === null) return value
  const isMessage = 'conversationId' in value && 'sender' in value
  const isOfGroup = isMessage && (value as Row).receiverType === 'group'
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => !['updatedAt', 'lastActiveAt', 'status'].includes(name))
      .filter(([name]) => !(isOfGroup && receipts.includes(name)))
      // A file has another address; its content is compared.
      .filter(([name]) => !(name === 'url' && ('mimeType' in value || 'attachments' in value)))
      // Messages without a muid are imported under their id.
      .filter(([name, inner]) => !(isMessage && name === 'muid' && inner === (value as { id?: unknown }).id))
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, inner]) => {
        if (untold.includes(name)) return [name, 'at some time']
        if (ids.includes(name) && (isMessage || name !== 'id')) return [name, idOf(String(inner))]
        return [name, tell(inner, idOf)]
      }),
  )
}

async function digestOf(url: string): Promise<string> {
  const answer = await fetch(url)
  if (!answer.ok) return `answered ${answer.status}`
  return createHash('sha256')
    .update(Buffer.from(await answer.arrayBuffer()))
    .digest('hex')
}
