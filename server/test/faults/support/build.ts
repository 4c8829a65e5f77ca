import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'

const repository = join(import.meta.dirname, '../../../..')

/** What a deployment runs. */
export const mainScript = join(repository, 'server/dist/main.js')

/**
 * How the tests run it. They start it again and again, and each time it does little: that the engine waits longer before it
 * optimizes a function saves a fifth of what a start costs.
 */
export const mainArguments = ['--interrupt-budget=500000', mainScript]

/** Builds the service unless every output is newer than its source, since these tests run what is built. */
export function ensureBuilt(): void {
  if (!isStale('contract') && !isStale('server')) return
  const compiler = join(repository, 'node_modules/.bin/tsc')
  const { stdout } = spawnSync(compiler, ['-b', 'contract', 'server'], { cwd: repository, encoding: 'utf8' })
  if (!existsSync(mainScript)) throw new Error(`the service cannot be built: ${stdout}`)
}

function isStale(workspace: string): boolean {
  const source = join(repository, workspace, 'src')
  const names = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))
  return names.some((name) => {
    const file = join(source, name)
    const output = join(repository, workspace, 'dist', relative(source, file).replace(/\.ts$/, '.js'))
    return !existsSync(output) || statSync(output).mtimeMs < statSync(file).mtimeMs
  })
}
