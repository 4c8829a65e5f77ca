import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'

export const repository = path.join(import.meta.dirname, '../../..')
export const releaseFolder = path.join(repository, 'release')

/** Runs a program to its end. @throws Error with all that it wrote, when that is not 0 */
export async function run(
  cwd: string,
  program: string,
  args: readonly string[],
  environment: NodeJS.ProcessEnv = {},
): Promise<string> {
  const options = { cwd, maxBuffer: 2 ** 28, env: { ...outside, ...environment } }
  try {
    return (await promisify(execFile)(program, args, options)).stdout
  } catch (error) {
    const { stdout = '', stderr = '', message } = error as Error & { stdout?: string; stderr?: string }
    throw new Error(`${program} ${args.join(' ')} in ${cwd}: ${message}\n${stdout}${stderr}`)
  }
}

/** The environment of whoever installs a release: nothing of the run of tests. */
export const outside: NodeJS.ProcessEnv = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(npm_|NODE_|VITEST|TEST|CI$|LONG$|PARLEY_)/.test(name)),
)
