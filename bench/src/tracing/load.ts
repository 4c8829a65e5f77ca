import { randomBytes } from 'node:crypto'
import { openConnection } from '../load/connection.ts'
import { postRequest, textTo } from '../requests.ts'
import type { Service } from '../service.ts'

/** Sends that go on over all connections, each one message after the other. */
export interface Load {
  /** Of so many sends one is to be traced; 0 for none. */
  oneIn: number
  /** How many were answered. */
  readonly sent: number
  /** Resolves once nothing is under way. */
  stop(): Promise<void>
}

const connections = 64
/** As many send, as many others receive: `u1` and so on. */
export const users = 40
const receivers = 8
/** As long as a real one, which is written over it. */
const placeholder = `00-${'0'.repeat(32)}-${'0'.repeat(16)}-01`

export function startLoad({ port, apiKey }: Service): Load {
  let [begun, isStopping] = [0, false]
  const load = { oneIn: 0, sent: 0, stop: async () => {} }
  const ended = Array.from({ length: connections }, (_, place) => {
    const requests = (traceparent?: string) =>
      Array.from({ length: receivers }, (_, n) => {
        const options = { apiKey, as: `u${1 + (place % users)}`, ...(traceparent !== undefined && { traceparent }) }
        return Buffer.from(postRequest('/v3/messages', textTo(`u${users + 1 + ((place + n) % users)}`), options))
      })
    const [plain, traced] = [requests(), requests(placeholder)]
    return new Promise<void>((resolve, reject) => {
      const next = () => {
        if (isStopping) {
          connection.close()
          resolve()
          return
        }
        const n = begun++
        const isTraced = load.oneIn > 0 && n % load.oneIn === 0
        const request = (isTraced ? traced : plain)[n % receivers] as Buffer
        if (isTraced) writeTrace(request)
        connection.send(request)
      }
      const connection = openConnection(port, {
        open: next,
        answer(status, body) {
          if (status !== 200) return reject(new Error(`${status}: ${body}`))
          load.sent++
          next()
        },
        broken: (reason) => reject(new Error(reason)),
      })
    })
  })
  const all = Promise.all(ended)
  // It is heard of where the load is stopped.
  all.catch(() => {})
  load.stop = async () => {
    isStopping = true
    await all
  }
  return load
}

/** A trace and a caller of its own; the request before it on this connection was answered. */
function writeTrace(request: Buffer): void {
  const at = request.indexOf('traceparent: ') + 'traceparent: 00-'.length
  const ids = randomBytes(24).toString('hex')
  request.write(ids.slice(0, 32), at, 'latin1')
  request.write(ids.slice(32), at + 33, 'latin1')
}
