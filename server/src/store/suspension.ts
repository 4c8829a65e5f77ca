import { DatabaseAwayError } from './connection.ts'

/** Whether the database is known to be away; then nothing is asked of it. */
export interface Suspension {
  readonly isOn: boolean
  /** @throws DatabaseAwayError while it is on */
  check(): void
  /** Waits for something, but not beyond the beginning of a suspension; `giveBack` gets what then comes too late. */
  wait<Thing>(coming: Promise<Thing>, giveBack: (late: Thing) => void): Promise<Thing>
  begin(): void
  end(): void
}

export function createSuspension(): Suspension {
  let isOn = false
  const waiting = new Set<(error: Error) => void>()

  const check = () => {
    if (isOn) throw new DatabaseAwayError()
  }
  return {
    get isOn() {
      return isOn
    },
    check,
    wait(coming, giveBack) {
      return new Promise((resolve, reject) => {
        waiting.add(reject)
        coming.then(
          (thing) => (waiting.delete(reject) ? resolve(thing) : giveBack(thing)),
          (error: Error) => {
            waiting.delete(reject)
            reject(error)
          },
        )
      })
    },
    begin() {
      isOn = true
      for (const reject of waiting) reject(new DatabaseAwayError())
      waiting.clear()
    },
    end() {
      isOn = false
    },
  }
}
