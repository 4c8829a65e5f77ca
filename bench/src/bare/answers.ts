import { once } from 'node:events'

/** An answer of the service, to be given to the same request of the same user. */
export interface KeptAnswer {
  readonly as: string
  /** With its query, as on the request line. */
  readonly url: string
  readonly body: string
}

/** Takes the answers from the parent and keeps them as bytes. */
export async function receiveAnswers(): Promise<(as: string | string[] | undefined, url: string) => Buffer> {
  const [answers] = (await once(process, 'message')) as [KeptAnswer[]]
  const bodies = new Map(answers.map(({ as, url, body }) => [`${as} ${url}`, Buffer.from(body)]))
  return (as, url) => {
    const body = bodies.get(`${as} ${url}`)
    if (body === undefined) throw new Error(`no answer is kept for ${as} ${url}`)
    return body
  }
}
