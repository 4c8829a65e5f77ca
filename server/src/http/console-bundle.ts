import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import type { Log } from '../log.ts'
import { type Bundle, type BundleFiles, createBundle, readFolder, repository } from './kept-bundle.ts'

const execute = promisify(execFile)

/** The console: built by Vite, in a process of its own that leaves the processor to the service. */
export function createConsoleBundle(log: Log): Bundle {
  return createBundle(log, {
    name: 'console',
    sources: [
      'console/src',
      'console/index.html',
      'console/vite.config.ts',
      'console/package.json',
      'client/src',
      'contract/src',
    ],
    kept: 'console/dist',
    build,
  })
}

async function build(): Promise<BundleFiles | undefined> {
  const folder = path.join(repository, 'console')
  const vite = viteOf(folder)
  if (vite === undefined) return undefined
  const made = await mkdtemp(path.join(os.tmpdir(), 'parley-console-'))
  try {
    const building = execute(
      process.execPath,
      [vite, 'build', '--outDir', made, '--emptyOutDir', '--logLevel', 'error'],
      {
        cwd: folder,
        env: { ...process.env, NODE_ENV: 'production', NODE_OPTIONS: '' },
      },
    )
    if (building.child.pid !== undefined) os.setPriority(building.child.pid, os.constants.priority.PRIORITY_LOW)
    await building
    return await readFolder(made)
  } finally {
    await rm(made, { recursive: true, force: true })
  }
}

/** @returns undefined where it is not installed */
function viteOf(folder: string): string | undefined {
  try {
    const program = path.join(
      path.dirname(createRequire(path.join(folder, 'index.js')).resolve('vite/package.json')),
      'bin/vite.js',
    )
    return existsSync(program) ? program : undefined
  } catch {
    return undefined
  }
}
