import { createReadStream } from 'node:fs'

/**
 * Reads a file of records line by line: lines end with a line feed, whatever else may end one elsewhere. `node:readline` ends
 * one at U+2028, too, from Node.js 24 on, and JSON has that character as it is.
 */
export async function* readLines(file: string): AsyncIterable<string> {
  let rest = ''
  const chunks = createReadStream(file, { encoding: 'utf8', highWaterMark: 256 * 1024 })
  for await (const chunk of chunks) {
    const lines = (rest + (chunk as string)).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
  if (rest !== '') yield rest
}
