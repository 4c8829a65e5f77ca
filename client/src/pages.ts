import { pause } from './transport.ts'

/** The page that was asked for, and with `for await` its rows and those of all pages after it. */
export interface Listing<Item, Page> extends Promise<Page>, AsyncIterable<Item> {}

type Values = Readonly<Record<string, unknown>>

interface Page {
  readonly data: readonly unknown[]
  readonly meta?: {
    readonly pagination?: {
      readonly total?: number
      readonly per_page?: number
      readonly current_page?: number
      readonly total_pages?: number
    }
    readonly previous?: Values
    readonly next?: Values
    readonly cursor?: unknown
    readonly after?: string
    readonly more?: boolean
  }
}

type Ask<Answer = unknown> = (input: Values) => Promise<Answer>

/** How long to wait for events that are still being stored, in milliseconds. */
const storingMs = 500

/** How often a list is read, if rows change places while it is. */
const mostPasses = 3

/**
 * Asks for the first page at once. Whoever iterates gets the rows in the order in which they are read: with `affix: 'prepend'`
 * that is from the newest back.
 * @param isNewestFirst the service begins with the newest page if nothing is said
 */
export function list<Item, First extends object>(
  input: Values,
  ask: Ask<First>,
  isNewestFirst = false,
): Listing<Item, First> {
  const first = ask(input)
  const isBackwards = input.affix === undefined ? isNewestFirst : input.affix === 'prepend'
  async function* iterate(): AsyncGenerator<Item> {
    const page = (await first) as unknown as Page
    const isNumbered = page.meta?.pagination?.total_pages !== undefined
    const rows = isNumbered ? rowsByNumber(input, page, ask) : rowsByCursor(input, page, ask, isBackwards)
    yield* rows as AsyncGenerator<Item>
  }
  return Object.assign(first, { [Symbol.asyncIterator]: iterate })
}

async function* rowsByCursor(input: Values, first: Page, ask: Ask, isBackwards: boolean): AsyncGenerator<unknown> {
  let page = first
  let asked = input
  for (;;) {
    yield* isBackwards ? [...page.data].reverse() : page.data
    const { previous, next, cursor, after = cursor, more } = page.meta ?? {}
    const following = more ? { after } : isBackwards ? previous : next
    // Of events, a page may show nothing of what was looked through for it, and there are more.
    if (following === undefined || (page.data.length === 0 && !more)) return
    if (more && after === asked.after) await pause(storingMs)
    asked = { ...input, ...following }
    page = (await ask(asked)) as Page
  }
}

/**
 * Numbered pages move under those who read them: rows that come push others on to the next page, rows that go pull them back to the
 * one before. Each row is given once. Where the list got shorter, pages before are read again; where rows that were read already come up
 * though it did not get longer, some have changed places, and the whole list is read again.
 */
async function* rowsByNumber(input: Values, first: Page, ask: Ask): AsyncGenerator<unknown> {
  const given = new Set<unknown>()
  const { current_page: begin = 1 } = first.meta?.pagination ?? {}
  let page = first
  for (let pass = 1; ; pass++) {
    const read = new Set<unknown>()
    let hasMoved = false
    let number = begin
    let furthest = 0
    let total = first.meta?.pagination?.total ?? 0
    let added = 0
    for (;;) {
      const { total: now = 0, total_pages: pages = 1, per_page: perPage = 1 } = page.meta?.pagination ?? {}
      const names = page.data.map(nameOf)
      const again = names.filter((name) => read.has(name)).length
      added = Math.max(0, now - total) + (again === names.length ? added : 0)
      if (number > furthest && again > added) hasMoved = true
      added = Math.max(0, added - again)
      for (const [index, name] of names.entries()) {
        read.add(name)
        if (given.has(name)) continue
        given.add(name)
        yield page.data[index]
      }
      furthest = Math.max(furthest, number)
      const gone = total - now
      total = now
      if (gone > 0) number = Math.max(begin, number - Math.ceil(gone / perPage))
      else if (number < pages) number++
      else break
      page = (await ask({ ...input, page: number })) as Page
    }
    if (!hasMoved || pass === mostPasses) return
    page = (await ask({ ...input, page: begin })) as Page
  }
}

/** What tells a row of numbered pages from others: tokens have the uid of their user, who may also be a row. */
const names = ['authToken', 'apiKey', 'id', 'uid', 'guid', 'conversationId', 'key', 'role'] as const

function nameOf(row: unknown): unknown {
  const values = row as Values
  for (const name of names) if (values[name] !== undefined) return values[name]
  return row
}
