import { eachOf } from './each.ts'
import { later } from './here.ts'

/** Asks the service about something of which it alone knows how it is now. Several reasons to ask within a moment are one. */
export interface Asker {
  ask(key: string): void
  /** Something has changed: an answer that is under way may not know of it, and is asked for once more. */
  touch(key?: string): void
  /** What will be asked in a moment. */
  due(): string[]
  /** It is being learned in another way. */
  drop(key: string): void
  /** Asks now what would be asked in a moment. */
  hurry(): Promise<void>
}

const afterMs = 150

/** @param work asks, and uses the answer if it is still current then */
export function createAsker(work: (key: string, isCurrent: () => boolean) => Promise<void>): Asker {
  const states = new Map<string, 'soon' | 'now' | 'again'>()
  const run = async (key: string) => {
    if (states.get(key) !== 'soon') return
    states.set(key, 'now')
    await work(key, () => states.get(key) === 'now')
    const isAgain = states.get(key) === 'again'
    states.delete(key)
    if (isAgain) ask(key)
  }
  const ask = (key: string) => {
    if (!states.has(key)) {
      states.set(key, 'soon')
      // Not all clients that hear of the same ask at the same time.
      later(() => void run(key), afterMs * (1 + Math.random()))
    } else touch(key)
  }
  const touch = (key?: string) => {
    for (const each of key === undefined ? states.keys() : [key]) {
      if (states.get(each) === 'now') states.set(each, 'again')
    }
  }
  const due = () => [...states].flatMap(([key, state]) => (state === 'soon' ? [key] : []))
  return {
    ask,
    touch,
    due,
    drop(key) {
      if (states.get(key) === 'soon') states.delete(key)
    },
    hurry: () => eachOf(due(), run),
  }
}
