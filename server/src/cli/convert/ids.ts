import { readFile } from 'node:fs/promises'
import { ConvertFailure } from './failure.ts'

const kinds = ['user', 'group'] as const
export type IdKind = (typeof kinds)[number]

/** A new id for every old one. Two old ids that differ only in upper and lower case get two new ones. */
export interface IdTable {
  /** @param wish what the new id should look like: the name of a person or channel */
  idOf(kind: IdKind, old: string, wish: string): string
  find(kind: IdKind, old: string): string | undefined
  entries(): Iterable<{ readonly kind: IdKind; readonly from: string; readonly to: string }>
}

/** Characters that leave room for a number that tells two apart. */
const wishLength = 90

/** Names of the service itself, which no person can have. */
const taken = ['user app_system']

/** @param known a table of an earlier run, whose ids stay as they are */
export function createIds(known: Iterable<{ kind: IdKind; from: string; to: string }> = []): IdTable {
  const table = new Map<string, { kind: IdKind; from: string; to: string }>()
  const used = new Set(taken)
  const keep = (kind: IdKind, from: string, to: string) => {
    table.set(`${kind} ${from}`, { kind, from, to })
    used.add(`${kind} ${to}`)
    return to
  }
  for (const { kind, from, to } of known) keep(kind, from, to)
  return {
    idOf(kind, old, wish) {
      const found = table.get(`${kind} ${old}`)
      if (found !== undefined) return found.to
      const plain = plainId(wish) || plainId(old) || kind
      for (let number = 1; ; number++) {
        const to = number === 1 ? plain : `${plain}-${number}`
        if (!used.has(`${kind} ${to}`)) return keep(kind, old, to)
      }
    },
    find: (kind, old) => table.get(`${kind} ${old}`)?.to,
    entries: () => table.values(),
  }
}

/** Letters without their accents, digits, - and _; anything else becomes a dash. */
function plainId(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/g, '-')
    .slice(0, wishLength)
    .replace(/^-+|-+$/g, '')
}

/** Reads the `ids.ndjson` of an earlier run. @throws ConvertFailure where it is not one */
export async function readIds(file: string): Promise<Array<{ kind: IdKind; from: string; to: string }>> {
  const text = await readFile(file, 'utf8').catch((error: Error) => {
    throw new ConvertFailure(`${file} cannot be read: ${error.message}`)
  })
  return text.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return []
    try {
      const { kind, from, to } = JSON.parse(line)
      if (kinds.includes(kind) && typeof from === 'string' && /^[a-z0-9_-]{1,100}$/.test(to))
        return [{ kind, from, to }]
    } catch {}
    throw new ConvertFailure(`${file}, line ${index + 1}: not an entry of ids.ndjson`)
  })
}
