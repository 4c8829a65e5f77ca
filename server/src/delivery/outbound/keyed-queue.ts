/** At least one. */
export type Some<Item> = readonly [Item, ...Item[]]

export type Key = string | number

/** Work that is done at once with others, but in order with what has the same key. */
export interface KeyedQueue<Item> {
  /**
   * What is added in one go may be done together.
   * @param key items of one key are done one after the other, in the order added; undefined: whenever there is room
   */
  add(item: Item, key: Key | undefined): void
  /** Items that are waiting or being done. */
  readonly size: number
  /** How many pieces of work may be under way at once; may be changed at any time. */
  width: number
  /** How many items make one piece of work at most, none of them of the same key; may be changed at any time. */
  batch: number
  /** Drops what is waiting; what is being done goes on. */
  clear(): void
  /** Resolves once there are no more than `size` items waiting or being done. */
  until(size: number): Promise<void>
}

/** @param work must not throw */
export function createKeyedQueue<Item>(width: number, work: (items: Some<Item>) => Promise<void>): KeyedQueue<Item> {
  interface Chain {
    readonly key: Key | undefined
    readonly items: Item[]
  }
  const chains = new Map<Key, Chain>()
  const ready: Chain[] = []
  let waiting = 0
  /** Items, and pieces of work. */
  let running = 0
  let pieces = 0
  let isAsked = false
  let watchers: Array<{ size: number; resolve: () => void }> = []

  const notify = () => {
    const due = watchers.filter(({ size }) => waiting + running <= size)
    watchers = watchers.filter((watcher) => !due.includes(watcher))
    for (const { resolve } of due) resolve()
  }
  const run = async (taken: readonly Chain[], items: Some<Item>) => {
    await work(items)
    pieces--
    running -= items.length
    for (const chain of taken) {
      if (chain.items.length > 0) ready.push(chain)
      else if (chain.key !== undefined) chains.delete(chain.key)
    }
    pump()
    notify()
  }
  const pump = () => {
    while (pieces < queue.width && ready.length > 0) {
      const taken = ready.splice(0, queue.batch)
      const items = taken.map((chain) => chain.items.shift() as Item)
      waiting -= items.length
      running += items.length
      pieces++
      void run(taken, items as [Item, ...Item[]])
    }
  }
  /** Once all that comes in one go has come. */
  const pumpSoon = () => {
    if (isAsked) return
    isAsked = true
    queueMicrotask(() => {
      isAsked = false
      pump()
    })
  }

  const queue: KeyedQueue<Item> = {
    width,
    batch: 1,
    get size() {
      return waiting + running
    },
    add(item, key) {
      waiting++
      const chain = key === undefined ? undefined : chains.get(key)
      if (chain !== undefined) {
        chain.items.push(item)
        return
      }
      const made: Chain = { key, items: [item] }
      if (key !== undefined) chains.set(key, made)
      ready.push(made)
      pumpSoon()
    },
    clear() {
      for (const { key } of ready) if (key !== undefined) chains.delete(key)
      ready.length = 0
      // Chains under way remove themselves when their item is done.
      for (const chain of chains.values()) chain.items.length = 0
      waiting = 0
      notify()
    },
    until(size) {
      return waiting + running <= size ? Promise.resolve() : new Promise((resolve) => watchers.push({ size, resolve }))
    },
  }
  return queue
}
