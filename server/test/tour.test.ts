import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import { runImport, systemClock } from '../src/cli/import/run.ts'
import { collect, row } from './cli/import-world.ts'
import { fileAt, itWith } from './gate/needs.ts'
import { dataOf, texts } from './support/chat.ts'
import { createWorld, type World } from './support/world.ts'

/** What the tour looks at: a message of the imported files, as far as it is needed here. */
interface Imported {
  readonly sender: string
  readonly receiverType: 'user' | 'group'
  readonly receiver: string
  readonly sentAt: number
  readonly data: { readonly text: string }
}

const sample = fileURLToPath(new URL('../../docs/sample-history', import.meta.url))
const largeHistory = fileURLToPath(new URL('../../../shared/data/sms', import.meta.url))
const withLargeHistory = fileAt(largeHistory, 'the large history is not there')

describe('the tour of docs/tour.md', () => {
  it('moves in, stands in the history as it was, and changes nothing when it is run again', async () => {
    const world = await createWorld()
    const first = await importFolder(world, sample)
    expect(first.stderr).not.toContain('parley import:')
    expect(first.code).toBe(0)
    expect(row(first, 'users')).toEqual([5, 5, 0, 0])
    expect(row(first, 'groups')).toEqual([1, 1, 0, 0])
    expect(row(first, 'members')).toEqual([5, 5, 0, 0])
    expect(row(first, 'messages')).toEqual([20, 20, 0, 0])
    expect(first.stdout).toContain('3 conversations compared with the service: 3 same')

    const again = await importFolder(world, sample)
    expect(again.code).toBe(0)
    expect(row(again, 'messages')).toEqual([20, 0, 20, 0])
    expect(dataOf(await world.get('/messages?count=true')).toSorted(byConversation)).toEqual([
      { conversationId: 'group_garden', count: 14 },
      { conversationId: 'mara_user_tomas', count: 1 },
      { conversationId: 'mara_user_xiao', count: 5 },
    ])
  })

  it('reads the group page by page, searches it, and marks a conversation as read', async () => {
    const world = await createWorld()
    expect((await importFolder(world, sample)).code).toBe(0)
    const messages = parse(await readFile(path.join(sample, 'messages.ndjson'), 'utf8'))

    await walkGroup(world, 'garden', 'ines', inOrder(messages, 'garden'), 6)
    await readConversation(world, 'xiao', 'mara', 3)
    const [thread] = dataOf(await world.get('/threads', { as: 'ines' }))
    expect(thread).toMatchObject({ muid: 'old-005', replyCount: 1, lastReply: { muid: 'old-006' } })
    const found = await world.get(`/messages?searchKey=${encodeURIComponent('番茄')}`, { as: 'ines' })
    expect(texts(found)).toEqual(['番茄快熟了，谁想要一些？'])
  })

  itWith(withLargeHistory, 'holds for a sample of a large history', async () => {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'parley-tour-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const messages = await takeSample(folder, 30)
    const world = await createWorld()
    const imported = await importFolder(world, folder)
    expect(imported.code).toBe(0)
    expect(row(imported, 'messages')).toEqual([messages.length, messages.length, 0, 0])
    const again = await importFolder(world, folder)
    expect(row(again, 'messages')).toEqual([messages.length, 0, messages.length, 0])

    const [guid] = mostFrequent(messages.filter(isInGroup).map(({ receiver }) => receiver))
    const [member] = dataOf(await world.get(`/groups/${guid}/members?perPage=1`))
    await walkGroup(world, guid, member.uid, inOrder(messages, guid), 100)

    const pairs = messages.filter((message) => !isInGroup(message))
    const [pair, count] = mostFrequent(pairs.map(({ sender, receiver }) => `${receiver} ${sender}`))
    const [reader = '', writer = ''] = pair.split(' ')
    expect(pairs.some(({ sender, receiver }) => sender === reader && receiver === writer)).toBe(false)
    await readConversation(world, reader, writer, count)
  })
})

/** Runs the command over a folder, against the world's app. */
async function importFolder(world: World, folder: string) {
  const reports = await mkdtemp(path.join(os.tmpdir(), 'parley-tour-report-'))
  onTestFinished(() => rm(reports, { recursive: true }))
  const [stdout, stderr] = [collect(), collect()]
  const { url, apiKey, app } = world
  const report = path.join(reports, 'refused.ndjson')
  const options = { batch: 500, concurrency: 4, dryRun: false, insecure: false }
  const signal = new AbortController().signal
  const code = await runImport(
    { folder, url, apiKey, app: app.name, report, ...options },
    { stdout, stderr, env: {}, cwd: reports, signal, clock: systemClock },
  )
  return { code, stdout: stdout.text(), stderr: stderr.text() }
}

/** Newest page first, then from the oldest page to the end, and back: each message exactly once, in order. */
async function walkGroup(world: World, guid: string, uid: string, expected: string[], limit: number): Promise<void> {
  const newest = await world.get(`/groups/${guid}/messages?affix=prepend&limit=3`, { as: uid })
  expect(texts(newest)).toEqual(expected.slice(-3))
  expect(newest.body.meta.next).toBeUndefined()

  expect((await walk(world, guid, uid, 'append', limit)).flat()).toEqual(expected)
  const backwards = await walk(world, guid, uid, 'prepend', limit)
  expect(backwards.toReversed().flat()).toEqual(expected)
}

/** Follows the cursors of a group's messages from one end to the other; gives the texts of each page. */
async function walk(world: World, guid: string, uid: string, affix: 'append' | 'prepend', limit: number) {
  const pages: string[][] = []
  let cursor = ''
  do {
    const page = await world.get(`/groups/${guid}/messages?affix=${affix}&limit=${limit}${cursor}`, { as: uid })
    pages.push(texts(page))
    const onward = affix === 'append' ? page.body.meta.next : page.body.meta.previous
    cursor = onward === undefined ? '' : `&sentAt=${onward.sentAt}&id=${onward.id}`
  } while (cursor !== '')
  return pages
}

/** `unread` messages of `writer` wait for `reader`; he receives and reads them, and the writer sees both. */
async function readConversation(world: World, reader: string, writer: string, unread: number): Promise<void> {
  const conversation = async () => dataOf(await world.get(`/users/${writer}/conversation`, { as: reader }))
  expect((await conversation()).unreadMessageCount).toBe(String(unread))
  dataOf(await world.post(`/users/${writer}/conversation/delivered`, {}, { as: reader }))
  expect((await conversation()).unreadMessageCount).toBe(String(unread))
  dataOf(await world.post(`/users/${writer}/conversation/read`, {}, { as: reader }))
  expect((await conversation()).unreadMessageCount).toBe('0')

  const seen = dataOf(await world.get(`/users/${reader}/messages?affix=prepend&limit=1000`, { as: writer }))
  for (const message of seen) {
    expect(message.deliveredAt).toBeGreaterThanOrEqual(message.sentAt)
    expect(message.readAt).toBeGreaterThanOrEqual(message.deliveredAt)
  }
}

/** Copies everybody and every n-th message of the large history. @returns the messages */
async function takeSample(folder: string, every: number): Promise<Imported[]> {
  const read = async (kind: string) => gunzipSync(await readFile(path.join(largeHistory, `${kind}.ndjson.gz`)))
  for (const kind of ['users', 'groups', 'members']) {
    await writeFile(path.join(folder, `${kind}.ndjson`), await read(kind))
  }
  const lines = (await read('messages')).toString('utf8').trimEnd().split('\n')
  const taken = lines.filter((_, i) => i % every === 0).join('\n')
  await writeFile(path.join(folder, 'messages.ndjson'), `${taken}\n`)
  return parse(taken)
}

function parse(text: string): Imported[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Imported)
}

const isInGroup = ({ receiverType }: Imported) => receiverType === 'group'

/** The texts of a group's messages as its history has them: by time, within one second as in the file. */
function inOrder(messages: readonly Imported[], guid: string): string[] {
  return messages
    .filter((message) => isInGroup(message) && message.receiver === guid)
    .toSorted((a, b) => a.sentAt - b.sentAt)
    .map(({ data }) => data.text)
}

function mostFrequent(values: readonly string[]): [value: string, count: number] {
  const counts = new Map<string, number>()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  return [...counts].reduce((most, entry) => (entry[1] > most[1] ? entry : most), ['', 0])
}

function byConversation(a: { conversationId: string }, b: { conversationId: string }): number {
  return a.conversationId < b.conversationId ? -1 : 1
}
