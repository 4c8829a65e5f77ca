import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import type { Need } from '../gate/needs.ts'

/** A folder with tools of others, which is no workspace: they want another TypeScript. */
export const toolsFolder = path.join(import.meta.dirname, 'tools')
const stamp = path.join(toolsFolder, 'node_modules', '.installed')

export interface Outcome {
  readonly code: number
  /** All that it wrote. */
  readonly said: string
}

/** Runs a program in the folder of the tools. */
export async function run(program: string, args: readonly string[], environment: object = {}): Promise<Outcome> {
  const options = {
    ...{ cwd: toolsFolder, maxBuffer: 2 ** 26 },
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

/** Installs the tools, unless they are there as the lock file has them. It takes a registry of npm packages. */
export async function installTools(): Promise<Need> {
  const lock = createHash('sha256')
    .update(await readFile(path.join(toolsFolder, 'package-lock.json')))
    .digest('hex')
  const installed = await readFile(stamp, 'utf8').catch(() => '')
  if (installed === lock) return { isMet: true, otherwise: '', inGate: true }
  const { code, said } = await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'])
  if (code === 0) await writeFile(stamp, lock)
  const why = /npm error code (\w+)/.exec(said)?.[1] ?? `exit code ${code}`
  return {
    isMet: code === 0,
    otherwise: `\`npm ci\` in server/test/reference/tools failed: ${why}`,
    inGate: true,
  }
}
