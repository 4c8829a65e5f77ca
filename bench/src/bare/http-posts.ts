/**
 * What Node.js does at best with the requests of a send on this machine: reads and parses each and answers as many bytes
 * as the service does. No rule, no database.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { listen } from './listen.ts'

const [answer] = (await once(process, 'message')) as [string]
const length = Buffer.byteLength(answer)

const server = createServer((request, response) => {
  const parts: Buffer[] = []
  request.on('data', (part: Buffer) => void parts.push(part))
  request.on('end', () => {
    const { receiver } = JSON.parse(Buffer.concat(parts).toString('utf8')) as { receiver?: unknown }
    const status = typeof receiver === 'string' ? 200 : 400
    response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', 'content-length': length })
    response.end(answer)
  })
})
await listen(server)
