import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Agent, request } from 'undici'
import { type AtEnd, withCleanup } from './cleanup.ts'
import { runCommand } from './moving/command.ts'
import { copyMessages } from './moving/copy.ts'
import { importAndWatch, judgeGrowth, renderGrowth } from './moving/growth.ts'
import { writeHistory } from './moving/history.ts'
import { progress } from './progress.ts'
import { type Service, startService } from './service.ts'
import { describeMachine, renderGoals } from './table.ts'

const usage = `npm run bench:moving -- [options]
Imports a made-up history into one service, and moves it from there into another by parley move-in; beside it, in the same
run, what the source gives to whoever only reads, and plain COPY of the same rows.
  --messages <n>     messages; several with commas between, each with services of its own; 100000 without it
  --concurrency <n>  requests at once, to each side; 8 without it
  --growth           only imports, and tells how fast it is as the tables grow, what each message costs, and what ten million would take
  --limit <n>        besides, reads it within a limit of so many requests a second, of 100 rows each; 20 without it, 0: not
  --json <file>      writes the figures as JSON too`

const { values: options } = parseArgs({
  options: {
    messages: { type: 'string', default: '100000' },
    concurrency: { type: 'string', default: '8' },
    growth: { type: 'boolean', default: false },
    limit: { type: 'string', default: '20' },
    json: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})

if (options.help) console.log(usage)
else await withCleanup(options.growth ? runGrowth : run)

interface Figures {
  readonly messages: number
  /** Messages a second. */
  readonly imported: number
  readonly read: number
  readonly collected: number
  readonly moved: number
  readonly copied: number
  /** Requests that were granted, of those that the limit allows; undefined where it was not measured. */
  readonly ofLimit: number | undefined
  /** Megabytes of memory that move-in had at most. */
  readonly memory: number
}

function sizes(): number[] {
  return options.messages.split(',').map(Number)
}

async function runGrowth(atEnd: AtEnd): Promise<void> {
  console.log(describeMachine())
  for (const messages of sizes()) {
    const folder = await makeHistory(messages, atEnd)
    const service = await startService()
    atEnd(service.stop)
    progress('importing it')
    const growth = await importAndWatch(service, folder, messages)
    progress('')
    console.log(['', ...renderGrowth(growth), '', ...renderGoals(judgeGrowth(growth))].join('\n'))
    await service.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function makeHistory(messages: number, atEnd: AtEnd): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-moving-'))
  atEnd(() => rmSync(folder, { recursive: true, force: true }))
  progress(`writing a history of ${messages} messages`)
  await writeHistory(folder, messages)
  return folder
}

async function run(atEnd: AtEnd): Promise<void> {
  const all: Figures[] = []
  for (const messages of sizes()) all.push(await measure(messages, atEnd))
  progress('')
  const columns = [
    'messages',
    'import',
    'read only',
    'move-in reads',
    'of it',
    'move-in in all',
    'COPY',
    'of limit',
    'MB',
  ]
  const number = (value: number) => Math.round(value).toLocaleString('en-US')
  const rows = all.map(({ messages, imported, read, collected, moved, copied, ofLimit, memory }) => [
    ...[messages, imported, read, collected].map(number),
    (collected / read).toFixed(2),
    ...[moved, copied].map(number),
    ofLimit === undefined ? '' : ofLimit.toFixed(2),
    number(memory),
  ])
  console.log(`${describeMachine()}\nMessages a second\n`)
  for (const row of [columns, columns.map(() => '---'), ...rows]) console.log(`| ${row.join(' | ')} |`)
  if (options.json !== undefined)
    writeFileSync(options.json, `${JSON.stringify({ machine: describeMachine(), rows: all }, null, 2)}\n`)
}

async function measure(messages: number, atEnd: AtEnd): Promise<Figures> {
  const folder = await makeHistory(messages, atEnd)
  const [source, target] = [await startService(), await startService()]
  atEnd(source.stop)
  atEnd(target.stop)
  const url = ({ port }: Service) => `http://127.0.0.1:${port}`
  progress('importing it')
  const imported = await runCommand('import', [folder, '--url', url(source), '--apikey', source.apiKey])
  progress('reading it')
  const read = await readOnly(source, Number(options.concurrency))
  const lists = ['--no-files', '--without', 'friends,blocks,conversations,saves,threads,tokens']
  const move = (from: string, into: string, ...more: string[]) =>
    runCommand('move-in', [
      ...['--from', from, '--apikey', source.apiKey, '--into', join(folder, into), ...lists],
      ...['--concurrency', options.concurrency, ...more],
    ])
  progress('moving it')
  const to = ['--url', url(target), '--to-apikey', target.apiKey]
  const moved = await move(url(source), 'move', ...to)
  const report = JSON.parse(readFileSync(join(folder, 'move/report.json'), 'utf8'))
  progress('copying it')
  const copied = await copyMessages(source.database, target.database)
  if (copied.rows < messages) throw new Error(`only ${copied.rows} rows were copied`)
  let ofLimit: number | undefined
  const perSecond = Number(options.limit)
  if (perSecond > 0) {
    progress('reading it within a limit')
    const limited = await startLimited(url(source), perSecond)
    const { seconds } = await move(limited.url, 'limited')
    limited.close()
    ofLimit = limited.granted() / (perSecond * seconds)
  }
  await source.stop()
  await target.stop()
  rmSync(folder, { recursive: true, force: true })
  return {
    messages,
    imported: messages / imported.seconds,
    read: messages / read,
    collected: messages / report.source.seconds,
    moved: messages / moved.seconds,
    copied: messages / copied.seconds,
    ofLimit,
    memory: moved.memory,
  }
}

/** Reads all messages in pages of 1,000, in as many parts of the time as there are requests at once. @returns seconds */
async function readOnly({ port, apiKey }: Service, concurrency: number): Promise<number> {
  const dispatcher = new Agent({ connections: concurrency })
  const list = async (query: string, limit = 1000) => {
    const { body } = await request(
      `http://127.0.0.1:${port}/v3/messages?affix=append&limit=${limit}&withTags=true${query}`,
      {
        dispatcher,
        headers: { apikey: apiKey },
      },
    )
    return ((await body.json()) as { data: { id: string; sentAt: number }[] }).data
  }
  const [first] = await list('', 1)
  const began = Number(first?.sentAt)
  const part = Math.ceil((Date.now() / 1000 + 1 - began) / concurrency)
  const startedAt = performance.now()
  await Promise.all(
    Array.from({ length: concurrency }, async (_, place) => {
      const span = `&fromTimestamp=${began + place * part}&toTimestamp=${began + (place + 1) * part - 1}`
      for (let cursor = ''; ; ) {
        const last = (await list(`${span}${cursor}`)).at(-1)
        if (last === undefined) return
        cursor = `&sentAt=${last.sentAt}&id=${last.id}`
      }
    }),
  )
  const seconds = (performance.now() - startedAt) / 1000
  await dispatcher.close()
  return seconds
}

/** A proxy with a limit, as a hosted service has one; its lists give 100 rows, so that there are many requests. */
async function startLimited(upstream: string, perSecond: number) {
  const dispatcher = new Agent({ connections: 64 })
  let [second, inSecond, granted] = [0, 0, 0]
  const server = http.createServer(async ({ url = '', headers: { apikey } }, response) => {
    const now = Math.floor(Date.now() / 1000)
    if (now !== second) [second, inSecond] = [now, 0]
    inSecond += 1
    response.setHeader('x-rate-limit', perSecond * 60)
    response.setHeader('x-rate-limit-remaining', Math.max(0, perSecond - inSecond))
    response.setHeader('content-type', 'application/json')
    if (inSecond > perSecond) {
      response.writeHead(429, { 'retry-after': (1 - (Date.now() % 1000) / 1000).toFixed(2) })
      return response.end('{"error":{"code":"ERR_TOO_MANY_REQUESTS","message":"Too many."}}')
    }
    granted += 1
    const path = `${upstream}${url.replace(/([?&]limit)=1000\b/, '$1=100')}`
    const answer = await request(path, { dispatcher, headers: { apikey: String(apikey) } })
    response.writeHead(answer.statusCode)
    return response.end(Buffer.from(await answer.body.arrayBuffer()))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    granted: () => granted,
    close: () => server.close(),
  }
}
