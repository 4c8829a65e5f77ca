/**
 * Makes what is run out of the sources of contract and server: each file by itself, in a second or two, without looking at types.
 * `npm run typecheck` does that, and so does the gate. What is up to date is left alone.
 */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const repository = join(import.meta.dirname, '..')
const compilerPackage = createRequire(import.meta.url).resolve('typescript/package.json')
const { version } = JSON.parse(readFileSync(compilerPackage, 'utf8'))

const stale = ['contract', 'client', 'server'].filter(isStale)
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
  return sourcesOf(workspace).some((name) => statSync(join(repository, workspace, 'src', name)).mtimeMs > mtimeMs)
}

/** Which sources there are, and what makes programs of them. */
function describe(workspace) {
  return createHash('sha256')
    .update([version, ...sourcesOf(workspace)].join('\n'))
    .digest('hex')
}

function sourcesOf(workspace) {
  const names = readdirSync(join(repository, workspace, 'src'), { recursive: true, encoding: 'utf8' })
  return names.filter((name) => name.endsWith('.ts')).sort()
}

async function build(workspace) {
  const description = describe(workspace)
  const compiler = join(dirname(compilerPackage), 'bin/tsc')
  const args = [compiler, '-p', join(repository, workspace, 'tsconfig.build.json')]
  const [code] = await once(spawn(process.execPath, args, { stdio: 'inherit' }), 'exit')
  if (code !== 0) {
    console.error(`${workspace} could not be built`)
    process.exit(1)
  }
  writeFileSync(stampOf(workspace), description)
}
