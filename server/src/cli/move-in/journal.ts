import { access, type FileHandle, mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { exitCodes, ImportFailure } from '../import/failure.ts'
import { writeAll } from '../write-all.ts'

/**
 * Files that grow, and what is known of how far they got. Both survive Ctrl-C, SIGKILL and a loss of power: the
 * checkpoint names the length that each file had, and whatever a file has beyond it is cut off when the run goes on.
 */
export interface Journal<State> {
  /** How far the run is. Changed only in `after` of `append`, or in one turn of the event loop. */
  readonly state: State
  /** Adds lines to a file; `after` runs in the moment when they count as written. */
  append(file: string, records: readonly object[], after?: () => void): Promise<void>
  /** Empties a file, to write it anew. */
  clear(file: string): Promise<void>
  /** Makes everything so far durable. */
  save(): Promise<void>
  close(): Promise<void>
}

interface Checkpoint<State> {
  readonly version: 1
  /** What the folder is of; another source must not be mixed in. */
  readonly origin: string
  readonly files: Record<string, number>
  readonly state: State
}

const saveInterval = 2000
const checkpointName = 'checkpoint.json'

/** Whether a folder is that of a move: its files are the move's, and no other command may change them. */
export function isOfMove(folder: string): Promise<boolean> {
  return access(path.join(folder, checkpointName)).then(
    () => true,
    () => false,
  )
}

/**
 * Opens the journal of a folder, or goes on with the one there.
 * @param origin the source; a folder of another one is refused
 * @throws ImportFailure where the folder has something else
 */
export async function openJournal<State>(folder: string, origin: string, fresh: State): Promise<Journal<State>> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const checkpoint = path.join(folder, checkpointName)
  const known = await readCheckpoint<State>(checkpoint)
  if (known !== undefined && known.origin !== origin) {
    throw new ImportFailure(exitCodes.usage, `${folder} is a move from ${known.origin}; choose another folder`)
  }
  if (known === undefined) {
    const names = (await readdir(folder)).filter((name) => !name.endsWith('.tmp'))
    if (names.length > 0) {
      throw new ImportFailure(exitCodes.usage, `${folder} is not empty, and has no checkpoint of a move`)
    }
  }
  const state = known?.state ?? fresh
  const lengths = new Map(Object.entries(known?.files ?? {}))
  const handles = new Map<string, Promise<FileHandle>>()
  const chains = new Map<string, Promise<void>>()

  const openAt = async (file: string): Promise<FileHandle> => {
    const name = path.join(folder, file)
    await mkdir(path.dirname(name), { recursive: true, mode: 0o700 })
    const length = lengths.get(file)
    const handle = await open(name, length === undefined ? 'w' : 'r+', 0o600)
    if (length === undefined) lengths.set(file, 0)
    else if ((await handle.stat()).size >= length) await handle.truncate(length)
    else {
      await handle.close()
      throw new ImportFailure(
        exitCodes.usage,
        `${name} is not whole: a part of it is gone. Begin anew in another folder`,
      )
    }
    return handle
  }
  const handleOf = (file: string): Promise<FileHandle> => {
    const opened = handles.get(file) ?? openAt(file)
    handles.set(file, opened)
    return opened
  }
  // What a killed run wrote beyond its checkpoint must be gone before anybody reads it.
  for (const file of lengths.keys()) await handleOf(file)

  const write = async () => {
    const files = Object.fromEntries(lengths)
    const text = JSON.stringify({ version: 1, origin, files, state } satisfies Checkpoint<State>)
    for (const file of Object.keys(files)) await (await handleOf(file)).datasync()
    const temporary = `${checkpoint}.tmp`
    const handle = await open(temporary, 'w', 0o600)
    await handle.writeFile(text)
    await handle.sync()
    await handle.close()
    await rename(temporary, checkpoint)
  }
  let saving: Promise<void> = Promise.resolve()
  let failure: { readonly error: unknown } | undefined
  const save = () => {
    saving = saving.then(write)
    return saving
  }
  await save()
  let isSaving = false
  const timer = setInterval(() => {
    if (isSaving || failure !== undefined) return
    isSaving = true
    save()
      .catch((error: unknown) => {
        failure = { error }
      })
      .finally(() => {
        isSaving = false
      })
  }, saveInterval)

  /** Does something with a file after everything else that was asked of it. */
  const inTurn = (file: string, work: () => Promise<void>): Promise<void> => {
    const chain = (chains.get(file) ?? Promise.resolve()).then(async () => {
      if (failure !== undefined) throw failure.error
      await work()
    })
    chains.set(
      file,
      chain.catch(() => undefined),
    )
    return chain
  }
  return {
    state,
    append: (file, records, after) =>
      inTurn(file, async () => {
        if (records.length > 0) {
          const bytes = Buffer.from(records.map((record) => `${JSON.stringify(record)}\n`).join(''))
          const handle = await handleOf(file)
          const at = lengths.get(file) ?? 0
          await writeAll(handle, bytes, at)
          lengths.set(file, at + bytes.length)
        }
        after?.()
      }),
    clear: (file) =>
      inTurn(file, async () => {
        const handle = await handleOf(file)
        // The checkpoint comes first: it must not name more than there is.
        lengths.set(file, 0)
        await save()
        await handle.truncate(0)
      }),
    save,
    async close() {
      clearInterval(timer)
      await Promise.all(chains.values())
      await save()
      for (const handle of handles.values()) await (await handle).close()
      if (failure !== undefined) throw failure.error
    },
  }
}

async function readCheckpoint<State>(file: string): Promise<Checkpoint<State> | undefined> {
  await rm(`${file}.tmp`, { force: true })
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw new ImportFailure(exitCodes.usage, `${file} cannot be read: ${error.message}`)
  })
  return text === undefined ? undefined : (JSON.parse(text) as Checkpoint<State>)
}
