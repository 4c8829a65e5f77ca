import { expectSuccess, type Line } from './line.ts'

/** A conversation that the senders write into. `members`: who may send; a one-to-one conversation has two. */
export interface Talk {
  /** As on the wire: `a_user_b` or `group_g`. */
  readonly id: string
  readonly guid: string | undefined
  readonly members: readonly string[]
}

/** Who talks with whom. */
export interface Cast {
  readonly uids: readonly string[]
  readonly talks: readonly Talk[]
  /** The conversations of each user. */
  readonly talksOf: ReadonlyMap<string, readonly Talk[]>
}

/** Where a user's message in a conversation goes. */
export function receiverIn(talk: Talk, uid: string): { receiver: string; receiverType: 'user' | 'group' } {
  if (talk.guid !== undefined) return { receiver: talk.guid, receiverType: 'group' }
  return { receiver: talk.members.find((member) => member !== uid) ?? uid, receiverType: 'user' }
}

/**
 * Makes users and groups. Each user talks with the next two of the circle, and sits in every group that comes round to
 * him, so that each conversation has several writers.
 */
export async function makeCast(line: Line, size: { users: number; groups: number; members: number }): Promise<Cast> {
  const uids = Array.from({ length: size.users }, (_, i) => `u${String(i).padStart(2, '0')}`)
  const after = (i: number, steps: number) => uids[(i + steps) % uids.length] as string
  const pairs = uids.flatMap((uid, i) => [1, 2].map((steps) => [uid, after(i, steps)].sort()))
  const groups = Array.from({ length: size.groups }, (_, g) => ({
    guid: `g${g}`,
    members: Array.from({ length: size.members }, (_, m) => after(g * 3, m)),
  }))

  for (const uid of uids) await expectSuccess(line.call('POST', '/users', { uid, name: uid }))
  for (const { guid, members } of groups) {
    const [owner, ...participants] = members
    const group = { guid, name: guid, type: 'public', owner, members: { participants } }
    await expectSuccess(line.call('POST', '/groups', group))
  }
  const talks: Talk[] = [
    ...pairs.map((members) => ({ id: members.join('_user_'), guid: undefined, members })),
    ...groups.map(({ guid, members }) => ({ id: `group_${guid}`, guid, members })),
  ]
  const talksOf = new Map(uids.map((uid) => [uid, talks.filter(({ members }) => members.includes(uid))]))
  return { uids, talks, talksOf }
}
