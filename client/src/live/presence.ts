import type { User } from '../contract.ts'
import type { Signal } from '../platform.ts'
import { type CreateCell, createViews } from './cell.ts'
import { later } from './here.ts'
import type { Presence, View } from './interface.ts'
import type { Listed, Port } from './port.ts'
import type { Insist } from './retries.ts'

export interface Presences {
  view(uid: string): View<Presence | undefined>
  /** A user as a frame or a list shows them. */
  learn(user: Partial<User>): void
  /** What is known may be over. */
  forget(): void
  /** Asks for everybody who is watched. */
  reload(signal?: Signal): Promise<void>
}

/** uids in one request. */
const mostAsked = 100

export function createPresences(cell: CreateCell, port: Port, insist: Insist): Presences {
  const known = new Map<string, Presence>()
  const watched = new Set<string>()
  let asking: Set<string> | undefined

  const learn = ({ uid, status, lastActiveAt }: Partial<User>) => {
    if (uid === undefined || status === undefined) return
    const before = known.get(uid)
    if (before?.status === status && (lastActiveAt ?? before.lastActiveAt) === before.lastActiveAt) return
    known.set(uid, { status, ...(lastActiveAt !== undefined && { lastActiveAt }) })
    views.changed(uid)
  }
  const ask = async (uids: readonly string[], signal: Signal | undefined) => {
    for (let from = 0; from < uids.length; from += mostAsked) {
      const asked = uids.slice(from, from + mostAsked)
      const query = { uids: asked.join(','), perPage: mostAsked }
      for (const user of (await port.call<Listed<User>>('GET', '/users', { query, signal })).data) learn(user)
      // Those who are not in the list were deactivated, or there is nobody of that name.
      for (const uid of asked) if (!known.has(uid)) learn({ uid, status: 'offline' })
    }
  }
  /** Those who come on screen in one turn are asked for together. */
  const askSoon = (uid: string) => {
    if (asking === undefined) {
      const uids = new Set<string>()
      asking = uids
      later(() => {
        asking = undefined
        void insist((signal) => ask([...uids], signal))
      }, 20)
    }
    asking.add(uid)
  }

  const views = createViews(
    cell,
    (uid) => known.get(uid),
    (uid, isWatched) => {
      if (!isWatched) watched.delete(uid)
      else {
        watched.add(uid)
        if (!known.has(uid)) askSoon(uid)
      }
    },
  )

  return {
    view: views.of,
    learn,
    forget: () => known.clear(),
    // What is not watched is asked for when it is.
    reload: (signal) => ask([...watched], signal).finally(views.changed),
  }
}
