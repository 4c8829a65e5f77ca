import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { getPriority } from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect } from 'vitest'
import { lowerDatabaseProcess } from '../../src/store/priority.ts'
import { fileAt, itWith, onLinux } from '../gate/needs.ts'
import { commandScript, ensureBuilt } from '../support/build.ts'
import { soon, until } from '../support/until.ts'

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

const sessionOf = (processId: number) => {
  const [, niceness] = /nice (-?\d+)/.exec(readFileSync(`/proc/${processId}/autogroup`, 'utf8')) ?? []
  return Number(niceness)
}

itWith(
  fileAt('/proc/self/autogroup'),
  'A process of the database gives way with its session, where it is one of its own; others of a session do not give way',
  async () => {
    const own = sessionOf(process.pid)
    const start = (detached: boolean) =>
      spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { detached, stdio: 'ignore' })
    const [alone, among] = [start(true), start(false)]
    try {
      await Promise.all([once(alone, 'spawn'), once(among, 'spawn')])
      const [processId, neighbour] = [alone.pid as number, among.pid as number]
      await until(() => isSessionOfItsOwn(processId))
      expect(lowerDatabaseProcess(neighbour)).toBe(true)
      expect(lowerDatabaseProcess(processId)).toBe(true)
      expect(getPriority(processId)).toBe(5)
      // Without special rights, one session may be changed in a while.
      await soon(() => expect(sessionOf(processId)).toBe(5))
      expect(getPriority(neighbour)).toBe(5)
      expect(sessionOf(neighbour)).toBe(own)
    } finally {
      alone.kill('SIGKILL')
      among.kill('SIGKILL')
    }
  },
)

function isSessionOfItsOwn(processId: number): boolean {
  return readFileSync(`/proc/${processId}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[3] === String(processId)
}
