/**
 * What a chat is, in the plainest form: lists in memory, no positions, no remembered counts. The service must agree with
 * it, whatever is done in whatever order.
 */

export const people = ['ann', 'ben', 'cat', 'dan', 'eve'] as const
export type Person = (typeof people)[number]

/** The owner of the only group; he stays in it. */
export const owner: Person = 'ann'

/** A conversation: the two uids in byte order, or the group. */
export type Talk = 'team' | `${Person} ${Person}`

export interface Entry {
  readonly id: string
  readonly by: Person | 'app_system'
  /** A message that counts, or an action. */
  readonly kind: 'message' | 'groupMember' | 'changed'
  deleted: boolean
}

interface ParticipantState {
  delivered: number
  read: number
  /** Everything of others after it is unread. */
  pointer: number
  cleared: number
  hidden: boolean
}

interface TalkState {
  readonly entries: Entry[]
  readonly sides: Map<Person, ParticipantState>
  /** Of the group: how far everybody has received and read, ever. */
  allDelivered: number
  allRead: number
}

/** Positions are numbers of entries: 0 is before the first. */
export class ChatModel {
  readonly talks = new Map<Talk, TalkState>([['team', { entries: [], sides: new Map(), allDelivered: 0, allRead: 0 }]])
  readonly members = new Map<Person, 'admin' | 'participant'>()
  readonly banned = new Set<Person>()
  readonly blocks = new Set<string>()
  readonly asleep = new Set<Person>()
  participantsMaySend = true

  constructor(members: readonly Person[]) {
    for (const person of members) {
      this.members.set(person, person === owner ? 'admin' : 'participant')
      this.side('team', person)
    }
  }

  static talkOf(a: Person, b: Person): Talk {
    return a <= b ? `${a} ${b}` : `${b} ${a}`
  }

  talk(talk: Talk): TalkState {
    let state = this.talks.get(talk)
    if (state === undefined) {
      state = { entries: [], sides: new Map(), allDelivered: 0, allRead: 0 }
      this.talks.set(talk, state)
    }
    return state
  }

  side(talk: Talk, person: Person): ParticipantState {
    const { sides } = this.talk(talk)
    let side = sides.get(person)
    if (side === undefined) {
      side = { delivered: 0, read: 0, pointer: 0, cleared: 0, hidden: false }
      sides.set(person, side)
    }
    return side
  }

  /** Is he in the group, and awake? */
  takesPart(person: Person): boolean {
    return this.members.has(person) && !this.asleep.has(person)
  }

  append(talk: Talk, entry: Omit<Entry, 'deleted'>): void {
    this.talk(talk).entries.push({ ...entry, deleted: false })
    if (talk !== 'team') for (const person of talk.split(' ') as Person[]) this.side(talk, person)
  }

  /** Sending reads. */
  sent(talk: Talk, by: Person, id: string): void {
    this.append(talk, { id, by, kind: 'message' })
    const end = this.talk(talk).entries.length
    Object.assign(this.side(talk, by), { delivered: end, read: end, pointer: end })
    this.settle()
  }

  mark(talk: Talk, person: Person, receipt: 'delivered' | 'read', upTo: number): void {
    const side = this.side(talk, person)
    side.delivered = Math.max(side.delivered, upTo)
    if (receipt === 'read') {
      side.read = Math.max(side.read, upTo)
      side.pointer = Math.max(side.pointer, upTo)
    }
    this.settle()
  }

  markUnread(talk: Talk, person: Person, from: number): void {
    const side = this.side(talk, person)
    side.pointer = Math.min(side.pointer, from - 1)
  }

  /** Whether somebody's reset hides an entry from them, by its id too. */
  isCleared(talk: Talk, person: Person, index: number): boolean {
    return index < this.side(talk, person).cleared
  }

  reset(talk: Talk, person: Person): void {
    const end = this.talk(talk).entries.length
    Object.assign(this.side(talk, person), { cleared: end, pointer: end, hidden: true })
  }

  /** A newcomer starts at the end of the history. */
  joined(person: Person, id: string, by: Person | 'app_system'): void {
    const end = this.talk('team').entries.length
    this.members.set(person, person === owner ? 'admin' : 'participant')
    Object.assign(this.side('team', person), { delivered: end, read: end, pointer: end })
    this.append('team', { id, by, kind: 'groupMember' })
    this.settle()
  }

  gone(person: Person, id: string, by: Person | 'app_system'): void {
    this.members.delete(person)
    this.append('team', { id, by, kind: 'groupMember' })
    this.settle()
  }

  settle(): void {
    const team = this.talk('team')
    const present = [...this.members.keys()].filter((person) => this.takesPart(person))
    if (present.length === 0) return
    const lowest = (mark: 'delivered' | 'read') => Math.min(...present.map((person) => this.side('team', person)[mark]))
    team.allDelivered = Math.max(team.allDelivered, lowest('delivered'))
    team.allRead = Math.max(team.allRead, lowest('read'))
  }

  exists(talk: Talk): boolean {
    return this.listedAt(talk) > 0
  }

  /** Number of the last entry that lists show a conversation by. */
  private listedAt(talk: Talk): number {
    return (this.talks.get(talk)?.entries ?? []).findLastIndex((entry) => entry.kind !== 'changed') + 1
  }

  unread(talk: Talk, person: Person): number {
    const { pointer } = this.side(talk, person)
    return this.talk(talk).entries.filter(
      (entry, i) => i >= pointer && entry.kind === 'message' && !entry.deleted && entry.by !== person,
    ).length
  }

  /** The conversations in a person's list with what he has not read. */
  list(person: Person): Map<Talk, number> {
    const listed = new Map<Talk, number>()
    for (const talk of this.talks.keys()) {
      if (!this.exists(talk) || !this.sees(talk, person)) continue
      const side = this.side(talk, person)
      if (side.hidden && this.listedAt(talk) <= side.cleared) continue
      if (talk !== 'team' && this.blocks.has(`${person} ${this.peer(talk, person)}`)) continue
      listed.set(talk, this.unread(talk, person))
    }
    return listed
  }

  sees(talk: Talk, person: Person): boolean {
    return talk === 'team' ? this.takesPart(person) : talk.split(' ').includes(person)
  }

  peer(talk: Talk, person: Person): Person {
    const [a, b] = talk.split(' ') as [Person, Person]
    return a === person ? b : a
  }

  /** Ids of the entries that a person sees, in order. */
  history(talk: Talk, person: Person): string[] {
    return this.talk(talk)
      .entries.slice(this.side(talk, person).cleared)
      .map(({ id }) => id)
  }

  /** Which messages are delivered and read, by id. */
  receipts(talk: Talk): Map<string, { delivered: boolean; read: boolean }> {
    const { entries, allDelivered, allRead } = this.talk(talk)
    const reach = (entry: Entry) => {
      if (talk === 'team') return { delivered: allDelivered, read: allRead }
      return this.side(talk, this.peer(talk, entry.by as Person))
    }
    return new Map(
      entries.flatMap((entry, i) =>
        entry.kind !== 'message'
          ? []
          : [[entry.id, { delivered: reach(entry).delivered > i, read: reach(entry).read > i }] as const],
      ),
    )
  }
}
