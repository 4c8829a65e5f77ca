import type { Page } from 'playwright-core'

/** An event of a trace of Chromium. Times are in microseconds. */
export interface TraceEvent {
  readonly name: string
  readonly ph: string
  readonly pid: number
  readonly tid: number
  readonly ts: number
  readonly dur?: number
  readonly args: { readonly name?: string }
}

/** What the main thread of a page did, in milliseconds. */
export interface Drawn {
  readonly frames: number
  readonly longestTask: number
  /** Over 50 ms. */
  readonly longTasks: number
  /** Script, style and layout within a frame. */
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
  const frames = workOfFrames(own).sort((a, b) => a - b)
  const at = (share: number) => frames[Math.floor((frames.length - 1) * share)] ?? Number.NaN
  return {
    frames: frames.length,
    longestTask: tasks.reduce((longest, task) => Math.max(longest, task), 0),
    longTasks: tasks.filter((task) => task > 50).length,
    p50: at(0.5),
    p95: at(0.95),
  }
}

/** What was done from the beginning of each frame to that of the next; what happens within other work is counted once. */
function workOfFrames(own: readonly TraceEvent[]): number[] {
  const frames: number[] = []
  let countedUntil = 0
  for (const { name, ph, ts, dur = 0 } of own) {
    if (name === 'AnimationFrame' && ph === 'b') frames.push(0)
    if (!work.has(name) || ts < countedUntil || frames.length === 0) continue
    frames[frames.length - 1] = (frames.at(-1) ?? 0) + dur / 1000
    countedUntil = ts + dur
  }
  return frames
}

function threadOf({ pid, tid }: TraceEvent): string {
  return `${pid} ${tid}`
}
