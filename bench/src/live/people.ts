import { Agent, fetch } from 'undici'
import { times } from '../bench.ts'
import type { Service } from '../service.ts'

/** Somebody who can log in. */
export interface Login {
  readonly uid: string
  readonly token: string
}

/** Asks a service over HTTP or HTTPS, whose certificate may be its own. */
export type Ask = (method: string, path: string, body?: object, as?: string) => Promise<unknown>

/** @param app that the key belongs to; that of the service without it */
export function createAsk(
  { port, apiKey }: Pick<Service, 'port' | 'apiKey'>,
  scheme: 'http' | 'https' = 'http',
  app?: string,
): Ask {
  const dispatcher = new Agent({ connections: 32, connect: { rejectUnauthorized: false } })
  return async (method, path, body, as) => {
    const answer = await fetch(`${scheme}://127.0.0.1:${port}/v3${path}`, {
      method,
      dispatcher,
      headers: {
        apikey: apiKey,
        ...(app !== undefined && { appid: app }),
        ...(as !== undefined && { onbehalfof: as }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
    return (JSON.parse(text) as { data: unknown }).data
  }
}

const recordsPerRequest = 1000
const atOnce = 32

/** Makes users, with a token each. */
export async function makeLogins(ask: Ask, prefix: string, count: number): Promise<Login[]> {
  const uids = times(count, (i) => `${prefix}${i}`)
  for (let start = 0; start < count; start += recordsPerRequest) {
    const users = uids.slice(start, start + recordsPerRequest).map((uid) => ({ uid, name: uid }))
    await ask('POST', '/data_import/users', { users })
  }
  const logins: Login[] = []
  await inParallel(uids, async (uid) => {
    const { authToken } = (await ask('POST', `/users/${uid}/auth_tokens`, {})) as { authToken: string }
    logins.push({ uid, token: authToken })
  })
  return logins
}

/** Makes a group of users who are there. */
export async function makeGroup(ask: Ask, guid: string, uids: readonly string[]): Promise<void> {
  const owner = uids[0] as string
  await ask('POST', '/data_import/groups', { groups: [{ guid, name: guid, type: 'public', owner }] })
  const joinedAt = Math.floor(Date.now() / 1000)
  const members = uids.map((uid) => ({
    memberId: `${guid}_member_${uid}`,
    guid,
    uid,
    scope: uid === owner ? 'admin' : 'participant',
    joinedAt,
  }))
  for (let start = 0; start < members.length; start += recordsPerRequest) {
    const outcomes = await ask('POST', '/data_import/members', {
      members: members.slice(start, start + recordsPerRequest),
    })
    const refused = Object.values(outcomes as Record<string, { success: boolean }>).find(({ success }) => !success)
    if (refused !== undefined) throw new Error(`a member was not imported: ${JSON.stringify(refused)}`)
  }
}

/** Works on all items, some of them at once. */
export async function inParallel<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const waiting = items.values()
  await Promise.all(
    times(atOnce, async () => {
      for (const item of waiting) await work(item)
    }),
  )
}
