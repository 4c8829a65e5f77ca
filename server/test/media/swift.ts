import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import type { BucketSettings } from '../../src/media/bucket.ts'
import { findProgram, type Need } from '../gate/needs.ts'
import { findFreePort } from '../support/ports.ts'
import { soon } from '../support/until.ts'

const servers = ['account', 'container', 'object'] as const
const programs = [...[...servers, 'proxy'].map((name) => `swift-${name}-server`), 'swift-ring-builder', 'memcached']

/** Of Debian: swift-account, swift-container, swift-object, swift-proxy, memcached. */
export const swiftPrograms: Need = {
  isMet: process.getuid?.() === 0 && programs.every((name) => findProgram(name) !== undefined),
  otherwise: 'needs swift-account, swift-container, swift-object, swift-proxy and memcached, as root',
  inGate: false,
}

/** Keys of one answer to a list of a bucket. */
const pageSize = 3
const [account, user, secret] = ['chat', 'backups', 'a-secret/with+signs=']

/** An object store of others that speaks S3 and looks at each signature, with one bucket in it. */
export interface Swift {
  readonly settings: BucketSettings
  close(): Promise<void>
}

/** OpenStack Swift on this machine: one of each of its servers, one folder in place of disks. */
export async function startSwift(): Promise<Swift> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'parley-swift-'))
  const children: ChildProcess[] = []
  let said = ''
  const launch = (program: string, ...args: string[]) => {
    const child = spawn(program, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (said += text))
    children.push(child)
  }
  const close = async () => {
    for (const child of children) {
      if (child.exitCode !== null || child.signalCode !== null) continue
      const exited = once(child, 'exit')
      child.kill('SIGKILL')
      await exited
    }
    await rm(folder, { recursive: true, force: true })
  }
  try {
    await mkdir(path.join(folder, 'devices/one'), { recursive: true })
    await writeFile(path.join(folder, 'swift.conf'), '[swift-hash]\nswift_hash_path_suffix = of-a-test\n')
    for (const name of servers) {
      const port = await findFreePort()
      await writeFile(path.join(folder, `${name}.conf`), configurationOf(name, port, folder))
      const ring = (...args: string[]) =>
        promisify(execFile)('swift-ring-builder', [path.join(folder, `${name}.builder`), ...args], { cwd: folder })
      await ring('create', '2', '1', '0')
      await ring('add', `r1z1-127.0.0.1:${port}/one`, '1')
      await ring('rebalance')
      launch(`swift-${name}-server`, path.join(folder, `${name}.conf`))
    }
    const [port, memory] = [await findFreePort(), await findFreePort()]
    launch('memcached', '-u', 'root', '-l', '127.0.0.1', '-p', String(memory))
    await writeFile(path.join(folder, 'proxy.conf'), proxyConfiguration(port, memory, folder))
    launch('swift-proxy-server', path.join(folder, 'proxy.conf'))
    const base = `http://127.0.0.1:${port}`
    const bucket = 'of-acme'
    // As those make it who run it: by its own protocol.
    await soon(async () => {
      const credentials = { 'x-auth-user': `${account}:${user}`, 'x-auth-key': secret }
      const { headers } = await fetch(`${base}/auth/v1.0`, { headers: credentials })
      const made = await fetch(`${headers.get('x-storage-url')}/${bucket}`, {
        method: 'PUT',
        headers: { 'x-auth-token': headers.get('x-auth-token') ?? '' },
      })
      if (!made.ok) throw new Error(`no bucket: ${made.status} ${said.slice(-2_000)}`)
    })
    const settings = {
      ...{ endpoint: base, bucket, region: 'us-east-1' },
      ...{ accessKeyId: `${account}:${user}`, secretAccessKey: secret },
    }
    return { settings, close }
  } catch (error) {
    await close()
    throw error
  }
}

const common = (port: number, folder: string) => `[DEFAULT]
bind_ip = 127.0.0.1
bind_port = ${port}
workers = 0
user = root
swift_dir = ${folder}
log_level = ERROR
`

function configurationOf(name: string, port: number, folder: string): string {
  return `${common(port, folder)}devices = ${folder}/devices
mount_check = false

[pipeline:main]
pipeline = ${name}-server

[app:${name}-server]
use = egg:swift#${name}
`
}

function proxyConfiguration(port: number, memory: number, folder: string): string {
  return `${common(port, folder)}
[pipeline:main]
pipeline = catch_errors cache listing_formats s3api tempauth proxy-server

[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true

[filter:catch_errors]
use = egg:swift#catch_errors

[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:${memory}

[filter:listing_formats]
use = egg:swift#listing_formats

[filter:s3api]
use = egg:swift#s3api
location = us-east-1
max_bucket_listing = ${pageSize}
allow_multipart_uploads = false

[filter:tempauth]
use = egg:swift#tempauth
user_${account}_${user} = ${secret} .admin
`
}
