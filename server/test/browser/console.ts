import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { createOwnerLink } from '../../src/areas/operators/index.ts'
import { createOperator, createOwner, newEmail, password, type Visitor } from '../admin/operator.ts'
import type { World } from '../support/world.ts'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** What axe-core finds wrong in a page. It gets in by the browser's own protocol, which no policy of the page forbids. */
export async function findingsOf(page: Page): Promise<string[]> {
  await page.evaluate(axe)
  return page.evaluate(async () => {
    // biome-ignore lint/suspicious/noExplicitAny: what axe-core puts into the page
    const { violations } = await (globalThis as any).axe.run()
    return violations.map(({ id, nodes }: { id: string; nodes: { html: string }[] }) => `${id}: ${nodes[0]?.html}`)
  })
}

/** A tab with the console in it. What goes wrong in it is in `problems`. */
export interface ConsoleTab {
  readonly page: Page
  readonly problems: string[]
  /** Opens an address of the console, such as `/apps`. */
  open(path: string): Promise<void>
}

/** The first build of the console takes a while on a busy machine; the page then comes by itself. */
const patienceMs = 60_000

export async function openConsole(browser: Browser, world: Pick<World, 'url'>, path = ''): Promise<ConsoleTab> {
  const context = await browser.newContext({ reducedMotion: 'reduce' })
  context.setDefaultTimeout(patienceMs)
  return tabIn(context, world, path)
}

export async function tabIn(context: BrowserContext, { url }: Pick<World, 'url'>, path: string): Promise<ConsoleTab> {
  const page = await context.newPage()
  const problems: string[] = []
  page.on('pageerror', (error) => problems.push(error.message))
  page.on('console', (said) => {
    // What the service refuses is an answer, such as that nobody is signed in.
    if (said.type() === 'error' && !said.text().startsWith('Failed to load resource')) problems.push(said.text())
  })
  page.on('request', (request) => {
    const asked = request.url()
    if (!asked.startsWith(url) && !asked.startsWith('data:') && !asked.startsWith('blob:'))
      problems.push(`asks ${asked}`)
  })
  const open = async (to: string) => {
    await page.goto(`${url}/console${to}`)
  }
  await open(path)
  return { page, problems, open }
}

/** The one-time address of an owner, below `/console`. */
export async function ownerLink({ context }: Pick<World, 'context'>): Promise<string> {
  return `#setup=${await createOwnerLink(context)}`
}

/** A tab of an operator of the world's app, signed in. */
export async function openAs(browser: Browser, world: World, grants: object, path: string): Promise<ConsoleTab> {
  const owner = await createOwner(world)
  const email = newEmail()
  const operator = await createOperator(owner, { apps: [world.app.name], ...grants }, email)
  return openSignedIn(browser, world, operator, path)
}

/** A tab with the session of somebody who signed in by HTTP. */
export async function openSignedIn(browser: Browser, world: World, { cookie }: Visitor, path: string) {
  const context = await browser.newContext({ reducedMotion: 'reduce' })
  context.setDefaultTimeout(patienceMs)
  const [name = '', value = ''] = (cookie ?? '').split('=')
  await context.addCookies([{ name, value, url: world.url, httpOnly: true, sameSite: 'Strict' }])
  return tabIn(context, world, path)
}

export { password }
