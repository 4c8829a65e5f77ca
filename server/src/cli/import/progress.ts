import type { ImportKind } from '@parley/contract'
import { SingleBar } from 'cli-progress'
import type { InputFile } from './input.ts'

/** Where progress is shown: a bar on a terminal, a line every few seconds elsewhere. */
export interface Progress {
  start(file: InputFile, count: () => Counts): void
  stop(): void
  /** A remark between two states of the bar. */
  note(text: string): void
}

/** Records of a file so far: those read, and those of them whose fate is known. */
export interface Counts {
  readonly read: number
  readonly finished: number
}

export interface ProgressStream extends NodeJS.WritableStream {
  readonly isTTY?: boolean
}

const barInterval = 250
const lineInterval = 5000

/** Nobody can tell how many records a stream has, so that progress is told by the bytes read of the file. */
export function openProgress(stream: ProgressStream, now: () => number): Progress {
  let running: Running | undefined

  const show = ({ file, count, started, bar }: Running) => {
    const state = measure(file, count(), now() - started)
    if (bar === undefined) stream.write(`${formatLine(file.kind, state)}\n`)
    else bar.update(Math.floor(state.share * 1000), formatPayload(file.kind, state))
  }
  return {
    start(file, count) {
      const bar = stream.isTTY ? openBar(stream) : undefined
      const interval = bar === undefined ? lineInterval : barInterval
      const timer = setInterval(() => running && show(running), interval)
      running = { file, count, started: now(), timer, bar }
      bar?.start(1000, 0, formatPayload(file.kind, measure(file, count(), 0)))
    },
    stop() {
      if (running === undefined) return
      clearInterval(running.timer)
      show(running)
      running.bar?.stop()
      running = undefined
    },
    note(text) {
      // The line of a bar is drawn anew at its next state, so that a remark may take its place.
      stream.write(running?.bar === undefined ? `${text}\n` : `\r\u001b[K${text}\n`)
    },
  }
}

interface Running {
  readonly file: InputFile
  readonly count: () => Counts
  readonly started: number
  readonly timer: NodeJS.Timeout
  readonly bar: SingleBar | undefined
}

interface State {
  /** Of the file, 0 to 1. */
  readonly share: number
  readonly records: number
  /** Records a second. */
  readonly rate: number
  /** Seconds; undefined before anything is finished. */
  readonly left: number | undefined
}

export function measure(file: InputFile, { read, finished: records }: Counts, milliseconds: number): State {
  const share = read === 0 || file.size === 0 ? 0 : Math.min(1, (file.bytesRead() / file.size) * (records / read))
  const rate = milliseconds === 0 ? 0 : Math.round((records * 1000) / milliseconds)
  const left = share === 0 ? undefined : Math.round(((milliseconds / 1000) * (1 - share)) / share)
  return { share, records, rate, left }
}

function openBar(stream: ProgressStream): SingleBar {
  const format = '{kind} [{bar}] {percentage}% | {records} records | {rate}/s | {left} left'
  return new SingleBar({ format, stream, barsize: 30, gracefulExit: false, forceRedraw: true })
}

function formatPayload(kind: ImportKind, { records, rate, left }: State): Record<string, string> {
  return { kind: kind.padEnd(8), records: formatCount(records), rate: formatCount(rate), left: formatTime(left) }
}

function formatLine(kind: ImportKind, { share, records, rate, left }: State): string {
  return `${kind}: ${Math.floor(share * 100)}%, ${formatCount(records)} records, ${formatCount(rate)}/s, ${formatTime(left)} left`
}

export function formatCount(count: number): string {
  return count.toLocaleString('en-US')
}

function formatTime(seconds: number | undefined): string {
  if (seconds === undefined) return '-'
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)]
  const rest = String(seconds % 60).padStart(2, '0')
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, '0')}:${rest}` : `${minutes}:${rest}`
}
