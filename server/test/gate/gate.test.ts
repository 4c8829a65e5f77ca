import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, it } from 'vitest'

const vitest = join(import.meta.dirname, '../../../node_modules/vitest/vitest.mjs')
const config = join(import.meta.dirname, 'sample/vitest.config.ts')

/** What the gate says of the tests in `sample/`: which of them failed, and the lists at its end. */
async function runSample(environment: Record<string, string>) {
  const env = { PATH: process.env.PATH, NO_COLOR: '1', ...environment }
  const child = spawn(process.execPath, [vitest, 'run', '--config', config], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const said = await text(child.stdout)
  const list = (heading: string) => {
    const [, lines = ''] = new RegExp(`^ ${heading}:\\n((?: {3}.*\\n?)+)`, 'm').exec(said) ?? []
    return lines
      .trimEnd()
      .split('\n')
      .map((line) => line.trim())
  }
  const failed = [...said.matchAll(/^not ok \d+ - (.*?)(?: # time.*)?$/gm)].map(([, name]) => name).sort()
  return { failed, list }
}

/** Those that look for a race, by their path and by their name. */
const strict = ['races.sample.ts > has one try', 'shaky.sample.ts > two that come at the same time > have one try']

it('names what passed on a second try, what a failed hook kept from running, and what was skipped with the reason', async () => {
  const { failed, list } = await runSample({})
  expect(failed).toEqual(strict)
  expect(list('Passed only on a retry')).toEqual(['shaky.sample.ts > passes the second time'])
  expect(list('Not run, since a hook failed')).toEqual(['hooks.sample.ts: 1'])
  expect(list('Skipped')).toEqual([
    'shaky.sample.ts > wants a spoon [there is none here]',
    'shaky.sample.ts > wants a fork [there is none here]',
  ])
})

it('fails with CI=true for what a gate must have', async () => {
  const { failed, list } = await runSample({ CI: 'true' })
  expect(failed).toEqual([...strict, 'shaky.sample.ts > wants a fork'])
  expect(list('Skipped')).toEqual(['shaky.sample.ts > wants a spoon [there is none here]'])
})
