/// <reference lib="dom" />
import type { BrowserContext, Page } from 'playwright-core'
import { afterEach } from 'vitest'
import { createOwnerLink } from '../../src/areas/operators/index.ts'
import { createOperator, createOwner, newEmail, password, type Visitor } from '../admin/operator.ts'
import { describeWith } from '../gate/needs.ts'
import type { World } from '../support/world.ts'
import { chromiumProgram, openContext, patienceMs } from './chromium.ts'

/** Contexts are used again, one test after the other, with what they keep of the program of the console. */
const idle: BrowserContext[] = []
const used = new Set<BrowserContext>()

/** Tests of the console in a real browser. Whatever a test opens is closed after it, and nobody is signed in any more. */
export function describeConsole(name: string, body: () => void): void {
  describeWith(chromiumProgram, name, () => {
    afterEach(async ({ task }) => {
      const hasFailed = task.result?.state === 'fail'
      await Promise.all([...used].map(hasFailed ? closeUsed : putBack))
    })
    body()
  })
}

/** A context of a browser in which nobody is signed in. */
export async function newContext(): Promise<BrowserContext> {
  const known = idle.pop()
  const context = known?.browser()?.isConnected() ? known : await openContext({ reducedMotion: 'reduce' })
  used.add(context)
  return context
}

/** For the next test. What a test has put on pages goes with them, and what it has put on the context is taken off it. */
export async function putBack(context: BrowserContext): Promise<void> {
  used.delete(context)
  await context.unrouteAll({ behavior: 'ignoreErrors' })
  for (const page of context.pages()) {
    await within(
      patienceMs,
      'what the console keeps to be deleted',
      page.evaluate(forget).catch(() => {}),
    )
    await page.close()
  }
  await context.clearCookies()
  idle.push(context)
}

/** Nobody knows what a test has left that failed. */
async function closeUsed(context: BrowserContext): Promise<void> {
  used.delete(context)
  await context.close().catch(() => {})
}

/** Runs in the browser: nothing is kept for the next test. */
async function forget(): Promise<void> {
  localStorage.clear()
  const databases = await indexedDB.databases()
  await Promise.all(
    databases.map(({ name = '' }) => {
      const asked = indexedDB.deleteDatabase(name)
      return new Promise<void>((resolve, reject) => {
        // One that the page has open goes with the page.
        asked.onsuccess = asked.onblocked = () => resolve()
        asked.onerror = () => reject(asked.error)
      })
    }),
  )
}

async function within<T>(ms: number, what: string, waitedFor: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`Waited ${ms / 1000} s for ${what}`)), ms)
  })
  try {
    return await Promise.race([waitedFor, late])
  } finally {
    clearTimeout(timer)
  }
}

/** A tab with the console in it. What goes wrong in it is in `problems`. */
export interface ConsoleTab {
  readonly page: Page
  readonly problems: string[]
  /** Opens an address of the console, such as `/apps`, as a link in it does: what was read in the last seconds is not read again. */
  open(path: string): Promise<void>
  /** Opens it as a browser does that was just started. */
  load(path: string): Promise<void>
}

export async function openConsole({ url }: Pick<World, 'url'>, path = ''): Promise<ConsoleTab> {
  return tabIn(await newContext(), { url }, path)
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
  const load = async (to: string) => {
    await page.goto(`${url}/console${to}`)
  }
  const open = async (to: string) => {
    await page.getByRole('button', { name: /your account/ }).waitFor()
    await within(patienceMs, `the console to show ${to}`, page.evaluate(follow, `/console${to}`))
  }
  await load(path)
  return { page, problems, open, load }
}

/** Runs in the browser. */
function follow(href: string): Promise<void> {
  interface Router {
    readonly history: { push(href: string): void }
    subscribe(what: 'onRendered', listener: () => void): () => void
  }
  const router = (globalThis as unknown as { __TSR_ROUTER__: Router }).__TSR_ROUTER__
  return new Promise((resolve) => {
    const stop = router.subscribe('onRendered', () => {
      stop()
      resolve()
    })
    router.history.push(href)
  })
}

/** The one-time address of an owner, below `/console`. */
export async function ownerLink({ context }: Pick<World, 'context'>): Promise<string> {
  return `#setup=${await createOwnerLink(context)}`
}

/** A tab of an operator of the world's app, signed in. */
export async function openAs(world: World, grants: object, path: string): Promise<ConsoleTab> {
  const owner = await createOwner(world)
  const email = newEmail()
  const operator = await createOperator(owner, { apps: [world.app.name], ...grants }, email)
  return openSignedIn(world, operator, path)
}

/** A tab with the session of somebody who signed in by HTTP. */
export async function openSignedIn(world: World, visitor: Visitor, path: string): Promise<ConsoleTab> {
  const context = await newContext()
  await signIn(context, world, visitor)
  return tabIn(context, world, path)
}

/** Gives a browser the session of somebody who signed in by HTTP, in place of the one that it has. */
export async function signIn(context: BrowserContext, { url }: World, { cookie }: Visitor): Promise<void> {
  const [name = '', value = ''] = (cookie ?? '').split('=')
  await context.addCookies([{ name, value, url, httpOnly: true, sameSite: 'Strict' }])
}

export { password }
