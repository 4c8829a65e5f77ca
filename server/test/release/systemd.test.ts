import { cp, mkdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { parse } from 'dotenv'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { version } from '../../src/version.ts'
import { asRoot, describeWith, findProgram, inLongSuite, type Need } from '../gate/needs.ts'
import { findFreePort } from '../support/ports.ts'
import { soon } from '../support/until.ts'
import { type Machine, startMachine, writeTo } from './machine.ts'
import { releaseFolder, repository, run } from './run.ts'

const tools: Need = {
  isMet: ['debootstrap', 'unshare', 'nsenter'].every((name) => findProgram(name) !== undefined),
  otherwise: 'needs debootstrap',
  inGate: false,
}
const needs = [inLongSuite, asRoot, tools]

describeWith(needs.find(({ isMet }) => !isMet) ?? tools, 'parley.service under systemd', () => {
  let machine: Machine
  let base: string
  beforeAll(async () => {
    await run(repository, process.execPath, ['tools/pack.mjs'])
    const port = await findFreePort()
    base = `http://127.0.0.1:${port}`
    machine = await startMachine(async (root) => {
      const home = path.join(root, 'opt/parley')
      await mkdir(home)
      await writeTo(root, 'opt/parley/package.json', '{"name":"bare","private":true}')
      const tarball = path.join(releaseFolder, `parley-${version}.tgz`)
      await run(home, 'npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', tarball])
      const folder = path.join(home, 'node_modules/parley/deploy/systemd')
      await cp(path.join(folder, 'parley.service'), path.join(root, 'etc/systemd/system/parley.service'))
      await run('/', 'install', ['-m', '0755', path.join(folder, 'parley'), path.join(root, 'usr/local/bin/parley')])
      await writeTo(root, 'etc/parley.env', `PORT=${port}\nLOG_LEVEL=warn\n`)
      const user = ['--system', '--home-dir', '/var/lib/parley', '--shell', '/usr/sbin/nologin', 'parley']
      await run('/', 'chroot', [root, 'useradd', ...user])
    })
  })
  afterAll(() => machine?.close())

  const systemctl = (...args: string[]) => machine.execute('systemctl', '--no-pager', ...args)
  const property = async (name: string) => (await systemctl('show', '--value', '-p', name, 'parley')).trim()
  const isReady = () => soon(async () => expect((await fetch(`${base}/ready`)).status).toBe(200))
  const isReadyAgain = async (before: string) => {
    await soon(async () => expect(await property('MainPID')).not.toMatch(new RegExp(`^(0|${before})$`)))
    await isReady()
  }

  it('starts, is called, comes back when it is killed or reloaded, and stops, with all that it is closed off from', async () => {
    await soon(() => systemctl('start', 'parley'))
    await isReady()
    const keys = parse(await readFile(path.join(machine.root, 'var/lib/parley/keys.env')))
    const headers = { apikey: keys.PARLEY_API_KEY ?? '' }
    const users = `${base}/v3/users`
    for (const uid of ['alice', 'bob']) {
      const body = JSON.stringify({ uid, name: uid })
      const answer = await fetch(users, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body,
      })
      expect(answer.status).toBe(200)
    }
    const form = new FormData()
    for (const [name, value] of Object.entries({
      receiver: 'bob',
      receiverType: 'user',
      category: 'message',
      type: 'file',
    })) {
      form.set(name, value)
    }
    form.append('file', new Blob(['content']), 'file.txt')
    const sent = await fetch(`${base}/v3/messages`, {
      method: 'POST',
      headers: { ...headers, onbehalfof: 'alice' },
      body: form,
    })
    expect(sent.status).toBe(200)

    // Commands have its settings and its data, and write as its user.
    const parley = (...args: string[]) => machine.execute('/usr/local/bin/parley', ...args)
    expect(await parley('apps', 'list')).toMatch(/^parley\t/)
    expect(await parley('health', '--ready')).toContain('"status":"ready"')
    await parley('backup', '--to', '/var/lib/parley/backups')
    expect(await machine.execute('stat', '-c', '%U', '/var/lib/parley/backups/backups')).toBe('parley\n')
    await expect(parley('apps', 'keys', 'nobody')).rejects.toThrow('nobody')

    const first = await property('MainPID')
    const status = await machine.execute('cat', `/proc/${first}/status`)
    expect(status).toMatch(/^NoNewPrivs:\s+1$/m)
    expect(status).toMatch(/^Seccomp:\s+2$/m)
    expect(status).toMatch(/^CapBnd:\s+0+$/m)
    await machine.execute('sh', '-c', `kill -9 ${first}`)
    await isReadyAgain(first)
    expect(await property('NRestarts')).toBe('1')

    const second = await property('MainPID')
    await systemctl('reload', 'parley')
    await isReadyAgain(second)
    expect((await fetch(`${users}/alice`, { headers })).status).toBe(200)

    await systemctl('stop', 'parley')
    expect([await property('ActiveState'), await property('Result'), await property('ExecMainStatus')]).toEqual([
      'inactive',
      'success',
      '0',
    ])
    expect(await systemctl('list-units', '--failed', '--no-legend', 'parley.service')).toBe('')
  })
})
