import { type Operation, type PublicOperation, publicOperations } from '@parley/contract'
import type { Route } from '../call.ts'

/** What is missing from operations that are served, but not wholly, by operation id. Empty an entry when it is done. */
export const missing: Readonly<Record<string, string>> = {}

/** A declared operation, with the file below `server/src` that serves it. */
export interface ServedOperation {
  readonly operation: Operation
  readonly file: string
}

export function servedOperations(routesByFile: Readonly<Record<string, readonly Route[]>>): ServedOperation[] {
  return Object.entries(routesByFile).flatMap(([file, routes]) => routes.map(({ operation }) => ({ operation, file })))
}

export type State = { served: true; file: string; missing?: string } | { served: false }

/** How far an operation of the public contract is served. */
export function stateOf(operation: PublicOperation, served: readonly ServedOperation[]): State {
  const found = served.find(({ operation: { method, path } }) => isSame(operation, method, path))
  if (found === undefined) return { served: false }
  const lacking = missing[operation.id]
  return { served: true, file: found.file, ...(lacking !== undefined && { missing: lacking }) }
}

function isSame(operation: PublicOperation, method: string, path: string): boolean {
  return method === operation.method && sameShape(path, operation.path)
}

/** Parameters may have other names. */
function sameShape(a: string, b: string): boolean {
  const shape = (path: string) => path.replaceAll(/\{\w+\}/g, '{}')
  return shape(a) === shape(b)
}

/** `docs/compatibility.md`: every operation of the public contract with its state, and what is served beyond it. */
export function describeCompatibility(operations: readonly ServedOperation[]): string {
  const states = publicOperations.map((operation) => ({ operation, state: stateOf(operation, operations) }))
  const served = states.filter(({ state }) => state.served).length
  const partly = states.filter(({ state }) => state.served && state.missing !== undefined).length
  const areas = [...new Set(publicOperations.map(({ area }) => area))]
  const beyond = operations.filter(
    ({ operation: { method, path } }) => !publicOperations.some((known) => isSame(known, method, path)),
  )
  return [
    '# Compatibility',
    '',
    'Made from the declarations in `contract/` by `npm run docs:compatibility`; do not edit by hand. The last column links the',
    'file whose handler serves the operation; the handler names the rule, which stands in the same folder.',
    '',
    `Of the ${publicOperations.length} operations of the public v3 contract, **${served} are served**, ${partly} of them partly.`,
    '',
    ...areas.flatMap((area) => areaTable(area, states)),
    '## Beyond the public contract',
    '',
    'What front ends call with their token, and what else is served.',
    '',
    '| operation | id | file |',
    '|---|---|---|',
    ...beyond.map(({ operation: { method, path, id }, file }) => `| \`${method} ${path}\` | ${id} | ${link(file)} |`),
    '',
  ].join('\n')
}

function areaTable(area: string, states: ReadonlyArray<{ operation: PublicOperation; state: State }>): string[] {
  const own = states.filter(({ operation }) => operation.area === area)
  const count = own.filter(({ state }) => state.served).length
  return [
    `## ${area} (${count} of ${own.length})`,
    '',
    '| operation | id | state | file |',
    '|---|---|---|---|',
    ...own.map(
      ({ operation, state }) =>
        `| \`${operation.method} ${operation.path}\` | ${operation.id} | ${words(state)} | ${state.served ? link(state.file) : ''} |`,
    ),
    '',
  ]
}

function words(state: State): string {
  if (!state.served) return 'not yet'
  return state.missing === undefined ? 'served' : `partly: ${state.missing}`
}

/** The handlers of a file are a few lines each, and name the rule that they call. */
function link(file: string): string {
  const name = file.replace(/^areas\//, '').replace(/\/operations\.ts$/, '')
  return `[${name}](../server/src/${file})`
}
