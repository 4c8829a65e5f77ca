import { request } from 'node:http'
import { json } from 'node:stream/consumers'
import { FormData, fetch } from 'undici'
import type { Answer, World } from './world.ts'

export interface FormFile {
  name: string
  type: string
  content: string
}

export const picture: FormFile = { name: 'cat.png', type: 'image/png', content: '0123456789' }

/** Fields of a picture to bob. */
export const toBob = { receiver: 'bob', receiverType: 'user', category: 'message', type: 'image' }

interface FormOptions {
  readonly path?: string
  /** uid for `onBehalfOf`; null for the app itself */
  readonly as?: string | null
  readonly token?: string
}

/** Sends a form: its fields, then its files. */
export async function sendForm(
  world: World,
  fields: Record<string, string>,
  files: FormFile[],
  options: FormOptions = {},
): Promise<Answer> {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.set(name, value)
  for (const { name, type, content } of files) form.append('file', new Blob([content], { type }), name)
  const url = `${world.url}/v3${options.path ?? '/messages'}`
  const answer = await fetch(url, { method: 'POST', headers: headersOf(world, options), body: form })
  return { status: answer.status, headers: Object.fromEntries(answer.headers), body: await answer.json() }
}

/** A form that is sent piece by piece. */
export interface OpenForm {
  write(text: string | Buffer): void
  end(): void
  /** Breaks the connection off. */
  abort(): void
  readonly answer: Promise<Answer>
}

export const boundary = 'a-boundary-of-tests'

/** A part of a form: a field, or the head of a file, whose content follows. */
export const fieldPart = (name: string, value: string) =>
  `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
export const fileHead = (name: string, type: string) =>
  `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="${name}"\r\ncontent-type: ${type}\r\n\r\n`
export const endOfForm = `\r\n--${boundary}--\r\n`

/** Opens a form whose length is declared, or left open; what is written decides what the service knows. */
export function openForm(world: World, options: FormOptions & { length?: number } = {}): OpenForm {
  const { hostname, port } = new URL(world.url)
  const headers = {
    ...headersOf(world, options),
    'content-type': `multipart/form-data; boundary=${boundary}`,
    ...(options.length !== undefined && { 'content-length': options.length }),
  }
  const path = `/v3${options.path ?? '/messages'}`
  const sent = request({ hostname, port, path, method: 'POST', headers })
  const answer = new Promise<Answer>((resolve, reject) => {
    sent.once('response', (response) => {
      // biome-ignore lint/suspicious/noExplicitAny: tests look at answers as a client would, without types
      const read = json(response) as Promise<any>
      read.then((body) => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }), reject)
    })
    sent.on('error', reject)
  })
  answer.catch(() => {})
  return {
    write: (text) => void sent.write(text),
    end: () => void sent.end(),
    abort: () => void sent.destroy(),
    answer,
  }
}

function headersOf(world: World, { as = 'alice', token }: FormOptions): Record<string, string> {
  const appid = world.app.name
  if (token !== undefined) return { appid, authtoken: token }
  return { appid, apikey: world.apiKey, ...(as !== null && { onbehalfof: as }) }
}
