import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

const repository = join(import.meta.dirname, '../../..')

/** What a deployment runs. */
export const mainScript = join(repository, 'server/dist/main.js')

/** Its commands. */
export const commandScript = join(repository, 'server/dist/cli/main.js')

/**
 * How the tests run it. They start it again and again, and each time it does little: that the engine waits longer before it
 * optimizes a function saves a fifth of what a start costs. Engines after that of Node.js 20 refuse to start with that option.
 */
export const mainArguments = [...(process.version.startsWith('v20.') ? ['--interrupt-budget=500000'] : []), mainScript]

let isBuilt = false

/** Builds the service where its sources are newer, since these tests run what is built: once for all files of a worker. */
export function ensureBuilt(): void {
  if (isBuilt) return
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(repository, 'tools/build.mjs')], {
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`the service cannot be built: ${stdout}${stderr}`)
  isBuilt = true
}
