import { cp, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readConfig } from '../../src/config/index.ts'
import { connectionsFor } from '../../src/process/foundation.ts'
import { findProgram, itWith, type Need } from '../gate/needs.ts'
import { run } from '../release/run.ts'
import { configOf, type Document, deployFolder, readDeploy, readDocuments } from './files.ts'

const program = findProgram('docker-compose')
const dockerCompose: Need = {
  isMet: program !== undefined,
  otherwise: 'there is no docker-compose on the PATH',
  inGate: true,
}

let compose: Document
/** A copy of deploy/ with secrets. */
let folder: string

beforeAll(async () => {
  ;[compose] = await readDocuments('compose.yaml')
  folder = await mkdtemp(path.join(os.tmpdir(), 'parley-compose-'))
  await cp(deployFolder, folder, { recursive: true, filter: (file) => !file.endsWith('/secrets') })
  await run(folder, './make-secrets.sh', [])
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** As compose fills in the variables. */
function environment(): Record<string, string> {
  const given: Record<string, string> = compose.services.parley.environment
  const filled = Object.entries(given).map(([name, value]) => [
    name,
    value.replace(/\$\{DOMAIN:\?[^}]*\}/, 'chat.example.com').replace(/\$\{WORKERS:-([^}]*)\}/, '$1'),
  ])
  return Object.fromEntries(filled)
}

describe('compose.yaml', () => {
  it('sets what the service knows', () => {
    for (const value of Object.values(compose.services.parley.environment)) expect(typeof value).toBe('string')
    expect(configOf(environment())).toMatchObject({
      publicUrl: 'https://chat.example.com',
      databaseUrl: expect.any(String),
      redis: { url: 'redis://valkey:6379' },
      masterKey: expect.any(String),
      trustProxy: ['uniquelocal'],
      requireHttps: true,
      metricsPort: 9100,
    })
  })

  it('gives its database the connections that four workers may open, beside those that are for its superuser', () => {
    const { command } = compose.services.postgres
    const [, connections] = /max_connections=(\d+)/.exec((command ?? []).join(' ')) ?? []
    expect(Number(connections)).toBeGreaterThanOrEqual(connectionsFor(4) + 3)
  })

  it('names services, volumes, networks, secrets and files that are there', async () => {
    const { services, volumes, networks, secrets } = compose
    for (const [name, service] of Object.entries<Document>(services)) {
      for (const network of service.networks) expect(networks, name).toHaveProperty(network)
      for (const secret of service.secrets ?? []) expect(secrets, name).toHaveProperty(secret)
      for (const other of Array.isArray(service.depends_on)
        ? service.depends_on
        : Object.keys(service.depends_on ?? {})) {
        expect(services, name).toHaveProperty(other)
      }
      for (const volume of service.volumes ?? []) {
        const [from] = volume.split(':')
        if (from.startsWith('./')) expect((await stat(path.join(deployFolder, from))).isFile(), from).toBe(true)
        else expect(volumes, name).toHaveProperty(from)
      }
    }
    for (const [name, { condition }] of Object.entries<Document>(services.parley.depends_on)) {
      expect(condition).toBe('service_healthy')
      expect(services[name].healthcheck.test[0]).toBe('CMD')
    }
    const { port } = configOf(environment())
    expect(services.caddy.environment.UPSTREAM).toBe(`parley:${port}`)
    expect(await readDeploy('proxies/Caddyfile')).toContain('{$UPSTREAM:')
    // Nothing but the proxy is reached from outside, and the database has no way out.
    expect(Object.keys(services).filter((name) => services[name].ports !== undefined)).toEqual(['caddy'])
    expect(networks.back.internal).toBe(true)
    expect(services.caddy.networks).not.toContain('back')
  })

  it('takes the secrets that make-secrets.sh makes, once', async () => {
    const made = path.join(folder, 'secrets')
    const named = Object.values<{ file: string }>(compose.secrets).map(({ file }) => file.replace('./secrets/', ''))
    expect((await readdir(made)).sort()).toEqual(named.sort())
    expect((await stat(made)).mode & 0o777).toBe(0o700)
    const password = await readFile(path.join(made, 'database_password'), 'utf8')
    const config = readConfig({
      DATABASE_URL_FILE: path.join(made, 'database_url'),
      PARLEY_MASTER_KEY_FILE: path.join(made, 'master_key'),
    })
    const { username, password: inUrl, hostname, pathname } = new URL(config.databaseUrl ?? '')
    const { POSTGRES_USER, POSTGRES_DB } = compose.services.postgres.environment
    expect([username, inUrl, hostname, pathname]).toEqual([POSTGRES_USER, password, 'postgres', `/${POSTGRES_DB}`])
    await expect(run(folder, './make-secrets.sh', [])).rejects.toThrow('nothing was changed')
    expect(await readFile(path.join(made, 'database_password'), 'utf8')).toBe(password)
  })

  itWith(dockerCompose, 'is taken by docker-compose, which wants the name', async () => {
    const args = ['-f', 'compose.yaml', 'config']
    const said = await run(folder, program as string, args, { DOMAIN: 'chat.example.com' })
    expect(said).toContain('PUBLIC_URL: https://chat.example.com')
    await expect(run(folder, program as string, args)).rejects.toThrow('set DOMAIN to the name that clients use')
    await writeFile(path.join(folder, '.env'), 'DOMAIN=kept.example.com\nWORKERS=4\n')
    const kept = await run(folder, program as string, args)
    expect(kept).toContain('PUBLIC_URL: https://kept.example.com')
    expect(kept).toMatch(/WORKERS: ['"]?4\b/)
  })
})
