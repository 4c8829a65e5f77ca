import { type HttpEmulator, startHttpEmulator } from './http.ts'

/** One thing that came to an emulator. */
export interface JournalLine {
  /** Its place, from 1 on. */
  readonly number: number
  /** Epoch seconds. */
  readonly at: number
  readonly text: string
}

/** What came to all emulators, as lines: the newest ones, served at `/journal`. */
export interface Journal extends HttpEmulator {
  add(text: string): void
}

const kept = 500

/** @param port 0: any that is free */
export async function startJournal({ port }: { readonly port: number }): Promise<Journal> {
  const lines: JournalLine[] = []
  let count = 0
  const server = await startHttpEmulator(port, ({ method, path }) =>
    method === 'GET' && path === '/journal' ? { status: 200, body: lines } : { status: 404, body: {} },
  )
  return {
    ...server,
    add(text) {
      lines.push({ number: ++count, at: Math.floor(Date.now() / 1000), text })
      if (lines.length > kept) lines.shift()
    },
  }
}
