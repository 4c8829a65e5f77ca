import { mkdtempSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseAllDocuments } from 'yaml'
import { type Config, readConfig } from '../../src/config/index.ts'
import { findUnknownSettings } from '../../src/config/unknown.ts'

export const deployFolder = path.join(import.meta.dirname, '../../../deploy')

// biome-ignore lint/suspicious/noExplicitAny: documents of others' formats; a test fails where something is missing
export type Document = any

export function readDeploy(file: string): Promise<string> {
  return readFile(path.join(deployFolder, file), 'utf8')
}

/** All documents of a YAML file. @throws Error naming the line where it is none, or has a key twice */
export async function readDocuments(file: string): Promise<Document[]> {
  return parseAllDocuments(await readDeploy(file)).map((document) => {
    for (const error of [...document.errors, ...document.warnings]) throw new Error(`${file}: ${error.message}`)
    return document.toJS()
  })
}

/** Secrets as files that a deployment has, by the names of their files. */
const secrets: Readonly<Record<string, string>> = {
  'database-url': 'postgres://parley:secret@db.example.com/parley',
  'redis-url': 'rediss://:secret@redis.example.com',
  'master-key': 'ab'.repeat(32),
  'api-key': 'cd'.repeat(20),
  's3-access-key-id': 'KEYID',
  's3-secret-access-key': 'a secret',
}

/**
 * What the service makes of the environment of a deployment, with files in place of its secrets.
 * @throws Error naming what is no setting, or has a value that the service refuses
 */
export function configOf(environment: Readonly<Record<string, string>>): Config {
  const unknown = findUnknownSettings(
    {},
    Object.keys(environment).filter((name) => !ofNode.includes(name)),
  )
  if (unknown.length > 0) throw new Error(`no settings: ${unknown.map(({ name }) => name).join(', ')}`)
  const folder = mkdtempSync(path.join(tmpdir(), 'parley-deploy-'))
  const entries = Object.entries(environment).map(([name, value]) => {
    if (!name.endsWith('_FILE')) return [name, value]
    const key = path.basename(value).replaceAll('_', '-')
    const file = path.join(folder, key)
    if (secrets[key] === undefined) throw new Error(`${name}: there is no secret ${key}`)
    writeFileSync(file, secrets[key])
    return [name, file]
  })
  return readConfig(Object.fromEntries(entries))
}

const ofNode = ['NODE_ENV', 'NODE_OPTIONS']
