import { access, mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { findProgram, itWith, type Need } from '../gate/needs.ts'
import { repository, run } from '../release/run.ts'
import { configOf, readDeploy } from './files.ts'

const program = findProgram('systemd-analyze')
const analyze: Need = {
  isMet: program !== undefined,
  otherwise: 'there is no systemd-analyze on the PATH',
  inGate: true,
}

/** Runs on a copy that names the Node.js of this machine. */
async function withUnit<T>(use: (file: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'parley-unit-'))
  const file = path.join(folder, 'parley.service')
  await writeFile(file, (await readDeploy('systemd/parley.service')).replace('/usr/bin/node', process.execPath))
  return use(file).finally(() => rm(folder, { recursive: true }))
}

describe('parley.service', () => {
  it('sets what the service knows, and starts a file of the package', async () => {
    const unit = await readDeploy('systemd/parley.service')
    const set = [...unit.matchAll(/^Environment=(\w+)=(.*)$/gm)].map(([, name, value]) => [name, value])
    expect(configOf(Object.fromEntries(set))).toMatchObject({ dataDir: '/var/lib/parley', docs: false, demo: false })
    const [, file = ''] = /^ExecStart=\/usr\/bin\/node node_modules\/parley\/(\S+) start$/m.exec(unit) ?? []
    await expect(access(path.join(repository, file))).resolves.toBeUndefined()
  })

  it('stops the service before its database, and waits for both', async () => {
    const unit = await readDeploy('systemd/parley.service')
    expect(unit).toContain('\nKillMode=mixed\n')
    expect(Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1])).toBeGreaterThan(10)
  })

  itWith(analyze, 'is taken by systemd, which finds it well closed', () =>
    withUnit(async (file) => {
      expect(await run('/', program as string, ['verify', file])).toBe('')
      const said = await run('/', program as string, ['security', '--offline=true', '--no-pager', file])
      const exposure = /Overall exposure level for parley\.service: ([\d.]+)/.exec(said)?.[1]
      expect(Number(exposure), said).toBeLessThan(2.5)
    }),
  )
})
