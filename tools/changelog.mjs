/**
 * Prints what CHANGELOG.md says about a version: `node tools/changelog.mjs 0.1.0`. Fails where that is not the version of the product, or
 * has no section.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const repository = join(import.meta.dirname, '..')
const read = (file) => readFileSync(join(repository, file), 'utf8')

const [wanted] = process.argv.slice(2)
const { version } = JSON.parse(read('package.json'))
if (wanted !== version) fail(`the version of the product is ${version}, not ${wanted}`)
const section = read('CHANGELOG.md')
  .split(/^## /m)
  .find((text) => text.startsWith(`[${version}]`))
if (section === undefined) fail(`CHANGELOG.md has no section for ${version}`)
const [, ...lines] = section.split('\n')
console.log(lines.join('\n').trim())

function fail(message) {
  console.error(message)
  process.exit(1)
}
