import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { until } from '../support/until.ts'
import { outside, run } from './run.ts'

/** A Debian of its own that systemd has started, with mounts, processes and control groups of its own, and the network of the machine. */
export interface Machine {
  /** Its files, as this machine sees them. */
  readonly root: string
  /** Runs a command in it, as root. @throws Error when that is not 0 */
  execute(...command: string[]): Promise<string>
  close(): Promise<void>
}

/** What a start of Debian would do to a machine that is not its own. */
const masked = [
  ...['systemd-sysctl', 'systemd-modules-load', 'systemd-udevd', 'systemd-resolved', 'systemd-networkd'].map(service),
  ...['systemd-timesyncd', 'systemd-binfmt', 'systemd-logind', 'console-getty', 'getty@tty1'].map(service),
  ...['dev-hugepages', 'dev-mqueue', 'sys-kernel-debug', 'sys-kernel-tracing', 'sys-fs-fuse-connections'].map(
    (name) => `${name}.mount`,
  ),
  'proc-sys-fs-binfmt_misc.automount',
]

function service(name: string): string {
  return `${name}.service`
}

const boot = `
set -e
root=$1
mount --make-rprivate /
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount --bind "$root/proc/sys" "$root/proc/sys"
mount -o remount,bind,ro "$root/proc/sys"
mount -t sysfs -o ro sysfs "$root/sys"
if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
  mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
else
  mount -t tmpfs tmpfs "$root/sys/fs/cgroup"
  mkdir "$root/sys/fs/cgroup/systemd"
  mount -t cgroup -o none,name=systemd cgroup "$root/sys/fs/cgroup/systemd"
fi
for place in run tmp dev; do mount -t tmpfs -o mode=755 tmpfs "$root/$place"; done
chmod 1777 "$root/tmp"
mknod -m 666 "$root/dev/null" c 1 3
mknod -m 666 "$root/dev/zero" c 1 5
mknod -m 666 "$root/dev/full" c 1 7
mknod -m 666 "$root/dev/random" c 1 8
mknod -m 666 "$root/dev/urandom" c 1 9
mknod -m 666 "$root/dev/tty" c 5 0
mkdir "$root/dev/shm" "$root/dev/pts" "$root/dev/mqueue" "$root/dev/hugepages" "$root/oldroot"
mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts "$root/dev/pts"
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
hostname parley-test
cd "$root"
pivot_root . oldroot
umount -l /oldroot
exec env -i container=test PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --system`

/** As root. Its systemd is asked by D-Bus, as that of an installed Debian. @param prepare puts files into it before it starts */
export async function startMachine(prepare: (root: string) => Promise<void>): Promise<Machine> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'parley-machine-'))
  const root = path.join(folder, 'root')
  await run(folder, 'debootstrap', ['--variant=minbase', '--include=systemd,dbus', 'bookworm', root])
  await cp(process.execPath, path.join(root, 'usr/bin/node'))
  const units = path.join(root, 'etc/systemd/system')
  for (const name of masked) await symlink('/dev/null', path.join(units, name))
  await prepare(root)

  const group = await makeGroup()
  // Within the group, so that the machine sees nothing above it.
  const enter = `echo $$ > "$1/cgroup.procs"; shift; exec unshare --mount --pid --uts --ipc --cgroup --fork --kill-child "$@"`
  const child = spawn('sh', ['-c', enter, 'sh', group, 'sh', '-c', boot, 'sh', root], {
    env: outside,
    stdio: 'inherit',
  })
  const exited = once(child, 'exit')
  const pid = await until(async () => {
    if (child.exitCode !== null) throw new Error(`the machine ended with ${child.exitCode}`)
    return firstProcessOf(child.pid as number)
  })
  const namespaces = ['--mount', '--pid', '--uts', '--ipc', '--cgroup']
  const execute = (...command: string[]) =>
    run('/', 'nsenter', ['--target', String(pid), ...namespaces, '--', '/usr/bin/env', '-i', systemPath, ...command])
  return {
    root,
    execute,
    async close() {
      process.kill(pid, 'SIGKILL')
      await exited
      await until(() =>
        run('/', 'find', [group, '-depth', '-type', 'd', '-delete']).then(
          () => true,
          () => false,
        ),
      )
      await rm(folder, { recursive: true, force: true })
    },
  }
}

const systemPath = 'PATH=/usr/sbin:/usr/bin:/sbin:/bin'

async function makeGroup(): Promise<string> {
  const top = existsSync('/sys/fs/cgroup/cgroup.controllers') ? '/sys/fs/cgroup' : '/sys/fs/cgroup/systemd'
  const group = path.join(top, `parley-test-${process.pid}`)
  await mkdir(group)
  return group
}

/** The child of unshare, once it is systemd. */
async function firstProcessOf(parent: number): Promise<number | undefined> {
  const children = await readFile(`/proc/${parent}/task/${parent}/children`, 'utf8').catch(() => '')
  const first = Number(children.trim().split(' ')[0])
  if (!(first > 0)) return undefined
  return (await readFile(`/proc/${first}/comm`, 'utf8').catch(() => '')).trim() === 'systemd' ? first : undefined
}

/** Writes a file of the machine, with the folders that lead to it. */
export async function writeTo(root: string, file: string, content: string): Promise<void> {
  await mkdir(path.join(root, path.dirname(file)), { recursive: true })
  await writeFile(path.join(root, file), content)
}
