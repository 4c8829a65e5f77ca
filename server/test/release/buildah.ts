import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { repository, run } from './run.ts'

/** What an image says of the containers that are made of it. */
export interface ImageConfig {
  readonly User: string
  readonly Env: readonly string[]
  readonly Entrypoint: readonly string[]
  readonly Cmd: readonly string[]
  readonly WorkingDir: string
  readonly StopSignal: string
  readonly Volumes: Readonly<Record<string, object>>
  readonly Healthcheck: { readonly Test: readonly string[] }
}

/** Images in a folder of their own, built by buildah, which needs no daemon and here no registry. */
export interface Images {
  readonly folder: string
  build(tag: string, ...args: string[]): Promise<ImageConfig>
  /** @returns the folder that has all files of the image */
  mount(tag: string): Promise<string>
  close(): Promise<void>
}

const base = 'docker.io/library/node:20-bookworm-slim'
const certificates = '/etc/ssl/certs/ca-certificates.crt'

/** As root. The base is made of Debian's packages and the Node.js of this machine, under the name that the Dockerfile has. */
export async function createImages(): Promise<Images> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'parley-images-'))
  const places = ['--root', 'root', '--runroot', 'run'].map((part) =>
    part.startsWith('-') ? part : path.join(folder, part),
  )
  const buildah = async (...args: string[]) =>
    (
      await run(repository, 'buildah', [...places, ...args], { STORAGE_DRIVER: 'vfs', BUILDAH_ISOLATION: 'chroot' })
    ).trim()
  await makeBase(folder, buildah)
  const npmrc = path.join(folder, 'npmrc')
  const registry = (await run(repository, 'npm', ['config', 'get', 'registry'])).trim()
  await writeFile(npmrc, `registry=${registry}\ncafile=${certificates}\n`)
  return {
    folder,
    async build(tag, ...args) {
      const how = [
        '--layers',
        '--format',
        'docker',
        '--network',
        'host',
        '--pull-never',
        '--secret',
        `id=npmrc,src=${npmrc}`,
      ]
      await buildah('bud', ...how, '-f', 'deploy/Dockerfile', '-t', tag, ...args, '.')
      return JSON.parse(await buildah('inspect', '--type', 'image', tag)).Docker.config
    },
    mount: async (tag) => buildah('mount', await buildah('from', '--pull-never', tag)),
    async close() {
      await buildah('rm', '--all')
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function makeBase(folder: string, buildah: (...args: string[]) => Promise<string>): Promise<void> {
  const root = path.join(folder, 'base')
  await run(folder, 'debootstrap', ['--variant=minbase', 'bookworm', root])
  const npm = path.join(root, 'usr/local/lib/node_modules/npm')
  await mkdir(path.dirname(npm), { recursive: true })
  await cp(process.execPath, path.join(root, 'usr/local/bin/node'))
  await cp(path.join((await run(folder, 'npm', ['root', '-g'])).trim(), 'npm'), npm, { recursive: true })
  await writeFile(
    path.join(root, 'usr/local/bin/npm'),
    '#!/bin/sh\nexec node /usr/local/lib/node_modules/npm/bin/npm-cli.js "$@"\n',
    {
      mode: 0o755,
    },
  )
  await mkdir(path.join(root, path.dirname(certificates)), { recursive: true })
  await cp(certificates, path.join(root, certificates), { dereference: true })
  const container = await buildah('from', 'scratch')
  await buildah('add', '--quiet', container, root, '/')
  await buildah('commit', '--quiet', '--rm', container, base)
  await rm(root, { recursive: true })
}
