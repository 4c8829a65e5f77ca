import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { promisify } from 'node:util'
import type { Account } from './account.ts'

const run = promisify(execFile)

/** How programs of PostgreSQL are started: as whom, and whether by setpriv, which lets them end with this process. */
export interface Launcher {
  account: Account | undefined
  setpriv: string | undefined
}

/** What spawn and execFile take. */
export interface Command {
  file: string
  args: string[]
  options: { cwd: string; env: NodeJS.ProcessEnv; windowsHide: boolean; uid?: number; gid?: number }
}

/**
 * Prefers setpriv where it can name a signal that the child gets when this process dies, however it dies (busybox has a setpriv
 * that cannot). Elsewhere, a server that outlives this process is ended by the next start.
 */
export async function chooseLauncher(account: Account | undefined, deathSignal: boolean): Promise<Launcher> {
  const setpriv = ['/usr/bin/setpriv', '/bin/setpriv'].find((path) => existsSync(path))
  if (process.platform === 'linux' && deathSignal && setpriv !== undefined) {
    const { file, args, options } = commandFor({ account, setpriv }, setpriv, ['--version'])
    const works = await run(file, args, { ...options, timeout: 10_000 }).then(
      () => true,
      () => false,
    )
    if (works) return { account, setpriv }
  }
  return { account, setpriv: undefined }
}

/** The command that runs a program as the launcher's account, with next to nothing of this process's environment. */
export function commandFor(
  launcher: Launcher,
  program: string,
  args: string[],
  deathSignal: 'INT' | 'KILL' = 'KILL',
): Command {
  const { account, setpriv } = launcher
  // A folder that everybody can be in, and no PG* or LD_* variables.
  const env = process.platform === 'win32' ? { ...process.env, LC_ALL: 'C', TZ: 'UTC' } : { LC_ALL: 'C', TZ: 'UTC' }
  const options = { cwd: process.platform === 'win32' ? process.cwd() : '/', env, windowsHide: true }
  if (setpriv === undefined) return { file: program, args, options: { ...options, ...account } }
  const identity = account ? [`--reuid=${account.uid}`, `--regid=${account.gid}`, '--clear-groups'] : []
  return { file: setpriv, args: [...identity, `--pdeathsig=${deathSignal}`, '--', program, ...args], options }
}
