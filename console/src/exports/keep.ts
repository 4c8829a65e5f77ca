import { type DBSchema, type IDBPDatabase, openDB } from 'idb'
import type { Me } from '../api.ts'
import type { Kind } from '../import.ts'
import type { Place } from './records.ts'

/** An export as the browser keeps it, so that it goes on after the page was loaded again. */
export interface Kept {
  /** One that is begun anew is another. */
  readonly id: string
  /** Each app has one at most. */
  readonly appId: string
  /** Who made it: nobody else sees it. */
  readonly operatorId: string
  readonly phase: 'running' | 'stopped' | 'done' | 'failed'
  /** Why it could not go on, in words. */
  readonly problem?: string
  /** Why texts are read, for the audit log; without one there are no messages. */
  readonly reason?: string
  /** When the reading ends that was opened last, in epoch seconds. */
  readonly readingUntil: number
  /** Records that were read, of each file that was begun. */
  readonly counts: Readonly<Partial<Record<Kind, number>>>
  /** The file that is read now, in pieces. */
  readonly open?: OpenFile
  /** Files that are whole. */
  readonly files: readonly Kind[]
  /** When something was last read, in epoch milliseconds. */
  readonly changedAt: number
}

interface OpenFile {
  readonly kind: Kind
  readonly pieces: number
  /** Where the next piece begins; undefined once all are there. */
  readonly next: Place | undefined
}

interface Schema extends DBSchema {
  exports: { key: string; value: Kept }
  /** Gzipped lines, by the export, the file and their number in it. */
  pieces: { key: [string, Kind, number]; value: Uint8Array<ArrayBuffer> }
  /** Gzipped, by the export and the file. */
  files: { key: [string, Kind]; value: Blob }
}

const stores = ['exports', 'pieces', 'files'] as const
type Write = ReturnType<typeof writeIn>
const writeIn = (on: IDBPDatabase<Schema>) => on.transaction(stores, 'readwrite')

const oneDayMs = 86_400_000

/** The browser keeps nothing for this page, as where its storage is switched off. */
export class NothingKept extends Error {
  constructor(cause: unknown) {
    super(
      'This browser keeps nothing for this page, so an export has no place here. Allow it to, or use the command “parley export”.',
      { cause },
    )
  }
}

/** The browser has no room left. */
class NoRoom extends Error {
  constructor(cause: unknown) {
    super(
      'The browser has no room left for it. Download the files that are whole, discard it, and use the command “parley export”.',
      { cause },
    )
  }
}

/** It was stopped or discarded meanwhile, perhaps in another tab. */
export class Ended extends Error {}

let opened: Promise<IDBPDatabase<Schema>> | undefined

/** @throws NothingKept */
function database(): Promise<IDBPDatabase<Schema>> {
  opened ??= open().catch((error: unknown) => {
    opened = undefined
    throw new NothingKept(error)
  })
  return opened
}

async function open(): Promise<IDBPDatabase<Schema>> {
  return openDB<Schema>('parley-exports', 1, {
    upgrade(made) {
      made.createObjectStore('exports', { keyPath: 'appId' })
      made.createObjectStore('pieces')
      made.createObjectStore('files')
    },
    // A newer page wants it in another form, or it is deleted.
    blocking(_, __, event) {
      ;(event.target as IDBDatabase).close()
      opened = undefined
    },
    // The browser took it away.
    terminated() {
      opened = undefined
    },
  })
}

/** Whether an export is for this operator, as their rights are now. */
export function isFor({ id, apps, rights }: Me, { operatorId, appId, reason, changedAt }: Kept): boolean {
  if (operatorId !== id || Date.now() - changedAt > oneDayMs) return false
  const mayRead = reason === undefined || rights.includes('read')
  return mayRead && rights.includes('manage') && (apps === null || apps.includes(appId))
}

/** The export of an app, if there is one for this operator. */
export async function find(me: Me, appId: string): Promise<Kept | undefined> {
  const kept = await (await database()).get('exports', appId)
  return kept !== undefined && isFor(me, kept) ? kept : undefined
}

export async function all(): Promise<readonly Kept[]> {
  return (await database()).getAll('exports')
}

/** Begins an export; the one that the app had is discarded. */
export async function begin(kept: Kept): Promise<void> {
  const write = writeIn(await database())
  const before = await write.objectStore('exports').get(kept.appId)
  await finish(write, [
    ...(before === undefined ? [] : removeFrom(write, before)),
    write.objectStore('exports').put(kept),
  ])
}

/** What was read: a piece of a file, or a file that is whole, whose pieces are no longer needed. */
export type Written =
  | { readonly kind: Kind; readonly number: number; readonly piece: Uint8Array<ArrayBuffer> }
  | { readonly kind: Kind; readonly file: Blob }

/**
 * Writes how far an export is with what was read, or neither.
 * @throws Ended where it does not go on any more
 */
export async function advance(kept: Kept, written?: Written): Promise<void> {
  const write = writeIn(await database())
  const before = await write.objectStore('exports').get(kept.appId)
  if (before === undefined || before.id !== kept.id || before.phase !== 'running') throw new Ended()
  const requests: Promise<unknown>[] = [write.objectStore('exports').put({ ...kept, changedAt: Date.now() })]
  if (written !== undefined && 'piece' in written) {
    requests.push(write.objectStore('pieces').put(written.piece, [kept.id, written.kind, written.number]))
  } else if (written !== undefined) {
    requests.push(write.objectStore('files').put(written.file, [kept.id, written.kind]))
    requests.push(write.objectStore('pieces').delete(keysBelow(kept.id, written.kind)))
  }
  await finish(write, requests)
}

/** @throws NoRoom, or why else the whole of it was not done, rather than that one of its requests was taken back */
async function finish(write: { readonly done: Promise<void> }, requests: readonly Promise<unknown>[]): Promise<void> {
  const [ending] = await Promise.allSettled([write.done, ...requests])
  if (ending.status === 'fulfilled') return
  const { reason } = ending
  throw reason?.name === 'QuotaExceededError' ? new NoRoom(reason) : reason
}

/** Has it stop, fail or go on. One that was discarded or begun anew meanwhile stays as it is. */
export async function setPhase({ id, appId }: Kept, phase: Kept['phase'], problem?: string): Promise<void> {
  const write = (await database()).transaction('exports', 'readwrite')
  const before = await write.store.get(appId)
  if (before?.id !== id) return
  const { problem: _, ...kept } = before
  await finish(write, [write.store.put({ ...kept, phase, ...(problem !== undefined && { problem }) })])
}

/** A piece of the file that is open. @throws Ended where it was discarded */
export async function readPiece(id: string, kind: Kind, number: number): Promise<Uint8Array<ArrayBuffer>> {
  const piece = await (await database()).get('pieces', [id, kind, number])
  if (piece === undefined) throw new Ended()
  return piece
}

/** A file that is whole. @throws Ended where it was discarded */
export async function readFile({ id }: Kept, kind: Kind): Promise<Blob> {
  const file = await (await database()).get('files', [id, kind])
  if (file === undefined) throw new Ended('This export was discarded.')
  return file
}

/** Discards exports, with all that was read for them. */
export async function discard(isMeant: (kept: Kept) => boolean): Promise<void> {
  const write = writeIn(await database())
  const meant = (await write.objectStore('exports').getAll()).filter(isMeant)
  await finish(
    write,
    meant.flatMap((kept) => removeFrom(write, kept)),
  )
}

function removeFrom(write: Write, { id, appId }: Kept): Promise<void>[] {
  return [
    write.objectStore('exports').delete(appId),
    write.objectStore('pieces').delete(keysBelow(id)),
    write.objectStore('files').delete(keysBelow(id)),
  ]
}

/** All keys that begin with these parts: an array is greater than any text or number. */
function keysBelow(...parts: readonly string[]): IDBKeyRange {
  return IDBKeyRange.bound(parts, [...parts, []])
}
