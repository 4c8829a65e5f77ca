/**
 * What a chat is and who sees what of it, in the plainest form: lists in memory, no remembered counts. It is written from
 * the contract, and takes nothing from the service.
 */

export const people = ['ann', 'ben', 'cat', 'dan'] as const
export type Person = (typeof people)[number]

/** A public group and a private one, both ann's. */
export const groups = ['team', 'den'] as const
export type Group = (typeof groups)[number]
export const owner: Person = 'ann'

/** Has the role `tested`, on which permissions are set; the others have the default role. */
export const tested: Person = 'cat'

/** A conversation: a group, or two uids in byte order. */
export type Talk = Group | `${Person} ${Person}`

export interface Entry {
  readonly id: number
  sentAt: number
  readonly talk: Talk
  readonly by: Person | 'app_system'
  /** `member`: the action of a group event; `change`: that of an edit or deletion. */
  readonly kind: 'text' | 'image' | 'member' | 'change'
  /** What it says. */
  words: string
  readonly parent?: number
  /** Of a change: the message that it tells of. */
  readonly about?: number
  /** Of a change by the app: who wrote that message, and counts as the sender of the news. */
  readonly writer?: Entry['by']
  readonly isImported?: boolean
  isDeleted: boolean
  /** Moderation keeps it from everybody but whoever wrote it. */
  isHeld: boolean
  /** It was, at any time. */
  wasHeld: boolean
  /** Others had it before moderation took it. */
  wasSeen: boolean
  /** It came to light where it had been held, and never counts. */
  isUncounted: boolean
  /** Those who reported it to the reviewers. */
  readonly flags: Set<Person>
}

/** What is said of an entry when it comes to be. */
export type NewEntry = Omit<Entry, 'isDeleted' | 'isHeld' | 'wasHeld' | 'wasSeen' | 'isUncounted' | 'flags'>

export interface Place {
  readonly sentAt: number
  readonly id: number
}

interface Membership {
  scope: 'owner' | 'moderator' | 'participant'
  /** Entries that were there before. */
  readonly before: Set<number>
  /** What is dated up to here is from before, also what is imported later. */
  readonly since: Place
}

interface Side {
  /** Hidden by resets. */
  cleared: Set<number>
  clearedTo: Place
  /** Since a reset, until the next message. */
  isOutOfList: boolean
  /** Everything of others behind it is unread. */
  pointer: Place
}

const start: Place = { sentAt: 0, id: 0 }

export const isBehind = (a: Place, b: Place) => a.sentAt > b.sentAt || (a.sentAt === b.sentAt && a.id > b.id)
const later = (a: Place, b: Place) => (isBehind(a, b) ? a : b)
const placeOf = ({ sentAt, id }: Place): Place => ({ sentAt, id })
export const isGroup = (talk: Talk): talk is Group => (groups as readonly string[]).includes(talk)

export function talkOf(by: Person, other: Person | Group): Talk {
  if ((groups as readonly string[]).includes(other)) return other as Group
  return by <= other ? `${by} ${other as Person}` : `${other as Person} ${by}`
}

export function peerOf(talk: Talk, person: Person): Person {
  const [a, b] = talk.split(' ') as [Person, Person]
  return a === person ? b : a
}

export class World {
  /** All that was ever said and is not removed for good, in the order of histories. */
  entries: Entry[] = []
  readonly members: Record<Group, Map<Person, Membership>> = { team: new Map(), den: new Map() }
  readonly banned: Record<Group, Set<Person>> = { team: new Set(), den: new Set() }
  /** `ann ben`: ann has blocked ben. */
  readonly blocks = new Set<string>()
  readonly role = { listMessages: true, onlyTexts: false }
  /** What is set on the scope `participant`. */
  readonly scopes: Record<Group, { send: boolean; history: boolean; onlyTexts: boolean }> = {
    team: { send: true, history: true, onlyTexts: false },
    den: { send: true, history: true, onlyTexts: false },
  }
  /** `<id> <person>` */
  readonly reactions = new Set<string>()
  readonly saves = new Set<string>()
  readonly pins = new Set<number>()
  /** Users who were permanently deleted. */
  readonly gone = new Set<Person>()
  /** Deactivated, for now. */
  readonly asleep = new Set<Person>()
  private readonly sides = new Map<string, Side>()
  /** The newest that a list of conversations shows of each, whatever became of it. */
  private readonly tops = new Map<Talk, Place>()
  /** In which others ever had something of somebody. */
  private readonly begun = new Set<Talk>()

  /** @param at seconds: when the groups were made */
  constructor(at: number) {
    for (const person of ['ann', 'ben', 'cat'] as const) this.enter('team', person, { sentAt: at, id: 0 })
    for (const person of ['ann', 'ben'] as const) this.enter('den', person, { sentAt: at, id: 0 })
  }

  // What happens

  /** @param since the place right before the news of it */
  enter(group: Group, person: Person, since: Place): void {
    const there = this.of(group)
    const newest = there.findLast(({ isHeld }) => !isHeld)
    const scope = person === owner ? 'owner' : 'participant'
    this.members[group].set(person, { scope, before: new Set(there.map(({ id }) => id)), since })
    this.side(group, person).pointer = newest === undefined ? start : placeOf(newest)
  }

  add(entry: NewEntry): Entry {
    const added = this.put(entry, false)
    this.appear(added)
    return added
  }

  /** Sending reads. */
  sent(entry: NewEntry): Entry {
    const added = this.add(entry)
    const side = this.side(added.talk, added.by as Person)
    side.pointer = later(side.pointer, placeOf(added))
    return added
  }

  /** Sent, and held: it moves nothing, and reads nothing. */
  held(entry: NewEntry): Entry {
    return this.put(entry, true)
  }

  /** What nobody else has seen comes to the end. @param sentAt seconds */
  release(entry: Entry, sentAt: number): void {
    entry.sentAt = sentAt
    entry.isHeld = false
    this.sort()
    for (const person of people) {
      const side = this.side(entry.talk, person)
      if (isBehind(entry, side.clearedTo)) side.cleared.delete(entry.id)
      const membership = isGroup(entry.talk) ? this.members[entry.talk].get(person) : undefined
      if (membership !== undefined && isBehind(entry, membership.since)) membership.before.delete(entry.id)
    }
    this.appear(entry)
  }

  /** It comes to light at its place. */
  reappear(entry: Entry): void {
    entry.isHeld = false
    if (!entry.wasSeen) entry.isUncounted = true
    this.appear(entry)
  }

  /** Others had it, and have it no more. */
  block(entry: Entry): void {
    entry.isHeld = true
    entry.wasHeld = true
    entry.wasSeen = true
    this.pins.delete(entry.id)
    for (const person of people) this.saves.delete(`${entry.id} ${person}`)
    if (this.tops.get(entry.talk)?.id !== entry.id) return
    const newest = this.of(entry.talk).findLast(({ isHeld, kind }) => !isHeld && kind !== 'change')
    if (newest === undefined) this.tops.delete(entry.talk)
    else this.tops.set(entry.talk, placeOf(newest))
    for (const person of people) {
      const side = this.side(entry.talk, person)
      if (side.clearedTo !== start && !isBehind(newest ?? start, side.clearedTo)) side.isOutOfList = true
    }
  }

  private put(entry: NewEntry, isHeld: boolean): Entry {
    const fresh = { isDeleted: false, wasSeen: false, isUncounted: false, flags: new Set<Person>() }
    const added: Entry = { ...entry, ...fresh, isHeld, wasHeld: isHeld }
    this.entries.push(added)
    this.sort()
    return added
  }

  private sort(): void {
    this.entries.sort((a, b) => (isBehind(a, b) ? 1 : -1))
  }

  /** Lists of conversations go by it from now on. */
  private appear(entry: Entry): void {
    if (entry.kind === 'change') return
    this.begun.add(entry.talk)
    this.tops.set(entry.talk, later(placeOf(entry), this.tops.get(entry.talk) ?? start))
    for (const person of people) {
      const side = this.side(entry.talk, person)
      if (isBehind(entry, side.clearedTo)) side.isOutOfList = false
    }
  }

  read(talk: Talk, person: Person): void {
    this.side(talk, person).pointer = this.endOf(talk)
  }

  unreadFrom(talk: Talk, person: Person, entry: Entry): void {
    const side = this.side(talk, person)
    if (isBehind(entry, side.pointer)) return
    const newest = this.of(talk).findLast((one) => !one.isHeld && isBehind(entry, one))
    side.pointer = newest === undefined ? start : placeOf(newest)
  }

  /** @param at seconds */
  reset(talk: Talk, person: Person, at: number): void {
    const side = this.side(talk, person)
    side.clearedTo = later(this.endOf(talk), { sentAt: at, id: 0 })
    for (const entry of this.of(talk)) if (!isBehind(entry, side.clearedTo)) side.cleared.add(entry.id)
    side.isOutOfList = true
    side.pointer = later(side.pointer, this.endOf(talk))
  }

  /** The place of the newest that is not held. */
  private endOf(talk: Talk): Place {
    const newest = this.of(talk).findLast(({ isHeld }) => !isHeld)
    return newest === undefined ? start : placeOf(newest)
  }

  /** Of what was imported just now and is old: a reset hides it as well. */
  clearOld(entry: Entry): void {
    for (const person of people) {
      const side = this.side(entry.talk, person)
      if (!isBehind(entry, side.clearedTo)) side.cleared.add(entry.id)
    }
  }

  delete(entry: Entry): void {
    entry.isDeleted = true
    this.pins.delete(entry.id)
  }

  remove(entry: Entry): void {
    const gone = new Set([entry.id, ...this.entries.filter(({ parent }) => parent === entry.id).map(({ id }) => id)])
    this.entries = this.entries.filter(({ id }) => !gone.has(id))
    for (const id of gone) this.pins.delete(id)
  }

  /** A user is permanently deleted: what they said in groups stays. */
  erase(person: Person): void {
    this.gone.add(person)
    const isTheirs = (talk: Talk) => !isGroup(talk) && talk.split(' ').includes(person)
    for (const { id, talk } of this.entries) if (isTheirs(talk)) this.pins.delete(id)
    this.entries = this.entries.filter(({ talk, isHeld, by }) => !isTheirs(talk) && !(isHeld && by === person))
    for (const talk of this.begun) if (isTheirs(talk)) this.begun.delete(talk)
    for (const talk of this.talks()) if (isTheirs(talk)) this.tops.delete(talk)
    for (const group of groups) this.members[group].delete(person)
    for (const pair of this.blocks) if (pair.split(' ').includes(person)) this.blocks.delete(pair)
  }

  /** Those who can still be asked. */
  present(): Person[] {
    return people.filter((person) => !this.isAway(person))
  }

  isAway(person: Person): boolean {
    return this.gone.has(person) || this.asleep.has(person)
  }

  // What is so

  of(talk: Talk): Entry[] {
    return this.entries.filter((entry) => entry.talk === talk)
  }

  find(id: number): Entry | undefined {
    return this.entries.find((entry) => entry.id === id)
  }

  hasBegun(talk: Talk): boolean {
    return this.begun.has(talk)
  }

  talks(): Talk[] {
    return [...this.tops.keys()]
  }

  takesPart(talk: Talk, person: Person): boolean {
    return isGroup(talk) ? this.members[talk].has(person) : talk.split(' ').includes(person)
  }

  areBlocked(a: Person, b: Person): boolean {
    return this.blocks.has(`${a} ${b}`) || this.blocks.has(`${b} ${a}`)
  }

  maySay(talk: Talk, by: Person): boolean {
    if (!isGroup(talk)) return !this.areBlocked(by, peerOf(talk, by))
    return this.members[talk].has(by) && (!this.isParticipant(talk, by) || this.scopes[talk].send)
  }

  /** Whether an entry is open to a person but for what permissions hide. */
  isOpen(entry: Entry, person: Person): boolean {
    return this.takesPart(entry.talk, person) && !this.side(entry.talk, person).cleared.has(entry.id)
  }

  sees(entry: Entry, person: Person): boolean {
    if (!this.isOpen(entry, person)) return false
    if (entry.isHeld && entry.by !== person) return false
    if (person === tested && !this.role.listMessages) return false
    if (person === tested && this.role.onlyTexts && entry.kind === 'image') return false
    if (!isGroup(entry.talk) || !this.isParticipant(entry.talk, person)) return true
    const { onlyTexts, history } = this.scopes[entry.talk]
    if (onlyTexts && entry.kind === 'image') return false
    return history || !this.isFromBefore(entry, person)
  }

  /** By its id, everybody opens what they wrote themselves. */
  opens(entry: Entry, person: Person): boolean {
    const isTheirs = entry.by === person || entry.writer === person
    return isTheirs ? this.isOpen(entry, person) : this.sees(entry, person)
  }

  isParticipant(group: Group, person: Person): boolean {
    return this.members[group].get(person)?.scope === 'participant'
  }

  /** Who may delete what others wrote. */
  moderates(talk: Talk, person: Person): boolean {
    return isGroup(talk) && this.members[talk].has(person) && !this.isParticipant(talk, person)
  }

  private isFromBefore(entry: Entry, person: Person): boolean {
    const { before, since } = this.members[entry.talk as Group].get(person) as Membership
    return before.has(entry.id) || !isBehind(entry, since)
  }

  private side(talk: Talk, person: Person): Side {
    const key = `${talk}/${person}`
    let side = this.sides.get(key)
    if (side === undefined) {
      side = { cleared: new Set(), clearedTo: start, isOutOfList: false, pointer: start }
      this.sides.set(key, side)
    }
    return side
  }

  // What each is shown

  history(talk: Talk, person: Person): Entry[] {
    return this.of(talk).filter((entry) => this.sees(entry, person))
  }

  isListed(talk: Talk, person: Person): boolean {
    if (!this.takesPart(talk, person) || this.side(talk, person).isOutOfList) return false
    if (!this.tops.has(talk)) return false
    return isGroup(talk) || !this.blocks.has(`${person} ${peerOf(talk, person)}`)
  }

  unread(talk: Talk, person: Person): number {
    return this.unreadEntries(talk, person).length
  }

  unreadEntries(talk: Talk, person: Person): Entry[] {
    const { pointer } = this.side(talk, person)
    return this.history(talk, person).filter((entry) => {
      const counts = (entry.kind === 'text' || entry.kind === 'image') && !(isGroup(talk) && entry.isImported === true)
      return (
        counts &&
        !entry.isDeleted &&
        !entry.isHeld &&
        !entry.isUncounted &&
        entry.by !== person &&
        isBehind(entry, pointer)
      )
    })
  }

  /** What a list of conversations shows of the history; nothing while the newest is deleted, removed or hidden. */
  last(talk: Talk, person: Person): Entry | undefined {
    const newest = this.find(this.tops.get(talk)?.id ?? 0)
    return newest !== undefined && !newest.isDeleted && this.sees(newest, person) ? newest : undefined
  }

  /** All that moderation keeps. */
  heldEntries(): Entry[] {
    return this.entries.filter(({ isHeld, isDeleted }) => isHeld && !isDeleted)
  }

  replies(parent: number, person: Person): Entry[] {
    return this.entries.filter(
      (entry) => entry.parent === parent && entry.kind !== 'change' && this.sees(entry, person),
    )
  }

  groupsOf(person: Person): Group[] {
    return groups.filter((group) => group === 'team' || this.members[group].has(person))
  }
}
