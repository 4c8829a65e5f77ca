/** Work that is done at once with others, but in order with what has the same key. */
export interface KeyedQueue<Item> {
  /** @param key items of one key are done one after the other, in the order added; undefined: whenever there is room */
  add(item: Item, key: number | undefined): void
  /** Items that are waiting or being done. */
  readonly size: number
  /** How many may be done at once; may be changed at any time. */
  width: number
  /** Drops what is waiting; what is being done goes on. */
  clear(): void
  /** Resolves once there are no more than `size` items waiting or being done. */
  until(size: number): Promise<void>
}

/** @param work must not throw */
export function createKeyedQueue<Item>(width: number, work: (item: Item) => Promise<void>): KeyedQueue<Item> {
  interface Chain {
    readonly key: number | undefined
    readonly items: Item[]
  }
  const chains = new Map<number, Chain>()
  const ready: Chain[] = []
  let waiting = 0
  let running = 0
  let watchers: Array<{ size: number; resolve: () => void }> = []

  const notify = () => {
    const due = watchers.filter(({ size }) => waiting + running <= size)
    watchers = watchers.filter((watcher) => !due.includes(watcher))
    for (const { resolve } of due) resolve()
  }
  const run = async (chain: Chain, item: Item) => {
    await work(item)
    running--
    if (chain.items.length > 0) ready.push(chain)
    else if (chain.key !== undefined) chains.delete(chain.key)
    pump()
    notify()
  }
  const pump = () => {
    while (running < queue.width) {
      const chain = ready.shift()
      if (chain === undefined) return
      const item = chain.items.shift() as Item
      waiting--
      running++
      void run(chain, item)
    }
  }

  const queue: KeyedQueue<Item> = {
    width,
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
      pump()
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
