import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, realpathSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import pg from 'pg'
import type { EmbeddedLog } from '../../../src/store/embedded/index.ts'
import { findServersOf, pidExists, readStat } from '../../../src/store/embedded/processes.ts'

const serverFolder = join(import.meta.dirname, '../../..')
const built = join(serverFolder, 'dist/store/embedded')

export type Connection = { host: string; port: number; user: string; password: string; database: string }

/** Temporary folders, processes and connections of one test file; `clean` ends and removes them all. */
export function createBench() {
  const folders: string[] = []
  const children: ChildProcess[] = []
  const clients: pg.Client[] = []
  return {
    /** A new empty folder, 0700 as mktemp -d makes it. */
    makeFolder(): string {
      const folder = mkdtempSync(join(realpathSync(tmpdir()), 'parley-embedded-'))
      folders.push(folder)
      return folder
    },
    async connect(connection: Connection): Promise<pg.Client> {
      const client = new pg.Client({ ...connection, ssl: false })
      // A test that ends the server hears of it from the query it was waiting for.
      client.on('error', () => {})
      clients.push(client)
      await client.connect()
      return client
    },
    /** Runs a program as the user who owns a folder, in a folder of no importance. */
    runAsOwnerOf(folder: string, program: string, ...args: string[]): ChildProcess {
      const { uid, gid } = statSync(folder)
      const child = spawn(program, args, { uid, gid, cwd: '/', stdio: 'ignore' })
      children.push(child)
      return child
    },
    runService: (script: string, ...args: string[]) => runService(children, script, args),
    async clean(): Promise<void> {
      for (const child of children) await kill(child)
      await Promise.all(clients.map((client) => client.end()))
      for (const folder of folders) {
        for (const cluster of findClusters(folder)) {
          for (const { pid } of findServersOf(cluster)) process.kill(pid, 'SIGKILL')
        }
        rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
      }
    },
  }
}

export interface Service {
  child: ChildProcess
  /** what the script printed first, as JSON */
  said: Record<string, unknown>
  /** what it prints next */
  next(): Promise<Record<string, unknown>>
}

export function run(program: string, args: string[]): string {
  const answer = spawnSync(program, args, { encoding: 'utf8' })
  if (answer.status !== 0) throw new Error(`${program} ${args.join(' ')}: ${answer.stderr}`)
  return answer.stdout
}

/** A log that can be asked what it was told. */
export function createLog(): EmbeddedLog & { lines: string[] } {
  const lines: string[] = []
  const note = (level: string) => (o: object | string, msg?: string) =>
    void lines.push(`${level} ${typeof o === 'string' ? o : JSON.stringify(o)} ${msg ?? ''}`)
  return { lines, info: note('info'), warn: note('warn'), error: note('error') }
}

export async function select(client: pg.Client, text: string): Promise<unknown> {
  const { rows } = await client.query({ text, rowMode: 'array' })
  return rows[0]?.[0]
}

export async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exit = once(child, 'exit')
  child.kill('SIGKILL')
  await exit
}

/** Whether a process has ended, be it that its parent has not asked for it yet. */
export function isGone(pid: number): boolean {
  return !pidExists(pid) || readStat(pid)?.state === 'Z'
}

/**
 * Runs a script in a process of its own and waits for the JSON it prints first. The script sees `args`, `log` (to standard
 * error), `say`, and `load('start')` for modules of the embedded database.
 */
async function runService(children: ChildProcess[], script: string, args: string[]): Promise<Service> {
  const frame = `
    const args = process.argv.slice(1)
    const load = (name) => import(${JSON.stringify(built)} + '/' + name + '.js')
    const say = (what) => console.log(JSON.stringify(what))
    const tell = (o, msg) => console.error(typeof o === 'string' ? o : JSON.stringify(o), msg ?? '')
    const log = { info: () => {}, warn: tell, error: tell }
    ${script}`
  const child = spawn(process.execPath, ['--input-type=module', '-e', frame, ...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  children.push(child)
  let complaints = ''
  child.stderr.on('data', (chunk) => {
    complaints += chunk
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const next = async () => {
    const { value, done } = await lines.next()
    if (done) throw new Error(`the script ended without a word: ${complaints}`)
    return JSON.parse(value) as Record<string, unknown>
  }
  return { child, said: await next(), next }
}

function findClusters(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path === 'PG_VERSION' || path.endsWith('postgres/PG_VERSION'))
    .map((path) => join(folder, path, '..'))
}
