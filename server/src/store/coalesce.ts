/** Gathers concurrent requests into batches: while one batch is being written, the next collects. */
export interface Coalescer<Item, Result> {
  submit(item: Item): Promise<Result>
  /** Puts items that came before what waits now ahead of it, in their order. */
  resume(items: readonly Item[]): ReadonlyArray<Promise<Result>>
  /** Resolves when nothing is waiting or being written. */
  drain(): Promise<void>
}

export interface CoalescerOptions<Item, Result> {
  /** Most items in one batch; where they are weighed, the most that they weigh. What weighs more goes alone. */
  readonly maxBatch: number
  /** What an item weighs; 1 where it is left out. */
  readonly weigh?: (item: Item) => number
  /** Most batches being written at once. */
  readonly maxInFlight: number
  /**
   * How long what waits lets the batch at hand finish before it goes beside it, in milliseconds. Few large batches cost the
   * database less than many small ones, but one that is held up (by a lock) must not hold up everybody. Left out: nobody waits
   * while another batch may start.
   */
  readonly patience?: number
  /**
   * So many do not wait for the batch at hand: the database has something to do while that one reaches the disk. As many as
   * a batch holds where it is left out.
   */
  readonly enough?: number
  /**
   * Writes a batch; gives one result (or error) for each item, in order, or the promise of one that is still to come: the batch is
   * over without it. It throws when the batch as a whole failed.
   */
  readonly write: (items: Item[]) => Promise<Array<Result | Error | Promise<Result>>>
  /** May parts of a batch that failed with this error succeed on their own? */
  readonly isDivisible: (error: unknown) => boolean
  readonly onBatch?: (size: number) => void
}

interface Waiting<Item, Result> {
  readonly item: Item
  readonly resolve: (result: Result | Promise<Result>) => void
  readonly reject: (error: unknown) => void
}

export function createCoalescer<Item, Result>(options: CoalescerOptions<Item, Result>): Coalescer<Item, Result> {
  const waiting: Waiting<Item, Result>[] = []
  let inFlight = 0
  let scheduled = false
  let impatience: NodeJS.Timeout | undefined
  let idle: Array<() => void> = []
  const { enough = options.maxBatch } = options

  const start = () => {
    clearTimeout(impatience)
    impatience = undefined
    const batch = waiting.splice(0, countNext(options, waiting))
    inFlight++
    options.onBatch?.(batch.length)
    void writeBatch(options, batch).then(() => {
      inFlight--
      pump()
      if (inFlight === 0 && waiting.length === 0) {
        for (const resolve of idle) resolve()
        idle = []
      }
    })
  }
  const pump = () => {
    scheduled = false
    while (waiting.length > 0 && inFlight < options.maxInFlight) {
      if (inFlight > 0 && options.patience !== undefined && waiting.length < enough) {
        impatience ??= setTimeout(goBeside, options.patience)
        return
      }
      start()
    }
  }
  const goBeside = () => {
    impatience = undefined
    if (waiting.length > 0 && inFlight < options.maxInFlight) start()
    pump()
  }

  const pumpSoon = () => {
    if (scheduled) return
    scheduled = true
    // After the events at hand, so that requests that arrived together go together.
    setImmediate(pump)
  }

  return {
    submit(item) {
      return new Promise((resolve, reject) => {
        waiting.push({ item, resolve, reject })
        pumpSoon()
      })
    },
    resume(items) {
      const resumed: Waiting<Item, Result>[] = []
      const promises = items.map(
        (item) => new Promise<Result>((resolve, reject) => void resumed.push({ item, resolve, reject })),
      )
      waiting.unshift(...resumed)
      pumpSoon()
      return promises
    },
    drain() {
      if (inFlight === 0 && waiting.length === 0) return Promise.resolve()
      return new Promise((resolve) => idle.push(resolve))
    },
  }
}

/** How many of those that wait fit into a batch, at least one. */
function countNext<Item>(
  { maxBatch, weigh }: Pick<CoalescerOptions<Item, unknown>, 'maxBatch' | 'weigh'>,
  waiting: ReadonlyArray<Pick<Waiting<Item, unknown>, 'item'>>,
): number {
  if (weigh === undefined) return maxBatch
  let left = maxBatch
  const tooMany = waiting.findIndex(({ item }, place) => {
    left -= weigh(item)
    return left < 0 && place > 0
  })
  return tooMany === -1 ? waiting.length : tooMany
}

/** Writes a batch; one that fails as a whole is halved and tried again, so that one bad item never fails its neighbours. */
async function writeBatch<Item, Result>(
  options: CoalescerOptions<Item, Result>,
  batch: Waiting<Item, Result>[],
): Promise<void> {
  try {
    const results = await options.write(batch.map((waiting) => waiting.item))
    for (const [i, waiting] of batch.entries()) {
      const result = results[i]
      if (result instanceof Error) waiting.reject(result)
      else waiting.resolve(result as Result | Promise<Result>)
    }
  } catch (error) {
    if (batch.length === 1 || !options.isDivisible(error)) {
      for (const waiting of batch) waiting.reject(error)
      return
    }
    const half = Math.ceil(batch.length / 2)
    await writeBatch(options, batch.slice(0, half))
    await writeBatch(options, batch.slice(half))
  }
}
