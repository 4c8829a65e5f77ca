import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { findServersOf, signalIfThere } from '../../../src/store/embedded/processes.ts'

/** The folder of a data folder's database. */
export function clusterOf(dataDir: string): string {
  return join(dataDir, 'postgres')
}

/** The first process of a running database, and where it listens, from the file that PostgreSQL keeps of itself. */
export function readPostmaster(dataDir: string): { pid: number; port: number; socketFolder: string } | undefined {
  try {
    const [pid, , , port, socketFolder = ''] = readFileSync(join(clusterOf(dataDir), 'postmaster.pid'), 'utf8').split(
      '\n',
    )
    return { pid: Number(pid), port: Number(port), socketFolder }
  } catch {
    return undefined
  }
}

/** Opens a connection to the embedded database of a running service, to look at what is stored; the caller ends it. */
export async function connectToDatabase(dataDir: string): Promise<pg.Client> {
  const postmaster = readPostmaster(dataDir)
  if (postmaster === undefined) throw new Error(`no database runs in ${dataDir}`)
  const client = new pg.Client({
    host: postmaster.socketFolder,
    port: postmaster.port,
    user: 'parley',
    database: 'parley',
    password: readFileSync(join(dataDir, 'postgres-password'), 'utf8').trim(),
    ssl: false,
  })
  client.on('error', () => {})
  await client.connect()
  return client
}

/** Kills a database's first process alone: its backends live on without it for a moment. */
export function killPostmaster(dataDir: string): void {
  const postmaster = readPostmaster(dataDir)
  if (postmaster !== undefined) signalIfThere(postmaster.pid, 'SIGKILL')
}

/** Sends a signal to every process of a database, its first process included. @returns how many there were */
export function signalDatabase(dataDir: string, signal: NodeJS.Signals): number {
  const servers = findServersOf(clusterOf(dataDir))
  for (const { pid } of servers) signalIfThere(pid, signal)
  return servers.length
}

/**
 * How the database in a folder was left: `shut down` needs no recovery at the next start. Read from the file in which
 * PostgreSQL notes it (ControlFileData: after the system's id and two version numbers).
 */
export function stateOfCluster(dataDir: string): 'shut down' | 'in production' | number {
  const state = readFileSync(join(clusterOf(dataDir), 'global/pg_control')).readInt32LE(16)
  if (state === 1) return 'shut down'
  return state === 6 ? 'in production' : state
}
