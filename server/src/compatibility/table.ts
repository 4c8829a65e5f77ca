import { type Operation, type PublicOperation, publicOperations } from '@parley/contract'

/** What is missing from operations that are served, but not wholly, by operation id. Empty an entry when it is done. */
export const missing: Readonly<Record<string, string>> = {}

export type State = { served: true; missing?: string } | { served: false }

/** How far an operation of the public contract is served. */
export function stateOf(operation: PublicOperation, declared: readonly Operation[]): State {
  const served = declared.some(({ method, path }) => method === operation.method && sameShape(path, operation.path))
  if (!served) return { served }
  const lacking = missing[operation.id]
  return { served, ...(lacking !== undefined && { missing: lacking }) }
}

/** Parameters may have other names. */
function sameShape(a: string, b: string): boolean {
  const shape = (path: string) => path.replaceAll(/\{\w+\}/g, '{}')
  return shape(a) === shape(b)
}

/** `docs/compatibility.md`: every operation of the public contract with its state, and what is served beyond it. */
export function describeCompatibility(declared: readonly Operation[]): string {
  const states = publicOperations.map((operation) => ({ operation, state: stateOf(operation, declared) }))
  const served = states.filter(({ state }) => state.served).length
  const partly = states.filter(({ state }) => state.served && state.missing !== undefined).length
  const areas = [...new Set(publicOperations.map(({ area }) => area))]
  const beyond = declared.filter(
    ({ method, path }) => !publicOperations.some((known) => known.method === method && sameShape(known.path, path)),
  )
  return [
    '# Compatibility',
    '',
    'Made from the declarations in `contract/` by `npm run docs:compatibility`; do not edit by hand.',
    '',
    `Of the ${publicOperations.length} operations of the public v3 contract, **${served} are served**, ${partly} of them partly.`,
    '',
    ...areas.flatMap((area) => areaTable(area, states)),
    '## Beyond the public contract',
    '',
    'What front ends call with their token, and what else is served.',
    '',
    '| operation | id |',
    '|---|---|',
    ...beyond.map(({ method, path, id }) => `| \`${method} ${path}\` | ${id} |`),
    '',
  ].join('\n')
}

function areaTable(area: string, states: ReadonlyArray<{ operation: PublicOperation; state: State }>): string[] {
  const own = states.filter(({ operation }) => operation.area === area)
  const count = own.filter(({ state }) => state.served).length
  return [
    `## ${area} (${count} of ${own.length})`,
    '',
    '| operation | id | state |',
    '|---|---|---|',
    ...own.map(
      ({ operation, state }) => `| \`${operation.method} ${operation.path}\` | ${operation.id} | ${words(state)} |`,
    ),
    '',
  ]
}

function words(state: State): string {
  if (!state.served) return 'not yet'
  return state.missing === undefined ? 'served' : `partly: ${state.missing}`
}
