import type { Hand } from './hands.ts'
import type { Key, Some } from './keyed-queue.ts'
import type { Health } from './lease.ts'

/** A delivery that is due. */
export interface DueItem {
  readonly id: number
  /** Deliveries of one chain are attempted one after the other. */
  readonly chain?: Key | undefined
}

/** What came of one attempt. */
export interface Outcome<Result> {
  /** One of each delivery. */
  readonly results: readonly Result[]
  /** Whether the endpoint did its part; undefined: it was not called. */
  readonly worked?: boolean
  /** For how long the endpoint asks to be left alone. */
  readonly putOffMs?: number
  /** The endpoint is not to be called again. */
  readonly isLast?: boolean
}

/** How deliveries to one endpoint are made, from taking its lease to giving it back. */
export interface Round<Row, Target, Item extends DueItem, Result> {
  /**
   * Before anything else.
   * @param hand takes what is due without having been read
   * @returns when nothing may be handed over any more
   */
  begin?(hand: Hand<Item>): Promise<() => void>
  /** What stands in the tables, ready for attempts. It is looked at again every now and then. */
  open(row: Row): Target
  /** What is due. @param except deliveries that are under way */
  read(target: Target, options: { readonly except: readonly number[]; readonly limit: number }): Promise<Item[]>
  /**
   * A failure of ours alone may be thrown: then the round ends, and what is left is due again.
   * @param items one, or as many as the target takes at once
   */
  attempt(target: Target, items: Some<Item>): Promise<Outcome<Result>>
  write(results: readonly Result[]): Promise<void>
  /** The endpoint is back after it was left alone. */
  recover?(): Promise<void>
  /** Before the lease is given back although something is left to do. */
  end?(target: Target | undefined, health: Health): Promise<void>
}

/** What every target says of itself. */
export interface AnyTarget {
  readonly enabled: boolean
  /** Attempts at a time. */
  readonly width: number
  /** Deliveries in one attempt; one without it. */
  readonly batch?: number | undefined
  /** Deliveries that are read ahead, where it does not take many: what was read long ago may be otherwise by now. */
  readonly room?: number | undefined
  /** Attempts whose outcome may wait to be written, where a repeat does harm: what a kill has made again; 200 without it. */
  readonly unwritten?: number | undefined
}
