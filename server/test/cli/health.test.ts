import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { healthCommand } from '../../src/cli/health.ts'
import { type Service, startParley } from '../http/watched.ts'
import { findFreePort } from '../support/ports.ts'
import { runCommand } from './command.ts'

let service: Service

beforeAll(async () => {
  service = await startParley()
})
afterAll(() => service.parley.close())

const health = (port: number | string, ...args: string[]) => runCommand(healthCommand, args, { PORT: String(port) })

describe('parley health', () => {
  it('is 0 for a service that is alive, and one that can serve', async () => {
    const { port } = new URL(service.url)
    expect(await health(port)).toEqual({ code: 0, out: '{"status":"ok"}\n', err: '' })
    const ready = await health(port, '--ready')
    expect(ready.code).toBe(0)
    expect(JSON.parse(ready.out)).toMatchObject({ status: 'ready' })
    expect(await runCommand(healthCommand, [], { PORT: port, HOST: '0.0.0.0' })).toMatchObject({ code: 0 })
  })

  it('is 1 where nobody listens, nobody answers, or the answer is not 200', async () => {
    const nobody = await health(await findFreePort())
    expect(nobody).toMatchObject({ code: 1, out: '', err: expect.stringContaining('ECONNREFUSED') })

    const other = createServer((request, response) => {
      if (request.url === '/ready') response.writeHead(503).end('{"status":"unavailable"}')
    })
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    const { port } = other.address() as AddressInfo
    expect(await health(port, '--ready')).toEqual({ code: 1, out: '', err: '{"status":"unavailable"}\n' })
    const silent = await health(port, '--timeout', '0.2')
    expect(silent).toMatchObject({
      code: 1,
      err: `parley health: no answer from http://127.0.0.1:${port} within 0.2 s\n`,
    })
    other.closeAllConnections()
    other.close()
  })

  it('is 2 for what it does not know, and 1 for a configuration that is not valid', async () => {
    for (const args of [['--soon'], ['--timeout', 'x'], ['--timeout', '0'], ['now']]) {
      expect(await health(8080, ...args), args.join(' ')).toMatchObject({
        code: 2,
        err: expect.stringContaining('Usage:'),
      })
    }
    expect(await health('99999')).toMatchObject({ code: 1, err: expect.stringContaining('PORT must be') })
  })
})
