import { access, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { findProgram, itWith, type Need } from '../gate/needs.ts'
import { repository, run } from '../release/run.ts'
import { configOf, deployFolder, readDeploy } from './files.ts'

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

describe('parley', () => {
  /** What systemd-run is asked for, and the files of settings, in the order in which they count. */
  async function asked(environment: NodeJS.ProcessEnv, ...args: string[]) {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'parley-wrapper-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const show = 'for arg; do case $arg in *EnvironmentFile=/*) cat "$(echo "$arg" | cut -d= -f3)" ;; esac; done\n'
    const fake = `#!/bin/sh\nprintf '%s\\n' "$@"\necho --\n${show}`
    await writeFile(path.join(folder, 'systemd-run'), fake, { mode: 0o755 })
    const PATH = `${folder}:${process.env.PATH}`
    const wrapper = path.join(deployFolder, 'systemd/parley')
    const said = await run(folder, '/bin/sh', [wrapper, ...args], { ...environment, PATH, XDG_RUNTIME_DIR: folder })
    expect(await readdir(folder)).toEqual(['systemd-run'])
    const [options = '', given = ''] = said.split('--\n')
    return { options, given }
  }

  it('hands on what is set in front of it, after the file of settings, and where nobody else sees it', async () => {
    const passphrase = 'it\'s "correct" \\ $horse `battery`\nPARLEY_APP_ID=staple'
    const { options, given } = await asked(
      { BACKUP_PASSPHRASE: passphrase, DATABASE_URL: 'postgres://parley:secret@db/parley', AWS_SECRET: 'of others' },
      ...['backup', '--with-keys', '--to', 'a folder'],
    )
    expect(options).toMatch(/\nnode_modules\/parley\/server\/bin\/parley\.js\nbackup\n--with-keys\n--to\na folder\n$/)
    const files = [...options.matchAll(/^--property=EnvironmentFile=(.*)$/gm)].map(([, file]) => file)
    expect(files).toEqual(['-/etc/parley.env', expect.stringMatching(/^\/proc\/\d+\/fd\/3$/)])
    expect(options).not.toMatch(/secret|horse/)
    // As systemd reads it.
    const [, quoted = ''] = /^BACKUP_PASSPHRASE="((?:[^"\\]|\\.)*)"$/ms.exec(given) ?? []
    expect(quoted.replaceAll(/\\(.)/gs, '$1')).toBe(passphrase)
    expect(given).toMatch(/^DATABASE_URL="postgres:\/\/parley:secret@db\/parley"$/m)
    expect(given).not.toMatch(/AWS|^PATH|^PARLEY_APP_ID=""/m)
  })

  it('hands on all that the documents set in front of it', async () => {
    const docs = path.join(repository, 'docs')
    const pages = (await readdir(docs)).filter((name) => name.endsWith('.md'))
    const text = (await Promise.all(pages.map((page) => readFile(path.join(docs, page), 'utf8')))).join('\n')
    const lines = [...text.matchAll(/^\s*((?:[A-Z][A-Z0-9_]*=(?:'[^']*'|\S*) +)+)parley /gm)]
    const names = lines.flatMap(([, set = '']) => [...set.matchAll(/([A-Z][A-Z0-9_]*)=/g)].map(([, name]) => name))
    expect(names).toEqual(expect.arrayContaining(['BACKUP_PASSPHRASE', 'DATABASE_URL']))
    const { given } = await asked(Object.fromEntries(names.map((name) => [name, 'set'])), 'doctor')
    for (const name of names) expect(given).toContain(`${name}="set"\n`)
  })
})
