import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

/**
 * Below those that systems hand out by themselves, to whoever connects somewhere or listens on port 0: what is stopped and
 * started again finds its port free.
 */
const ports = { first: 20_000, last: 32_000 }

/** A port of this host that nobody listens on. */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = randomInt(ports.first, ports.last)
    if (await isFree(port)) return port
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(false)
      else reject(error)
    })
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
