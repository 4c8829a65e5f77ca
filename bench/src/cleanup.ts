/** Has something stopped when the work is over; what came last is stopped first. */
export type AtEnd = (stop: () => unknown) => void

/** Does the work and stops what it has started, also when it fails or somebody interrupts it. */
export async function withCleanup(work: (atEnd: AtEnd) => Promise<void>): Promise<void> {
  const stops: Array<() => unknown> = []
  let stopping: Promise<void> | undefined
  const stopAll = () => {
    stopping ??= stops.toReversed().reduce((before, stop) => before.then(stop).then(() => {}), Promise.resolve())
    return stopping
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void stopAll().finally(() => process.exit(1)))
  }
  try {
    await work((stop) => void stops.push(stop))
  } finally {
    await stopAll()
  }
}
