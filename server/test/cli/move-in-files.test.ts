import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { sql } from 'kysely'
import { fetch } from 'undici'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { systemClock } from '../../src/cli/import/run.ts'
import type { Clock } from '../../src/cli/import/service.ts'
import { openDownloads } from '../../src/cli/move-in/files.ts'
import { filesOf, readdressed, type SourceFile } from '../../src/cli/move-in/named-files.ts'
import { dataOf } from '../support/chat.ts'
import { until } from '../support/until.ts'
import { createUsers, createWorld, servedBy, type World } from '../support/world.ts'
import { startHosted } from './hosted.ts'
import { makeFolder, moveIn, sendFile, startMoveBy } from './move-in-world.ts'

const apiKey = 'key-of-the-old-service'

interface Asked {
  readonly path: string
  readonly range: string | undefined
  readonly apikey: string | undefined
}

/** A server of files. */
async function serve(answer: (asked: Asked, response: http.ServerResponse) => unknown, host = '127.0.0.1') {
  const asked: Asked[] = []
  const server = http.createServer(({ url = '', headers: { range, apikey } }, response) => {
    asked.push({ path: url, range, apikey: apikey === undefined ? undefined : String(apikey) })
    answer(asked.at(-1)!, response)
  })
  server.listen(0, host)
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { asked, port, url: `http://127.0.0.1:${port}` }
}

interface Ground {
  readonly folder: string
  /** Copies one file, as a run of the command would. */
  copy(file: Partial<SourceFile> & { readonly url: string }): Promise<{ size: number; text: string } | string>
}

interface Options {
  readonly source?: string
  readonly allow?: string
  readonly mostBytes?: number
  readonly signal?: AbortSignal
  /** Milliseconds that were waited for. */
  readonly waits?: number[]
}

async function createGround(options: Options = {}): Promise<Ground> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'parley-files-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  return { folder, copy: (file) => copyInto(folder, file, options) }
}

async function copyInto(
  folder: string,
  file: Partial<SourceFile> & { readonly url: string },
  { source = 'https://old.example.com', allow = '127.0.0.1', mostBytes = 1000, signal, waits = [] }: Options,
) {
  const downloads = openDownloads({
    folder,
    source: { url: source, apiKey, app: undefined },
    mostBytes,
    env: { OUTBOUND_ALLOW: allow },
    signal: signal ?? new AbortController().signal,
    clock: {
      now: () => waits.reduce((sum, ms) => sum + ms, 0),
      sleep: async (ms) => void waits.push(ms),
    },
  })
  try {
    const copied = await downloads.fetch({ name: 'a.txt', mimeType: 'text/plain', size: undefined, ...file })
    if ('problem' in copied) return copied.problem
    return { size: copied.size, text: await readFile(path.join(folder, copied.file), 'utf8') }
  } finally {
    await downloads.close()
  }
}

const filesIn = async (folder: string) => (await readdir(path.join(folder, 'files')).catch(() => [])).sort()

describe('files that a move copies', () => {
  it('come from public addresses, from the old service, and from what is allowed, wherever they lead', async () => {
    const hidden = await serve((_, response) => response.end('of the own network'))
    const { copy, folder } = await createGround({ allow: '' })
    const { port } = hidden
    for (const host of [
      ...['127.0.0.1', 'localhost', '[::1]', '[::ffff:127.0.0.1]', '2130706433', '0x7f.1', '0.0.0.0'],
    ]) {
      const refused = await copy({ url: `http://${host}:${port}/secret` })
      expect(refused, host).toMatch(/not public/)
    }
    for (const url of ['http://169.254.169.254/latest/meta-data', 'https://10.0.0.1/', 'http://192.168.0.1/'])
      expect(await copy({ url }), url).toMatch(/not public/)
    const old = await serve(({ path: at }, response) => {
      if (at === '/file') return response.end('of the old service')
      return response.writeHead(302, { location: `${hidden.url}/secret` }).end()
    })
    const ofSource = await createGround({ allow: '', source: old.url })
    expect(await ofSource.copy({ url: `${old.url}/file` })).toEqual({ size: 18, text: 'of the old service' })
    expect(await ofSource.copy({ url: `${old.url}/leads-away` })).toMatch(/not public/)
    expect(hidden.asked).toEqual([])
    expect(await filesIn(folder)).toEqual([])
  })

  it('are asked for with the key of the old service alone, and never along a redirect', async () => {
    const storage = await serve(({ path: at }, response) =>
      at === '/closed' ? response.writeHead(401).end() : response.end('signed content'),
    )
    const old = await serve(({ path: at, apikey }, response) => {
      if (at === '/signed') return response.writeHead(307, { location: `${storage.url}/content` }).end()
      if (apikey !== apiKey) return response.writeHead(401).end()
      return response.end(JSON.stringify({ data: { url: `${old.url}/signed` } }))
    })
    const { copy } = await createGround({ source: old.url })
    expect(await copy({ url: `${old.url}/media/1` })).toEqual({ size: 14, text: 'signed content' })
    expect(await copy({ url: `${storage.url}/closed` })).toBe('it answered 401')
    expect(storage.asked.map(({ apikey }) => apikey)).toEqual([undefined, undefined])
    expect(old.asked.map(({ path: at, apikey }) => [at, apikey])).toEqual([
      ['/media/1', undefined],
      ['/media/1', apiKey],
      ['/signed', undefined],
    ])
  })

  it('are within the limit, whole, and no page to log in', async () => {
    const server = await serve(({ path: at }, response) => {
      if (at === '/page') return response.setHeader('content-type', 'text/html; charset=utf-8').end('<form>')
      if (at === '/round') return response.writeHead(302, { location: '/round' }).end()
      if (at === '/elsewhere') return response.writeHead(302, { location: 'file:///etc/passwd' }).end()
      if (at === '/gone') return response.writeHead(404).end()
      if (at === '/busy') return response.writeHead(503).end()
      return response.end('x'.repeat(at === '/endless' ? 100_000 : 10))
    })
    const { copy, folder } = await createGround()
    const from = (at: string, more: Partial<SourceFile> = {}) => copy({ url: `${server.url}${at}`, ...more })
    expect(await from('/large', { size: 1001 })).toBe('it has 1001 bytes; the limit is 1000')
    expect(server.asked).toEqual([])
    expect(await from('/endless')).toBe('it has more than 1000 bytes')
    expect(await from('/ten', { size: 11 })).toBe('it has 10 bytes; the message says 11')
    expect(await from('/page')).toBe('it is a web page, not the file')
    expect(await from('/page', { mimeType: 'text/html' })).toEqual({ size: 6, text: '<form>' })
    expect(await from('/round')).toBe('it leads on and on')
    expect(await from('/elsewhere')).toBe('it leads to file:///etc/passwd')
    expect(await from('/gone')).toBe('it answered 404')
    expect(await from('/busy')).toBe('it answered 503')
    expect(await from('/ten', { size: 10 })).toEqual({ size: 10, text: 'xxxxxxxxxx' })
    const tries = (at: string) => server.asked.filter((one) => one.path === at).length
    expect(['/endless', '/gone', '/ten'].map(tries)).toEqual([1, 1, 5])
    expect(tries('/busy')).toBeGreaterThan(10)
    expect(await filesIn(folder)).toHaveLength(2)
  })

  it('are waited for where a host has no time, as long as it asks for, and two minutes otherwise', async () => {
    let refusals = 2
    const server = await serve(({ path: at }, response) => {
      if (at === '/limited' && refusals-- > 0) return response.writeHead(429, { 'retry-after': '10' }).end()
      return at === '/down' ? response.writeHead(503).end() : response.end('there')
    })
    const limited: number[] = []
    const { copy } = await createGround({ waits: limited })
    expect(await copy({ url: `${server.url}/limited` })).toEqual({ size: 5, text: 'there' })
    expect(limited).toEqual([10_000, 10_000])
    const down: number[] = []
    const other = await createGround({ waits: down })
    expect(await other.copy({ url: `${server.url}/down` })).toBe('it answered 503')
    const waited = down.reduce((sum, ms) => sum + ms, 0)
    expect([waited > 100_000, waited <= 120_000]).toEqual([true, true])
  })

  it('of a host that was waited for in vain are asked for once each, until it answers', async () => {
    const server = await serve(({ path: at }, response) =>
      at.startsWith('/down') ? response.writeHead(503).end() : response.end('there'),
    )
    const folder = await mkdtemp(path.join(os.tmpdir(), 'parley-files-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const waits: number[] = []
    const downloads = openDownloads({
      ...{ folder, source: { url: 'https://old.example.com', apiKey, app: undefined }, mostBytes: 1000 },
      ...{ env: { OUTBOUND_ALLOW: '127.0.0.1' }, signal: new AbortController().signal },
      clock: { now: () => waits.reduce((sum, ms) => sum + ms, 0), sleep: async (ms) => void waits.push(ms) },
    })
    const fetchOne = (at: string) =>
      downloads.fetch({ url: `${server.url}${at}`, name: 'a', mimeType: 'text/plain', size: undefined })
    expect(await fetchOne('/down-1')).toEqual({ problem: 'it answered 503' })
    const before = waits.length
    expect(await fetchOne('/down-2')).toEqual({ problem: 'it answered 503' })
    expect(waits).toHaveLength(before)
    expect(await fetchOne('/up')).toMatchObject({ size: 5 })
    await fetchOne('/down-3')
    expect(waits.length).toBeGreaterThan(before)
    await downloads.close()
  })

  it('go on where they were, when the connection or the run was cut off', async () => {
    const content = Array.from({ length: 100 }, (_, n) => `line ${n}\n`).join('')
    const { copy, folder } = await createGround()
    const partial = async () => (await filesIn(folder)).find((name) => name.endsWith('.part'))
    const hasOnDisk = (length: number) =>
      until(async () => {
        const name = await partial()
        return name !== undefined && (await readFile(path.join(folder, 'files', name))).length === length
      })
    let cuts = 2
    const server = await serve(({ range }, response) => {
      const from = Number(/^bytes=(\d+)-$/.exec(range ?? '')?.[1] ?? 0)
      const rest = content.slice(from)
      response.writeHead(from === 0 ? 200 : 206, { 'content-length': rest.length })
      if (cuts === 0) return response.end(rest)
      cuts -= 1
      response.write(rest.slice(0, 200))
      return void hasOnDisk(from + 200).then(() => response.destroy())
    })
    expect(await copy({ url: `${server.url}/a`, size: content.length })).toEqual({
      size: content.length,
      text: content,
    })
    expect(server.asked.map(({ range }) => range)).toEqual([undefined, 'bytes=200-', 'bytes=400-'])
    expect(await copy({ url: `${server.url}/a`, size: content.length })).toMatchObject({ text: content })
    expect(server.asked).toHaveLength(3)

    // Stopped in the middle; the next run goes on.
    let isHeld = true
    const slow = await serve(({ range }, response) => {
      const from = Number(/^bytes=(\d+)-$/.exec(range ?? '')?.[1] ?? 0)
      response.writeHead(from === 0 ? 200 : 206, { 'content-length': content.length - from })
      if (isHeld) response.write(content.slice(0, 300))
      else response.end(content.slice(from))
    })
    const stop = new AbortController()
    const stopped = copyInto(folder, { url: `${slow.url}/b` }, { signal: stop.signal })
    await hasOnDisk(300)
    stop.abort()
    await expect(stopped).rejects.toThrow('stopped')
    isHeld = false
    expect(await copy({ url: `${slow.url}/b` })).toMatchObject({ text: content })
    expect(slow.asked.map(({ range }) => range)).toEqual([undefined, 'bytes=300-'])
    expect(await partial()).toBeUndefined()
  })

  it('are those with a web address, whatever else a message names', () => {
    const named = [null, 7, { url: 'file:///etc/passwd' }, { url: 'javascript:1' }, { url: 'http://' }, { name: 'x' }]
    expect(filesOf({ data: { attachments: named } })).toEqual([])
    expect(filesOf({ data: { attachments: 'none' } })).toEqual([])
    expect(filesOf({ data: null })).toEqual([])
    expect(filesOf({ data: { attachments: [{ url: 'https://a.example/1', size: 'much', name: 7 }] } })).toEqual([
      { url: 'https://a.example/1', name: '1', mimeType: 'application/octet-stream', size: undefined },
    ])
  })

  it('are that of an address alone, too, with what is known by its name', () => {
    const image = { category: 'message', type: 'image' }
    const url = 'https://a.example/cats/grey%20cat.PNG?v=2'
    const named = [{ url, name: 'grey cat.PNG', mimeType: 'image/png', size: undefined }]
    expect(filesOf({ ...image, data: { url } })).toEqual(named)
    expect(filesOf({ ...image, data: { url, attachments: [] } })).toEqual(named)
    expect(filesOf({ ...image, data: { attachments: [{ url }] } })).toEqual(named)
    // The address of the first attachment is repeated, and a text may be about a page.
    expect(filesOf({ ...image, data: { url, attachments: [{ url: 'https://a.example/1.pdf' }] } })).toMatchObject([
      { url: 'https://a.example/1.pdf', mimeType: 'application/pdf' },
    ])
    expect(filesOf({ ...image, type: 'text', data: { url } })).toEqual([])
  })

  it('have new addresses where they are named, and nothing else has', () => {
    const [one, two] = ['https://old.example/1.png', 'https://old.example/2.png']
    const addresses = new Map([one, two].map((url) => [url, url.replace('old', 'new')]))
    const [newOne, newTwo] = [addresses.get(one), addresses.get(two)]
    const attachments = [{ url: one }, { url: two }]
    const image = { category: 'message', type: 'image' }
    const shop = 'https://shop.example/item/7'
    const said = { customData: {}, url: shop, attachments }
    const moved = [{ url: newOne }, { url: newTwo }]
    expect(readdressed({ category: 'custom', type: 'item', data: said }, addresses)).toEqual({
      ...said,
      attachments: moved,
    })
    expect(readdressed({ ...image, data: { attachments, url: one } }, addresses)).toEqual({
      attachments: moved,
      url: newOne,
    })
    expect(readdressed({ ...image, data: { attachments, url: two } }, addresses)).toEqual({
      attachments: moved,
      url: newTwo,
    })
    expect(readdressed({ ...image, data: { attachments } }, addresses)).toEqual({ attachments: moved })
    expect(readdressed({ ...image, data: { url: two } }, addresses)).toEqual({ url: newTwo })
  })

  it('have new addresses in their messages, also where data.url alone names them', async () => {
    const [source, target] = [await createWorld(), await createWorld()]
    await createUsers(source, 'alice', 'bob')
    const old = await serve((_, response) => response.end('0123456789'))
    const url = `${old.url}/cat.png`
    const sent = { receiver: 'bob', receiverType: 'user', type: 'image' }
    for (const data of [{ url }, { attachments: [{ url: `${url}?bare` }] }])
      dataOf(await source.post('/messages', { ...sent, data }, { as: 'alice' }))
    const [hosted, front] = [await startHosted(source.url), await startHosted(target.url)]
    const [into, folder] = [servedBy(target, front.url), await makeFolder()]
    const moved = await moveIn(source, hosted, into, folder)
    expect(moved, moved.stderr).toMatchObject({ code: 0 })
    const [alone, attached] = dataOf(await target.get('/messages'))
    expect(attached.data.attachments).toEqual([{ url: attached.data.url }])
    for (const { data } of [alone, attached]) {
      expect(data.url).toContain(`/media/${target.app.name}/`)
      const served = await fetch(data.url)
      expect([served.headers.get('content-type'), await served.text()]).toEqual(['image/png', '0123456789'])
    }
    expect(await moveIn(source, hosted, into, folder, '--verify')).toMatchObject({ code: 0 })
  })
})

/** A source with a message that has a file, and a target that takes everything but messages. */
async function createHalfMove() {
  const [source, target] = [await createWorld(), await createWorld()]
  await createUsers(source, 'alice', 'bob')
  await sendFile(source)
  const [hosted, front] = [await startHosted(source.url), await startHosted(target.url)]
  const into = servedBy(target, front.url)
  const folder = await makeFolder()
  front.troubles = { closed: '/data_import/messages' }
  return { source, target, hosted, front, into, folder }
}

/** The file of the only message of an app, as it is served. */
async function fileOf(world: World): Promise<string> {
  const [message] = dataOf(await world.get('/messages'))
  const answer = await fetch(message.data.attachments[0].url)
  return answer.ok ? answer.text() : `it answered ${answer.status}`
}

/** Lets a day go by for files that no message uses. */
async function passDay({ context: { database, media }, app }: World): Promise<void> {
  await database.run(sql`update media_files set claim_by = 1 where app_id = ${app.appId} and claim_by is not null`)
  await media.sweep()
}

const uploadsOf = (folder: string) => path.join(folder, 'uploaded.ndjson')

/** The addresses of the files that a move has uploaded to a target, in the order in which it did. */
async function uploadsTo(folder: string, target: string): Promise<string[]> {
  const lines = (await readFile(uploadsOf(folder), 'utf8')).trimEnd().split('\n')
  return lines.map((line) => JSON.parse(line)).flatMap(({ to, address }) => (to === target ? [address] : []))
}

/** @param change must not change the length, by which a move knows how far it wrote */
async function rewriteUploads(folder: string, change: (text: string) => string): Promise<void> {
  const before = await readFile(uploadsOf(folder), 'utf8')
  const after = change(before)
  expect(after).not.toBe(before)
  expect(after).toHaveLength(before.length)
  await writeFile(uploadsOf(folder), after)
}

/** By this clock, the first upload to a target is over, and it took most of a day. */
function slowClock(folder: string, target: string): Clock {
  const list = uploadsOf(folder)
  const hasUploaded = () => existsSync(list) && readFileSync(list, 'utf8').includes(target)
  return { ...systemClock, now: () => Date.now() + (hasUploaded() ? 20 * 3600_000 : 0) }
}

describe('files that a move has uploaded', () => {
  it('are uploaded again where their messages come so late that they are gone', async () => {
    const { source, target, hosted, front, into, folder } = await createHalfMove()
    expect(await moveIn(source, hosted, into, folder)).toMatchObject({ code: 3 })
    await passDay(target)
    front.troubles = {}
    const moved = await moveIn(source, hosted, into, folder)
    expect(moved, moved.stderr).toMatchObject({ code: 0 })
    expect(await fileOf(target)).toBe('0123456789')
    const address = async () => dataOf(await target.get('/messages'))[0].data.attachments[0].url
    const used = await address()
    expect(await moveIn(source, hosted, into, folder)).toMatchObject({ code: 0 })
    expect(await address()).toBe(used)
    expect(await moveIn(source, hosted, into, folder, '--verify')).toMatchObject({ code: 0 })
  })

  it('are uploaded again where the storage of the target is away for a moment', async () => {
    const { source, target, hosted, front, into, folder } = await createHalfMove()
    front.troubles = {}
    const spy = vi.spyOn(target.context.media, 'admit')
    for (let times = 0; times < 2; times++) spy.mockRejectedValueOnce(new Error('the disk is away'))
    const moved = await moveIn(source, hosted, into, folder)
    expect(moved, moved.stderr).toMatchObject({ code: 0 })
    expect(await uploadsTo(folder, front.url)).toHaveLength(1)
    expect(await fileOf(target)).toBe('0123456789')
  })

  it('get their addresses into messages that are there already by following, and until then these are named', async () => {
    const { source, target, hosted, front, into, folder } = await createHalfMove()
    front.troubles = {}
    const addressOf = async () => dataOf(await target.get('/messages'))[0].data.attachments[0].url
    expect(await moveIn(source, hosted, into, folder, '--no-files')).toMatchObject({ code: 0 })
    const old = await addressOf()
    expect(await moveIn(source, hosted, into, folder)).toMatchObject({ code: 0 })
    expect(await addressOf()).toBe(old)
    const { notices } = JSON.parse(await readFile(path.join(folder, 'report.json'), 'utf8'))
    expect(notices).toEqual([expect.objectContaining({ code: 'file-address-kept', count: 1 })])
    await writeFile(path.join(folder, 'cut-over'), '')
    expect(await moveIn(source, hosted, into, folder, '--follow')).toMatchObject({ code: 0 })
    expect(await addressOf()).toContain(`/media/${target.app.name}/`)
    expect(await fileOf(target)).toBe('0123456789')
  })

  it('are uploaded again before the import begins where copying took so long that they would soon be gone', async () => {
    const { source, target, hosted, front, into, folder } = await createHalfMove()
    front.troubles = {}
    // What was imported into another service says nothing of this one.
    expect(await moveIn(source, hosted, await createWorld(), folder)).toMatchObject({ code: 0 })
    expect(await startMoveBy(slowClock(folder, front.url), source, hosted, into, folder).ended).toBe(0)
    const [first, second, ...others] = await uploadsTo(folder, front.url)
    expect(others).toEqual([])
    expect(second).not.toBe(first)
    expect(dataOf(await target.get('/messages'))[0].data.attachments[0].url).toBe(second)
    await passDay(target)
    expect(await fileOf(target)).toBe('0123456789')
  })

  it('are not uploaded again where their addresses have expired, which does not tell whether they are gone', async () => {
    const { source, target, hosted, front, into, folder } = await createHalfMove()
    front.troubles = {}
    dataOf(await target.call('PATCH', `/apps/${target.app.name}/settings`, { fileLinks: 'signed' }))
    expect(await moveIn(source, hosted, into, folder)).toMatchObject({ code: 0 })
    await rewriteUploads(folder, (text) => text.replace('?expires=1', '?expires=0'))
    const [expired] = await uploadsTo(folder, front.url)
    expect((await fetch(expired as string)).status).toBe(403)
    expect(await moveIn(source, hosted, into, folder)).toMatchObject({ code: 0 })
    expect(await uploadsTo(folder, front.url)).toEqual([expired])
    expect(await fileOf(target)).toBe('0123456789')
    expect(await moveIn(source, hosted, into, folder, '--verify')).toMatchObject({ code: 0 })
  })

  it('keep their addresses where they are there and the target does not take them again', async () => {
    const { source, target, hosted, front, into, folder } = await createHalfMove()
    front.troubles = {}
    let asked = 0
    front.onRequest = async (at) => {
      if (!at.includes('/files/upload-url') || ++asked !== 2) return
      for (const uid of ['alice', 'bob']) dataOf(await target.delete(`/users/${uid}`, {}))
    }
    expect(await startMoveBy(slowClock(folder, front.url), source, hosted, into, folder).ended).toBe(0)
    expect(asked).toBe(2)
    const { notices } = JSON.parse(await readFile(path.join(folder, 'report.json'), 'utf8'))
    expect(notices).toContainEqual(expect.objectContaining({ code: 'file-without-storage', count: 1 }))
    const [message] = dataOf(await target.get('/messages'))
    expect([message.data.attachments[0].url]).toEqual(await uploadsTo(folder, front.url))
    expect(await fileOf(target)).toBe('0123456789')
  })

  it('are asked for with the patience of all requests, and as late as the target wants', async () => {
    const { source, target, hosted, front, into, folder } = await createHalfMove()
    expect(await moveIn(source, hosted, into, folder)).toMatchObject({ code: 3 })
    front.troubles = {}
    const waits: number[] = []
    const passed = () => waits.reduce((sum, wait) => sum + wait, 0)
    // Out of order for a minute, then busy.
    const broken = await serve((_, response) => {
      if (passed() < 60_000) return response.writeHead(503).end()
      if (!waits.includes(7000)) return response.writeHead(429, { 'retry-after': '7' }).end()
      return response.end()
    })
    await rewriteUploads(folder, (text) => text.replace(`"address":"${target.url}`, `"address":"${broken.url}`))
    const clock = {
      now: () => Date.now() + passed(),
      sleep: async (milliseconds: number) => void waits.push(milliseconds),
    }
    const move = startMoveBy(clock, source, hosted, into, folder)
    expect(await move.ended, move.stderr()).toBe(0)
    expect(waits).toContain(7000)
    expect(await uploadsTo(folder, front.url)).toEqual([expect.stringContaining(broken.url)])
  })
})
