import type { Message } from '../contract.ts'
import type { Cell, CreateCell } from './cell.ts'
import type { PeerKey } from './interface.ts'
import type { Insist } from './retries.ts'
import type { Session } from './session.ts'
import { createTimeline, type Timeline, type TimelineParts } from './timeline.ts'

/** Messages that are on screen and kept up to date: of a conversation, of a thread, or the one that a thread hangs on. */
export interface Screen {
  readonly key: PeerKey
  /** Of the messages that belong here; null where no other ever does. */
  readonly parentId: string | undefined | null
  readonly timeline: Timeline
  readonly view: Cell<unknown>
}

/** All that is on screen. */
export interface Screens {
  all(): readonly Screen[]
  of(key: PeerKey): readonly Screen[]
  /** @param name the same may be removed, and added again */
  add<T>(
    name: string,
    key: PeerKey,
    parentId: Screen['parentId'],
    list: TimelineParts['list'],
    snapshot: (timeline: Timeline) => T,
  ): Screen & { readonly view: Cell<T> }
  remove(name: string): void
}

export interface ScreensParts {
  readonly cell: CreateCell
  readonly session: Session
  readonly insist: Insist
  readonly pageSize: number
  /** Whether what comes on screen can be read now. */
  isOpen(): boolean
  /** Every row that a list has answered. */
  onRows(key: PeerKey, rows: readonly Message[]): void
}

export function createScreens({ cell, session, insist, pageSize, isOpen, onRows }: ScreensParts): Screens {
  const screens = new Map<string, Screen>()
  const all = () => [...screens.values()]
  return {
    all,
    of: (key) => all().filter((screen) => screen.key === key),
    add(name, key, parentId, list, snapshot) {
      const timeline = createTimeline({
        pageSize,
        list,
        onChange: () => view.changed(),
        onRows: (rows) => onRows(key, rows),
        isAwaited: ({ sender, readAt, category }) =>
          sender === session.uid && readAt === undefined && category !== 'action',
      })
      const view = cell(() => snapshot(timeline))
      const screen = { key, parentId, timeline, view }
      screens.set(name, screen)
      // What was missed may be read already, and nobody else reads this then.
      if (isOpen()) void insist((signal) => timeline.loads.loadNewest(signal))
      return screen
    },
    remove: (name) => void screens.delete(name),
  }
}
