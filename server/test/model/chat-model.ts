/**
 * What a chat is, in the plainest form: lists in memory, no remembered counts. Of positions it knows that what is seen
 * newly lies at the end, and takes them from the answers, since two held messages of one second may come out in either order. The service must agree with
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
  /** Its place, see `placeOf`. */
  at: number
  deleted: boolean
  /** Moderation keeps it from everybody but who wrote it. */
  held: boolean
  /** Others had seen it before. */
  wasSeen: boolean
  /** A rule has stopped it, and nobody has looked at it since. */
  isBad: boolean
  /** A reviewer has stopped it. */
  stopped: boolean
  /** Whatever it says by now, a reviewer is to decide about it. */
  upToPeople: boolean
  /** Never, where it came to light at its old place. */
  counts: boolean
  /** An edit of it waits for an engine. */
  waits: boolean
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
  /** The highest place at which others saw something. */
  end: number
  readonly sides: Map<Person, ParticipantState>
  /** Of the group: how far everybody has received and read, ever. */
  allDelivered: number
  allRead: number
}

/** A place as one number: what comes later has a higher one, and a mark at 0 is before the first. */
export function placeOf({ id, sentAt }: { readonly id: string; readonly sentAt: number }): number {
  const place = sentAt * 4_000_000 + Number(id)
  if (Number(id) >= 4_000_000 || !Number.isSafeInteger(place)) throw new Error(`the id ${id} is too high for the model`)
  return place
}

export class ChatModel {
  readonly talks = new Map<Talk, TalkState>()
  readonly members = new Map<Person, 'admin' | 'participant'>()
  readonly banned = new Set<Person>()
  readonly blocks = new Set<string>()
  readonly asleep = new Set<Person>()
  participantsMaySend = true

  constructor(members: readonly Person[]) {
    this.talk('team')
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
      state = { entries: [], end: 0, sides: new Map(), allDelivered: 0, allRead: 0 }
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

  append(talk: Talk, entry: Pick<Entry, 'id' | 'by' | 'kind' | 'at'>, held?: 'bad' | 'wait'): void {
    const state = this.talk(talk)
    const { at } = entry
    if (at <= state.end) throw new Error(`the entry ${entry.id} does not come to the end`)
    const fresh = {
      deleted: false,
      wasSeen: false,
      isBad: held === 'bad',
      stopped: false,
      upToPeople: false,
      counts: true,
    }
    state.entries.push({ ...entry, ...fresh, waits: false, held: held !== undefined })
    state.entries.sort((a, b) => a.at - b.at)
    if (held === undefined) state.end = at
    if (talk !== 'team') for (const person of talk.split(' ') as Person[]) this.side(talk, person)
  }

  /** Sending reads. */
  sent(talk: Talk, by: Person, id: string, at: number): void {
    this.append(talk, { id, by, kind: 'message', at })
    const { end } = this.talk(talk)
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

  /** What is held moves nothing, and reads nothing. */
  kept(talk: Talk, by: Person, id: string, at: number, words: 'bad' | 'wait'): void {
    this.append(talk, { id, by, kind: 'message', at }, words)
  }

  /** A held message comes to the end; in a group its sender's marks move along where that reads nothing of others. */
  released(talk: Talk, entry: Entry, at: number): void {
    const state = this.talk(talk)
    if (at <= state.end) throw new Error(`the entry ${entry.id} does not come to the end`)
    if (talk === 'team') {
      const side = this.side(talk, entry.by as Person)
      const isBehind = (mark: number) => state.entries.some((one) => one.at > mark && isOfOthers(one, entry.by))
      if (!isBehind(side.delivered)) side.delivered = at
      if (!isBehind(side.read)) side.read = at
    }
    Object.assign(entry, { at, held: false, stopped: false, upToPeople: false })
    state.entries.sort((a, b) => a.at - b.at)
    state.end = at
    this.settle()
  }

  /** A message comes to light at its old place. @param counts as it did, where it had been seen before */
  reappeared(talk: Talk, entry: Entry, counts: boolean): void {
    const state = this.talk(talk)
    Object.assign(entry, { held: false, stopped: false, upToPeople: false, counts })
    state.end = Math.max(state.end, entry.at)
  }

  blocked(entry: Entry): void {
    if (!entry.held) entry.wasSeen = true
    Object.assign(entry, { held: true, stopped: true, upToPeople: true, waits: false })
  }

  /** Whether somebody's reset hides an entry from them, by its id too. */
  isCleared(talk: Talk, person: Person, entry: Entry): boolean {
    return entry.at <= this.side(talk, person).cleared
  }

  reset(talk: Talk, person: Person): void {
    const { end } = this.talk(talk)
    Object.assign(this.side(talk, person), { cleared: end, pointer: end, hidden: true })
  }

  /** A newcomer starts at the end of the history. */
  joined(person: Person, id: string, at: number, by: Person | 'app_system'): void {
    const { end } = this.talk('team')
    this.members.set(person, person === owner ? 'admin' : 'participant')
    Object.assign(this.side('team', person), { delivered: end, read: end, pointer: end })
    this.append('team', { id, by, kind: 'groupMember', at })
    this.settle()
  }

  gone(person: Person, id: string, at: number, by: Person | 'app_system'): void {
    this.members.delete(person)
    this.append('team', { id, by, kind: 'groupMember', at })
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

  /** Place of the last entry that lists show a conversation by. */
  private listedAt(talk: Talk): number {
    return (this.talks.get(talk)?.entries ?? []).findLast((entry) => entry.kind !== 'changed' && !entry.held)?.at ?? 0
  }

  unread(talk: Talk, person: Person): number {
    const { pointer } = this.side(talk, person)
    return this.talk(talk).entries.filter((entry) => entry.at > pointer && isOfOthers(entry, person)).length
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
      .entries.filter((entry) => !this.isCleared(talk, person, entry) && (!entry.held || entry.by === person))
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
      entries.flatMap((entry) => {
        if (entry.kind !== 'message' || entry.held) return []
        const { delivered, read } = reach(entry)
        return [[entry.id, { delivered: delivered >= entry.at, read: read >= entry.at }] as const]
      }),
    )
  }
}

/** Whether it counts as unread for a person. */
function isOfOthers(entry: Entry, person: Entry['by']): boolean {
  return entry.kind === 'message' && !entry.held && !entry.deleted && entry.counts && entry.by !== person
}
