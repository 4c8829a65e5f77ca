import { createGroup, dataOf, refusal, say, sayInGroup } from './chat.ts'
import { importWell, usersNamed } from './imports.ts'
import { type Answer, createWorld, type RequestOptions, type World } from './world.ts'

/** A world in which bob acts, whose role `tested` is restricted; ids of messages that the rows use. */
export interface RoleWorld extends World {
  /** From alice to bob, from bob to alice. */
  readonly fromAlice: string
  readonly fromBob: string
  /** From alice and from bob to the group, and a reply of bob's to the former. */
  readonly inGroup: string
  readonly bobInGroup: string
  readonly reply: string
}

/**
 * bob (role tested) has fred as a friend; alice and fred have the role default, vera has vip. All are in the public group
 * `team` of alice's; of her other groups, `open` is public, `locked` needs a password, and bob is in the private `secret`.
 */
export async function createRoleWorld(): Promise<RoleWorld> {
  const world = await createWorld()
  for (const role of ['tested', 'vip']) dataOf(await world.post('/roles', { role, name: role }))
  // Imported, which is one request for all of them.
  const roles: Record<string, string> = { bob: 'tested', vera: 'vip' }
  const users = usersNamed('alice', 'bob', 'fred', 'vera').map((user) => ({
    ...user,
    role: roles[user.uid] ?? 'default',
  }))
  await importWell(world, 'users', users)
  dataOf(await world.post('/users/bob/friends', { accepted: ['fred'] }))
  await createGroup(world, 'team', 'alice', { participants: ['bob', 'fred', 'vera'] })
  await createGroup(world, 'open', 'alice')
  // Imported: a password that is given to the API is slow to compute, and most rules do without.
  const locked = { guid: 'locked', name: 'locked', type: 'password', password: 'pw', owner: 'alice' }
  await importWell(world, 'groups', [locked])
  await createGroup(world, 'secret', 'alice', { participants: ['bob'] }, { type: 'private' })
  const fromAlice = (await say(world, 'alice', 'bob', 'from alice')).id
  const fromBob = (await say(world, 'bob', 'alice', 'from bob')).id
  await say(world, 'fred', 'bob', 'from fred')
  await say(world, 'vera', 'bob', 'from vera')
  dataOf(await world.post('/messages', { receiver: 'bob', receiverType: 'user', data: { text: 'from app' } }))
  const inGroup = (await sayInGroup(world, 'alice', 'team', 'in team')).id
  const bobInGroup = (await sayInGroup(world, 'bob', 'team', 'bob in team')).id
  const reply = (await sayInGroup(world, 'bob', 'team', 'reply', { parentId: inGroup })).id
  return { ...world, fromAlice, fromBob, inGroup, bobInGroup, reply }
}

/** `allowed`, or the status and code of the refusal. */
export function outcomeOf(answer: Answer): string {
  return answer.status === 200 ? 'allowed' : refusal(answer)
}

/** What somebody meets who does something; `as` is empty where the app itself does it. */
export type Attempt = (world: RoleWorld, as: RequestOptions) => Promise<unknown>

/** Something that is set on a role, and what its users meet without and with it. */
export interface RoleRule {
  readonly attempt: Attempt
  /** Without it: `allowed` where nothing is said. */
  readonly before?: unknown
  /** With it: refused where nothing is said. */
  readonly after?: unknown
  /** What the app itself meets; absent where the operation needs an acting user. */
  readonly app?: unknown
}

/** A permission with the value that denies or narrows, and what must be set beside it. */
export interface PermissionRule extends RoleRule {
  readonly value: string | readonly string[]
  readonly beside?: Readonly<Record<string, unknown>>
}

/** What who may not is told. */
export const denied = '403 ERR_PERMISSION_DENIED'

/** Outcomes of several attempts, by name. */
export function each(attempts: Readonly<Record<string, Attempt>>): Attempt {
  return async (world, as) => {
    const outcomes: Record<string, unknown> = {}
    for (const [name, attempt] of Object.entries(attempts)) outcomes[name] = await attempt(world, as)
    return outcomes
  }
}

/** A call with a fixed path and body. */
export function calls(method: string, path: string | ((world: RoleWorld) => string), body?: unknown): Attempt {
  return async (world, as) =>
    outcomeOf(await world.call(method, typeof path === 'string' ? path : path(world), body, as))
}

export const text = { data: { text: 'x' } }
export const toUser = (receiver: string, message: object = text) => ({ receiver, receiverType: 'user', ...message })
export const toGroup = (receiver: string, message: object = text) => ({ receiver, receiverType: 'group', ...message })
export const sends = (body: object): Attempt => calls('POST', '/messages', body)
/** Replies in the thread of alice's message in the group. */
export const replies =
  (message: object = text): Attempt =>
  async (world, as) =>
    outcomeOf(await world.post('/messages', toGroup('team', { ...message, parentId: world.inGroup }), as))

export const custom = (type: string) => ({ category: 'custom', type, data: { customData: { a: 1 } } })
export const media = (type: string, mimeType: string) => ({
  type,
  data: { attachments: [{ url: 'https://example.com/file', mimeType }] },
})

/** The texts of a message list, custom messages by their type, sorted. */
export function shown(path: string | ((world: RoleWorld) => string)): Attempt {
  return async (world, as) => {
    const answer = await world.get(typeof path === 'string' ? path : path(world), as)
    if (answer.status !== 200) return outcomeOf(answer)
    return answer.body.data.map(({ data, type }: { data: { text?: string }; type: string }) => data.text ?? type).sort()
  }
}

/** One field of each row of a list. */
export function listed(path: string, field: string): Attempt {
  return async (world, as) => {
    const answer = await world.get(path, as)
    if (answer.status !== 200) return outcomeOf(answer)
    return answer.body.data.map((row: Record<string, unknown>) => row[field])
  }
}

/** Outcomes of reading some paths, by path. */
export const reads = (...paths: string[]): Attempt =>
  each(Object.fromEntries(paths.map((path) => [path, calls('GET', path)])))
/** The same outcome for several attempts. */
export const outcomes = (value: string, ...keys: string[]) => Object.fromEntries(keys.map((key) => [key, value]))
