import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { until } from '../support/until.ts'
import type { ImageConfig } from './buildah.ts'
import { outside, run } from './run.ts'

/**
 * A container as a runtime makes one with a read-only root: its own mounts and processes, the user, environment and command of the
 * image, a volume, an empty `/tmp`, the network of the machine. As root.
 */
export interface Container {
  /** Of its first process, outside of it. */
  readonly pid: number
  /** What it printed. */
  said(): string
  /** Runs a command in it, as its user. @throws Error when that is not 0 */
  execute(command: readonly string[]): Promise<string>
  /** Sends the signal of the image. @returns exit code and signal of its first process */
  stop(): Promise<Ending>
  readonly ended: Promise<Ending>
}

type Ending = [code: number | null, signal: NodeJS.Signals | null]

const enter = `
set -e
root=$1 data=$2 user=$3
shift 3
mount --bind "$root" "$root"
mount --bind "$data" "$root/data"
mount -t tmpfs tmpfs "$root/tmp"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount -o remount,bind,ro "$root"
exec chroot --userspec="$user" "$root" /usr/bin/env -i "$@"`

export async function startContainer(
  root: string,
  data: string,
  image: ImageConfig,
  settings: Readonly<Record<string, string>>,
): Promise<Container> {
  const given = [...image.Env, ...Object.entries(settings).map(([name, value]) => `${name}=${value}`)]
  const environment = [`--chdir=${image.WorkingDir}`, ...given]
  const command = [...image.Entrypoint, ...image.Cmd]
  const child = spawn(
    'unshare',
    [
      '--mount',
      '--pid',
      '--fork',
      '--kill-child',
      'sh',
      '-c',
      enter,
      'sh',
      root,
      data,
      image.User,
      ...environment,
      ...command,
    ],
    { env: outside, stdio: ['ignore', 'pipe', 'pipe'] },
  )
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (printed += chunk))
  const exited = once(child, 'exit') as Promise<Ending>
  const pid = await until(() => firstProcessOf(child))
  const [uid = '', gid = uid] = image.User.split(':')
  return {
    pid,
    said: () => printed,
    execute: ([program = '', ...args]) =>
      run('/', 'nsenter', [
        ...['--target', String(pid), '--mount', '--pid', '--root', '--wd', '--setuid', uid, '--setgid', gid, '--'],
        ...['/usr/bin/env', '-i', ...environment, program, ...args],
      ]),
    async stop() {
      if (child.exitCode === null) process.kill(pid, image.StopSignal as NodeJS.Signals)
      return exited
    },
    ended: exited,
  }
}

/** The child of unshare, once it is the program of the image. One that has ended has no number any more: -1. */
async function firstProcessOf({ pid, exitCode }: ChildProcess): Promise<number | undefined> {
  if (exitCode !== null) return -1
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '')
  const first = Number(children.trim().split(' ')[0])
  const name = first > 0 ? await readFile(`/proc/${first}/comm`, 'utf8').catch(() => '') : ''
  return /^(node|MainThread)/.test(name) ? first : undefined
}
