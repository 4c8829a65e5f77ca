import { LRUCache } from 'lru-cache'

/**
 * Keeps so many values, those that were used last. An `LRUCache` with `max` sets aside room for all of them when it is made, 28
 * bytes each and 44 with a `ttl`, of which most caches of a service never use much; this one grows.
 * @param options all others that an `LRUCache` takes
 */
export function createCache<Key extends {}, Value extends {}>({
  max,
  ...options
}: Omit<LRUCache.Options<Key, Value, unknown>, 'max' | 'maxSize' | 'sizeCalculation'> & {
  readonly max: number
}): LRUCache<Key, Value> {
  return new LRUCache<Key, Value>({ ...(options as object), maxSize: max, sizeCalculation: () => 1 })
}
