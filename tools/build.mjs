/**
 * Makes what is run out of the sources of contract, client and server, in a second or two, without looking at types.
 * `npm run typecheck` does that, and so does the gate. What is up to date is left alone.
 */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { bundle } from './bundle.mjs'

const repository = join(import.meta.dirname, '..')
const compilerPackage = createRequire(import.meta.url).resolve('typescript/package.json')
/** Packages are in what is made of the service. */
const lock = readFileSync(join(repository, 'package-lock.json'))
const { version } = JSON.parse(readFileSync(compilerPackage, 'utf8'))

/** What each is made of, and how. */
const workspaces = {
  contract: { sources: ['contract'], build: compile },
  client: { sources: ['client'], build: compile },
  server: { sources: ['server', 'contract'], build: () => bundle(join(repository, 'server/dist')) },
}

const stale = Object.keys(workspaces).filter(isStale)
if (stale.length > 0) {
  const startedAt = performance.now()
  console.log('Building Parley from its sources ...')
  await Promise.all(stale.map(build))
  console.log(`Built in ${((performance.now() - startedAt) / 1000).toFixed(1)} s.`)
}

function stampOf(workspace) {
  return join(repository, workspace, 'dist/.built')
}

function isStale(workspace) {
  const { mtimeMs = 0 } = statSync(stampOf(workspace), { throwIfNoEntry: false }) ?? {}
  if (mtimeMs === 0 || readFileSync(stampOf(workspace), 'utf8') !== describe(workspace)) return true
  return sourcesOf(workspace).some((file) => statSync(join(repository, file)).mtimeMs > mtimeMs)
}

/** Which sources there are, and what makes programs of them. */
function describe(workspace) {
  return createHash('sha256')
    .update([version, ...sourcesOf(workspace)].join('\n'))
    .update(lock)
    .digest('hex')
}

function sourcesOf(workspace) {
  return workspaces[workspace].sources.flatMap((one) => {
    const names = readdirSync(join(repository, one, 'src'), { recursive: true, encoding: 'utf8' })
    return names
      .filter((name) => name.endsWith('.ts'))
      .sort()
      .map((name) => `${one}/src/${name}`)
  })
}

async function build(workspace) {
  const description = describe(workspace)
  await workspaces[workspace].build(workspace)
  writeFileSync(stampOf(workspace), description)
}

/** Each file by itself. */
async function compile(workspace) {
  const compiler = join(dirname(compilerPackage), 'bin/tsc')
  const args = [compiler, '-p', join(repository, workspace, 'tsconfig.build.json')]
  const [code] = await once(spawn(process.execPath, args, { stdio: 'inherit' }), 'exit')
  if (code === 0) return
  console.error(`${workspace} could not be built`)
  process.exit(1)
}
