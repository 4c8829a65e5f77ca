import type { AppClient } from '@parley/client'
import { admin } from './api.ts'
import { type Kind, kinds } from './import.ts'
import { patiently } from './patience.ts'
import { wholeApp } from './ui/Reading.tsx'

/** A file of an export: what `users.ndjson.gz` and the others have that an import takes. */
export interface ExportedFile {
  readonly kind: Kind
  readonly name: string
  readonly records: number
  readonly content: Blob
}

export interface ExportState {
  readonly phase: 'running' | 'done' | 'stopped' | 'failed'
  /** Records that were read, of each file that was begun. */
  readonly counts: Readonly<Partial<Record<Kind, number>>>
  /** Files that are whole. */
  readonly files: readonly ExportedFile[]
  readonly error?: unknown
}

/** What is read at once. */
const perPage = { profiles: 1_000, messages: 500, reactions: 100 }
/** A reading that would end sooner is opened again, so that no text is missing. */
const leastLeftSeconds = 600

/**
 * Reads the lists of an app into files that an import takes, one page after the other, so that nobody else waits for it.
 * @param reason why texts are read, for the audit log; without one there are no messages
 * @param onChange is called after each page
 */
export async function exportApp(
  { appId, client }: { readonly appId: string; readonly client: AppClient },
  reason: string | undefined,
  signal: AbortSignal,
  onChange: (state: ExportState) => void,
): Promise<void> {
  const counts: Partial<Record<Kind, number>> = {}
  const files: ExportedFile[] = []
  const say = (phase: ExportState['phase'], error?: unknown) =>
    onChange({ phase, counts: { ...counts }, files: [...files], ...(error !== undefined && { error }) })
  const pages: Readonly<Record<Kind, () => Pages>> = {
    users: () => usersOf(client, signal),
    groups: () => groupsOf(client, signal),
    members: () => membersOf(client, signal),
    messages: () => messagesOf(client, signal, createReading(appId, reason ?? '')),
  }
  try {
    say('running')
    for (const kind of kinds) {
      if (kind === 'messages' && reason === undefined) continue
      counts[kind] = 0
      say('running')
      const content = await gzip(pages[kind](), (read) => {
        counts[kind] = (counts[kind] ?? 0) + read
        say('running')
      })
      files.push({ kind, name: `${kind}.ndjson.gz`, records: counts[kind] ?? 0, content })
      say('running')
    }
    say('done')
  } catch (error) {
    say(signal.aborted ? 'stopped' : 'failed', signal.aborted ? undefined : error)
  }
}

/** Records, page after page. */
type Pages = AsyncGenerator<readonly object[]>

/** Writes records as lines. A browser keeps what is large on its disk. @param onPage is called with how many each page had */
async function gzip(pages: Pages, onPage: (records: number) => void): Promise<Blob> {
  const encoder = new TextEncoder()
  const lines = new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      const { done, value } = await pages.next()
      if (done) return controller.close()
      controller.enqueue(encoder.encode(value.map((record) => `${JSON.stringify(record)}\n`).join('')))
      onPage(value.length)
    },
  })
  return new Response(lines.pipeThrough(new CompressionStream('gzip'))).blob()
}

interface NumberedPage<Row> {
  readonly data: readonly Row[]
  readonly meta: { readonly pagination: { readonly total_pages: number } }
}

/** The pages of a list that has numbers. */
async function* numbered<Row extends object>(
  signal: AbortSignal,
  ask: (page: number) => Promise<NumberedPage<Row>>,
): AsyncGenerator<readonly Row[]> {
  for (let page = 1, pages = 1; page <= pages; page++) {
    const { data, meta } = await patiently(signal, () => ask(page))
    pages = meta.pagination.total_pages
    yield data
  }
}

function usersOf(client: AppClient, signal: AbortSignal) {
  const all = { perPage: perPage.profiles, sortBy: 'uid', withDeactivated: true, withTags: true } as const
  return numbered(signal, (page) => client.users.list({ ...all, page }, { signal }))
}

function groupsOf(client: AppClient, signal: AbortSignal) {
  const all = { perPage: perPage.profiles, sortBy: 'guid', withTags: true } as const
  return numbered(signal, (page) => client.groups.list({ ...all, page }, { signal }))
}

async function* membersOf(client: AppClient, signal: AbortSignal): Pages {
  for await (const groups of groupsOf(client, signal)) {
    for (const { guid } of groups) {
      const ask = (page: number) => client.groups.members.list({ guid, perPage: perPage.profiles, page }, { signal })
      for await (const members of numbered(signal, ask)) yield members.map((member) => ({ guid, ...member }))
    }
  }
}

/** Keeps a reading of the whole app open: without one, texts are left out of what is answered. */
function createReading(appId: string, reason: string) {
  let until = 0
  return async (signal: AbortSignal) => {
    if (until - Date.now() / 1000 > leastLeftSeconds) return
    const begin = () => admin('POST /apps/{appId}/readings', { appId, of: wholeApp, reason }, { signal })
    until = (await patiently(signal, begin)).until
  }
}

async function* messagesOf(
  client: AppClient,
  signal: AbortSignal,
  keepReading: (signal: AbortSignal) => Promise<void>,
): Pages {
  for (let place: object | undefined = {}; place !== undefined; ) {
    await keepReading(signal)
    const from: object = place
    const { data, meta } = await patiently(signal, () =>
      client.messages.list({ affix: 'append', limit: perPage.messages, withTags: true, ...from }, { signal }),
    )
    const records: object[] = []
    for (const message of data) {
      // The counts of a message do not say who reacted.
      const reactions =
        message.reactions === undefined ? {} : { reactions: await reactionsTo(client, message.id, signal) }
      records.push({ ...message, ...reactions })
    }
    yield records
    place = meta.next
  }
}

async function reactionsTo(client: AppClient, messageId: string, signal: AbortSignal): Promise<readonly object[]> {
  const all: object[] = []
  for (let place: object | undefined = {}; place !== undefined; ) {
    const from: object = place
    const { data, meta } = await patiently(signal, () =>
      client.messages.reactions.list({ messageId, affix: 'append', limit: perPage.reactions, ...from }, { signal }),
    )
    all.push(...data)
    place = meta.next
  }
  return all
}
