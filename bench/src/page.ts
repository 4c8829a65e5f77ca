import { existsSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { type Browser, chromium, type Page } from 'playwright-core'
import { type AtEnd, withCleanup } from './cleanup.ts'
import { type Drawn, drawnOf, type Shares, traced } from './page/trace.ts'
import { progress } from './progress.ts'
import { credentials } from './requests.ts'
import { type Service, startService } from './service.ts'
import { describeMachine, renderTable } from './table.ts'

const usage = `npm run bench:page -- [options]
Measures the demo page in Chromium: a conversation that is scrolled all the time, and one into which messages come.
  --messages <n>  messages of the conversation that is scrolled, and of a minute of the other; 10,000 without it
  --seconds <n>   how long each is watched; 60 without it
  --sharing       the service and those who write do not give way to the browser`

const { values: options } = parseArgs({
  options: {
    messages: { type: 'string', default: '10000' },
    seconds: { type: 'string', default: '60' },
    sharing: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium'
const words = 'shall we meet at six or later when all have come back from the hill with what they found up there'.split(
  ' ',
)

if (options.help) console.log(usage)
else if (existsSync(executablePath)) await withCleanup(run)
else throw new Error(`${executablePath} is not there; CHROMIUM names another`)

async function run(atEnd: AtEnd): Promise<void> {
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] })
  atEnd(() => browser.close())
  // Really they are on other machines than whoever looks. What begins from here on inherits it.
  if (!options.sharing) setPriority(constants.priority.PRIORITY_BELOW_NORMAL)
  const service = await startService({ env: { DEMO: 'true' } })
  atEnd(service.stop)
  for (const uid of ['ann', 'ben', 'cleo']) await post(service, '/users', { uid, name: uid })

  const [messages, seconds] = [Number(options.messages), Number(options.seconds)]
  progress(`sending ${messages} messages`)
  await Promise.all(Array.from({ length: 32 }, (_, n) => sendEach(service, messages / 32, n)))
  progress('scrolling')
  const scrolled = await watch(browser, service, 'ben', (page) => scroll(page, seconds))
  progress('receiving')
  const received = await watch(browser, service, 'cleo', () => receive(service, messages, seconds))
  progress('')
  console.log(`${describeMachine()}\n`)
  const rows = [
    ['scrolled all the time', scrolled],
    [`${messages} messages a minute come`, received],
  ] as const
  const head = [
    'page',
    'frames',
    'longest task ms',
    'tasks over 50 ms',
    'script and layout of a frame: p50, p95 ms',
    'on a processor',
  ]
  console.log(
    renderTable(
      head,
      rows.map(([name, drawn]) => [name, ...cells(drawn)]),
    ).join('\n'),
  )
}

/** Opens a conversation of ann's in the demo, and traces what the page does meanwhile. */
async function watch(
  browser: Browser,
  service: Service,
  peer: string,
  meanwhile: (page: Page) => Promise<void>,
): Promise<Drawn> {
  const page = await (await browser.newContext({ viewport: { width: 1200, height: 800 } })).newPage()
  await page.goto(`http://127.0.0.1:${service.port}/demo#key=${service.apiKey}&me=ann&peer=${peer}`)
  await page.click('#log-in')
  await page.locator('#state', { hasText: 'live' }).waitFor()
  await page.locator('main textarea').waitFor()
  const events = await traced(page, () => meanwhile(page))
  await page.close()
  return drawnOf(events)
}

/** Up through the history, and down again. */
async function scroll(page: Page, seconds: number): Promise<void> {
  await page.getByRole('feed').hover()
  const half = performance.now() + seconds * 500
  const end = half + seconds * 500
  while (performance.now() < end) {
    await page.mouse.wheel(0, performance.now() < half ? -600 : 600)
    await delay(30)
  }
}

/** At an even pace, whether the service answers or not. */
async function receive(service: Service, aMinute: number, seconds: number): Promise<void> {
  const startedAt = performance.now()
  const sending: Promise<void>[] = []
  for (let n = 0; n < (aMinute * seconds) / 60; n++) {
    await delay(Math.max(0, startedAt + (n * 60_000) / aMinute - performance.now()))
    sending.push(send(service, 'cleo', 'ann', n))
  }
  await Promise.all(sending)
}

async function sendEach(service: Service, count: number, offset: number): Promise<void> {
  for (let n = 0; n < count; n++) {
    const [from, to] = (n + offset) % 3 === 0 ? ['ann', 'ben'] : ['ben', 'ann']
    await send(service, from as string, to as string, n * 7 + offset)
  }
}

/** Of three to forty words. */
function send(service: Service, from: string, receiver: string, n: number): Promise<void> {
  const text = Array.from({ length: 3 + ((n * 13) % 38) }, (_, i) => words[(n + i * 5) % words.length]).join(' ')
  return post(service, '/messages', { receiver, receiverType: 'user', data: { text } }, from)
}

async function post(service: Service, path: string, body: object, as?: string): Promise<void> {
  const headers = {
    ...credentials({ apiKey: service.apiKey, ...(as !== undefined && { as }) }),
    'content-type': 'application/json',
  }
  const url = `http://127.0.0.1:${service.port}/v3${path}`
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
  await answer.arrayBuffer()
}

function cells({ frames, longestTask, longTasks, elapsed, onProcessor }: Drawn): string[] {
  const shares = ({ p50, p95 }: Shares) => `${p50.toFixed(1)}, ${p95.toFixed(1)}`
  return [String(frames), longestTask.toFixed(1), String(longTasks), shares(elapsed), shares(onProcessor)]
}
