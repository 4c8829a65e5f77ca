/** Shows how far a command is, on standard error: on a terminal in one line that changes, else in a line now and then. */
export interface ProgressLine {
  show(text: string): void
  /** What was shown last stands, and the line ends. */
  end(): void
}

const terminalEveryMs = 200
const otherwiseEveryMs = 10_000

export function createProgressLine(stream: NodeJS.WriteStream = process.stderr): ProgressLine {
  const isTerminal = stream.isTTY === true
  let next = performance.now() + (isTerminal ? 0 : otherwiseEveryMs)
  let last = ''
  return {
    show(text) {
      last = text
      if (performance.now() < next) return
      next = performance.now() + (isTerminal ? terminalEveryMs : otherwiseEveryMs)
      stream.write(isTerminal ? `\r\u001b[K${text}` : `${text}\n`)
    },
    end() {
      if (isTerminal && last !== '') stream.write(`\r\u001b[K${last}\n`)
    },
  }
}

const units = ['B', 'kB', 'MB', 'GB', 'TB']

/** Bytes as people read them. */
export function describeBytes(bytes: number): string {
  const step = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log10(bytes || 1) / 3)))
  const value = bytes / 1000 ** step
  return `${value >= 100 || step === 0 ? Math.round(value) : value.toFixed(1)} ${units[step]}`
}
