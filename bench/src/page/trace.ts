import type { Page } from 'playwright-core'

/** An event of a trace of Chromium. Times are in microseconds. */
export interface TraceEvent {
  readonly name: string
  readonly ph: string
  readonly pid: number
  readonly tid: number
  readonly ts: number
  readonly dur?: number
  /** Of that, what its thread had a processor for. */
  readonly tdur?: number
  readonly args: { readonly name?: string }
}

/** What the main thread of a page did, in milliseconds. */
export interface Drawn {
  readonly frames: number
  readonly longestTask: number
  /** Over 50 ms. */
  readonly longTasks: number
  /** Script, style and layout within a frame, as long as they took, with what they waited for a processor. */
  readonly elapsed: Shares
  /** The same, without that. */
  readonly onProcessor: Shares
}

export interface Shares {
  readonly p50: number
  readonly p95: number
}

/** Traces a page while something is done with it. */
export async function traced(page: Page, meanwhile: () => Promise<void>): Promise<TraceEvent[]> {
  const session = await page.context().newCDPSession(page)
  const events: TraceEvent[] = []
  session.on('Tracing.dataCollected', ({ value }) => events.push(...(value as unknown as TraceEvent[])))
  const complete = new Promise<void>((resolve) => session.once('Tracing.tracingComplete', () => resolve()))
  await session.send('Tracing.start', {
    categories: 'devtools.timeline,toplevel,v8.execute',
    transferMode: 'ReportEvents',
  })
  await meanwhile()
  await session.send('Tracing.end')
  await complete
  return events
}

const work = new Set([
  ...['FunctionCall', 'EvaluateScript', 'RunMicrotasks', 'EventDispatch', 'FireAnimationFrame', 'TimerFire'],
  ...['Layout', 'UpdateLayoutTree', 'PrePaint'],
])

export function drawnOf(events: readonly TraceEvent[]): Drawn {
  const mains = new Set(
    events.filter(({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain').map(threadOf),
  )
  const own = events.filter((event) => mains.has(threadOf(event))).sort((a, b) => a.ts - b.ts)
  const tasks = own.flatMap(({ name, dur }) => (name.endsWith('RunTask') && dur !== undefined ? [dur / 1000] : []))
  const elapsed = workOfFrames(own, ({ dur = 0 }) => dur)
  return {
    frames: elapsed.length,
    longestTask: tasks.reduce((longest, task) => Math.max(longest, task), 0),
    longTasks: tasks.filter((task) => task > 50).length,
    elapsed: sharesOf(elapsed),
    onProcessor: sharesOf(workOfFrames(own, ({ dur = 0, tdur = dur }) => tdur)),
  }
}

function sharesOf(frames: readonly number[]): Shares {
  const sorted = frames.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN
  return { p50: at(0.5), p95: at(0.95) }
}

/**
 * What was done from the beginning of each frame to that of the next, in milliseconds; what happens within other work is counted once.
 * @param timeOf in microseconds
 */
function workOfFrames(own: readonly TraceEvent[], timeOf: (event: TraceEvent) => number): number[] {
  const frames: number[] = []
  let countedUntil = 0
  for (const event of own) {
    const { name, ph, ts, dur = 0 } = event
    if (name === 'AnimationFrame' && ph === 'b') frames.push(0)
    if (!work.has(name) || ts < countedUntil || frames.length === 0) continue
    frames[frames.length - 1] = (frames.at(-1) ?? 0) + timeOf(event) / 1000
    countedUntil = ts + dur
  }
  return frames
}

function threadOf({ pid, tid }: TraceEvent): string {
  return `${pid} ${tid}`
}
