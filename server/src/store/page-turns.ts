import { ReadAbandonedError, type Reader, ReadsFullError } from './reader.ts'

/** How many pages may wait: of one reader and one kind, of one app, of all. */
export interface PageLimits {
  readonly perReader: number
  readonly perApp: number
  readonly inAll: number
}

/** A page that somebody waits for. One statement can ask for several of one kind and one app. */
export interface WaitingPage {
  readonly appId: number
  readonly kind: string
  readonly reader: Reader
  /** How many keys it asks for, and how many one statement of its kind takes. */
  readonly count: number
  readonly atOnce: number
  reject(error: unknown): void
}

/**
 * Pages that wait for the database. Apps take turns, within an app the kinds of pages, and within a kind its readers: the second
 * page of a reader comes after the first of everybody else. A page that nobody waits for any more is left out.
 */
export class PageTurns<Page extends WaitingPage> {
  readonly #limits: PageLimits
  /** Whose turn is next stands first. */
  readonly #apps = new Map<number, AppPages<Page>>()
  #waiting = 0

  constructor(limits: PageLimits) {
    this.#limits = limits
  }

  get isWaiting(): boolean {
    return this.#waiting > 0
  }

  /** @throws ReadsFullError when too much waits already */
  add(page: Page): void {
    const { appId, kind } = page
    const { perApp, inAll } = this.#limits
    const app = this.#apps.get(appId) ?? { lines: new Map<string, Line<Page>>(), waiting: 0 }
    if (app.waiting >= perApp || this.#waiting >= inAll) throw new ReadsFullError('all')
    const line = app.lines.get(kind) ?? new Line<Page>(this.#limits.perReader)
    line.add(page)
    app.lines.set(kind, line)
    this.#apps.set(appId, app)
    this.#count(app, 1)
  }

  /** Takes what one statement asks for next. @returns nothing when no page waits */
  take(): Page[] {
    for (;;) {
      const [next] = this.#apps
      if (next === undefined) return []
      const [appId, app] = next
      const [first] = app.lines
      const [kind, line] = first as [string, Line<Page>]
      const taken = line.take()
      this.#count(app, -taken.length)
      // Behind the others.
      app.lines.delete(kind)
      this.#apps.delete(appId)
      if (!line.isEmpty) app.lines.set(kind, line)
      if (app.lines.size > 0) this.#apps.set(appId, app)
      const wanted = taken.filter(isWanted)
      if (wanted.length > 0) return wanted
    }
  }

  #count(app: AppPages<Page>, by: number): void {
    app.waiting += by
    this.#waiting += by
  }
}

interface AppPages<Page extends WaitingPage> {
  /** By kind; whose turn is next stands first. */
  readonly lines: Map<string, Line<Page>>
  waiting: number
}

/** Pages of one kind that one app waits for. */
class Line<Page extends WaitingPage> {
  readonly #perReader: number
  /** The first page of each reader, the second of each, and so on. */
  readonly #rounds: Page[][] = []
  readonly #waiting = new Map<string, number>()

  constructor(perReader: number) {
    this.#perReader = perReader
  }

  get isEmpty(): boolean {
    return this.#waiting.size === 0
  }

  add(page: Page): void {
    const waiting = this.#waiting.get(nameOf(page)) ?? 0
    if (waiting >= this.#perReader) throw new ReadsFullError('reader')
    this.#waiting.set(nameOf(page), waiting + 1)
    const round = this.#rounds[waiting]
    if (round === undefined) this.#rounds.push([page])
    else round.push(page)
  }

  /** As many as one statement takes, at least one. */
  take(): Page[] {
    const taken: Page[] = []
    let count = 0
    for (let page = this.#first(); page !== undefined; page = this.#first()) {
      if (taken.length > 0 && count + page.count > page.atOnce) break
      count += page.count
      taken.push(page)
      this.#rounds[0]?.shift()
      this.#leave(nameOf(page))
    }
    return taken
  }

  #first(): Page | undefined {
    while (this.#rounds[0]?.length === 0) this.#rounds.shift()
    return this.#rounds[0]?.[0]
  }

  #leave(name: string): void {
    const waiting = this.#waiting.get(name) as number
    if (waiting > 1) this.#waiting.set(name, waiting - 1)
    else this.#waiting.delete(name)
  }
}

/** No uid is empty: the app itself has a name of its own. */
function nameOf({ reader }: WaitingPage): string {
  return reader.uid ?? ''
}

function isWanted(page: WaitingPage): boolean {
  if (page.reader.isGone !== true) return true
  page.reject(new ReadAbandonedError())
  return false
}
