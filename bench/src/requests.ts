/** Builds requests as whole HTTP/1.1 messages. ASCII only: a character is a byte. */
export interface RequestOptions {
  readonly apiKey: string
  /** The acting user. */
  readonly as?: string
}

export function getRequest(path: string, options: RequestOptions): string {
  return `GET ${path} HTTP/1.1\r\n${headers(options)}\r\n`
}

export function postRequest(path: string, body: object, options: RequestOptions): string {
  return requestWithBody('POST', path, body, options)
}

export function requestWithBody(method: 'POST' | 'PUT', path: string, body: object, options: RequestOptions): string {
  const text = JSON.stringify(body)
  return `${method} ${path} HTTP/1.1\r\n${headers(options)}content-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n${text}`
}

function headers({ apiKey, as }: RequestOptions): string {
  const onBehalfOf = as === undefined ? '' : `onbehalfof: ${as}\r\n`
  return `host: 127.0.0.1\r\napikey: ${apiKey}\r\n${onBehalfOf}`
}

/** Asks once, outside of what is measured, and gives the body of the answer. */
export async function fetchBody(
  port: number,
  method: 'GET' | 'POST',
  path: string,
  { apiKey, as }: RequestOptions,
  body?: object,
): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: {
      apikey: apiKey,
      ...(as !== undefined && { onbehalfof: as }),
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
