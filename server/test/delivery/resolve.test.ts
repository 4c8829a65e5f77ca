import { createSocket } from 'node:dgram'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createHostsFile } from '../../src/delivery/outbound/hosts-file.ts'
import { createResolve } from '../../src/delivery/outbound/resolve.ts'
import { soon } from '../support/until.ts'

/** A DNS server: knows some names, denies others, and says nothing about those below `silent`. */
async function openNameServer(names: Record<string, { four?: string[]; six?: string[] }>) {
  const asked: string[] = []
  const socket = createSocket('udp4')
  socket.on('message', (query, { port, address }) => {
    const { name, type, end } = readQuestion(query)
    asked.push(name)
    if (name.endsWith('silent')) return
    const known = names[name]
    const records = type === 1 ? (known?.four ?? []).map(bytesOf4) : type === 28 ? (known?.six ?? []).map(bytesOf6) : []
    const header = Buffer.from(query.subarray(0, 12))
    header.writeUInt16BE(known === undefined ? 0x8183 : 0x8180, 2)
    for (const [at, count] of [1, records.length, 0, 0].entries()) header.writeUInt16BE(count, 4 + 2 * at)
    const answers = records.map((data) => {
      const head = Buffer.alloc(12)
      head.writeUInt16BE(0xc00c, 0)
      head.writeUInt16BE(type, 2)
      head.writeUInt16BE(1, 4)
      head.writeUInt32BE(60, 6)
      head.writeUInt16BE(data.length, 10)
      return Buffer.concat([head, data])
    })
    socket.send(Buffer.concat([header, query.subarray(12, end), ...answers]), port, address)
  })
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  return { server: `127.0.0.1:${socket.address().port}`, asked, close: () => socket.close() }
}

function readQuestion(query: Buffer) {
  const labels: string[] = []
  let at = 12
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 }
}

const bytesOf4 = (address: string) => Buffer.from(address.split('.').map(Number))
const bytesOf6 = (address: string) =>
  Buffer.from(
    address
      .split(':')
      .map((part) => part.padStart(4, '0'))
      .join(''),
    'hex',
  )

describe('the address of a host', () => {
  let folder: string
  let names: Awaited<ReturnType<typeof openNameServer>>
  const six = '2606:2800:220:1:248:1893:25c8:1946'
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'parley-hosts-'))
    names = await openNameServer({
      'both.test': { four: ['93.184.216.34'], six: [six] },
      'six.test': { six: [six] },
      'none.test': {},
      'listed.test': { four: ['93.184.216.34'] },
    })
  })
  afterAll(async () => {
    names.close()
    await rm(folder, { recursive: true })
  })
  const bySystem: string[] = []
  const resolver = (hosts = '', askSystem?: (host: string) => Promise<{ address: string; family: number }[]>) => {
    const file = path.join(folder, `hosts-${Math.random()}`)
    const ready = writeFile(file, hosts)
    const resolve = createResolve({
      servers: [names.server],
      hostsFile: createHostsFile(file),
      askSystem:
        askSystem ??
        (async (host) => {
          bySystem.push(host)
          throw new Error(`getaddrinfo ENOTFOUND ${host}`)
        }),
    })
    return { file, resolve: async (host: string) => ready.then(() => resolve(host)) }
  }

  it('is asked of the name servers, both families', async () => {
    const { resolve } = resolver()
    expect(await resolve('both.test')).toEqual([
      { address: '93.184.216.34', family: 4 },
      { address: six, family: 6 },
    ])
    expect(await resolve('six.test')).toEqual([{ address: six, family: 6 }])
    expect(await resolve('192.0.2.1')).toEqual([{ address: '192.0.2.1', family: 4 }])
    expect(await resolve('::1')).toEqual([{ address: '::1', family: 6 }])
  })

  it('is that of the file of hosts where it has one, in whatever case, and nobody is asked', async () => {
    const { resolve } = resolver(
      '# a comment\n10.1.2.3 listed.test Other # 10.9.9.9 listed.test\n\n::1\tlisted.test\nnonsense x\n',
    )
    const before = names.asked.length
    expect(await resolve('Listed.Test')).toEqual([
      { address: '10.1.2.3', family: 4 },
      { address: '::1', family: 6 },
    ])
    expect(await resolve('other.')).toEqual([{ address: '10.1.2.3', family: 4 }])
    expect(names.asked.length).toBe(before)
    await expect(resolve('x')).rejects.toThrow('ENOTFOUND')
  })

  it('follows the file of hosts when it changes', async () => {
    const { file, resolve } = resolver('10.1.2.3 listed.test')
    expect(await resolve('listed.test')).toEqual([{ address: '10.1.2.3', family: 4 }])
    await writeFile(file, '10.1.2.4 listed.test and.more')
    await soon(async () => expect(await resolve('listed.test')).toEqual([{ address: '10.1.2.4', family: 4 }]))
    await rm(file)
    await soon(async () => expect(await resolve('listed.test')).toEqual([{ address: '93.184.216.34', family: 4 }]))
  })

  it('is asked of the system where the servers have none, one name at a time', async () => {
    let running = 0
    let most = 0
    const { resolve } = resolver('', async (host) => {
      most = Math.max(most, ++running)
      await new Promise((done) => setImmediate(done))
      running--
      if (host === 'none.test') throw new Error(`getaddrinfo ENOTFOUND ${host}`)
      return [{ address: '10.0.0.7', family: 4 }]
    })
    const outcomes = await Promise.allSettled(['service', 'none.test', 'service.namespace', 'a.b.c'].map(resolve))
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled'])
    expect(most).toBe(1)
    expect(await resolve('service')).toEqual([{ address: '10.0.0.7', family: 4 }])
  })

  it('that does not come takes no thread from those who read files, and the system is not asked', async () => {
    const { resolve } = resolver()
    const dead = Promise.allSettled(Array.from({ length: 200 }, (_, n) => resolve(`host-${n}.silent`)))
    await soon(() => expect(names.asked.filter((name) => name.endsWith('.silent')).length).toBeGreaterThan(100))
    await Promise.all(Array.from({ length: 20 }, () => readFile(import.meta.filename)))
    expect(await resolve('six.test')).toHaveLength(1)
    expect(new Set((await dead).map(({ status }) => status))).toEqual(new Set(['rejected']))
    expect(bySystem.filter((host) => host.endsWith('.silent'))).toEqual([])
  })
})
