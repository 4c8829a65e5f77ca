#!/usr/bin/env node
// Imports point down. `npm run lint` runs this over server/src; it prints every import that points up, or past the index.ts
// of an area, and then ends with 1. Imports of types alone are free: they are gone at run time. The client imports nothing
// but itself, not even types: its declarations stand alone.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize, relative, sep } from 'node:path'

/**
 * The floors of server/src, lowest first, each with what stands on it: files, or folders with all that is in them. The
 * picture is in docs/architecture.md.
 */
export const floors = [
  [
    'ground',
    [
      'config/',
      'log.ts',
      'log-output.ts',
      'stack.ts',
      'metrics.ts',
      'version.ts',
      'keys-file.ts',
      'cache.ts',
      'pauses.ts',
      'tracing/',
      'emulators/',
    ],
  ],
  ['store', ['store/']],
  ['limits', ['limits/']],
  ['media', ['media/']],
  ['chat', ['chat/']],
  ['events', ['events/']],
  ['jobs', ['jobs/']],
  ['calls', ['call.ts', 'context.ts', 'traced-context.ts', 'paging.ts', 'faults.ts']],
  ['areas', ['areas/']],
  ['delivery', ['delivery/']],
  ['protocol', ['protocol/']],
  ['sockets', ['sockets/']],
  ['http', ['http/']],
  [
    'process',
    [
      'app.ts',
      'app/',
      'routes.ts',
      'tables.ts',
      'sealed.ts',
      'main.ts',
      'greeting.ts',
      'process/',
      'cli/',
      'backup/',
      'doctor/',
      'compatibility/',
    ],
  ],
]

const importing =
  /^(?:import|export)\s+(?!type\b)([^'";]*?)\s*from\s*'(\.[^']+)'|^import\s*'(\.[^']+)'|\bimport\(\s*'(\.[^']+)'\s*\)/gm

/** What a file imports at run time. @returns paths, relative to where `path` is relative to */
function importsOf(root, path) {
  const found = []
  for (const [, clause, from, bare, dynamic] of readFileSync(join(root, path), 'utf8').matchAll(importing)) {
    if (clause !== undefined && areTypes(clause)) continue
    found.push(
      normalize(join(dirname(path), from ?? bare ?? dynamic))
        .split(sep)
        .join('/'),
    )
  }
  return found
}

/** `{ type A, type B }` */
function areTypes(clause) {
  if (!clause.startsWith('{')) return false
  const names = clause
    .slice(1, -1)
    .split(',')
    .map((name) => name.trim())
  return names.every((name) => name === '' || name.startsWith('type '))
}

function floorOf(path) {
  return floors.findIndex(([, rooms]) =>
    rooms.some((room) => (room.endsWith('/') ? path.startsWith(room) : path === room)),
  )
}

/** `areas/groups` of `areas/groups/create.ts` */
function areaOf(path) {
  return /^areas\/[^/]+/.exec(path)?.[0]
}

/** What every area has of its own is gathered where it lies: handlers in `routes.ts`, what is erased in `tables.ts`. */
function isGathered(path, to) {
  const name = to.slice(to.lastIndexOf('/') + 1)
  return (path === 'routes.ts' && name.endsWith('operations.ts')) || (path === 'tables.ts' && name === 'tables.ts')
}

/** @param root the folder with the floors. @returns what is wrong, a sentence each */
export function findFlaws(root) {
  const files = readdirSync(root, { recursive: true }).map((path) => path.split(sep).join('/'))
  return files
    .filter((path) => path.endsWith('.ts'))
    .sort()
    .flatMap((path) => {
      const floor = floorOf(path)
      if (floor < 0) return [`${path} stands on no floor: add it in tools/floors.mjs`]
      return importsOf(root, path).flatMap((to) => {
        const other = floorOf(to)
        if (other > floor) return [`${path} imports ${to}: up from ${floors[floor][0]} to ${floors[other][0]}`]
        const area = areaOf(to)
        if (area === undefined || area === areaOf(path) || isGathered(path, to)) return []
        return to === `${area}/index.ts` ? [] : [`${path} imports ${to}: past ${area}/index.ts`]
      })
    })
}

const from = /\bfrom\s*'([^']+)'|^import\s*'([^']+)'|\bimport\(\s*'([^']+)'\s*\)|\brequire\(|^\/\/\/\s*<reference/gm

/** @param root the sources of a package that stands alone. @returns what is wrong, a sentence each */
function findImportsOutside(root) {
  const files = readdirSync(root, { recursive: true }).map((path) => path.split(sep).join('/'))
  return files
    .filter((path) => path.endsWith('.ts'))
    .sort()
    .flatMap((path) =>
      [...readFileSync(join(root, path), 'utf8').matchAll(from)]
        .map(([text, ...names]) => names.find((name) => name !== undefined) ?? text)
        .filter((name) => !name.startsWith('.') || normalize(join(dirname(path), name)).startsWith('..'))
        .map((name) => `${path} imports ${name}: from outside`),
    )
}

if (process.argv[1] === import.meta.filename) {
  const [first, second] = process.argv.slice(2)
  const root = first ?? join(import.meta.dirname, '../server/src')
  const alone = first === undefined ? join(import.meta.dirname, '../client/src') : second
  const show = (folder) => (flaw) => `${relative(process.cwd(), folder) || '.'}/${flaw}`
  const flaws = findFlaws(root).map(show(root))
  if (alone !== undefined) flaws.push(...findImportsOutside(alone).map(show(alone)))
  for (const flaw of flaws) console.error(flaw)
  process.exitCode = flaws.length > 0 ? 1 : 0
}
