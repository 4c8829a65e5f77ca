/**
 * Makes what is released, in `release/`: `npm run -s pack`. The service as `parley-<version>.tgz`, with all pages built; the
 * libraries as `parley-client-<version>.tgz` and `parley-react-<version>.tgz`; and `parley-<version>.cdx.json`, which lists what the
 * service is made of. Each is put together in a folder of its own, since npm leaves out bundled packages of a workspace.
 */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { bundle, served } from './bundle.mjs'
import { addEmbedded } from './sbom.mjs'

const repository = join(import.meta.dirname, '..')
const release = join(repository, 'release')
const stages = join(release, 'stages')
const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc')

const product = read('package.json')
const lock = read('package-lock.json').packages
const common = { ...pick(product, ['version', 'license', 'engines', 'type']), ...repositoryOfRun() }

/** What of the repository is in the package of the service, beside the service itself. */
const { service: ofService } = read('tools/packed.json')

requireOneVersion()
await build()
rmSync(release, { recursive: true, force: true })
mkdirSync(stages, { recursive: true })
const service = await stageService()
for (const stage of [service, stageLibrary('client'), stageLibrary('react')]) pack(stage)
writeMaterials(service)
rmSync(stages, { recursive: true })

/** The version stands in the first package.json; the others only repeat it, since npm wants one in each. */
function requireOneVersion() {
  for (const workspace of product.workspaces) {
    const { version, dependencies = {}, devDependencies = {} } = read(`${workspace}/package.json`)
    const ours = Object.entries({ ...dependencies, ...devDependencies }).filter(([name]) => name.startsWith('@parley/'))
    for (const [what, found] of [[workspace, version], ...ours]) {
      if (found === product.version) continue
      fail(`${workspace}/package.json: the version of ${what} is ${found}, that of the product is ${product.version}`)
    }
  }
}

/** A provenance is only accepted for a package that names the repository it was built in. */
function repositoryOfRun() {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: name } = process.env
  return server && name ? { repository: { type: 'git', url: `git+${server}/${name}.git` } } : {}
}

async function build() {
  run(process.execPath, ['tools/build.mjs'])
  run(process.execPath, [compiler, '-p', 'react/tsconfig.build.json'])
  run(process.execPath, [compiler, '-b', 'contract', 'client', 'react', 'server'])
  const log = { info() {}, debug() {}, warn: ({ page, cause }, text) => fail(`${page}: ${text}: ${cause}`) }
  const { createConsoleBundle } = await import('../server/dist/http/console-bundle.js')
  const { createDemoBundle } = await import('../server/dist/http/demo-bundle.js')
  for (const bundle of [createConsoleBundle(log), createDemoBundle(log)]) {
    if ((await bundle.files()) === undefined)
      fail('a page cannot be built: run npm ci, with the packages of development')
  }
}

/** The service stands in its package as it does in the repository, so that it finds its pages and documents in the same places. */
async function stageService() {
  const stage = stageOf('parley')
  const service = read('server/package.json')
  for (const place of ofService) copy(place, join(stage, place))
  const needed = await bundle(join(stage, 'server/dist'), served)
  const unknown = needed.filter((name) => !Object.hasOwn(service.dependencies, name))
  if (unknown.length > 0)
    fail(`server/package.json: the service loads ${unknown.join(', ')}, on which it does not depend`)
  const contract = join(stage, 'node_modules/@parley/contract')
  for (const place of ['dist', 'types']) copy(`contract/${place}`, join(contract, place))
  write(join(contract, 'package.json'), {
    ...pick(read('contract/package.json'), ['name', 'dependencies']),
    ...common,
    exports: exportsOf('contract'),
  })
  write(join(stage, 'package.json'), {
    ...pick(product, ['name', 'description']),
    ...common,
    bin: { parley: 'server/bin/parley.js' },
    exports: {
      './emulators': below('./server', exportsOf('server')['./emulators']),
      './package.json': './package.json',
    },
    dependencies: exactly(service.dependencies, 'server'),
    optionalDependencies: service.optionalDependencies,
    bundleDependencies: ['@parley/contract'],
  })
  return stage
}

function stageLibrary(workspace) {
  const stage = stageOf(workspace)
  const library = read(`${workspace}/package.json`)
  for (const place of library.files.filter((file) => !file.startsWith('!')))
    copy(`${workspace}/${place}`, join(stage, place))
  rmSync(join(stage, 'dist/demo'), { recursive: true, force: true })
  rmSync(join(stage, 'types/demo'), { recursive: true, force: true })
  copy(`docs/${workspace}.md`, join(stage, 'README.md'))
  write(join(stage, 'package.json'), {
    ...pick(library, ['name', 'description', 'sideEffects', 'main', 'types', 'dependencies', 'peerDependencies']),
    ...common,
    exports: exportsOf(workspace),
  })
  return stage
}

function stageOf(name) {
  const stage = join(stages, name)
  for (const file of ['LICENSE', 'NOTICE', 'CHANGELOG.md']) copy(file, join(stage, file))
  return stage
}

/** The conditions that lead to what is built; sources are not packed. */
function exportsOf(workspace) {
  return Object.fromEntries(
    Object.entries(read(`${workspace}/package.json`).exports).map(([name, target]) => {
      if (typeof target === 'string') return [name, target]
      const { source: _source, ...others } = target
      return [name, others]
    }),
  )
}

function below(folder, conditions) {
  return Object.fromEntries(Object.entries(conditions).map(([name, target]) => [name, target.replace('.', folder)]))
}

/** The versions that were tested, not those that have come since. */
function exactly(dependencies, workspace) {
  return Object.fromEntries(
    Object.keys(dependencies).map((name) => {
      const found = lock[`${workspace}/node_modules/${name}`] ?? lock[`node_modules/${name}`]
      return [name, found.link ? product.version : found.version]
    }),
  )
}

/** Copies without what only the repository has a use for: maps lead to sources, stamps say what was built. */
function copy(from, to) {
  const isKept = (file) =>
    !/\.map$|\.tsbuildinfo$|\/(contract|client|server)\/dist\/\.built$|\/types\/test$|\/deploy\/(secrets|\.env)$/.test(
      file,
    )
  cpSync(join(repository, from), to, { recursive: true, filter: isKept })
}

/** npm knows what it packs better than any list of ours. */
function pack(stage) {
  npm(stage, ['pack', '--silent', '--ignore-scripts', '--pack-destination', release])
}

/**
 * Lists what the package is made of, at the versions of our lock file. It holds those of all workspaces; npm leaves those that the package does
 * not depend on.
 */
function writeMaterials(stage) {
  const packages = Object.entries(lock).filter(([place, { link }]) => place.startsWith('node_modules/') && !link)
  const manifest = { ...JSON.parse(readFileSync(join(stage, 'package.json'), 'utf8')), ...pick(product, ['overrides']) }
  const { dependencies } = read('contract/package.json')
  const contract = { version: product.version, license: product.license, inBundle: true, dependencies }
  const folder = join(stages, 'materials', product.name)
  write(join(folder, 'package.json'), manifest)
  write(join(folder, 'package-lock.json'), {
    ...{ name: product.name, version: product.version, lockfileVersion: 3, requires: true },
    packages: { '': manifest, 'node_modules/@parley/contract': contract, ...Object.fromEntries(packages) },
  })
  npm(folder, ['install', '--silent', '--package-lock-only', '--ignore-scripts', '--prefer-offline'])
  const bill = JSON.parse(npm(folder, ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only', '--omit', 'dev']))
  write(join(release, `parley-${product.version}.cdx.json`), addEmbedded(bill))
}

function npm(cwd, args) {
  return execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'], maxBuffer: 1e8 })
}

function run(program, args) {
  execFileSync(program, args, { cwd: repository, stdio: 'inherit' })
}

function read(file) {
  return JSON.parse(readFileSync(join(repository, file), 'utf8'))
}

function write(file, value) {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`)
}

function pick(object, names) {
  return Object.fromEntries(names.filter((name) => name in object).map((name) => [name, object[name]]))
}

function fail(message) {
  console.error(message)
  process.exit(1)
}
