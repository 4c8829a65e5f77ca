import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import type { Need } from '../gate/needs.ts'

export interface Outcome {
  readonly code: number
  /** All that it wrote. */
  readonly said: string
}

/** Runs a program in a folder. */
export async function run(
  folder: string,
  program: string,
  args: readonly string[],
  environment: object = {},
): Promise<Outcome> {
  const options = {
    ...{ cwd: folder, maxBuffer: 2 ** 26 },
    env: { ...process.env, NO_COLOR: '1', NODE_ENV: 'production', ...environment },
  }
  try {
    const { stdout, stderr } = await promisify(execFile)(program, args, options)
    return { code: 0, said: stdout + stderr }
  } catch (error) {
    const { code, stdout = '', stderr = '' } = error as { code?: unknown; stdout?: string; stderr?: string }
    return { code: typeof code === 'number' ? code : 1, said: stdout + stderr || String(error) }
  }
}

/**
 * Installs what others have made into a folder of its own, which is no workspace, unless it is there as the lock file has it.
 * It takes a registry of npm packages.
 */
export async function installInto(folder: string): Promise<Need> {
  const stamp = path.join(folder, 'node_modules', '.installed')
  const lock = createHash('sha256')
    .update(await readFile(path.join(folder, 'package-lock.json')))
    .digest('hex')
  const installed = await readFile(stamp, 'utf8').catch(() => '')
  if (installed === lock) return { isMet: true, otherwise: '', inGate: true }
  const { code, said } = await run(folder, 'npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'])
  if (code === 0) await writeFile(stamp, lock)
  const why = /npm error code (\w+)/.exec(said)?.[1] ?? `exit code ${code}`
  return {
    isMet: code === 0,
    otherwise: `\`npm ci\` in ${path.basename(path.dirname(folder))}/${path.basename(folder)} failed: ${why}`,
    inGate: true,
  }
}
