import { createServer } from 'node:net'
import { join } from 'node:path'
import { chooseAccount } from './account.ts'
import { type BinariesPackage, findPackage, prepareBinaries, removeOtherCopies } from './binaries.ts'
import { databaseName, prepareCluster } from './cluster.ts'
import { chooseLauncher } from './commands.ts'
import { chooseHome, makeDataDir, stateFolder } from './data-dir.ts'
import { clearLeftovers, stopWithPgCtl } from './leftovers.ts'
import { type FolderLock, lockFolder } from './lock.ts'
import type { EmbeddedLog } from './log.ts'
import { memoryOfMachine, sharedBuffers, warmStart } from './memory.ts'
import type { Connection, ServerSetup } from './postmaster.ts'
import { handOver } from './service-role.ts'
import { makeSocketFolder, type SocketFolder } from './socket-folder.ts'
import { type Supervised, socketFileOf, superviseServer } from './supervisor.ts'

export interface StartOptions {
  dataDir: string
  log: EmbeddedLog
  /** Settings of PostgreSQL that extend or override those given here. */
  settings?: Record<string, string>
  /** Whether the server shall end with this process where the system can do that. Default: yes. Tests say no. */
  deathSignal?: boolean
  /** Where PostgreSQL's programs come from. Default: the package for this platform. */
  source?: BinariesPackage
  /** Where clusters are kept whose data folder the user of PostgreSQL cannot reach. Default: /var/lib/parley. */
  stateFolder?: string
}

export interface Started {
  connection: Connection
  supervised: Supervised
  /** Stops the server and gives the data folder free. Repeated calls do no harm. */
  stop(): Promise<void>
}

const defaultPort = 5432

/** What differs from PostgreSQL's defaults, or is promised to be so. */
const defaultSettings = {
  // A process takes 60 at most.
  max_connections: '400',
  max_wal_size: '1GB',
  checkpoint_completion_target: '0.9',
  // New WAL segments are created while a commit waits for them: filling 16 MB with zeros would delay everyone.
  wal_init_zero: 'off',
  // Solid-state disks.
  random_page_cost: '1.1',
  autovacuum: 'on',
  // Young tables grow fast, and the planner goes by what it knew of them when they were empty.
  autovacuum_naptime: '5s',
  fsync: 'on',
  full_page_writes: 'on',
  synchronous_commit: 'on',
  // Statements may quote what users wrote.
  log_min_error_statement: 'panic',
}

/** Everything between a data folder and a server that takes connections. What it took is given back when a step fails. */
export async function startInDataDir(options: StartOptions): Promise<Started> {
  const { log } = options
  const source = options.source ?? findPackage()
  const dataDir = makeDataDir(options.dataDir)
  const locks: FolderLock[] = [lockFolder(dataDir)]
  let socket: SocketFolder | undefined
  const giveBack = () => {
    socket?.remove()
    for (const lock of locks) lock.release()
  }
  try {
    const account = chooseAccount(dataDir, log)
    const launcher = await chooseLauncher(account, options.deathSignal ?? true)
    const state = options.stateFolder ?? stateFolder
    const home = chooseHome(dataDir, account, log, state)
    // A copied data folder links to the same cluster as its original.
    if (home !== dataDir) locks.push(lockFolder(home))

    const copies = join(home === dataDir ? dataDir : state, 'binaries')
    const binaries = await prepareBinaries(launcher, copies, log, source)
    // Those in the state folder may be in use by clusters of other data folders.
    if (home === dataDir && dataDir !== state) removeOtherCopies(copies, binaries.folder)

    if (process.platform !== 'win32') socket = await makeSocketFolder(home, account)
    const cluster = join(home, 'postgres')
    const place =
      socket === undefined
        ? { host: '127.0.0.1', port: await findFreePort() }
        : { host: socket.path, port: defaultPort }
    const port = Number(options.settings?.port ?? place.port)
    const socketFile = socketFileOf({ host: place.host, port })
    await clearLeftovers(cluster, socketFile, log)
    if (process.platform === 'win32') await stopWithPgCtl(launcher, binaries.folder, cluster)
    const { password } = await prepareCluster({ home, binaries, launcher, log })

    const superuser = { host: place.host, port, user: databaseName, password, database: databaseName }
    const settings = settingsFor(socket, binaries.folder, options.settings)
    const setup: ServerSetup = { cluster, binaries: binaries.folder, launcher, settings, connection: superuser, log }
    const supervised = await superviseServer(setup)
    const connection = await handOver(superuser, log).catch(async (error: unknown) => {
      await supervised.stop()
      throw error
    })
    log.info({ pid: supervised.pid(), cluster, host: place.host, port }, 'the embedded PostgreSQL is running')
    let stopped: Promise<void> | undefined
    const stop = () => {
      stopped ??= supervised.stop().finally(giveBack)
      return stopped
    }
    return { connection, supervised, stop }
  } catch (error) {
    giveBack()
    throw error
  }
}

function settingsFor(
  socket: SocketFolder | undefined,
  binaries: string,
  asked: Record<string, string> = {},
): Record<string, string> {
  return {
    ...defaultSettings,
    shared_buffers: sharedBuffers(memoryOfMachine()),
    ...warmStart(binaries),
    listen_addresses: socket === undefined ? '127.0.0.1' : '',
    ...asked,
    unix_socket_directories: socket?.path ?? '',
    // Its log is read by this process.
    logging_collector: 'off',
    log_destination: 'stderr',
  }
}

function findFreePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      const port = typeof address === 'object' && address !== null ? address.port : 0
      server.close(() => resolve(port))
    })
  })
}
