import { accessSync, constants, existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { describe, expect, it } from 'vitest'

/** What a test needs of the machine, beyond Node.js. */
export interface Need {
  readonly isMet: boolean
  /** Why a test that needs it is skipped where it is not met; stands in the test's name. */
  readonly otherwise: string
  /** A gate must have it: with CI=true its lack is a failure. */
  readonly inGate: boolean
}

/** The first of some programs that is on the PATH. */
export function findProgram(...names: string[]): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter)
  return folders.flatMap((folder) => names.map((name) => join(folder, name))).find(isProgram)
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

export const onLinux: Need = { isMet: process.platform === 'linux', otherwise: 'only on Linux', inGate: false }
export const asRoot: Need = { isMet: process.getuid?.() === 0, otherwise: 'only as root', inGate: false }

/** What takes too long for each change; `npm run test:long` says that it may. */
export const inLongSuite: Need = {
  isMet: process.env.LONG === '1',
  otherwise: 'only in npm run test:long',
  inGate: false,
}

/** Of Debian: wamerican, wngerman and wfrench. */
export const dictionaries: Need = {
  isMet: ['american-english', 'ngerman', 'french'].every((name) => existsSync(`/usr/share/dict/${name}`)),
  otherwise: 'needs the dictionaries of wamerican, wngerman and wfrench',
  inGate: true,
}

/** A file that something else has brought. */
export function fileAt(path: string, otherwise = `there is no ${path}`): Need {
  return { isMet: existsSync(path), otherwise, inGate: false }
}

/** `describe`, where the machine has what these tests need. */
export function describeWith(need: Need, name: string, body: () => void): void {
  if (need.isMet) describe(name, body)
  else if (isLackOfGate(need)) failFor(need, name)
  else describe.skip(`${name} [${need.otherwise}]`, body)
}

/** `it`, where the machine has what the test needs. */
export function itWith(need: Need, name: string, body: () => unknown, timeout?: number): void {
  if (need.isMet) it(name, body, timeout)
  else if (isLackOfGate(need)) failFor(need, name)
  else it.skip(`${name} [${need.otherwise}]`, body)
}

const isLackOfGate = (need: Need) => need.inGate && process.env.CI === 'true'

function failFor(need: Need, name: string): void {
  it(name, () => expect.fail(`${need.otherwise}, and CI=true`))
}
