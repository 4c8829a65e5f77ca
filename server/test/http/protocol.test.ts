import type { AddressInfo, Socket } from 'node:net'
import net from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Route } from '../../src/call.ts'
import { routes } from '../../src/routes.ts'
import { createWorld, type World } from '../support/world.ts'
import { ask, expectContractAnswer, type Service, startParley } from './watched.ts'

let service: Service
let world: World

beforeAll(async () => {
  service = await startParley({ environment: { LOG_LEVEL: 'info' } })
  world = await createWorld()
})
afterAll(() => service.parley.close())

function open(to: Service = service): Socket {
  return net.connect((to.parley.http.server.address() as AddressInfo).port, '127.0.0.1')
}

interface RawAnswer {
  readonly status: number
  readonly headers: Record<string, string>
  // biome-ignore lint/suspicious/noExplicitAny: as a client sees it
  readonly body: any
}

/** Takes apart what came over a connection: answers with a content length, one after the other. */
function parseAnswers(received: string): RawAnswer[] {
  const answers: RawAnswer[] = []
  for (let rest = received; rest !== ''; ) {
    const end = rest.indexOf('\r\n\r\n')
    const [first = '', ...lines] = rest.slice(0, end).split('\r\n')
    const headers = Object.fromEntries(lines.map((line) => [line.split(': ')[0]?.toLowerCase(), line.split(': ')[1]]))
    const length = Number(headers['content-length'] ?? 0)
    const body = rest.slice(end + 4, end + 4 + length)
    if (!first.includes(' 100 ')) {
      answers.push({ status: Number(first.split(' ')[1]), headers, body: body === '' ? '' : JSON.parse(body) })
    }
    rest = rest.slice(end + 4 + length)
  }
  return answers
}

/** Sends bytes as they are and gives all answers until the service closes the connection. */
async function exchange(bytes: string): Promise<RawAnswer[]> {
  const socket = open()
  socket.write(bytes)
  return parseAnswers(await text(socket))
}

const close = 'connection: close\r\n'

describe('what is no HTTP', () => {
  it.each([
    ['nonsense', 'hello\r\n\r\n', 400],
    ['an unknown method', 'FETCH / HTTP/1.1\r\nhost: x\r\n\r\n', 400],
    ['an unknown version', 'GET / HTTP/9.9\r\nhost: x\r\n\r\n', 400],
    ['a broken header', 'GET / HTTP/1.1\r\nhost x\r\n\r\n', 400],
    ['a NUL in a header', 'GET / HTTP/1.1\r\nhost: x\r\napikey: a\0b\r\n\r\n', 400],
    ['two lengths', 'POST /users HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n{}', 400],
    [
      'a length and chunks',
      'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n',
      400,
    ],
    ['a negative length', 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: -1\r\n\r\n', 400],
    ['headers without end', `GET / HTTP/1.1\r\nhost: x\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`, 431],
    ['an address without end', `GET /${'y'.repeat(20_000)} HTTP/1.1\r\nhost: x\r\n\r\n`, 431],
    ['TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400],
  ])('is answered in the shape of every error: %s', async (_what, bytes, status) => {
    const [answer] = await exchange(bytes)
    expect(answer?.status).toBe(status)
    expectContractAnswer(answer as RawAnswer)
    expect(answer?.headers.connection).toBe('close')
    const line = service.lines.find((written) => written.includes(`"${answer?.headers['x-request-id']}"`)) ?? '{}'
    expect(JSON.parse(line)).toMatchObject({ operation: 'malformed', status, msg: 'request' })
  })

  it('is answered also within a body', async () => {
    const head = `POST /users HTTP/1.1\r\nhost: x\r\nappid: ${world.app.name}\r\napikey: ${world.apiKey}\r\n`
    const [answer] = await exchange(`${head}content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n`)
    expect(answer?.status).toBe(400)
    expectContractAnswer(answer as RawAnswer)
  })

  it('is answered with 408 when it does not come in time', async () => {
    const accepted = new Promise<Socket>((resolve) => service.parley.http.server.once('connection', resolve))
    const socket = open()
    socket.write('GET / HTTP/1.1\r\n')
    const late = Object.assign(new Error('late'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })
    service.parley.http.server.emit('clientError', late, await accepted)
    const [answer] = parseAnswers(await text(socket))
    expect(answer?.status).toBe(408)
    expectContractAnswer(answer as RawAnswer)
  })

  it('does not disturb others', async () => {
    const sockets = Array.from({ length: 50 }, () => open())
    for (const socket of sockets) {
      socket.on('error', () => {})
      socket.write('\0\0\0\0')
      socket.destroy()
    }
    expect((await ask(`${service.url}/health`)).status).toBe(200)
  })
})

describe('the connection', () => {
  it('is kept over refused requests, and answers in order', async () => {
    const answers = await exchange(
      [
        'GET /users HTTP/1.1\r\nhost: x\r\n\r\n',
        'POST /nothing HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\n\r\n{"bro',
        'GET /users/%zz HTTP/1.1\r\nhost: x\r\n\r\n',
        `POST /users HTTP/1.1\r\nhost: x\r\ncontent-type: text/plain\r\ncontent-length: 5\r\n\r\nhello`,
        `GET /health HTTP/1.1\r\nhost: x\r\n${close}\r\n`,
      ].join(''),
    )
    expect(answers.map(({ status }) => status)).toEqual([401, 404, 400, 401, 200])
    expect(new Set(answers.map(({ headers }) => headers['x-request-id'])).size).toBe(5)
  })

  it('may be HTTP/1.0, without a host', async () => {
    expect((await exchange('GET /health HTTP/1.0\r\n\r\n'))[0]).toMatchObject({ status: 200, body: { status: 'ok' } })
  })

  it('needs a host in HTTP/1.1', async () => {
    const [answer] = await exchange(`GET /health HTTP/1.1\r\n${close}\r\n`)
    expectContractAnswer(answer as RawAnswer)
    expect(answer?.body.error.details).toEqual([{ path: 'headers/host', message: 'is required' }])
  })

  it('takes whole addresses, as proxies send them', async () => {
    const [answer] = await exchange(
      `GET http://chat.example.com/health HTTP/1.1\r\nhost: chat.example.com\r\n${close}\r\n`,
    )
    expect(answer).toMatchObject({ status: 200, body: { status: 'ok' } })
  })

  it('passes over expectations that it does not know', async () => {
    const [answer] = await exchange(`GET /health HTTP/1.1\r\nhost: x\r\nexpect: miracles\r\n${close}\r\n`)
    expect(answer?.status).toBe(200)
  })

  it('asks for the body of a client that waits to be asked', async () => {
    const body = '{"uid":"waiting","name":"W"}'
    const socket = open()
    socket.write(
      `POST /users HTTP/1.1\r\nhost: x\r\nappid: ${world.app.name}\r\napikey: ${world.apiKey}\r\nexpect: 100-continue\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n${close}\r\n`,
    )
    const first = await new Promise<Buffer>((resolve) => socket.once('data', resolve))
    expect(String(first)).toContain('HTTP/1.1 100 Continue')
    socket.write(body)
    expect(parseAnswers(await text(socket))[0]).toMatchObject({ status: 200, body: { data: { uid: 'waiting' } } })
  })

  it('may ask for an upgrade that is not offered', async () => {
    const upgrade = 'connection: upgrade, http2-settings, close\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABk\r\n'
    const [answer] = await exchange(`GET /health HTTP/1.1\r\nhost: x\r\n${upgrade}\r\n`)
    expect(answer?.status).toBe(200)
  })

  it('that a client drops in the middle of a body is no fault of the database', async () => {
    const lines = service.lines.length
    const socket = open()
    socket.write(
      `POST /users HTTP/1.1\r\nhost: x\r\nappid: ${world.app.name}\r\napikey: ${world.apiKey}\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"uid"`,
    )
    await ask(`${service.url}/health`)
    socket.destroy()
    const written = () => service.lines.slice(lines).map((line) => JSON.parse(line))
    await expect.poll(() => written().filter(({ operation }) => operation === 'create-user')).toHaveLength(1)
    expect(written().find(({ operation }) => operation === 'create-user')).toMatchObject({ status: 499, level: 30 })
    expect(written().filter(({ level }) => level > 30)).toEqual([])
  })
})

describe('a service that stops', () => {
  it('answers what is under way, and tells clients to leave', async () => {
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    let begun = () => {}
    const begins = new Promise<void>((resolve) => {
      begun = resolve
    })
    const holding = routes.map(
      (route): Route => ({
        ...route,
        handle: async (call, context) => {
          begun()
          await held
          return route.handle(call, context)
        },
      }),
    )
    const stopping = await startParley({ routes: holding })
    const socket = open(stopping)
    const head = `host: x\r\nappid: ${world.app.name}\r\napikey: ${world.apiKey}\r\n`
    socket.write(`GET /users HTTP/1.1\r\n${head}\r\n`)
    await begins
    const closed = stopping.parley.close()
    // On the connection that is still open.
    socket.write(`GET /nothing HTTP/1.1\r\n${head}\r\n`)
    release()
    const answers = parseAnswers(await text(socket))
    await closed
    expect(answers[0]).toMatchObject({ status: 200, body: { meta: { pagination: {} } } })
    for (const answer of answers.slice(1)) {
      expectContractAnswer(answer)
      expect(answer.headers.connection).toBe('close')
    }
    await expect(fetch(`${stopping.url}/health`)).rejects.toThrow()
  })
})
