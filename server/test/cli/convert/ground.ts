import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { convertCommand } from '../../../src/cli/convert/run.ts'
import { importCommand, systemClock } from '../../../src/cli/import/run.ts'
import { dataOf } from '../../support/chat.ts'
import { createWorld, type World } from '../../support/world.ts'
import { runCommand } from '../command.ts'
import { collect } from '../import-world.ts'

type Source = 'slack' | 'mattermost' | 'rocketchat'

/** A folder with an export, and what is made of it. */
export interface Ground {
  readonly folder: string
  /** Writes a file of the export: text and bytes as they are, anything else as JSON. */
  put(name: string, content: unknown): Promise<void>
  /** Puts a link to something else, by its path from the folder, in place of what is there. */
  link(name: string, to: string): Promise<void>
  /** Runs `parley convert` on it. */
  convert(source: Source, ...args: string[]): Promise<{ code: number; out: string; err: string }>
  /** The records of a file of the output. */
  // biome-ignore lint/suspicious/noExplicitAny: each record is compared where it is read
  records(kind: string): Promise<any[]>
  /** How often each reason is in the report. */
  reasons(): Promise<Record<string, number>>
  readonly output: string
}

export async function createGround(): Promise<Ground> {
  const parent = await mkdtemp(path.join(os.tmpdir(), 'parley-convert-'))
  onTestFinished(() => rm(parent, { recursive: true }))
  const folder = path.join(parent, 'export')
  const output = path.join(parent, 'import')
  await mkdir(folder)
  return {
    folder,
    output,
    async put(name, content) {
      const file = path.join(folder, name)
      await mkdir(path.dirname(file), { recursive: true })
      const isRaw = typeof content === 'string' || content instanceof Uint8Array
      await writeFile(file, isRaw ? content : JSON.stringify(content))
    },
    async link(name, to) {
      const place = path.join(folder, name)
      await rm(place, { recursive: true, force: true })
      await symlink(path.join(folder, to), place)
    },
    convert: (source, ...args) => runCommand(convertCommand, [source, folder, '--into', output, ...args], {}),
    async records(kind) {
      const text = await readFile(path.join(output, `${kind}.ndjson`), 'utf8')
      return text
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line))
    },
    async reasons() {
      const { reasons } = JSON.parse(await readFile(path.join(output, 'report.json'), 'utf8'))
      return Object.fromEntries(reasons.map(({ code, count }: { code: string; count: number }) => [code, count]))
    },
  }
}

/** Imports what was made into an app of its own; nothing may be refused. */
export async function imported({ output }: Ground): Promise<World> {
  const world = await createWorld()
  const [stdout, stderr] = [collect(), collect()]
  const code = await importCommand([output, '--app', world.app.name], {
    stdout,
    stderr,
    env: { PARLEY_URL: world.url, PARLEY_API_KEY: world.apiKey },
    cwd: output,
    signal: new AbortController().signal,
    clock: systemClock,
  })
  expect([code, stderr.text()], stdout.text()).toEqual([0, expect.any(String)])
  return world
}

/** All that was said in a place but for replies, oldest first. */
export async function saidIn(world: World, path: string, as: string) {
  return dataOf(await world.get(`${path}/messages?limit=100&hideReplies=true`, { as }))
}
