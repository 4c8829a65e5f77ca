import type { Signal } from '../platform.ts'
import type { Frame } from './connection.ts'
import { now } from './here.ts'
import type { Port } from './port.ts'

/** What the service would have said over a socket that was not there. */
export interface Feed {
  /** Frames since the kept place; undefined where some are not known any more, so that lists have to be read. */
  read(signal: Signal): Promise<readonly Frame[] | undefined>
  /** All that was read has been taken in: the next reading goes on from there. */
  keep(): void
  /**
   * The socket `signal` belongs to has answered a ping. While it lives, its frames are what the feed has, so the place to
   * go on from is moved now and then, to one whose frames have come for sure.
   */
  onPong(sentAt: number, signal: Signal): void
}

interface Answer {
  readonly data: ReadonlyArray<{ readonly frame: Frame }>
  readonly meta: { readonly after: string; readonly more: boolean; readonly reload?: boolean }
}

/** More than this is not less than to read lists. */
const mostFrames = 300
const moveEveryMs = 300_000
/** A frame has come by then, if the socket it comes by lives. */
const comesWithinMs = 10_000

/** @param clock milliseconds that only differences of are looked at */
export function createFeed(port: Pick<Port, 'call'>, clock: () => number = now): Feed {
  let place: string | undefined
  let keptAt = 0
  /** Read, and not taken in yet. */
  let taken: string | undefined
  let next: { readonly after: string; readonly at: number; readonly signal: Signal } | undefined

  const ask = (after: string | undefined, signal: Signal) =>
    port.call<Answer>('GET', '/me/events', { query: { after, limit: mostFrames }, signal })

  const move = async (signal: Signal) => {
    keptAt = clock()
    try {
      const { meta } = await ask(undefined, signal)
      next = { after: meta.after, at: clock(), signal }
    } catch {
      // The old place does as well: it is asked for again later.
    }
  }

  return {
    async read(signal) {
      next = undefined
      let after = place
      const frames: Frame[] = []
      let isWhole = after !== undefined
      for (let isMore = true; isMore; ) {
        const { data, meta } = await ask(isWhole ? after : undefined, signal)
        for (const { frame } of data) frames.push(frame)
        isWhole = isWhole && meta.reload !== true
        after = meta.after
        if (isWhole && meta.more && frames.length >= mostFrames) isWhole = false
        else isMore = meta.more
      }
      taken = after
      return isWhole ? frames : undefined
    },
    keep() {
      place = taken
      keptAt = clock()
    },
    onPong(sentAt, signal) {
      if (next?.signal === signal && sentAt > next.at + comesWithinMs) {
        place = next.after
        keptAt = clock()
        next = undefined
      } else if (next === undefined && clock() - keptAt > moveEveryMs) void move(signal)
    },
  }
}
