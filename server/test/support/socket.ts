import { once } from 'node:events'
import { WebSocket } from 'ws'
import { dataOf } from './chat.ts'
import { soon, stillMs } from './until.ts'
import type { World } from './world.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests look at frames as a client would, without types
export type Frame = any

export interface LoginOptions {
  readonly deviceId?: string
  /** Members of the auth frame's body beside the token. */
  readonly body?: object
  /** Other members of the auth frame. */
  readonly frame?: object
  readonly path?: string
}

/** A client of the socket: keeps what it is told until somebody asks for it. */
export class Client {
  readonly ws: WebSocket
  readonly frames: Frame[] = []
  /** The code that the socket closed with. */
  closedWith: number | undefined
  private wake: () => void = () => {}

  constructor(url: string, headers: Record<string, string> = {}, options: object = {}) {
    this.ws = new WebSocket(url.replace(/^http/, 'ws'), { headers, ...options })
    this.ws.on('message', (data) => {
      this.frames.push(JSON.parse(String(data)))
      this.wake()
    })
    this.ws.on('close', (code) => {
      this.closedWith = code
      this.wake()
    })
    this.ws.on('error', () => {})
  }

  async opened(): Promise<this> {
    if (this.ws.readyState === WebSocket.CONNECTING) await once(this.ws, 'open')
    return this
  }

  send(frame: unknown): void {
    this.ws.send(typeof frame === 'string' || Buffer.isBuffer(frame) ? frame : JSON.stringify(frame))
  }

  /** Takes the first frame that fits, waiting for it. */
  async take(fits: (frame: Frame) => boolean | string | undefined): Promise<Frame> {
    return this.until(() => {
      const at = this.frames.findIndex(fits)
      return at === -1 ? undefined : this.frames.splice(at, 1)[0]
    }, 'the frame')
  }

  takeType(type: string): Promise<Frame> {
    return this.take((frame) => frame.type === type)
  }

  /** The next message with this text. */
  takeText(text: string): Promise<Frame> {
    return this.take((frame) => frame.type === 'message' && frame.body.data.text === text)
  }

  /** The close code, once it is closed. */
  closed(): Promise<number> {
    return this.until(() => this.closedWith, 'the close')
  }

  /**
   * Everything that was sent to this client before now has come once a ping is answered, as far as it was told at once;
   * frames of a conversation come in order, so tests make something happen there and wait for that.
   */
  async pong(): Promise<void> {
    this.send({ action: 'ping', ack: 'true' })
    await this.take((frame) => frame.action === 'pong')
  }

  close(): void {
    this.ws.close()
  }

  private async until<T>(find: () => T | undefined, what: string): Promise<T> {
    const deadline = performance.now() + stillMs
    for (;;) {
      const found = find()
      if (found !== undefined) return found
      const left = deadline - performance.now()
      if (left <= 0) {
        throw new Error(
          `${what} did not come; closed with ${this.closedWith}; there are ${JSON.stringify(this.frames).slice(0, 2000)}`,
        )
      }
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left)
        this.wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
  }
}

/** An auth token of a user. */
export async function tokenOf(world: World, uid: string): Promise<string> {
  return dataOf(await world.post(`/users/${uid}/auth_tokens`, {})).authToken
}

export function authFrame(world: World, uid: string, token: string, options: LoginOptions = {}): object {
  const deviceId = options.deviceId ?? `device-of-${uid}`
  return {
    appId: world.app.name,
    deviceId,
    type: 'auth',
    sender: uid,
    body: { auth: token, deviceId, presenceSubscription: 'NONE', ...options.body },
    ...options.frame,
  }
}

/** A client that is logged in. */
export async function connect(world: World, uid: string, options: LoginOptions & { token?: string } = {}) {
  const token = options.token ?? (await tokenOf(world, uid))
  const client = new Client(`${world.url}${options.path ?? '/'}`)
  await client.opened()
  client.send(authFrame(world, uid, token, options))
  const answer = await client.takeType('auth')
  if (answer.body.code !== '200') throw new Error(`${uid} could not log in: ${JSON.stringify(answer)}`)
  return client
}

/** Asks until what is answered fits. */
export async function eventually<T>(ask: () => Promise<T>, fits: (answer: T) => boolean): Promise<T> {
  return soon(async () => {
    const answer = await ask()
    if (fits(answer)) return answer
    throw new Error(`it never came to be; at last ${JSON.stringify(answer)}`)
  })
}
