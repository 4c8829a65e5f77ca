import { randomUUID } from 'node:crypto'
import { Agent, FormData, request } from 'undici'
import { Client, type Frame } from '../support/socket.ts'
import type { Answer } from '../support/world.ts'

// biome-ignore lint/suspicious/noExplicitAny: a front end reads answers without types
type Data = any

/** What a browser keeps over a reload of the page. */
export interface Kept {
  readonly settings: Data
  readonly user: Data
  readonly authToken: string
}

const agent = new Agent({ connect: { rejectUnauthorized: false }, connections: 32 })
const appVersion = 4

/**
 * A front end as the client dialect describes it, and nothing else: it knows a host, an app and a key, and takes every
 * other address from what it is told. It speaks TLS only. One is one tab of a browser.
 */
export class FrontEnd {
  readonly app: string
  readonly resource = `WEB-4_2_0-${randomUUID()}-${Date.now()}`
  kept: Kept | undefined
  socket: Client | undefined
  private readonly host: string

  /** @param host what the override options of an SDK are given */
  constructor(host: string, app: string) {
    this.host = host
    this.app = app
  }

  /** Logs in with an authOnly key, as SDKs do: the first request has no version in its path. */
  async logIn(uid: string, authKey: string): Promise<Kept> {
    const device = { platform: 'WEB', deviceId: this.resource, appInfo: { version: '4.2.0', apiVersion: 'v3.0' } }
    const issued = await this.ask(this.host, 'POST', `/users/${uid}/auth_tokens`, device, { apikey: authKey })
    const { authToken } = dataOf(issued)
    const token = { authtoken: authToken }
    const { settings: _, ...user } = dataOf(await this.ask(this.host, 'PUT', '/me', device, token))
    const settings = dataOf(await this.ask(this.host, 'GET', '/settings', undefined, token))
    this.kept = { settings, user, authToken }
    return this.kept
  }

  /** The page is loaded again: a new tab of the same browser, with what it had kept. */
  reload(): FrontEnd {
    const tab = new FrontEnd(this.host, this.app)
    // A client of this generation forgets a login that an app of another kept.
    if (this.kept?.settings.APP_VERSION === appVersion) tab.kept = structuredClone(this.kept)
    return tab
  }

  get uid(): string {
    return this.login.user.uid
  }

  /** Every request after the login: on the host that the settings name. */
  call(method: string, path: string, body?: unknown): Promise<Answer> {
    const { settings, authToken } = this.login
    return this.ask(settings.CLIENT_API_HOST, method, `/${settings.CHAT_API_VERSION}${path}`, body, {
      authtoken: authToken,
    })
  }

  /** `data` of a request that must succeed. */
  async data(method: string, path: string, body?: unknown): Promise<Data> {
    return dataOf(await this.call(method, path, body))
  }

  say(to: string, text: string, more: object = {}): Promise<Data> {
    const message = { receiver: to, receiverType: 'user', category: 'message', type: 'text', data: { text } }
    return this.data('POST', '/messages', { ...message, ...more })
  }

  /** How many users, or members of groups, are online. A browser asks port 443; tests have a port of their own. */
  async online(body: object): Promise<Data> {
    const { settings, user } = this.login
    const host = `${settings.CHAT_HOST}:${settings.CHAT_WSS_PORT}`
    const headers = { authorization: user.jwt }
    return dataOf(await this.ask(host, 'POST', `/api/${settings.WS_API_VERSION}/online-members`, body, headers))
  }

  /** Opens the socket that the settings name, and waits until it is let in. */
  async connect(): Promise<this> {
    const { settings, user } = this.login
    const url = `wss://${settings.CHAT_HOST}:${settings.CHAT_WSS_PORT}/`
    this.socket = new Client(url, {}, { rejectUnauthorized: false })
    await this.socket.opened()
    this.tell({
      type: 'auth',
      sender: this.uid,
      body: {
        auth: user.jwt,
        deviceId: this.resource,
        presenceSubscription: 'ALL_USERS',
        params: { appInfo: { version: '4.2.0' }, userAgent: 'test', deviceId: this.resource, platform: 'WEB' },
      },
    })
    const answer = await this.socket.takeType('auth')
    if (answer.body.code !== '200') throw new Error(`refused: ${JSON.stringify(answer)}`)
    return this
  }

  /** Sends a frame in the envelope. */
  tell(frame: object): void {
    this.socket?.send({ appId: this.app, deviceId: this.resource, ...frame })
  }

  /** The next frame of a type that fits. */
  hear(type: string, fits: (frame: Frame) => boolean = () => true): Promise<Frame> {
    return (this.socket as Client).take((frame) => frame.type === type && fits(frame))
  }

  /** The next message with this text. */
  hearText(text: string): Promise<Frame> {
    return this.hear('message', ({ body }) => body.data.text === text)
  }

  /** The bytes of a file. */
  async fetch(url: string): Promise<Buffer> {
    const answer = await request(url, { dispatcher: agent })
    return Buffer.from(await answer.body.arrayBuffer())
  }

  close(): void {
    this.socket?.close()
  }

  private get login(): Kept {
    if (this.kept === undefined) throw new Error('nobody is logged in')
    return this.kept
  }

  private async ask(
    host: string,
    method: string,
    path: string,
    body: unknown,
    headers: Record<string, string>,
  ): Promise<Answer> {
    const isForm = body instanceof FormData
    const answer = await request(`https://${host}${path}`, {
      method: method as 'GET',
      dispatcher: agent,
      headers: {
        appid: this.app,
        resource: this.resource,
        sdk: 'javascript@4.2.0',
        origin: 'https://shop.example.com',
        ...(!isForm && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: isForm ? body : JSON.stringify(body) }),
    })
    if (answer.headers['access-control-allow-origin'] !== '*') throw new Error('a browser would not see this answer')
    return { status: answer.statusCode, headers: answer.headers, body: await answer.body.json() }
  }
}

export function dataOf({ status, body }: Answer): Data {
  if (status !== 200) throw new Error(`status ${status}: ${JSON.stringify(body)}`)
  return body.data
}
