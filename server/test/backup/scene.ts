import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { onTestFinished } from 'vitest'
import { backupCommand } from '../../src/cli/backup.ts'
import { restoreCommand } from '../../src/cli/restore.ts'
import { verifyBackupCommand } from '../../src/cli/verify-backup.ts'
import { createFolderStorage } from '../../src/media/folder.ts'
import type { ConnectionSettings } from '../../src/store/connection.ts'
import { type Ended, runCommand } from '../cli/command.ts'
import { createOwnDatabase } from '../support/own-database.ts'
import type { Service } from '../support/own-services.ts'
import { startService, testMasterKey } from '../support/service.ts'

/** A database with a data folder, for one test: a service runs on it, or a backup is restored into it. */
export interface Site {
  readonly connection: ConnectionSettings
  /** As refusals name it. */
  readonly name: string
  readonly dataDir: string
  /** Starts a service on it; it is closed with the test, at the latest. */
  start(settings?: Record<string, string>): Promise<Service>
  query<Row extends object>(text: string, values?: unknown[]): Promise<Row[]>
  /** Settings of commands that work on it. */
  readonly environment: Record<string, string>
}

export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'parley-backup-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** @param options.isEmpty nothing was ever in its database */
export async function createSite({ isEmpty = false } = {}): Promise<Site> {
  const own = await createOwnDatabase({ isEmpty })
  const dataDir = await temporaryFolder()
  const pool = new pg.Pool({ ...own.connection, max: 1 })
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  const services = new Set<Service>()
  onTestFinished(async () => {
    await Promise.all([...services].map(({ parley }) => parley.close()))
    await pool.end()
    await own.drop()
  })
  const { host, pathname } = new URL(own.url)
  return {
    ...{ connection: own.connection, dataDir, name: `${host}${pathname}` },
    async start(settings = {}) {
      const mediaStorage = createFolderStorage(path.join(dataDir, 'media'))
      const service = await startService(settings, own.connection, undefined, { mediaStorage, dataDir })
      const { close } = service.parley
      service.parley.close = async () => {
        if (services.delete(service)) await close()
      }
      services.add(service)
      return service
    },
    query: async <Row extends object>(text: string, values: unknown[] = []) =>
      (await pool.query<Row>(text, values)).rows,
    environment: { DATABASE_URL: own.url, DATA_DIR: dataDir, PARLEY_MASTER_KEY: testMasterKey, BACKUP_PACE: 'full' },
  }
}

const commands = { backup: backupCommand, restore: restoreCommand, 'verify-backup': verifyBackupCommand } as const

/** Runs a command on a site, with the backups in a folder. */
export function run(
  site: Pick<Site, 'environment'>,
  folder: string,
  command: keyof typeof commands,
  args: readonly string[] = [],
  environment: Record<string, string> = {},
): Promise<Ended> {
  return runCommand(commands[command], [...args], { ...site.environment, BACKUP_TO: folder, ...environment })
}

/** Makes a backup. @returns its id */
export async function back(
  site: Site,
  folder: string,
  args: readonly string[] = [],
  environment = {},
): Promise<string> {
  const { code, out, err } = await run(site, folder, 'backup', args, environment)
  if (code !== 0) throw new Error(err)
  return out.split('\n')[0] as string
}

const selectTables = `
  select n.nspname || '.' || quote_ident(c.relname) as name
  from pg_class c
  join pg_namespace n on n.oid = c.relnamespace
  where c.relkind = 'r'
  and n.nspname in ('public', 'notification_days')
  and c.relname not like 'kysely%'
  order by 1`

/** Rows that a running service writes all the time are not compared: the clock by which things are removed for their age. */
const moving: Readonly<Record<string, string>> = { 'public.settings': `where t.name <> 'age_clock'` }

/**
 * What stands in each table, whatever the order of its rows: how many there are, and the sum of their hashes.
 * @param except tables that are not compared
 */
export async function contentsOf(
  site: Pick<Site, 'query'>,
  except: readonly string[],
): Promise<Record<string, string>> {
  const contents: Record<string, string> = {}
  for (const { name } of await site.query<{ name: string }>(selectTables)) {
    if (except.includes(name)) continue
    const [row] = await site.query<{ text: string }>(
      `select count(*) || ' rows, ' || coalesce(sum(hashtextextended(t::text, 0)), 0) as text from ${name} t ${moving[name] ?? ''}`,
    )
    contents[name] = row?.text ?? ''
  }
  return contents
}

/** Where a restore leaves something else than was there: how far events are, and until where they are kept for whom. */
export const movedOn = [
  ...['public.event_horizon', 'public.apps', 'public.webhook_deliveries', 'public.ledger'],
  // Processes that run say so all the time.
  'public.key_holders',
]
