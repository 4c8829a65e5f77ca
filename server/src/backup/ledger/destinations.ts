import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, open, readdir } from 'node:fs/promises'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { FileStore } from '../../media/storage.ts'

/** An entry of the ledger, as it stands outside the database. */
export interface LedgerEntry {
  /** Of which database it is; a restored one goes on with it. */
  readonly of: string
  readonly id: number
  readonly kind: string
  readonly app: number
  /** Base64. */
  readonly digest: string
  /** Epoch milliseconds. */
  readonly at: number
}

/** A destination outside the database, where entries are only ever added. */
export interface LedgerDestination {
  /** As people read it. */
  readonly name: string
  /** Once it resolves, they are kept. */
  append(entries: readonly LedgerEntry[]): Promise<void>
  /** Reads all entries, one after the other: in years there are more than fit into memory. */
  read(take: (entry: LedgerEntry) => void): Promise<void>
}

const folderName = 'ledger'

/** Files of a month, in a folder `ledger`, to which lines are added. */
export function createLedgerFolder(parent: string): LedgerDestination {
  const folder = path.join(parent, folderName)
  return {
    name: folder,
    async append(entries) {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const month = new Date(entries[0]?.at ?? Date.now()).toISOString().slice(0, 7)
      const file = await open(path.join(folder, `${month}.ndjson`), 'a', 0o600)
      try {
        // After a line that was cut off by a crash, which must not take the next entry with it.
        await file.appendFile(`\n${linesOf(entries)}`)
        await file.sync()
      } finally {
        await file.close()
      }
    },
    async read(take) {
      const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return []
        throw error
      })
      const files = names.filter((name) => name.endsWith('.ndjson')).sort()
      for (const name of files) {
        const lines = createInterface({ input: createReadStream(path.join(folder, name)) })
        for await (const line of lines) for (const entry of entriesOf(line)) take(entry)
      }
    },
  }
}

/** An object for each lot of entries, below `ledger/`: nothing can be added to one. */
export function createLedgerBucket(store: FileStore, name: string): LedgerDestination {
  return {
    name: `${name}${folderName}/`,
    async append(entries) {
      const lines = linesOf(entries)
      const digest = createHash('sha256').update(lines).digest('hex').slice(0, 12)
      const first = String(entries[0]?.id ?? 0).padStart(16, '0')
      await store.write(
        `${folderName}/${first}-${digest}.ndjson`,
        Readable.from([Buffer.from(lines)]),
        'application/x-ndjson',
      )
    },
    async read(take) {
      const files = [...(await store.list(`${folderName}/`))]
      while (files.length > 0) {
        const texts = await Promise.all(
          files.splice(0, objectsAtOnce).map(async (file) => text(await store.read(file, undefined))),
        )
        for (const lines of texts) for (const entry of entriesOf(lines)) take(entry)
      }
    },
  }
}

/** A busy service writes one a second. */
const objectsAtOnce = 16

/** Kinds of which there are as many as sessions that ended. */
const tokenKinds = new Set(['auth_token', 'jwt', 'operator_token'])
/** A token that was revoked so long before a backup is in it, though a clock may have been wrong. */
const tokensBeforeMs = 40 * 86_400_000

/**
 * Reads what may be missing in a backup, each entry once.
 * @param backedUpAt when that was begun, in epoch milliseconds; 0 where nobody knows
 */
export async function readLedger(
  destinations: readonly LedgerDestination[],
  backedUpAt: number,
): Promise<LedgerEntry[]> {
  const entries = new Map<string, LedgerEntry>()
  const take = (entry: LedgerEntry) => {
    const { of, id, kind, app, digest, at } = entry
    if (tokenKinds.has(kind) && at < backedUpAt - tokensBeforeMs) return
    entries.set(JSON.stringify([of, id, kind, app, digest, at]), entry)
  }
  for (const destination of destinations) await destination.read(take)
  return [...entries.values()]
}

const linesOf = (entries: readonly LedgerEntry[]) => entries.map((entry) => `${JSON.stringify(entry)}\n`).join('')

/** A line that was cut off by a crash was not kept; the entry was written again after it. */
function entriesOf(lines: string): LedgerEntry[] {
  return lines.split('\n').flatMap((line) => {
    try {
      return line === '' ? [] : [JSON.parse(line) as LedgerEntry]
    } catch {
      return []
    }
  })
}
