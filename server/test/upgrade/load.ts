import { randomUUID } from 'node:crypto'
import { Agent, request } from 'undici'
import { apiKey } from '../faults/support/service-process.ts'

/** Where requests go: those that are in rotation, as a load balancer would have it. */
export interface Backend {
  readonly url: string
  isIn: boolean
  underWay: number
}

/** People who write and read while the service is upgraded, in the default app: what else there is stays as it is. */
export interface Load {
  readonly backends: Backend[]
  /** What was answered with success. */
  readonly answered: number
  /** Every request that was refused, or got no answer: a sentence each. */
  readonly refused: readonly string[]
  /** Texts of the messages that were acknowledged. */
  readonly sent: readonly string[]
  /** Takes a backend out of rotation, and waits until its requests are answered. */
  takeOut(backend: Backend): Promise<void>
  stop(): Promise<void>
}

const asAlice = { onbehalfof: 'alice' }

/** @param writers how many requests are under way at a time */
export function startLoad(writers = 4): Load {
  const backends: Backend[] = []
  const refused: string[] = []
  const sent: string[] = []
  const agent = new Agent({ connections: writers * 2 })
  let answered = 0
  let isOver = false
  let turn = 0

  const call = async (
    backend: Backend,
    method: 'GET' | 'POST',
    path: string,
    body?: object,
    isAgain = false,
  ): Promise<boolean> => {
    backend.underWay++
    try {
      const headers = { appid: 'parley', apikey: apiKey, 'content-type': 'application/json', ...asAlice }
      const sending = { method, headers, dispatcher: agent, ...(body && { body: JSON.stringify(body) }) }
      const answer = await request(`${backend.url}/v3${path}`, sending)
      const text = await answer.body.text()
      if (answer.statusCode !== 200) refused.push(`${method} ${path}: ${answer.statusCode} ${text.slice(0, 200)}`)
      else answered++
      return answer.statusCode === 200
    } catch (error) {
      const { message } = error as Error
      // Sent over a connection just as that was closed: clients send it again, messages with their muid.
      if (!isAgain && /other side closed|ECONNRESET/.test(message)) return await call(backend, method, path, body, true)
      refused.push(`${method} ${path}: ${message}`)
      return false
    } finally {
      backend.underWay--
    }
  }
  /** Whoever is there already stays. */
  const join = async (backend: Backend, uid: string) => {
    const headers = { appid: 'parley', apikey: apiKey, 'content-type': 'application/json' }
    const answer = await request(`${backend.url}/v3/users`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ uid, name: uid }),
    })
    const text = await answer.body.text()
    if (answer.statusCode !== 200 && !text.includes('ERR_UID_ALREADY_EXISTS'))
      refused.push(`${uid} could not join: ${text}`)
  }
  let joined: Promise<unknown> | undefined
  const work = async () => {
    while (!isOver) {
      const present = backends.filter(({ isIn }) => isIn)
      const backend = present[turn++ % Math.max(1, present.length)]
      if (backend === undefined) {
        await new Promise((resolve) => setTimeout(resolve, 10))
        continue
      }
      joined ??= Promise.all(['alice', 'bob'].map((uid) => join(backend, uid)))
      await joined
      const text = `during the upgrade ${randomUUID()}`
      const message = {
        receiver: 'bob',
        receiverType: 'user',
        category: 'message',
        type: 'text',
        data: { text },
        muid: text,
      }
      if (await call(backend, 'POST', '/messages', message)) sent.push(text)
      await call(backend, 'GET', '/users/bob/messages?limit=5')
      await call(backend, 'GET', '/conversations')
    }
  }
  const working = Array.from({ length: writers }, work)
  return {
    backends,
    get answered() {
      return answered
    },
    refused,
    sent,
    async takeOut(backend) {
      backend.isIn = false
      while (backend.underWay > 0) await new Promise((resolve) => setTimeout(resolve, 10))
    },
    async stop() {
      isOver = true
      await Promise.all(working)
      await agent.close()
    },
  }
}
