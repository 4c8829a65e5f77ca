/** Sets the version of the product everywhere: `node tools/version.mjs 0.2.0`. Its section in CHANGELOG.md is written by hand. */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const repository = join(import.meta.dirname, '..')
const [version = ''] = process.argv.slice(2)
if (!/^\d+\.\d+\.\d+(-[a-z0-9.]+)?$/.test(version)) {
  console.error(`a version is three numbers, such as 0.2.0; it is "${version}"`)
  process.exit(2)
}

const { workspaces } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8'))
for (const folder of ['.', ...workspaces]) {
  const file = join(repository, folder, 'package.json')
  const text = readFileSync(file, 'utf8')
    .replace(/^( {2}"version": )"[^"]*"/m, `$1"${version}"`)
    .replace(/("@parley\/\w+": )"[^"]*"/g, `$1"${version}"`)
  writeFileSync(file, text)
}
const manifests = join(repository, 'deploy/kubernetes/parley.yaml')
const image = /^( +image: \S+:)\S+$/m
writeFileSync(manifests, readFileSync(manifests, 'utf8').replace(image, `$1${version}`))
execFileSync('npm', ['install', '--package-lock-only', '--ignore-scripts', '--silent'], {
  cwd: repository,
  stdio: 'inherit',
})
