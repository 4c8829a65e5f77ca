import type { Channel } from '../../../store/channel.ts'
import { heldQuery } from '../write/conversations.ts'
import { nameOfRow } from './conversations.ts'
import type { ImportRow } from './row.ts'
import { findHeldNamed } from './users.ts'

/**
 * Which requests would wait for somebody who has locked a conversation that they write into, or a user whom they name.
 * @returns their places
 */
export async function findHeldRequests(
  channel: Channel,
  requests: ReadonlyArray<{ readonly rows: readonly ImportRow[] }>,
): Promise<number[]> {
  const rows = requests.flatMap((request) => request.rows)
  const conversations = [...new Map(rows.map((row) => [nameOfRow(row), row])).values()]
  const [{ rows: places }, namesHeld] = await Promise.all([
    channel.query(heldQuery(conversations)),
    findHeldNamed(channel, rows),
  ])
  const held = new Set(places.map(({ place }) => nameOfRow(conversations[place - 1] as ImportRow)))
  const isHeld = (row: ImportRow) => held.has(nameOfRow(row)) || namesHeld(row)
  return requests.flatMap((request, place) => (request.rows.some(isHeld) ? [place] : []))
}
