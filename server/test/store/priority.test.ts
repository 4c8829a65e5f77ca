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
