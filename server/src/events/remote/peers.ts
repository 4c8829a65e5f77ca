import type { Packet } from './wire.ts'

/** What has been heard of the other processes, so that it is noticed when something was not. */
export interface Peers {
  /** Takes note of a packet. @returns whether it is new, and whether something before it was missed */
  hear(packet: Packet): { readonly isNew: boolean; readonly hasMissed: boolean }
  /** The line was cut for a while and is open again. @param lastHeardAt when it was last known to be open */
  reopened(lastHeardAt: number): void
  /**
   * Has one ended without a goodbye? It was there before the line was cut and is not heard since, or it is silent for longer than
   * one that hangs. It may have stored something and never published it. Said once of each.
   * @param openSince when the line was opened last; undefined while it is cut: nobody is heard then
   */
  hasLost(openSince: number | undefined): boolean
  /** One of them has gone silent without a goodbye: cut off, hanging or dead. */
  isOneSilent(): boolean
  /** How many give signs of life. */
  count(): number
}

const silentAfterMs = 4_000
/** One that is silent for longer does not come back: its users are taken for gone then, too (sockets/presence/tracker.ts). */
const lostAfterMs = 20_000
/** One that is silent for longer is dead: by then its sockets are nobody's. */
const deadAfterMs = 120_000
/** A process that comes back from a long absence must still be known. */
const forgetAfterMs = 3_600_000
/** After the line was cut, within which all others have been heard. */
const introductionMs = 5_000

interface Peer {
  readonly number: number
  readonly heardAt: number
  /** That it is lost was said. */
  isLost: boolean
}

export function createPeers(now: () => number = () => performance.now()): Peers {
  const peers = new Map<string, Peer>()
  let reopenedAt = Number.NEGATIVE_INFINITY
  let unheard = new Set<string>()

  const silence = ({ heardAt }: Pick<Peer, 'heardAt'>) => now() - heardAt
  return {
    hear({ node, kind, number }) {
      const known = peers.get(node)
      unheard.delete(node)
      /** The last batch that must have been seen before this packet. */
      const before = kind === 'events' ? number - 1 : number
      if (kind === 'bye') peers.delete(node)
      else peers.set(node, { number: Math.max(number, known?.number ?? 0), heardAt: now(), isLost: false })
      if (known !== undefined) return { isNew: number > known.number, hasMissed: before > known.number }
      for (const [name, peer] of peers) if (silence(peer) > forgetAfterMs) peers.delete(name)
      // Whoever is heard for the first time over an open line has said nothing since it was opened.
      return { isNew: true, hasMissed: before > 0 && now() - reopenedAt < introductionMs }
    },
    reopened(lastHeardAt) {
      reopenedAt = now()
      const wasThere = ({ heardAt }: { heardAt: number }) => heardAt > lastHeardAt - silentAfterMs
      unheard = new Set([...peers].flatMap(([name, peer]) => (wasThere(peer) ? [name] : [])))
    },
    hasLost(openSince) {
      const isIntroduced = now() - reopenedAt >= introductionMs
      const isSilent = ({ heardAt }: Peer) =>
        openSince !== undefined && now() - Math.max(heardAt, openSince) > lostAfterMs
      const lost = [...peers].filter(
        ([name, peer]) => !peer.isLost && ((isIntroduced && unheard.has(name)) || isSilent(peer)),
      )
      for (const [, peer] of lost) peer.isLost = true
      return lost.length > 0
    },
    isOneSilent() {
      return [...peers.values()].some((peer) => silence(peer) > silentAfterMs && silence(peer) < deadAfterMs)
    },
    count() {
      return [...peers.values()].filter((peer) => silence(peer) <= silentAfterMs).length
    },
  }
}
