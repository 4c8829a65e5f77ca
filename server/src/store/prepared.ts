import type { Channel } from './channel.ts'

/** Each prepared statement takes memory in the database; a connection that has so many is replaced. */
const maxPrepared = 300

/** A channel for ever new texts, on which no more of them are prepared than the database has room for. */
export function boundPrepared(channel: Channel): Channel {
  const names = new Set<string>()
  return {
    ...channel,
    query(query) {
      if (query.name !== undefined && !names.has(query.name)) {
        if (names.size >= maxPrepared) {
          names.clear()
          channel.renew()
        }
        names.add(query.name)
      }
      return channel.query(query)
    },
  }
}
