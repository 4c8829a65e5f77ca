import { existsSync, mkdirSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import path from 'node:path'
import { type Browser, chromium } from 'playwright-core'
import { findProgram, type Need } from '../gate/needs.ts'

const executablePath = process.env.CHROMIUM ?? findProgram('chromium') ?? ''

export const chromiumProgram: Need = {
  isMet: existsSync(executablePath),
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

/** A real browser, without a window. */
export function launchBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath, args })
}

/** Where a picture of a page goes, for people to look at. Each user of the machine has a folder of their own. */
export function pictureFile(name: string): string {
  const folder = path.join(tmpdir(), `parley-demo-${userInfo().username}`)
  mkdirSync(folder, { recursive: true })
  return path.join(folder, name)
}
