import type { IncomingMessage } from 'node:http'

/** An upload that brings less than this in its time has stalled. */
const leastBytes = 16_384

/**
 * Watches whether a body keeps coming. Time in which the service itself takes nothing of it does not count.
 * @param onStalled hears of it once
 * @returns stops watching
 */
export function watchArrival(request: IncomingMessage, seconds: number, onStalled: () => void): () => void {
  let arrived = 0
  let wasPaused = false
  const note = (chunk: Buffer) => {
    arrived += chunk.length
  }
  const notePause = () => {
    wasPaused = true
  }
  const stop = () => {
    clearInterval(timer)
    request.off('data', note).off('pause', notePause)
  }
  const timer = setInterval(() => {
    const hasStalled = arrived < leastBytes && !wasPaused && !request.isPaused()
    arrived = 0
    wasPaused = request.isPaused()
    if (!hasStalled) return
    stop()
    onStalled()
  }, seconds * 1000)
  request.on('data', note).on('pause', notePause)
  return stop
}
