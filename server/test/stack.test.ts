import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, it } from 'vitest'
import { inSources } from '../src/stack.ts'
import { commandScript, ensureBuilt } from './support/build.ts'

const repository = path.join(import.meta.dirname, '../..')

it('An error in what was built is logged with its places in the sources', () => {
  ensureBuilt()
  const engine = pathToFileURL(path.join(path.dirname(commandScript), '../chat/moderation/engine/engine.js')).href
  const program = `
    import { compileEngine } from '${engine}'
    await Promise.resolve().then(() => compileEngine(undefined)).catch(({ stack }) => console.log(stack))`
  const stack = execFileSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' })
  expect(stack).toContain('/server/dist/')

  const told = inSources(stack)
  expect(told).not.toContain('/server/dist/')
  const [, file = '', line = ''] =
    /at (?:async )?compileEngine \((server\/src\/[\w/-]+\.ts):(\d+):\d+\)/.exec(told) ?? []
  const lines = readFileSync(path.join(repository, file), 'utf8').split('\n')
  const begin = lines.findIndex((text) => text.includes('function compileEngine('))
  expect(Number(line)).toBeGreaterThan(begin)
  expect(Number(line)).toBeLessThan(begin + 40)
})

it('A stack without a map stays as it is', () => {
  const stack = 'Error: no\n    at work (file:///nowhere/server/dist/main.js:1:2)\n    at node:internal/process:3:4'
  expect(inSources(stack)).toBe(stack)
})
