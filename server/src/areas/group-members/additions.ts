import { type ApiError, type GroupScope, tooManyUsers } from '@parley/contract'
import type { Unwilling } from './consent.ts'
import { type GroupLimits, type RuledActor, type RuledGroup, refuseAddition, refuseBan, type Target } from './rules.ts'

/** The four lists of a request that adds members. */
export interface MemberLists {
  readonly admins?: readonly string[]
  readonly moderators?: readonly string[]
  readonly participants?: readonly string[]
  readonly usersToBan?: readonly string[]
}

export type ListName = keyof MemberLists

/** One user of such a request, in the list that counts. */
export interface Addition {
  readonly uid: string
  readonly list: ListName
  /** The scope to give; undefined for a ban. */
  readonly scope: GroupScope | undefined
}

/** The lists, in the order in which they count and are processed. */
export const listScopes: ReadonlyArray<readonly [ListName, GroupScope | undefined]> = [
  ['admins', 'admin'],
  ['moderators', 'moderator'],
  ['participants', 'participant'],
  ['usersToBan', undefined],
]

/**
 * The users of a request, each once: a user in several lists gets the highest scope and is not banned.
 * @param path where the lists are in the request
 * @param most users of one request; 0: any number
 * @throws 400 for more
 */
export function readAdditions(lists: MemberLists, path: string, most: number): Addition[] {
  const named = listScopes.reduce((sum, [list]) => sum + (lists[list]?.length ?? 0), 0)
  if (most !== 0 && named > most) throw tooManyUsers(path, named, most)
  const additions = new Map<string, Addition>()
  for (const [list, scope] of listScopes) {
    for (const uid of lists[list]?.map((sent) => sent.toLowerCase()) ?? []) {
      if (!additions.has(uid)) additions.set(uid, { uid, list, scope })
    }
  }
  return [...additions.values()]
}

/** What to do about a request: who is added, who is banned, who is refused and why. */
export interface Plan {
  readonly members: ReadonlyArray<Addition & { readonly scope: GroupScope }>
  readonly bans: readonly Addition[]
  readonly refused: ReadonlyArray<Addition & { readonly error: ApiError }>
}

/**
 * Checks each user of a request on their own: one refusal does not stop the others.
 * @param unwilling who cannot be added by the acting user
 */
export function planAdditions(
  group: RuledGroup,
  actor: RuledActor,
  targets: ReadonlyMap<string, Target>,
  additions: readonly Addition[],
  unwilling: Unwilling,
  limits: GroupLimits,
): Plan {
  const members: Array<Addition & { scope: GroupScope }> = []
  const bans: Addition[] = []
  const refused: Array<Addition & { error: ApiError }> = []
  for (const addition of additions) {
    const target = targets.get(addition.uid) ?? unknownTarget(addition.uid)
    const { scope } = addition
    const then = { ...group, membersCount: group.membersCount + members.length }
    const error =
      scope === undefined
        ? refuseBan(group, actor, target)
        : (refuseAddition(then, actor, target, scope, limits) ?? unwilling.get(addition.uid))
    if (error !== undefined) refused.push({ ...addition, error })
    else if (scope === undefined) bans.push(addition)
    else members.push({ ...addition, scope })
  }
  return { members, bans, refused }
}

function unknownTarget(uid: string): Target {
  return { uid, user: undefined, membership: undefined, isBanned: false, groups: 0 }
}
