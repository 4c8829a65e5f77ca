import { existsSync, mkdirSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import path from 'node:path'
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium } from 'playwright-core'
import { findProgram, type Need } from '../gate/needs.ts'

/** The one that has no windows at all takes a fifth less of the processor. */
const executablePath = process.env.CHROMIUM ?? findProgram('chromium-headless-shell', 'chromium') ?? ''
/** And shows no notifications. */
const notifyingPath = process.env.CHROMIUM ?? findProgram('chromium') ?? ''

export const chromiumProgram: Need = {
  isMet: existsSync(executablePath),
  otherwise: 'there is no chromium-headless-shell or chromium on the PATH, nor one that CHROMIUM names',
  inGate: true,
}

/** One that shows notifications, too. */
export const notifyingChromium: Need = {
  isMet: existsSync(notifyingPath),
  otherwise: 'there is no chromium on the PATH, nor one that CHROMIUM names',
  inGate: true,
}

const args = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** As long as the machine is busy, a page may take its time. */
export const patienceMs = 120_000

/** The browser of this worker, for all its test files; it ends with the worker. */
let shared: Promise<Browser> | undefined

/** A session in a real browser without a window. Nothing is in it from before. The caller closes it. */
export async function openContext(options: BrowserContextOptions = {}): Promise<BrowserContext> {
  return patient(await (await (shared ?? launchShared())).newContext(options))
}

/** One that could not be started, or has ended, is not asked again. */
function launchShared(): Promise<Browser> {
  const launched = chromium.launch({ executablePath, args })
  shared = launched
  const forget = () => {
    if (shared === launched) shared = undefined
  }
  launched.then((browser) => browser.once('disconnected', forget), forget)
  return launched
}

/** A browser that shows notifications. The caller closes it. */
export function launchNotifying(): Promise<Browser> {
  return chromium.launch({ executablePath: notifyingPath, args })
}

/** The same session, in which nothing is given up because the machine is busy. */
export function patient(context: BrowserContext): BrowserContext {
  context.setDefaultTimeout(patienceMs)
  return context
}

/** Where a picture of a page goes, for people to look at. Each user of the machine has a folder of their own. */
export function pictureFile(name: string): string {
  const folder = path.join(tmpdir(), `parley-demo-${userInfo().username}`)
  mkdirSync(folder, { recursive: true })
  return path.join(folder, name)
}
