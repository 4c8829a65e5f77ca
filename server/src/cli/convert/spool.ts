import { appendFile, mkdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { readLines } from '../lines.ts'

/** Bytes that wait in memory before they are written. */
const mostWaiting = 8 * 1024 * 1024

/** Keeps records of many conversations apart, on disk, since exports come in any order and may not fit into memory. */
export interface Spool<Row> {
  add(conversation: string, row: Row): Promise<void>
  /** All rows by conversation, in the order in which they were added; conversations in the order of their first row. */
  read(): AsyncGenerator<Row[]>
  remove(): Promise<void>
}

export function createSpool<Row>(folder: string): Spool<Row> {
  const numbers = new Map<string, number>()
  let waiting = new Map<number, string[]>()
  let bytes = 0
  const fileOf = (number: number) => path.join(folder, `${number}.ndjson`)
  const flush = async () => {
    await mkdir(folder, { recursive: true })
    for (const [number, lines] of waiting) await appendFile(fileOf(number), lines.join(''))
    waiting = new Map()
    bytes = 0
  }
  return {
    async add(conversation, row) {
      const number = numbers.get(conversation) ?? numbers.size
      numbers.set(conversation, number)
      const line = `${JSON.stringify(row)}\n`
      const lines = waiting.get(number)
      if (lines === undefined) waiting.set(number, [line])
      else lines.push(line)
      bytes += line.length
      if (bytes >= mostWaiting) await flush()
    },
    async *read() {
      await flush()
      for (const number of numbers.values()) {
        const rows: Row[] = []
        for await (const line of readLines(fileOf(number))) if (line !== '') rows.push(JSON.parse(line) as Row)
        yield rows
      }
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}
