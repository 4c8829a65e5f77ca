import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { generate } from 'selfsigned'
import { findProgram, type Need } from '../gate/needs.ts'
import { outside } from '../release/run.ts'
import { findFreePort } from '../support/ports.ts'
import { readDeploy } from './files.ts'

/** A proxy of deploy/proxies that runs, on ports of its own. */
export interface RunningProxy {
  readonly port: number
  readonly plainPort: number
  /** What it printed. */
  said(): string
  close(): Promise<void>
}

interface Place {
  readonly folder: string
  readonly port: number
  readonly plainPort: number
  /** `127.0.0.1:1234`, where the service is. */
  readonly upstream: string
}

interface Setup {
  readonly file: string
  /** What is to be replaced in the sample to run it here: each is in it. */
  readonly replaced: Readonly<Record<string, string>>
  readonly before?: string
  readonly after?: string
  readonly args: readonly string[]
  readonly environment?: NodeJS.ProcessEnv
}

export type ProxyName = 'caddy' | 'haproxy' | 'nginx'

const setups: Record<ProxyName, (place: Place) => Setup> = {
  nginx: ({ folder, port, plainPort, upstream }) => ({
    file: 'nginx.conf',
    replaced: {
      'listen 80;': `listen 127.0.0.1:${plainPort};`,
      'listen 443 ssl;': `listen 127.0.0.1:${port} ssl;`,
      '127.0.0.1:8080': upstream,
      '/etc/ssl/chat.example.com/fullchain.pem': `${folder}/cert.pem`,
      '/etc/ssl/chat.example.com/privkey.pem': `${folder}/key.pem`,
    },
    before: [
      ...(process.getuid?.() === 0 ? ['user root;'] : []),
      ...['daemon off;', `pid ${folder}/pid;`, 'error_log stderr;', 'events {}', 'http {', 'access_log off;'],
      ...['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((use) => `${use}_temp_path ${folder}/${use};`),
    ].join('\n'),
    after: '}',
    args: ['-e', 'stderr', '-c'],
  }),
  haproxy: ({ folder, port, plainPort, upstream }) => ({
    file: 'haproxy.cfg',
    replaced: {
      'maxconn 20000': 'maxconn 100',
      'bind :80\n': `bind 127.0.0.1:${plainPort}\n`,
      'bind :443 ': `bind 127.0.0.1:${port} `,
      '127.0.0.1:8080': upstream,
      '/etc/haproxy/chat.example.com.pem': `${folder}/both.pem`,
    },
    args: ['-db', '-f'],
  }),
  caddy: ({ folder, port, plainPort, upstream }) => ({
    file: 'Caddyfile',
    replaced: {},
    // It makes a certificate for localhost itself.
    before: `{\nadmin off\nskip_install_trust\nhttp_port ${plainPort}\nhttps_port ${port}\n}`,
    args: ['run', '--adapter', 'caddyfile', '--config'],
    environment: {
      DOMAIN: 'localhost',
      UPSTREAM: upstream,
      HOME: folder,
      XDG_DATA_HOME: folder,
      XDG_CONFIG_HOME: folder,
    },
  }),
}

export function needOf(name: ProxyName): Need {
  return { isMet: findProgram(name) !== undefined, otherwise: `there is no ${name} on the PATH`, inGate: true }
}

export async function startProxy(name: ProxyName, upstream: string): Promise<RunningProxy> {
  const folder = await mkdtemp(path.join(os.tmpdir(), `parley-${name}-`))
  const place = { folder, upstream, port: await findFreePort(), plainPort: await findFreePort() }
  const { file, replaced, before = '', after = '', args, environment = {} } = setups[name](place)
  let text = await readDeploy(`proxies/${file}`)
  for (const [old, other] of Object.entries(replaced)) {
    if (!text.includes(old)) throw new Error(`${file} has no ${old}`)
    text = text.replaceAll(old, other)
  }
  await writeCertificate(folder)
  const config = path.join(folder, file)
  await writeFile(config, `${before}\n${text}\n${after}\n`)
  return run(
    spawn(name, [...args, config], { env: { ...outside, ...environment }, stdio: ['ignore', 'pipe', 'pipe'] }),
    place,
  )
}

async function writeCertificate(folder: string): Promise<void> {
  const names = [{ type: 2 as const, value: 'localhost' }]
  const { cert, private: key } = await generate([{ name: 'commonName', value: 'localhost' }], {
    extensions: [{ name: 'subjectAltName', altNames: names }],
  })
  const files = { 'cert.pem': cert, 'key.pem': key, 'both.pem': `${cert}\n${key}` }
  await Promise.all(Object.entries(files).map(([name, content]) => writeFile(path.join(folder, name), content)))
}

function run(child: ChildProcess, { folder, port, plainPort }: Place): RunningProxy {
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (printed += chunk))
  const exited = once(child, 'exit')
  return {
    port,
    plainPort,
    said: () => printed,
    async close() {
      child.kill('SIGTERM')
      await exited
      await rm(folder, { recursive: true, force: true })
    },
  }
}
