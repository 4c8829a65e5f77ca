import fs, {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type BinariesPackage, findPackage } from '../../../src/store/embedded/binaries.ts'
import { EmbeddedPostgresUnavailableError, resolveDataDir } from '../../../src/store/embedded/index.ts'
import { type Started, type StartOptions, startInDataDir } from '../../../src/store/embedded/start.ts'
import { asRoot, describeWith, itWith, onLinux } from '../../gate/needs.ts'
import { ensureBuilt } from '../../support/build.ts'
import { copyDataDir } from '../../support/data-dir.ts'
import { until } from '../../support/until.ts'
import { createBench, createLog, kill, run, select } from './support.ts'

const bench = createBench()
const running: Started[] = []

const template = bench.makeFolder()

beforeAll(async () => {
  ensureBuilt()
  const started = await startInDataDir({ dataDir: template, log: createLog() })
  await started.stop()
})
afterEach(async () => {
  for (const started of running.splice(0)) await started.stop()
})
afterAll(bench.clean)

async function start(options: Omit<StartOptions, 'log'> & { log?: StartOptions['log'] }): Promise<Started> {
  const started = await startInDataDir({ log: createLog(), ...options })
  running.push(started)
  return started
}

/** A folder that everybody can pass through. */
function makeOpenFolder(): string {
  const folder = bench.makeFolder()
  chmodSync(folder, 0o755)
  return folder
}

async function remember(started: Started, word: string): Promise<void> {
  const client = await bench.connect(started.connection)
  await client.query('create table kept (word text)')
  await client.query('insert into kept values ($1)', [word])
}

async function recall(started: Started): Promise<unknown> {
  return select(await bench.connect(started.connection), 'select word from kept')
}

async function knowsNothing(started: Started): Promise<boolean> {
  return (await select(await bench.connect(started.connection), `select to_regclass('kept')::text`)) === null
}

describe('the data folder', () => {
  it('is DATA_DIR, made absolute, where that is set', () => {
    expect(resolveDataDir('/srv/chat', '/anywhere')).toEqual({ dataDir: '/srv/chat', explicit: true })
    expect(resolveDataDir('chat', '/anywhere')).toEqual({ dataDir: '/anywhere/chat', explicit: true })
  })

  it('is data in the working folder otherwise', () => {
    const cwd = makeOpenFolder()
    expect(resolveDataDir(undefined, cwd)).toEqual({ dataDir: join(cwd, 'data'), explicit: false })
    expect(resolveDataDir('', cwd)).toEqual({ dataDir: join(cwd, 'data'), explicit: false })
  })

  itWith(asRoot, 'is /var/lib/parley for root where PostgreSQL could not reach the working folder', () => {
    const closed = bench.makeFolder()
    const cwd = join(closed, 'checkout')
    mkdirSync(cwd)
    expect(resolveDataDir(undefined, cwd)).toEqual({ dataDir: '/var/lib/parley', explicit: false })
    // Unless there is a database already.
    mkdirSync(join(cwd, 'data', 'postgres'), { recursive: true })
    expect(resolveDataDir(undefined, cwd)).toEqual({ dataDir: join(cwd, 'data'), explicit: false })
  })

  it('may be missing, with folders above it', async () => {
    const dataDir = join(makeOpenFolder(), 'some', 'where')
    const umask = process.umask(0o077)
    try {
      await start({ dataDir })
    } finally {
      process.umask(umask)
    }
    expect(existsSync(join(dataDir, 'postgres', 'PG_VERSION'))).toBe(true)
  })

  it('may have a path too long for a socket', async () => {
    const dataDir = join(makeOpenFolder(), 'long'.repeat(20), 'long'.repeat(20))
    mkdirSync(dataDir, { recursive: true })
    copyDataDir(template, dataDir)
    chmodSync(dataDir, 0o755)
    const started = await start({ dataDir })
    await remember(started, 'near')
    const { host } = started.connection
    expect(Buffer.byteLength(host)).toBeLessThanOrEqual(93)
    expect(statSync(host).mode & 0o777).toBe(0o700)
    await started.stop()
    expect(existsSync(host)).toBe(false)
    expect(await recall(await start({ dataDir }))).toBe('near')
  })

  it('does not suffer from a first start that was killed half way', async () => {
    const dataDir = bench.makeFolder()
    const script = `
      const { startInDataDir } = await load('start')
      say({})
      await startInDataDir({ dataDir: args[0], log, deathSignal: false })`
    const { child } = await bench.runService(script, dataDir)
    const drafts = () => readdirSync(dataDir).filter((name) => name.startsWith('postgres.initializing'))
    const begun = () => drafts().some((name) => existsSync(join(dataDir, name, 'PG_VERSION')))
    await until(begun)
    await kill(child)
    expect(existsSync(join(dataDir, 'postgres'))).toBe(false)
    const started = await start({ dataDir })
    expect(await knowsNothing(started)).toBe(true)
    expect(drafts()).toEqual([])
  })

  it('is not touched when its database folder holds something else', async () => {
    const dataDir = bench.makeFolder()
    mkdirSync(join(dataDir, 'postgres', 'letters'), { recursive: true })
    await expect(start({ dataDir })).rejects.toThrow(/not a PostgreSQL cluster/)
    expect(readdirSync(join(dataDir, 'postgres'))).toEqual(['letters'])
  })
})

describeWith(asRoot, 'a cluster that root has restored', () => {
  it('is handed to the user of PostgreSQL by the next start, where the first was ended meanwhile', async () => {
    const dataDir = makeOpenFolder()
    copyDataDir(template, dataDir)
    chmodSync(dataDir, 0o755)
    run('chown', ['-R', '0:0', dataDir])
    const hand = fs.lchownSync
    const handed: string[] = []
    fs.lchownSync = (file, uid, gid) => {
      if (handed.length === 100) throw new Error('killed')
      handed.push(String(file))
      hand(file, uid, gid)
    }
    syncBuiltinESMExports()
    try {
      await expect(start({ dataDir })).rejects.toThrow('killed')
    } finally {
      fs.lchownSync = hand
      syncBuiltinESMExports()
    }
    await remember(await start({ dataDir }), 'restored')
    expect(statSync(join(dataDir, 'postgres')).uid).toBeGreaterThan(0)
  })
})

describeWith(asRoot, 'a data folder of root that the user of PostgreSQL cannot reach', () => {
  it('has its database elsewhere, goes on having it when it is moved, and begins anew when it is made again', async () => {
    const closed = bench.makeFolder()
    const state = join(makeOpenFolder(), 'state')
    const dataDir = join(closed, 'data')
    const log = createLog()
    const first = await start({ dataDir, stateFolder: state, log })
    await remember(first, 'far')
    expect(first.connection.host).toContain(join(state, 'clusters'))
    expect(log.lines.filter((line) => line.includes(`cannot reach ${dataDir}`))).toHaveLength(1)
    await first.stop()

    const moved = join(closed, 'moved')
    renameSync(dataDir, moved)
    const anew = await start({ dataDir, stateFolder: state })
    expect(await knowsNothing(anew)).toBe(true)
    // Both at once: they are two databases.
    const second = await start({ dataDir: moved, stateFolder: state })
    expect(await recall(second)).toBe('far')

    // A copy of the folder links to the same database, which is in use.
    const copy = join(closed, 'copy')
    run('cp', ['-a', moved, copy])
    await expect(start({ dataDir: copy, stateFolder: state })).rejects.toThrow(/in use by process/)
  })

  it('is not given an empty database when the one it had is gone', async () => {
    const dataDir = bench.makeFolder()
    const state = join(makeOpenFolder(), 'state')
    symlinkSync(join(state, 'clusters', 'lost', 'postgres'), join(dataDir, 'postgres'))
    await expect(start({ dataDir, stateFolder: state })).rejects.toThrow(/which is gone/)
  })

  it('is let through itself when only it is closed, as mktemp -d leaves it', async () => {
    const dataDir = bench.makeFolder()
    copyDataDir(template, dataDir)
    chmodSync(dataDir, 0o700)
    const started = await start({ dataDir })
    expect(started.connection.host).toBe(join(dataDir, 'run'))
    expect(statSync(dataDir).mode & 0o777).toBe(0o701)
    expect(lstatSync(join(dataDir, 'postgres')).isDirectory()).toBe(true)
  })
})

describe("PostgreSQL's programs", () => {
  /** The package as npm leaves it with --ignore-scripts (no links between libraries), and as root with umask 077. */
  function makeBarePackage(): BinariesPackage {
    const { native } = findPackage()
    const folder = join(makeOpenFolder(), 'native')
    cpSync(native, folder, { recursive: true, verbatimSymlinks: true })
    const links = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8')) as { target: string }[]
    for (const { target } of links) rmSync(join(dirname(folder), target), { force: true })
    if (asRoot.isMet) run('chmod', ['-R', 'go=', folder])
    return { native: folder, label: 'bare-1' }
  }

  itWith(onLinux, 'are copied into the data folder where they cannot be used as installed, once', async () => {
    const dataDir = bench.makeFolder()
    const source = makeBarePackage()
    mkdirSync(join(dataDir, 'binaries', 'of-an-older-version'), { recursive: true })
    const log = createLog()
    const first = await start({ dataDir, source, log })
    await remember(first, 'copied')
    expect(log.lines.filter((line) => line.includes('copied the programs'))).toHaveLength(1)
    expect(readdirSync(join(dataDir, 'binaries'))).toEqual(['bare-1'])
    await first.stop()

    const later = createLog()
    const second = await start({ dataDir, source, log: later })
    expect(await recall(second)).toBe('copied')
    expect(later.lines.filter((line) => line.includes('copied the programs'))).toEqual([])
    await second.stop()

    // A copy that somebody has damaged is made again.
    rmSync(join(dataDir, 'binaries', 'bare-1', 'lib', 'libxml2.so.2'))
    expect(await recall(await start({ dataDir, source }))).toBe('copied')
  })

  it('that are not there for this platform lead to a message that names DATABASE_URL', () => {
    expect(() => findPackage('plan9', 'mips')).toThrow(EmbeddedPostgresUnavailableError)
    expect(() => findPackage('plan9', 'mips')).toThrow(/Set DATABASE_URL/)
  })
})
