import { existsSync } from 'node:fs'
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
