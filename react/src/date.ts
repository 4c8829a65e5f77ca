import { useSyncExternalStore } from 'react'

/** The day that it is: whoever shows it is drawn again after midnight. */
export function useDate(): string {
  return useSyncExternalStore(eachMinute, dateNow, dateNow)
}

function dateNow(): string {
  return new Date().toDateString()
}

/** A timer until midnight would be late on a device that has slept. */
function eachMinute(look: () => void): () => void {
  const timer = setInterval(look, 60_000)
  return () => clearInterval(timer)
}
