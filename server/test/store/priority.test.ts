import { execFileSync } from 'node:child_process'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect } from 'vitest'
import { itWith, onLinux } from '../gate/needs.ts'
import { commandScript, ensureBuilt } from '../support/build.ts'

const priority = pathToFileURL(path.join(path.dirname(commandScript), '../store/priority.js')).href

/** Tells of each of its threads how much it gives way. */
const program = `
  import { readdirSync, readFileSync } from 'node:fs'
  import { readFile } from 'node:fs/promises'
  import { lowerOwnPriority } from '${priority}'
  // By now there are threads that read files.
  await readFile('/proc/self/stat')
  lowerOwnPriority()
  const nicenessOf = (task) => readFileSync('/proc/self/task/' + task + '/stat', 'utf8').split(') ').at(-1).split(' ')[16]
  console.log(readdirSync('/proc/self/task').map(nicenessOf).join(' '))`

itWith(
  onLinux,
  'A command that has time gives way with all of its threads, those that pack and read files among them',
  () => {
    ensureBuilt()
    const said = execFileSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' })
    const all = said.trim().split(' ').map(Number)
    expect(all.length).toBeGreaterThan(4)
    expect(all.filter((niceness) => niceness < 10)).toEqual([])
  },
)

/** A thread gives way; how much each of the process does. */
const threadProgram = `
  import { readdirSync, readFileSync } from 'node:fs'
  import { once } from 'node:events'
  import { Worker } from 'node:worker_threads'
  const source = "import { parentPort } from 'node:worker_threads'; import { lowerThreadPriority } from '${priority}'; parentPort.postMessage(lowerThreadPriority()); setInterval(() => {}, 1000)"
  const thread = new Worker(source, { eval: true })
  const [lowered] = await once(thread, 'message')
  const nicenessOf = (task) => readFileSync('/proc/self/task/' + task + '/stat', 'utf8').split(') ').at(-1).split(' ')[16]
  console.log(lowered, readdirSync('/proc/self/task').map(nicenessOf).join(' '))
  process.exit()`

itWith(onLinux, 'A thread that gives way does so alone: the others of its process go on as before', () => {
  ensureBuilt()
  const said = execFileSync(process.execPath, ['--input-type=module', '-e', threadProgram], { encoding: 'utf8' })
  const [thread, ...all] = said.trim().split(' ')
  expect(Number(thread)).toBeGreaterThan(0)
  expect(all.filter((niceness) => niceness === '5')).toHaveLength(1)
  expect(all.filter((niceness) => niceness === '0')).toHaveLength(all.length - 1)
})
