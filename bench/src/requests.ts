/** Builds requests as whole HTTP/1.1 messages. ASCII only: a character is a byte. */
export interface RequestOptions {
  readonly apiKey?: string
  /** The acting user of an app that asks with its key. */
  readonly as?: string
  /** The auth token of a user who sends the request themselves. */
  readonly token?: string
  /** The app; that of the service without it. */
  readonly app?: string
  /** The trace that it belongs to. */
  readonly traceparent?: string
}

export function getRequest(path: string, options: RequestOptions): string {
  return `GET ${path} HTTP/1.1\r\n${headerLines(options)}\r\n`
}

export function postRequest(path: string, body: object, options: RequestOptions): string {
  return requestWithBody('POST', path, body, options)
}

export function requestWithBody(method: 'POST' | 'PUT', path: string, body: object, options: RequestOptions): string {
  const text = JSON.stringify(body)
  return `${method} ${path} HTTP/1.1\r\n${headerLines(options)}content-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n${text}`
}

/** Who asks, as headers. */
export function credentials({ apiKey, as, token, app }: RequestOptions): Record<string, string> {
  return {
    ...(apiKey !== undefined && { apikey: apiKey }),
    ...(as !== undefined && { onbehalfof: as }),
    ...(token !== undefined && { authtoken: token }),
    ...(app !== undefined && { appid: app }),
  }
}

function headerLines(options: RequestOptions): string {
  const { traceparent } = options
  const headers = { ...credentials(options), ...(traceparent !== undefined && { traceparent }) }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `host: 127.0.0.1\r\n${lines.join('')}`
}

/** Asks once, outside of what is measured, and gives the body of the answer. */
export async function fetchBody(
  port: number,
  method: 'GET' | 'POST',
  path: string,
  options: RequestOptions,
  body?: object,
): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: {
      ...credentials(options),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
  return text
}

/** A text message of usual length. */
export function textTo(receiver: string, receiverType: 'user' | 'group' = 'user'): object {
  return { receiver, receiverType, category: 'message', type: 'text', data: { text } }
}

/** As long as messages are on average in a corpus of 87,000. */
export const text = 'Shall we meet at the station at half six?'
