/// <reference lib="dom" />
import { existsSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { type Browser, chromium, type Page } from 'playwright-core'
import { type AtEnd, withCleanup } from './cleanup.ts'
import { pagesOf } from './console/pages.ts'
import { type ConsolePage, type Opening, openedIn } from './console/timing.ts'
import { progress } from './progress.ts'
import { scaleWorld } from './seed/sizes.ts'
import { seedWorld } from './seed/world.ts'
import { type Service, startService } from './service.ts'
import { describeMachine, renderTable } from './table.ts'

const usage = `npm run bench:console -- [options]
Measures the console in Chromium on a world of a million messages: the first paint, and how long each page takes to show what is in it.
  --scale <factor>   a world so many times as large; 1 without it
  --rounds <n>       how often each page is opened; 7 without it
  --world <folder>   keeps what was filled there, and begins with it the next time
  --quick            a hundredth of the world, two rounds: to see that it works
  --only <texts>     pages with one of these in their names, such as "Users,A group"
  --waits            what each page asked for when it was opened last, and when it was answered`

const { values: options } = parseArgs({
  options: {
    scale: { type: 'string' },
    rounds: { type: 'string' },
    quick: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    world: { type: 'string' },
    waits: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium'
const account = { email: 'bench@example.com', password: 'correct horse battery' }
/** Of the deployment, beside what is looked at. */
const otherApps = 3_000
const otherOperators = 300
const goals = { firstPaint: 1_500, page: 300 }

if (options.help) console.log(usage)
else if (existsSync(executablePath)) await withCleanup(run)
else throw new Error(`${executablePath} is not there; CHROMIUM names another`)

async function run(atEnd: AtEnd): Promise<void> {
  const env = { PARLEY_OPERATOR_EMAIL: account.email, PARLEY_OPERATOR_PASSWORD: account.password }
  const service = await startService({ env, keptIn: options.world })
  atEnd(service.stop)
  await fill(service)
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] })
  atEnd(() => browser.close())
  const origin = `http://127.0.0.1:${service.port}`
  progress('signing in')
  const cookies = await signIn(browser, origin)
  const rounds = Number(options.rounds ?? (options.quick ? 2 : 7))

  progress('first paint')
  const paints: number[] = []
  for (let round = 0; round < rounds; round++) paints.push(await firstPaint(browser, origin, cookies))
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
  await context.addCookies(cookies)
  const page = await context.newPage()
  const rows: string[][] = [['first paint, nothing cached', ...cells(paints, goals.firstPaint)]]
  const waits: string[] = []
  for (const one of pagesOf('parley').filter(isWanted)) {
    progress(one.name)
    const openings: Opening[] = []
    for (let round = 0; round <= rounds; round++) {
      await rest(page, origin)
      const opening = await page.evaluate(openedIn, one)
      // The first one loads its chunk.
      if (round > 0) openings.push(opening)
    }
    rows.push([
      one.name,
      ...cells(
        openings.map(({ took }) => took),
        goals.page,
      ),
    ])
    waits.push(...waitsOf(one.name, openings.at(-1)))
  }
  progress('')
  console.log(`${describeMachine()}\n`)
  console.log(renderTable(['page', 'p50 ms', 'longest ms', 'goal ms', ''], rows).join('\n'))
  if (options.waits) console.log(waits.join('\n'))
}

function isWanted({ name }: ConsolePage): boolean {
  return options.only.split(',').some((text) => name.includes(text.trim()))
}

function waitsOf(name: string, opening: Opening | undefined): string[] {
  if (opening === undefined) return []
  const asked = opening.asked.map(({ what, from, to }) => `  ${from.toFixed(0)} to ${to.toFixed(0)} ms: ${what}`)
  return ['', `${name}, ${opening.took.toFixed(0)} ms`, ...asked]
}

async function fill({ database }: Service): Promise<void> {
  const client = new pg.Client(database)
  await client.connect()
  try {
    const { rows } = await client.query<{ app_id: number; filled: boolean }>(
      `select app_id, (select count(*) from apps) > ${otherApps} as filled from apps where name = 'parley'`,
    )
    if (rows[0]?.filled) return
    const sizes = scaleWorld(Number(options.scale ?? (options.quick ? 0.01 : 1)))
    await seedWorld(client, rows[0]?.app_id ?? 0, sizes, { progress: (step) => progress(`filling: ${step}`) })
    await client.query(
      `insert into apps (name, region, created_at) select 'another-' || n, 'us', 1 from generate_series(1, ${otherApps}) n`,
    )
    await client.query(
      `insert into operators (email, name, role, created_at)
      select 'operator-' || n || '@example.com', 'Operator ' || n, 'moderator', 1 from generate_series(1, ${otherOperators}) n`,
    )
  } finally {
    await client.end()
  }
}

/** The page is built when it is first asked for, and reloads by itself until it is. */
async function signIn(browser: Browser, origin: string) {
  const context = await browser.newContext()
  const page = await context.newPage()
  await page.goto(`${origin}/console`)
  await page.getByLabel('E-mail address').fill(account.email, { timeout: 120_000 })
  await page.getByLabel('Password').first().fill(account.password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('button', { name: /your account/ }).waitFor()
  const cookies = await context.cookies()
  await context.close()
  return cookies
}

type Cookies = Awaited<ReturnType<typeof signIn>>

/** From the beginning of the navigation until the heading of the first page is painted, in a browser that has seen nothing of it. */
async function firstPaint(browser: Browser, origin: string, cookies: Cookies): Promise<number> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
  await context.addCookies(cookies)
  const page = await context.newPage()
  await page.goto(`${origin}/console/apps/parley`, { waitUntil: 'commit' })
  const took = await page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        const look = () =>
          document.querySelector('h1') === null
            ? requestAnimationFrame(look)
            : requestAnimationFrame(() => setTimeout(() => resolve(performance.now())))
        look()
      }),
  )
  await context.close()
  return took
}

/** A page of the console on which nothing goes on, and of whose lists nothing is kept. */
async function rest(page: Page, origin: string): Promise<void> {
  await page.goto(`${origin}/console/account`)
  await page.getByRole('heading', { name: 'Your account' }).waitFor()
  await page.waitForLoadState('networkidle')
  await delay(100)
}

function cells(times: readonly number[], goal: number): string[] {
  const sorted = times.toSorted((a, b) => a - b)
  const middle = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
  return [middle, sorted.at(-1) ?? Number.NaN, goal].map((ms) => ms.toFixed(0)).concat(middle < goal ? 'met' : 'missed')
}
