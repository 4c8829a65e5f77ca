import { takeListed } from '@parley/contract'
import { createDigestSet } from './digest.ts'
import type { InputFile, Line } from './input.ts'
import { createMuidNames } from './muids.ts'
import {
  conversationOf,
  type JsonRecord,
  type MessageNames,
  makeRecordReader,
  parseObject,
  type ReadLine,
} from './records.ts'

/** Which messages of a file others reply to, quote or are about: few of all. */
export interface Named {
  readonly ids: { has(id: string): boolean }
  /** By `placeOf`. */
  readonly muids: { has(place: string): boolean }
}

const references = ['parentMuid', 'quotedMuid', 'subjectMuid'] as const

/**
 * Makes the reader of one file of records as they are sent: messages have names of their own, by which others name them. Looks
 * through a file of messages first for those that are named.
 */
export async function openRecordReader(
  file: InputFile,
  { signal, isExport }: { readonly signal: AbortSignal; readonly isExport: boolean },
): Promise<(line: Line) => ReadLine> {
  if (file.kind !== 'messages') return makeRecordReader(file.kind, { isExport })
  return makeRecordReader(file.kind, { names: createMessageNames(await findNamed(file, signal)), isExport })
}

/** A line without any of these names no other message; not parsing it saves most of the time. */
const mayName = /"(?:parentId|parentMuid|quotedMessageId|quotedMuid|subjectId|subjectMuid|entities)"/

/** Reads through a file of messages for those that others name. Where it is damaged, so finds whoever reads it then. */
export async function findNamed(file: InputFile, signal: AbortSignal): Promise<Named> {
  const [ids, muids] = [createDigestSet(), createDigestSet()]
  try {
    for await (const lines of file.lines()) {
      if (signal.aborted) break
      for (const { text } of lines) {
        const record = text !== undefined && mayName.test(text) ? parseObject(text) : undefined
        if (record === undefined) continue
        takeListed('messages', record, (id) => {
          ids.add(id)
          return id
        })
        for (const name of references) {
          const muid = record[name]
          if (typeof muid === 'string') muids.add(placeOf(record, muid))
        }
      }
    }
  } catch {
    // The rest cannot be read, and is not sent.
  }
  return { ids, muids }
}

/**
 * Names messages as `createMuidNames` does, and remembers of those that others name what they are called: of an id the message
 * with it, of a muid the first with it in the same conversation.
 */
export function createMessageNames(named: Named): MessageNames {
  const nameMessage = createMuidNames()
  const byId = new Map<string, string>()
  const there = createDigestSet()
  const asSent = createDigestSet()
  const renamed = new Map<string, string>()
  return {
    muidOf: (id) => byId.get(id) ?? id,
    isThere: (id) => there.has(id),
    nameOf(sent, taken, muid) {
      const changes: Record<string, string> = {}
      for (const reference of references) {
        const other = sent[reference]
        const known = typeof other === 'string' && renamed.get(placeOf(taken, other))
        if (known) changes[reference] = known
      }
      const name = nameMessage(taken, muid)
      if (name.muid !== muid) changes.muid = name.muid
      const id = String(sent.id)
      if (named.ids.has(id)) there.add(id)
      if (name.muid !== id && named.ids.has(id)) byId.set(id, name.muid)
      const place = placeOf(taken, muid)
      if (named.muids.has(place)) {
        if (name.muid === muid) asSent.add(place)
        else if (!asSent.has(place) && !renamed.has(place)) renamed.set(place, name.muid)
      }
      for (const _ in changes) return { name, record: { ...taken, ...changes } }
      return { name, record: taken }
    },
  }
}

function placeOf(message: JsonRecord, muid: string): string {
  return `${conversationOf(message)} ${muid}`
}
