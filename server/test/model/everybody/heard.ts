import { expect } from 'vitest'
import { type Client, connect } from '../../support/socket.ts'
import { soon } from '../../support/until.ts'
import type { World as Service } from '../../support/world.ts'
import { type Entry, isGroup, type Person, peerOf, people, tested, type World } from './model.ts'

/** For so long after a change of permissions, what is told at once may still go by the old ones. */
const rulesSettleMs = 5_000

interface Telling {
  /** Of an edit or deletion: what it tells of. */
  readonly subject?: Entry
  /** Those who hear of it although they take part no more. */
  readonly also?: readonly Person[]
}

/** What the sockets of everybody hear, and must hear. */
export class Heard {
  private readonly must = new Map<Person, Set<number>>(people.map((person) => [person, new Set()]))
  private readonly may = new Map<Person, Set<number>>(people.map((person) => [person, new Set()]))
  /** Held when they were sent, and released since. */
  private readonly again = new Set<number>()
  private readonly gone = new Set<Person>()
  private rulesChangedAt = Number.NEGATIVE_INFINITY

  private readonly clients: ReadonlyMap<Person, Client>

  private constructor(clients: ReadonlyMap<Person, Client>) {
    this.clients = clients
  }

  static async open(service: Service): Promise<Heard> {
    const clients = people.map(async (person) => [person, await connect(service, person)] as const)
    return new Heard(new Map(await Promise.all(clients)))
  }

  close(): void {
    for (const client of this.clients.values()) client.close()
  }

  /** Whoever is deactivated or removed hears nothing more, until the end. */
  leave(person: Person): void {
    this.gone.add(person)
  }

  rulesChanged(): void {
    this.rulesChangedAt = performance.now()
  }

  /** Something is told to those who see it, and what it tells of. */
  tell(model: World, entry: Entry, { subject, also = [] }: Telling = {}): void {
    const isSettling = performance.now() - this.rulesChangedAt < rulesSettleMs
    for (const person of people) {
      const hears = model.sees(entry, person) && (subject === undefined || model.sees(subject, person))
      const isOwn = entry.by === person || entry.writer === person
      const isApart = !isGroup(entry.talk) && !isOwn && this.isApart(model, entry, person)
      if (also.includes(person) || (isSettling && model.takesPart(entry.talk, person) && !isApart)) {
        this.may.get(person)?.add(entry.id)
      }
      if (!isSettling && hears && !isApart) this.must.get(person)?.add(entry.id)
      const isTold = also.includes(person) && (person !== tested || model.role.listMessages)
      if (isTold && !isSettling) this.must.get(person)?.add(entry.id)
    }
  }

  /** Its writer has heard of it before. */
  tellAgain(model: World, entry: Entry): void {
    this.again.add(entry.id)
    this.tell(model, entry)
  }

  /**
   * Those who have a message are told that it is deleted, but for whoever wrote it. What tells them is stored nowhere, so that it
   * is known by what it is about.
   */
  tellGone(model: World, entry: Entry): void {
    const isSettling = performance.now() - this.rulesChangedAt < rulesSettleMs
    for (const person of people) {
      if (person === entry.by) continue
      const isApart = !isGroup(entry.talk) && this.isApart(model, entry, person)
      const hears = model.sees(entry, person) && !isApart
      if (hears && !isSettling) this.must.get(person)?.add(-entry.id)
      if (isSettling && model.takesPart(entry.talk, person) && !isApart) this.may.get(person)?.add(-entry.id)
    }
  }

  /**
   * Whoever wrote what is held has edited or deleted it, and their other devices are told.
   * @param key the id of what tells them, which is stored nowhere; of a deletion that of the entry, below 0
   */
  tellWriter(model: World, entry: Entry, key: number): void {
    const writer = entry.by as Person
    const isSettling = performance.now() - this.rulesChangedAt < rulesSettleMs
    if (isSettling) this.may.get(writer)?.add(key)
    else if (model.sees(entry, writer)) this.must.get(writer)?.add(key)
  }

  /** A block separates two people, whichever way. */
  private isApart(model: World, entry: Entry, person: Person): boolean {
    return model.takesPart(entry.talk, person) && model.areBlocked(person, peerOf(entry.talk, person))
  }

  /** Waits for all that must come, and looks for what must not. */
  async compare(): Promise<void> {
    await Promise.all(
      [...this.clients].map(async ([person, client]) => {
        if (this.gone.has(person)) return
        const must = [...(this.must.get(person) ?? [])]
        const known = new Set([...must, ...(this.may.get(person) ?? [])])
        const heard = () => client.frames.filter(({ type }) => type === 'message').map(({ body }) => keyOf(body, known))
        await soon(() =>
          expect({ person, missing: must.filter((id) => !heard().includes(id)) }).toEqual({ person, missing: [] }),
        )
        const extra = heard().filter((id) => !known.has(id))
        // A message can be blocked, restored and blocked again.
        const isOnce = (id: number) => id > 0 && !this.again.has(id)
        const twice = heard().filter((id, i, all) => isOnce(id) && all.indexOf(id) !== i)
        expect({ person, extra, twice }).toEqual({ person, extra: [], twice: [] })
      }),
    )
  }
}

/** The id of what is told; of a message that has gone, and of that alone, its own, below 0. */
// biome-ignore lint/suspicious/noExplicitAny: tests look at frames without types
function keyOf({ id, data }: any, known: ReadonlySet<number>): number {
  const key = Number(id)
  const isGone = data?.action === 'deleted' && !known.has(key)
  return isGone ? -Number(data.entities.on.entity.id) : key
}
