import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type pg from 'pg'

/** The service under test: the built one, in a process of its own, on an embedded database of its own. */
export interface Service {
  readonly pid: number
  readonly port: number
  readonly apiKey: string
  /** The process of PostgreSQL whose children are its connections. */
  readonly postgresPid: number
  /** Where its embedded database answers. */
  readonly database: pg.ClientConfig
  /** Stops it; removes its data too, unless it is to be started again. */
  stop(): Promise<void>
}

/** As `npm start` starts it: what lives as long as a request need not be cleaned up with what stays. */
const startFlags = ['--max-semi-space-size=32']
const thisCheckout = fileURLToPath(new URL('../..', import.meta.url))
const startTimeoutMs = 60_000
const stopTimeoutMs = 20_000

export interface ServiceOptions {
  /** Where the service leaves a CPU profile when it stops; none without it. */
  readonly profileDir?: string | undefined
  /** Where its data are, and stay for the next run; a temporary folder without it. */
  readonly keptIn?: string | undefined
  /** Settings besides. */
  readonly env?: Readonly<Record<string, string>>
}

export interface DeploymentOptions extends ServiceOptions {
  /** The checkout whose built service it is; this one without it. */
  readonly checkout?: string
}

/** A service that can be stopped and started again on the same data. */
export interface Deployment {
  /** @param env settings of this start alone */
  start(env?: Readonly<Record<string, string>>): Promise<Service>
  /** Removes the data, once it is stopped. */
  remove(): void
}

/** Starts a service whose data are removed when it stops. */
export async function startService(options: ServiceOptions = {}): Promise<Service> {
  const deployment = createDeployment(options)
  try {
    const service = await deployment.start()
    return { ...service, stop: () => service.stop().finally(deployment.remove) }
  } catch (error) {
    deployment.remove()
    throw error
  }
}

export function createDeployment(options: DeploymentOptions = {}): Deployment {
  const { checkout = thisCheckout, profileDir, keptIn, env } = options
  const folder = keptIn === undefined ? mkdtempSync(join(tmpdir(), 'parley-bench-')) : resolve(keptIn)
  mkdirSync(folder, { recursive: true })
  // Run by root, PostgreSQL works as another user and must get through; else its data would go elsewhere and stay there.
  chmodSync(folder, 0o711)
  const folders = new Set([folder])
  const apiKey = keptIn === undefined ? createKey() : readKeptKey(folder)
  const main = join(checkout, 'server/dist/main.js')
  const flags = [...startFlags, ...(profileDir === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profileDir}`])]
  if (profileDir !== undefined) mkdirSync(profileDir, { recursive: true })

  return {
    async start(more) {
      const port = await findFreePort()
      const logFile = join(folder, 'service.log')
      const log = openSync(logFile, 'w')
      const child = spawn(process.execPath, [...flags, main], {
        cwd: folder,
        stdio: ['ignore', log, log],
        env: {
          PATH: process.env.PATH,
          HOST: '127.0.0.1',
          PORT: String(port),
          DATA_DIR: join(folder, 'data'),
          LOG_LEVEL: 'info',
          PARLEY_API_KEY: apiKey,
          // Load comes from few users and one address.
          RATE_LIMITS: 'off',
          ...env,
          ...more,
        },
      })
      closeSync(log)
      const stop = () => stopProcess(child)
      try {
        await whenReady(child, logFile)
        const { home, ...database } = await readDatabase(logFile)
        // Elsewhere when the folder is out of the reach of PostgreSQL's user.
        folders.add(home)
        return { pid: child.pid as number, port, apiKey: more?.PARLEY_API_KEY ?? apiKey, ...database, stop }
      } catch (error) {
        const lines = readFileSync(logFile, 'utf8').trim().split('\n').slice(-15).join('\n')
        await stop()
        throw new Error(`${(error as Error).message}\n${lines}`)
      }
    },
    remove() {
      if (keptIn !== undefined) return
      for (const path of folders) rmSync(path, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
    },
  }
}

function createKey(): string {
  return randomBytes(20).toString('hex')
}

/** Data that are kept know the key that they were made with. */
function readKeptKey(folder: string): string {
  const file = join(folder, 'api-key')
  if (!existsSync(file)) writeFileSync(file, createKey(), { mode: 0o600 })
  return readFileSync(file, 'utf8')
}

async function whenReady(child: ChildProcess, logFile: string): Promise<void> {
  const deadline = Date.now() + startTimeoutMs
  for (;;) {
    // Said once it listens; over TLS with a certificate of its own nobody else would believe it.
    if (readFileSync(logFile, 'utf8').includes('Parley is running')) return
    if (child.exitCode !== null) throw new Error(`The service ended with exit code ${child.exitCode}:`)
    if (Date.now() > deadline) throw new Error('The service did not become ready in time:')
    await delay(50)
  }
}

/** The service says in its log, a moment later, where its database is; the password is beside the cluster, in its home. */
async function readDatabase(logFile: string): Promise<Pick<Service, 'database' | 'postgresPid'> & { home: string }> {
  const deadline = Date.now() + startTimeoutMs
  const find = () =>
    readFileSync(logFile, 'utf8')
      .split('\n')
      .slice(0, -1)
      .find((text) => text.includes('the embedded PostgreSQL is running'))
  let line = find()
  while (line === undefined && Date.now() < deadline) {
    await delay(50)
    line = find()
  }
  if (line === undefined) throw new Error('The service did not say where its database is:')
  const { pid, cluster, host, port } = JSON.parse(line) as { pid: number; cluster: string; host: string; port: number }
  const home = dirname(cluster)
  const password = readFileSync(join(home, 'postgres-password'), 'utf8').trim()
  return { postgresPid: pid, database: { host, port, user: 'parley', database: 'parley', password }, home }
}

async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  const inTime = await Promise.race([exited.then(() => true), delay(stopTimeoutMs, false, { ref: false })])
  if (inTime) return
  child.kill('SIGKILL')
  await exited
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  if (address === null || typeof address === 'string') throw new Error('no free port')
  return address.port
}
