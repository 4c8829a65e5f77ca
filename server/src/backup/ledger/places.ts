import { createHash } from 'node:crypto'
import { mkdir, open, readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
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

/** A place outside the database, where entries are only ever added. */
export interface LedgerPlace {
  /** As people read it. */
  readonly name: string
  /** Once it resolves, they are kept. */
  append(entries: readonly LedgerEntry[]): Promise<void>
  read(): Promise<LedgerEntry[]>
}

const folderName = 'ledger'

/** Files of a month, in a folder `ledger`, to which lines are added. */
export function createLedgerFolder(parent: string): LedgerPlace {
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
    async read() {
      const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return []
        throw error
      })
      const files = names.filter((name) => name.endsWith('.ndjson')).sort()
      const texts = await Promise.all(files.map((name) => readFile(path.join(folder, name), 'utf8')))
      return texts.flatMap(entriesOf)
    },
  }
}

/** An object for each lot of entries, below `ledger/`: nothing can be added to one. */
export function createLedgerBucket(store: FileStore, name: string): LedgerPlace {
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
    async read() {
      const found: LedgerEntry[] = []
      for (const file of await store.list(`${folderName}/`))
        found.push(...entriesOf(await text(await store.read(file, undefined))))
      return found
    },
  }
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
