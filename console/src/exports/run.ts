import { admin, appClient, explain, isSignedOut, type Me, queryClient } from '../api.ts'
import { type Kind, kinds } from '../import.ts'
import { patiently } from '../patience.ts'
import { wholeApp } from '../questions.ts'
import { gzip, join } from './gzip.ts'
import * as keep from './keep.ts'
import { portionsOf, type Reader } from './records.ts'

/** A reading that would end sooner is opened again, so that no text is missing. */
const leastLeftSeconds = 600

/** Exports that this tab carries on, by the app. */
const carried = new Map<string, AbortController>()

// Every tab of this browser shows the same.
const tabs = new BroadcastChannel('parley-exports')
const listeners = new Set<() => void>()
const tell = () => {
  for (const listener of listeners) listener()
}
tabs.onmessage = tell

function announce(): void {
  tell()
  tabs.postMessage('changed')
}

/** Calls the listener whenever an export is further, in whichever tab. @returns ends that */
export function onChange(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Begins the export of an app. @param reason why texts are read; without one there are no messages */
export async function start(me: Me, appId: string, reason: string | undefined): Promise<void> {
  await keep.begin({
    ...{ id: crypto.randomUUID(), appId, operatorId: me.id, phase: 'running', changedAt: Date.now() },
    ...{ readingUntil: 0, counts: {}, files: [], ...(reason !== undefined && { reason }) },
  })
  announce()
  carryOn(me, appId)
}

export async function stop(kept: keep.Kept): Promise<void> {
  await keep.setPhase(kept, 'stopped')
  letGo(kept)
}

/** Goes on where it was. */
export async function goOn(me: Me, kept: keep.Kept): Promise<void> {
  await keep.setPhase(kept, 'running')
  announce()
  carryOn(me, kept.appId)
}

/** Takes away all that was read for it. */
export async function discard(kept: keep.Kept): Promise<void> {
  await keep.discard(({ id }) => id === kept.id)
  letGo(kept)
}

function letGo({ appId }: keep.Kept): void {
  carried.get(appId)?.abort()
  announce()
}

/** For whoever signs out, or finds nobody signed in: what was exported is for no one who comes after. */
export async function discardAll(): Promise<void> {
  for (const stopping of carried.values()) stopping.abort()
  await unlessNothingIsKept(() => keep.discard(() => true))
  announce()
}

/** What the operator who is signed in finds: their own exports go on, and those of others are discarded. */
export async function takeUp(me: Me): Promise<void> {
  await unlessNothingIsKept(async () => {
    await keep.discard((kept) => !keep.isFor(me, kept))
    for (const { appId, phase } of await keep.all()) if (phase === 'running') carryOn(me, appId)
  })
}

async function unlessNothingIsKept(work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof keep.NothingKept)) throw error
  }
}

/** One tab at a time carries an export on; when it is closed, the next one does. */
export function carryOn(me: Me, appId: string): void {
  if (carried.get(appId)?.signal.aborted === false) return
  const stopping = new AbortController()
  carried.set(appId, stopping)
  const { signal } = stopping
  navigator.locks
    .request(`parley-export ${appId}`, { signal }, () => carry(me, appId, signal))
    .catch((error: unknown) => {
      if (!signal.aborted) throw error
    })
    .finally(() => {
      if (carried.get(appId) === stopping) carried.delete(appId)
    })
}

async function carry(me: Me, appId: string, signal: AbortSignal): Promise<void> {
  const kept = await keep.find(me, appId)
  if (kept?.phase !== 'running') return
  try {
    await readAll(kept, signal)
  } catch (error) {
    if (signal.aborted || error instanceof keep.Ended) return
    if (isSignedOut(error)) return void queryClient.invalidateQueries({ queryKey: ['me'] })
    await keep.setPhase(kept, 'failed', explain(error))
  } finally {
    announce()
  }
}

/**
 * Reads the lists of an app, one page after the other, so that nobody else waits for it. What was read is kept together with how far
 * it is.
 */
async function readAll(begun: keep.Kept, signal: AbortSignal): Promise<void> {
  let kept = begun
  const { id, appId, reason } = begun
  const reader: Reader = {
    ...{ client: appClient(appId), signal },
    async keepReading() {
      if (kept.readingUntil - Date.now() / 1000 > leastLeftSeconds) return
      const open = () => admin('POST /apps/{appId}/readings', { appId, of: wholeApp, reason: reason ?? '' }, { signal })
      kept = { ...kept, readingUntil: (await patiently(signal, open)).until }
    },
  }
  const advance = async (next: keep.Kept, written?: keep.Written) => {
    await keep.advance(next, written)
    kept = next
    announce()
  }
  for (const kind of kinds) {
    if (kept.files.includes(kind) || (kind === 'messages' && reason === undefined)) continue
    if (kept.open?.kind !== kind) {
      await advance({ ...kept, open: { kind, pieces: 0, next: {} }, counts: { ...kept.counts, [kind]: 0 } })
    }
    let { pieces, next } = kept.open ?? { pieces: 0, next: undefined }
    if (next !== undefined) {
      for await (const portion of portionsOf[kind](reader, next)) {
        const { records } = portion
        const counts = { ...kept.counts, [kind]: (kept.counts[kind] ?? 0) + records.length }
        const written = records.length > 0 && { kind, number: pieces++, piece: await gzip(linesOf(records)) }
        next = portion.next
        await advance({ ...kept, counts, open: { kind, pieces, next } }, written || undefined)
      }
    }
    const file = await join(piecesOf(id, kind, pieces))
    const { open: _, ...others } = kept
    await advance({ ...others, files: [...kept.files, kind] }, { kind, file })
  }
  await keep.advance({ ...kept, phase: 'done' })
}

const linesOf = (records: readonly object[]) => records.map((record) => `${JSON.stringify(record)}\n`).join('')

async function* piecesOf(id: string, kind: Kind, count: number) {
  for (let number = 0; number < count; number++) yield await keep.readPiece(id, kind, number)
}
