/** How large a seeded world is. */
export interface WorldSizes {
  readonly users: number
  readonly messages: number
  readonly groups: number
  /** Groups that the user `busy` is a member of; at most all but one of them. */
  readonly busyGroups: number
  /** Members of the group `crowd`. */
  readonly crowd: number
  /** One-to-one conversations, those of `busy` among them. */
  readonly pairs: number
  readonly busyPairs: number
}

/** A million messages, 100,000 users, one of them in 2,000 groups and 3,000 one-to-one conversations. */
const fullWorld: WorldSizes = {
  users: 100_000,
  messages: 1_000_000,
  groups: 5000,
  busyGroups: 2000,
  crowd: 10_000,
  pairs: 295_000,
  busyPairs: 3000,
}

/** The same world, so many times as large; 1 is the full one. */
export function scaleWorld(factor: number): WorldSizes {
  const scaled = (count: number) => Math.max(1, Math.round(count * factor))
  return {
    users: scaled(fullWorld.users),
    messages: scaled(fullWorld.messages),
    groups: scaled(fullWorld.groups),
    busyGroups: scaled(fullWorld.busyGroups),
    crowd: scaled(fullWorld.crowd),
    pairs: scaled(fullWorld.pairs),
    busyPairs: scaled(fullWorld.busyPairs),
  }
}

/** @throws when a world of these sizes cannot be */
export function checkSizes(sizes: WorldSizes): void {
  const { users, messages, groups, busyGroups, crowd, pairs, busyPairs } = sizes
  const others = pairs - busyPairs
  const mistakes = [
    users < 100 && 'a world has at least 100 users',
    (crowd > users / 2 || busyPairs > users / 2) && 'half of the users at most are in the crowd, or know busy',
    busyGroups >= groups && 'busy cannot be in all groups',
    (busyPairs < 1 || others < 0 || others > (users * users) / 4) &&
      'there are too many or too few pairs for the users',
    messages < 3 * (pairs + groups) && 'there must be three messages for each conversation at least',
  ].filter((mistake) => mistake !== false)
  if (mistakes.length > 0) throw new Error(`These sizes make no world: ${mistakes.join('; ')}.`)
}
