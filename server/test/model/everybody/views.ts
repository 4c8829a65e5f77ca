import { expect } from 'vitest'
import { dataOf } from '../../support/chat.ts'
import type { Answer, World as Service } from '../../support/world.ts'
import { type Entry, groups, isGroup, type Person, peerOf, people, type Talk, tested, type World } from './model.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests look at answers as a client would, without types
type Row = any

/** Compares everything that everybody is shown with what the model says. @param turn chooses what is looked at closely */
export async function compareViews(service: Service, model: World, turn: number): Promise<void> {
  await Promise.all([
    ...model.present().map((person) => compareViewsOf(new Viewer(service, person, turn), model, turn)),
    compareQueue(service, model),
  ])
}

/** What reviewers find among what is blocked, looked at or not. */
async function compareQueue(service: Service, model: World): Promise<void> {
  const lists = ['/moderation/blocked-messages', '/moderation/blocked-messages?reviewed=true']
  const found = await Promise.all(
    lists.map(async (path) => dataOf(await service.get(path)).map(({ message }: Row) => Number(message.id))),
  )
  expect({ blocked: sorted(found.flat(), byNumber) }).toEqual({ blocked: sorted(idsOf(model.heldEntries()), byNumber) })
}

async function compareViewsOf(viewer: Viewer, model: World, turn: number): Promise<void> {
  const { person } = viewer
  // A talk of which nobody else ever had anything is in no list: its only writer reads it by name.
  const all = model.entries.filter((entry) => model.sees(entry, person) && model.hasBegun(entry.talk))
  const mayList = person !== tested || model.role.listMessages
  const checks: Array<[what: string, shown: Promise<unknown>, expected: unknown]> = []
  const check = (what: string, shown: Promise<unknown>, expected: unknown) => checks.push([what, shown, expected])
  const refused = '403'

  check('conversations', viewer.conversations(), conversationsOf(model, person))
  check(
    'groups',
    viewer.pages('/groups', ({ guid }) => guid),
    sorted(model.groupsOf(person)),
  )
  const blocked = people.filter((other) => model.blocks.has(`${person} ${other}`))
  check(
    'blocked users',
    viewer.pages(`/users/${person}/blockedusers?direction=blockedByMe`, ({ uid }) => uid),
    sorted(blocked),
  )
  check('messages', viewer.messages('/messages'), mayList ? all.map((entry) => shownAs(model, person, entry)) : refused)
  const words = `w${turn % 5}`
  const found = all.filter((entry) => !entry.isDeleted && !entry.isHeld && entry.words.startsWith(`${words} `))
  check('a search', viewer.ids(`/messages?searchKey=${words}`), mayList ? idsOf(found) : refused)
  const saved = all.filter((entry) => model.saves.has(`${entry.id} ${person}`) && !entry.isDeleted && !entry.isHeld)
  check('saved', viewer.ids('/messages?saved=true'), mayList ? idsOf(saved) : refused)
  const pinned = all.filter((entry) => model.pins.has(entry.id))
  check('pinned', viewer.ids('/messages?pinned=true'), mayList ? idsOf(pinned) : refused)
  const unread = model.talks().flatMap((talk) => model.unreadEntries(talk, person))
  check('unread', viewer.ids('/messages?unread=true'), mayList ? sorted(idsOf(unread), byNumber) : refused)

  for (const talk of chosen(talksOf(model, person), turn, 2)) {
    const path = isGroup(talk) ? `/groups/${talk}/messages` : `/users/${peerOf(talk, person)}/messages`
    const may = mayList && model.takesPart(talk, person)
    const expected = model.history(talk, person).map((entry) => shownAs(model, person, entry))
    check(
      `history of ${talk}`,
      viewer.messages(path),
      may ? expected : isGroup(talk) ? expect.stringMatching(/40[34]/) : refused,
    )
  }
  for (const group of groups) {
    const isMember = model.members[group].has(person)
    const members = sorted([...model.members[group].keys()].filter((one) => !model.isAway(one)))
    const path = `/groups/${group}/members`
    check(
      `members of ${group}`,
      viewer.pages(path, ({ uid }) => uid),
      isMember ? members : group === 'team' ? '403' : '404',
    )
  }
  for (const entry of chosen(model.entries, turn * 3 + people.indexOf(person), 2)) {
    check(`message ${entry.id}`, viewer.one(entry.id), model.opens(entry, person) ? factsOf(entry) : '404')
  }
  const parents = model.entries.filter(({ id }) =>
    model.entries.some(({ parent, kind }) => parent === id && kind !== 'change'),
  )
  for (const parent of chosen(parents, turn, 1)) {
    const replies = idsOf(model.replies(parent.id, person))
    check(
      `thread of ${parent.id}`,
      viewer.ids(`/messages/${parent.id}/thread`),
      model.opens(parent, person) ? replies : '404',
    )
  }
  const isOpen = (id: number) =>
    model.entries.some(
      ({ parent, kind, isDeleted, isHeld }) => parent === id && kind !== 'change' && !isDeleted && !isHeld,
    )
  const threads = parents.filter((parent) => model.sees(parent, person) && isOpen(parent.id))
  check(
    'threads',
    viewer.threads(),
    Object.fromEntries(
      threads.map(({ id }) => [
        id,
        { replies: model.replies(id, person).filter(({ isDeleted, isHeld }) => !isDeleted && !isHeld).length },
      ]),
    ),
  )

  const shown = await Promise.all(checks.map(([, answer]) => answer))
  for (const [i, [what, , expected]] of checks.entries()) {
    expect({ person, what, shown: shown[i] }).toEqual({ person, what, shown: expected })
  }
}

function conversationsOf(model: World, person: Person) {
  const listed = model.talks().filter((talk) => model.isListed(talk, person))
  return Object.fromEntries(
    listed.map((talk) => [
      isGroup(talk) ? `group_${talk}` : talk.replace(' ', '_user_'),
      { unread: String(model.unread(talk, person)), last: model.last(talk, person)?.id },
    ]),
  )
}

function talksOf(model: World, person: Person): Talk[] {
  const others = people.filter((other) => other !== person && !model.gone.has(other))
  return [...groups, ...others.map((other): Talk => (person < other ? `${person} ${other}` : `${other} ${person}`))]
}

/** A message as a list shows it, as far as the model goes. */
function shownAs(model: World, person: Person, entry: Entry): object {
  if (entry.kind === 'member') return { id: entry.id }
  if (entry.about === undefined) return factsOf(entry)
  const subject = model.find(entry.about)
  const isShown = subject !== undefined && model.sees(subject, person)
  return { id: entry.id, about: entry.about, ...(isShown && !subject.isDeleted && { words: subject.words }) }
}

function factsOf(entry: Entry): object {
  return { id: entry.id, ...(entry.isDeleted ? { deleted: true } : entry.words && { words: entry.words }) }
}

function factsShown({ id, category, data, deletedAt }: Row): object {
  if (category === 'action' && data.action !== 'edited' && data.action !== 'deleted') return { id: Number(id) }
  if (category === 'action') {
    const { entity } = data.entities.on
    return { id: Number(id), about: Number(entity.id), ...(entity.data?.text && { words: entity.data.text }) }
  }
  return { id: Number(id), ...(deletedAt ? { deleted: true } : { words: data.text }) }
}

const idsOf = (entries: readonly Entry[]) => entries.map(({ id }) => id)
const byNumber = (a: number, b: number) => a - b
const sorted = <Item>(items: readonly Item[], order?: (a: Item, b: Item) => number) => items.toSorted(order)

/** Some of a list, other ones at each turn. */
function chosen<Item>(items: readonly Item[], turn: number, count: number): Item[] {
  const most = Math.min(count, items.length)
  return Array.from({ length: most }, (_, i) => items[(turn * count + i) % items.length] as Item)
}

/** Asks for whole lists, page by page, as one of the people. */
class Viewer {
  readonly person: Person
  private readonly service: Service
  private readonly turn: number

  constructor(service: Service, person: Person, turn: number) {
    this.service = service
    this.person = person
    this.turn = turn
  }

  private get(path: string): Promise<Answer> {
    return this.service.get(path, { as: this.person })
  }

  async one(id: number): Promise<unknown> {
    const answer = await this.get(`/messages/${id}`)
    if (answer.status !== 200) return String(answer.status)
    const shown = factsShown(dataOf(answer))
    return 'about' in shown ? { id: (shown as Row).id } : shown
  }

  async ids(path: string): Promise<unknown> {
    const shown = await this.messages(path)
    if (!Array.isArray(shown)) return shown
    const ids = shown.map(({ id }: Row) => id)
    return path.includes('unread') ? sorted(ids, byNumber) : ids
  }

  /** All pages of a list with cursors, from the oldest on or from the newest back. */
  async messages(path: string): Promise<object[] | string> {
    const isForth = this.turn % 2 === 0
    const affix = isForth ? 'append' : 'prepend'
    const rows: Row[] = []
    const limit = 6 + (this.turn % 7)
    for (let cursor = isForth ? '' : '&affix=prepend'; ; ) {
      const answer = await this.get(`${path}${path.includes('?') ? '&' : '?'}limit=${limit}${cursor}`)
      if (answer.status !== 200) return String(answer.status)
      const page: Row[] = dataOf(answer)
      if (isForth) rows.push(...page)
      else rows.unshift(...page)
      const edge = isForth ? page.at(-1) : page[0]
      const goesOn = answer.body.meta[isForth ? 'next' : 'previous'] !== undefined
      if (edge === undefined || !goesOn) return rows.map(factsShown)
      cursor = `&affix=${affix}&id=${edge.id}&sentAt=${edge.sentAt}`
    }
  }

  /** All pages of a list with numbers, sorted. */
  async pages(path: string, of: (row: Row) => string): Promise<string[] | string> {
    const rows = await this.rows(path)
    return typeof rows === 'string' ? rows : sorted(rows.map(of))
  }

  private async rows(path: string): Promise<Row[] | string> {
    const rows: Row[] = []
    for (let page = 1; ; page++) {
      const answer = await this.get(`${path}${path.includes('?') ? '&' : '?'}perPage=2&page=${page}`)
      if (answer.status !== 200) return String(answer.status)
      rows.push(...dataOf(answer))
      const { total, total_pages: pages } = answer.body.meta.pagination
      if (page < pages) continue
      expect({ path, total }).toEqual({ path, total: rows.length })
      return rows
    }
  }

  async conversations(): Promise<unknown> {
    const rows = (await this.rows('/conversations')) as Row[]
    return Object.fromEntries(
      rows.map(({ conversationId, unreadMessageCount, lastMessage }) => [
        conversationId,
        { unread: unreadMessageCount, last: lastMessage && Number(lastMessage.id) },
      ]),
    )
  }

  async threads(): Promise<unknown> {
    const answer = await this.get('/threads?limit=1000')
    if (answer.status !== 200) return String(answer.status)
    return Object.fromEntries(dataOf(answer).map(({ id, replyCount }: Row) => [id, { replies: replyCount }]))
  }
}
