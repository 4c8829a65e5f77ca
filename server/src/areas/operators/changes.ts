import { conversationId } from '../../chat/naming.ts'
import type { Bus } from '../../events/bus.ts'
import type { BusEvent } from '../../events/types.ts'

/** Lets operators wait until something happens in an app. They hear that it did, and nothing of what. */
export interface ChangeWatch {
  /** @returns whether something happened before the time was over */
  wait(wanted: Wanted, seconds: number): Promise<boolean>
  /** Whoever waits is answered, now and from now on. */
  stop(): void
}

export interface Wanted {
  readonly appId: number
  /** As on the wire; undefined: whatever happens in the app. */
  readonly conversation: string | undefined
  readonly operator: number
}

interface Waiting extends Wanted {
  end(happened: boolean): void
}

/** Of one operator: some tabs, and pages that were left a moment ago. */
const mostOfOne = 10
/** In this process: each holds a connection. */
const mostOfAll = 500

/** What happens in other processes is on the bus of this one, too. It is listened to while somebody waits. */
export function createChangeWatch(bus: Bus): ChangeWatch {
  const waiting = new Set<Waiting>()
  let isOver = false
  let leaveBus: (() => void) | undefined

  const hear = (appId: number, event: BusEvent) => {
    for (const one of [...waiting]) if (one.appId === appId && isAbout(event, one)) one.end(true)
  }
  /** Who has waited longest makes room. */
  const makeRoom = (operator: number) => {
    const own = [...waiting].filter((one) => one.operator === operator)
    if (own.length >= mostOfOne) own[0]?.end(false)
    if (waiting.size >= mostOfAll) waiting.values().next().value?.end(false)
  }
  return {
    wait(wanted, seconds) {
      if (isOver || seconds === 0) return Promise.resolve(false)
      makeRoom(wanted.operator)
      // For them alone nothing is made that would not be published anyway.
      leaveBus ??= bus.subscribe(hear, () => false)
      return new Promise((resolve) => {
        const one: Waiting = {
          ...wanted,
          end(happened) {
            clearTimeout(timer)
            waiting.delete(one)
            if (waiting.size === 0) {
              leaveBus?.()
              leaveBus = undefined
            }
            resolve(happened)
          },
        }
        const timer = setTimeout(() => one.end(false), seconds * 1000)
        waiting.add(one)
      })
    },
    stop() {
      isOver = true
      for (const one of [...waiting]) one.end(false)
    },
  }
}

function isAbout(event: BusEvent, { conversation }: Wanted): boolean {
  if (!('trigger' in event)) return false
  if (conversation === undefined) return true
  if (!('place' in event)) return false
  const { kind, first, second } = event.place
  return conversationId(kind, first, second) === conversation
}
