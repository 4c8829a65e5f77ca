/**
 * What `npm test` leaves out, once; then races, faults, several processes and the model, many times, each time with seeds of
 * its own and without a second try: `npm run test:long -- [--rounds 20] [part of a path ...]`. With a path it runs that, and
 * nothing else. It goes on after a failure, and names each at the end. The models
 * draw 20 worlds a round, or as many as MODEL_RUNS says.
 */
import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

const repository = join(import.meta.dirname, '../../..')
const vitest = join(repository, 'node_modules/vitest/vitest.mjs')
const strictPaths = JSON.parse(readFileSync(join(import.meta.dirname, 'strict.json'), 'utf8'))

const { values, positionals } = parseArgs({
  options: { rounds: { type: 'string', default: '20' } },
  allowPositionals: true,
})
if (!/^[1-9]\d{0,5}$/.test(values.rounds)) {
  console.error(`--rounds must be a number from 1; it is "${values.rounds}"`)
  process.exit(2)
}
const rounds = Number(values.rounds)
const paths = positionals.length > 0 ? positionals : strictPaths

const folder = await mkdtemp(join(tmpdir(), 'parley-long-'))
const failures = []
let restPassed = true
let broken = 0
if (positionals.length === 0) {
  console.log('What npm test leaves out')
  const report = join(folder, 'rest.json')
  restPassed = (await runOnce(['--config', 'vitest.rest.config.ts'], {}, report)) === 0
  if (!restPassed) failures.push(...(await failuresOf(report)).map((name) => `the rest: ${name}`))
}
for (let round = 1; round <= rounds; round++) {
  console.log(`\nRound ${round} of ${rounds}`)
  const report = join(folder, `${round}.json`)
  // On a build server, too, where a model test else always has the same one.
  const seed = String(randomInt(2 ** 31))
  const code = await runOnce(paths, { MODEL_RUNS: '20', MODEL_SEED: seed, LONG: '1' }, report)
  if (code === 0) continue
  broken++
  failures.push(...(await failuresOf(report)).map((name) => `round ${round}: ${name}`))
}
await rm(folder, { recursive: true })

console.log(`\n${rounds - broken} of ${rounds} rounds passed.`)
for (const failure of failures) console.log(`   ${failure}`)
process.exitCode = restPassed && broken === 0 ? 0 : 1

async function runOnce(what, settings, report) {
  const child = spawn(
    process.execPath,
    [vitest, ...['run', '--retry=0', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`], ...what],
    { cwd: repository, stdio: 'inherit', env: { ...settings, ...process.env } },
  )
  const [code] = await once(child, 'exit')
  return code
}

async function failuresOf(report) {
  const text = await readFile(report, 'utf8').catch(() => undefined)
  if (text === undefined) return ['the run ended without a report']
  return JSON.parse(text).testResults.flatMap(({ name, status, message, assertionResults }) => {
    const failed = assertionResults.filter((test) => test.status === 'failed').map((test) => test.fullName)
    return failed.length > 0 || status === 'passed' ? failed : [`${name}: ${message}`]
  })
}
