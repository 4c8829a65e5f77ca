/** Whoever delivers to an endpoint in this process, for those who have something new for it: what is handed over need not be looked for. */
export interface Hand<Item> {
  /** Who it is, as the lease of the endpoint knows them. */
  readonly holder: string
  /** How many may be handed over now: none where the endpoint fails, or they are about to end. */
  readonly room: number
  /** @returns false where they have ended meanwhile */
  take(items: readonly Item[]): boolean
}

/** Whom something may be handed to in this process, by endpoint. */
export interface Hands<Item> {
  find(endpoint: number): Hand<Item> | undefined
  /** To which endpoints something may be handed over. */
  endpoints(): number[]
  /** @returns ends it */
  open(endpoint: number, hand: Hand<Item>): () => void
}

export function createHands<Item>(): Hands<Item> {
  const open = new Map<number, Hand<Item>>()
  return {
    find: (endpoint) => open.get(endpoint),
    endpoints: () => [...open.keys()],
    open(endpoint, hand) {
      open.set(endpoint, hand)
      return () => {
        if (open.get(endpoint) === hand) open.delete(endpoint)
      }
    },
  }
}
