import { readdir, readFile } from 'node:fs/promises'
import { readLines as readTexts } from '../lines.ts'
import { ConvertFailure } from './failure.ts'

/** What an export holds, of which nothing is certain. */
// biome-ignore lint/suspicious/noExplicitAny: each member is checked where it is used
export type Foreign = Readonly<Record<string, any>>

/** Names of what is in a folder of an export. Links are left out: they may lead to anything else on this machine. */
export async function entriesOf(
  folder: string,
): Promise<{ readonly files: ReadonlySet<string>; readonly folders: ReadonlySet<string> }> {
  const entries = await readdir(folder, { withFileTypes: true })
  const names = (some: typeof entries) => new Set(some.map(({ name }) => name))
  return {
    files: names(entries.filter((entry) => entry.isFile())),
    folders: names(entries.filter((entry) => entry.isDirectory())),
  }
}

/** Reads a file that holds an array of objects. @throws ConvertFailure naming the file */
export async function readObjects(file: string): Promise<Foreign[]> {
  const text = await readFile(file, 'utf8').catch((error: Error) => {
    throw new ConvertFailure(`${file} cannot be read: ${error.message}`)
  })
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new ConvertFailure(`${file} is not valid JSON: ${(error as Error).message}`)
  }
  if (!Array.isArray(value)) throw new ConvertFailure(`${file} must be an array`)
  return value.filter((item) => typeof item === 'object' && item !== null)
}

/** Reads a file that holds one object a line. @throws ConvertFailure naming the file and the line */
export async function* readLines(file: string): AsyncGenerator<Foreign> {
  let number = 0
  try {
    for await (const line of readTexts(file)) {
      number++
      if (line.trim() === '') continue
      const value = parseLine(line)
      if (typeof value !== 'object' || value === null)
        throw new ConvertFailure(`${file}, line ${number}: not a JSON object`)
      yield value
    }
  } catch (error) {
    if (error instanceof ConvertFailure) throw error
    throw new ConvertFailure(`${file} cannot be read: ${(error as Error).message}`)
  }
}

function parseLine(line: string): Foreign | undefined {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

/** A text with something in it; undefined for anything else. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined
}

/** A text without any of these characters at its end. */
export function withoutEnd(text: string, characters: string): string {
  let end = text.length
  while (end > 0 && characters.includes(text[end - 1] as string)) end -= 1
  return text.slice(0, end)
}

export function objectsOf(value: unknown): Foreign[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'object' && item !== null) : []
}

export function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string' && item !== '') : []
}

/** A web address, since nothing else can be an avatar or an attachment. */
export function addressOf(value: unknown): string | undefined {
  return typeof value === 'string' && /^https?:\/\//.test(value) && URL.canParse(value) ? value : undefined
}

/** Epoch seconds of a number or text of them; undefined where it is none, or 0. */
export function secondsOf(value: unknown, unit: 'seconds' | 'milliseconds' = 'seconds'): number | undefined {
  const seconds = Math.floor(Number(value) / (unit === 'seconds' ? 1 : 1000))
  return Number.isSafeInteger(seconds) && seconds > 0 ? seconds : undefined
}

/** What bots and integrations show in attachments, often without a text of their own; undefined where that is nothing. */
export function shownBy(attachments: unknown): string | undefined {
  const texts = objectsOf(attachments).map(({ pretext, title, text, fallback }) =>
    [pretext, title, textOf(text) ?? fallback].filter((part) => textOf(part) !== undefined).join('\n'),
  )
  return textOf(texts.filter((text) => text !== '').join('\n'))
}
