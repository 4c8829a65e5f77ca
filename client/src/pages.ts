/** The page that was asked for, and with `for await` its rows and those of all pages after it. */
export interface Listing<Item, Page> extends Promise<Page>, AsyncIterable<Item> {}

type Values = Readonly<Record<string, unknown>>

interface Page {
  readonly data: readonly unknown[]
  readonly meta?: {
    readonly pagination?: { readonly current_page?: number; readonly total_pages?: number }
    readonly previous?: Values
    readonly next?: Values
    readonly cursor?: unknown
    readonly after?: string
    readonly more?: boolean
  }
}

/** What names a row, whatever it is. */
const names = ['id', 'uid', 'guid', 'conversationId'] as const

/**
 * Asks for the first page at once. Whoever iterates gets the rows in the order in which they are read: with `affix: 'prepend'`
 * that is from the newest back.
 */
export function list<Item, First extends object>(
  input: Values,
  ask: (input: Values) => Promise<First>,
): Listing<Item, First> {
  const first = ask(input)
  async function* iterate(): AsyncGenerator<Item> {
    let asked: Values | undefined = input
    let page = (await first) as unknown as Page
    let before = new Set<unknown>()
    for (;;) {
      const rows = input.affix === 'prepend' ? [...page.data].reverse() : page.data
      // What comes in meanwhile moves the rows of numbered pages on, so that the next one begins with what was there already.
      const here = new Set<unknown>()
      for (const row of rows) {
        const name = nameOf(row)
        here.add(name)
        if (name === undefined || !before.has(name)) yield row as Item
      }
      asked = following(asked, page)
      if (asked === undefined) return
      before = here
      page = (await ask(asked)) as unknown as Page
    }
  }
  return Object.assign(first, { [Symbol.asyncIterator]: iterate })
}

/** What to ask for to get the page after `page`; `undefined` after the last one. */
function following(input: Values, { data, meta = {} }: Page): Values | undefined {
  const { current_page: current = 1, total_pages: pages } = meta.pagination ?? {}
  if (pages !== undefined) return current < pages ? { ...input, page: current + 1 } : undefined
  if (meta.more !== undefined) return meta.more ? { ...input, after: meta.after ?? meta.cursor } : undefined
  const cursor = input.affix === 'prepend' ? meta.previous : meta.next
  return cursor === undefined || data.length === 0 ? undefined : { ...input, ...cursor }
}

function nameOf(row: unknown): unknown {
  if (typeof row !== 'object' || row === null) return undefined
  for (const name of names) if (name in row) return (row as Values)[name]
  return undefined
}
