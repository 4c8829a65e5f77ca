import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Script, scriptPath } from './script.ts'

/** A request that an emulator got. */
export interface EmulatedRequest {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

/** What it answers; undefined: it hangs up, as a service that dies does. */
export interface EmulatedAnswer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: object
}

/** Serves HTTP on this machine. */
export interface HttpEmulator {
  /** `http://127.0.0.1:9092` */
  readonly endpoint: string
  close(): Promise<void>
}

/**
 * @param port 0: any that is free
 * @param script that it can be told from outside
 */
export async function startHttpEmulator(
  port: number,
  answer: (request: EmulatedRequest) => EmulatedAnswer | undefined | Promise<EmulatedAnswer | undefined>,
  script?: Script,
): Promise<HttpEmulator> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const text = Buffer.concat(chunks).toString('utf8')
    const { method = '', url: path = '', headers } = request
    const isScript = script !== undefined && method === 'POST' && path === scriptPath
    const answered = isScript ? answerScript(script, text) : await answer({ method, path, headers, text })
    if (answered === undefined) {
      response.socket?.destroy()
      return
    }
    response.writeHead(answered.status, { 'content-type': 'application/json', ...answered.headers })
    response.end(answered.body === undefined ? '' : JSON.stringify(answered.body))
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve))
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}

function answerScript(script: Script, text: string): EmulatedAnswer {
  const flaw = script.read(text)
  return flaw === undefined ? { status: 200, body: { success: true } } : { status: 400, body: { reason: flaw } }
}
