import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Log } from '../log.ts'

const repository = fileURLToPath(new URL('../../../', import.meta.url))
const kept = path.join(repository, 'react/dist/demo')

/** The program of the demo page and its style. */
export interface DemoFiles {
  readonly 'main.js': Buffer
  readonly 'main.css': Buffer
}

export interface DemoBundle {
  /** `missing`: there is nothing to build it with, or that failed. */
  readonly state: 'building' | 'ready' | 'missing'
  start(): void
  /** undefined where it is missing */
  files(): Promise<DemoFiles | undefined>
}

/** Bundled out of the sources by esbuild, and kept in `react/dist/demo` until they change. */
export function createDemoBundle(log: Log): DemoBundle {
  let state: DemoBundle['state'] = 'building'
  let made: Promise<DemoFiles | undefined> | undefined
  const make = async () => {
    try {
      const files = await readOrBuild(log)
      state = files === undefined ? 'missing' : 'ready'
      return files
    } catch (error) {
      state = 'missing'
      log.warn({ cause: (error as Error).message }, 'the demo could not be built')
      return undefined
    }
  }
  const files = () => {
    made ??= make()
    return made
  }
  return {
    get state() {
      return state
    },
    start: () => void files(),
    files,
  }
}

async function readOrBuild(log: Log): Promise<DemoFiles | undefined> {
  const [stamp, known] = await Promise.all([stampOfSources(), readKept()])
  // A package has what was built, and no sources.
  if (known !== undefined && (stamp === undefined || known.stamp === stamp)) return known.files
  if (stamp === undefined) return undefined
  const files = await build()
  if (files !== undefined) {
    // Where the folder cannot be written to, each start builds it.
    await keep(stamp, files).catch((error: Error) => log.debug({ cause: error.message }, 'the demo could not be kept'))
  }
  return files
}

/** @returns undefined where esbuild is not installed: it is a package of development */
async function build(): Promise<DemoFiles | undefined> {
  const esbuild = await import('esbuild').catch(() => undefined)
  if (esbuild === undefined) return undefined
  const { outputFiles } = await esbuild.build({
    entryPoints: ['main.tsx', 'demo.css'].map((name) => ({
      in: path.join(repository, 'react/demo', name),
      out: 'main',
    })),
    ...{ bundle: true, minify: true, write: false, format: 'esm', target: 'es2022', jsx: 'automatic', outdir: kept },
    conditions: ['source'],
    define: { 'process.env.NODE_ENV': '"production"' },
    logLevel: 'silent',
  })
  const fileOf = (type: string) => Buffer.from(outputFiles.find((file) => file.path.endsWith(type))?.contents ?? '')
  return { 'main.js': fileOf('.js'), 'main.css': fileOf('.css') }
}

/** A digest of everything that the page is made of; undefined where there are no sources. */
async function stampOfSources(): Promise<string | undefined> {
  try {
    const parts = await Promise.all(
      ['react/src', 'react/demo', 'client/src'].map(async (folder) => {
        const found = await readdir(path.join(repository, folder), { recursive: true, withFileTypes: true })
        return found.filter((file) => file.isFile()).map((file) => path.join(file.parentPath, file.name))
      }),
    )
    const others = ['react/styles.css', 'package-lock.json'].map((file) => path.join(repository, file))
    const digest = createHash('sha256')
    for (const file of [...parts.flat().sort(), ...others]) digest.update(file).update(await readFile(file))
    return digest.digest('hex')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

async function readKept(): Promise<{ readonly stamp: string; readonly files: DemoFiles } | undefined> {
  try {
    const [stamp, program, style] = await Promise.all(
      ['.built', 'main.js', 'main.css'].map((name) => readFile(path.join(kept, name))),
    )
    if (program === undefined || style === undefined) return undefined
    return { stamp: String(stamp), files: { 'main.js': program, 'main.css': style } }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** For the next start. What says which sources it is of comes last. */
async function keep(stamp: string, files: DemoFiles): Promise<void> {
  await mkdir(kept, { recursive: true })
  for (const [name, content] of [...Object.entries(files), ['.built', stamp] as const]) {
    const file = path.join(kept, `${name}.${process.pid}`)
    await writeFile(file, content)
    await rename(file, path.join(kept, name))
  }
}
