import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, rename, rm, stat } from 'node:fs/promises'
import { isIP } from 'node:net'
import path from 'node:path'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Agent, buildConnector, type Dispatcher, request } from 'undici'
import { readAllowedTargets } from '../../config/outbound.ts'
import { checkedLookup, TargetRefused } from '../../delivery/outbound/addresses.ts'
import { createReach } from '../../delivery/outbound/allowed.ts'
import { exitCodes, ImportFailure } from '../import/failure.ts'
import { readRetryAfter } from '../import/request.ts'
import type { ImportIo } from '../import/run.ts'
import type { SourceFile } from './named-files.ts'
import { firstWait, longestWait, patience } from './remote.ts'

export interface Downloads {
  /**
   * Copies a file into the folder. What is there whole is not asked for again, what is there in part goes on.
   * @returns its name within the folder and its bytes, or why it could not be had
   */
  fetch(file: SourceFile): Promise<{ readonly file: string; readonly size: number } | { readonly problem: string }>
  close(): Promise<void>
}

export interface DownloadOptions {
  readonly folder: string
  /** The source, whose own addresses are always reached, and which alone is given the key. */
  readonly source: { readonly url: string; readonly apiKey: string; readonly app: string | undefined }
  readonly mostBytes: number
  readonly env: Readonly<Record<string, string | undefined>>
  readonly signal: AbortSignal
  readonly clock: ImportIo['clock']
}

const mostRedirects = 5
/** Of a file that came, but not as the message says. */
const attempts = 4
const answerTimeout = 60_000

/** Opens downloads of files whose addresses come out of messages, so that they may name any host. */
export function openDownloads({ folder, source, mostBytes, env, signal, clock }: DownloadOptions): Downloads {
  const problems: string[] = []
  const allow = readAllowedTargets(env.OUTBOUND_ALLOW, problems)
  if (problems.length > 0) throw new ImportFailure(exitCodes.usage, problems.join('\n'))
  const own = new URL(source.url)
  const reach = createReach({ allowPrivate: false, allow })
  const connectFreely = buildConnector({ timeout: 10_000 })
  const dispatcher = new Agent({
    connections: 8,
    headersTimeout: answerTimeout,
    bodyTimeout: answerTimeout,
    connect(options, callback) {
      const host = options.hostname.replace(/^\[|\]$/g, '')
      const isHttps = options.protocol === 'https:'
      const port = Number(options.port) || (isHttps ? 443 : 80)
      const mayReach = (address: string) => reach.admits(address, port, isHttps)
      if (reach.isTrusted(host, port) || (host === own.hostname && String(port) === portOf(own)))
        return connectFreely(options, callback)
      if (isIP(host) !== 0 && !mayReach(host)) return callback(new TargetRefused(host, host), null)
      buildConnector({ timeout: 10_000, lookup: checkedLookup(mayReach) })(options, callback)
    },
  })
  const ask = async (url: string, headers: Record<string, string>): Promise<Dispatcher.ResponseData> => {
    let at = url
    for (let redirects = 0; redirects <= mostRedirects; redirects++) {
      // A key goes to the source only, and never along a redirect.
      const answer = await request(at, { dispatcher, signal, headers: at === url ? headers : rangeOf(headers) })
      const { location } = answer.headers
      if (answer.statusCode < 300 || answer.statusCode > 399 || typeof location !== 'string') return answer
      await answer.body.dump()
      at = new URL(location, at).href
      if (!/^https?:/.test(at)) throw new Problem(`it leads to ${at}`)
    }
    throw new Problem('it leads on and on')
  }
  /** Where access needs a token, the source tells an address that is valid for some minutes. */
  const signedAddress = async (url: string): Promise<string | undefined> => {
    if (new URL(url).host !== own.host) return undefined
    const key = { apikey: source.apiKey, ...(source.app !== undefined && { appId: source.app }) }
    const answer = await request(url, { dispatcher, signal, headers: key })
    const text = await answer.body.text()
    if (answer.statusCode !== 200) return undefined
    const { data } = JSON.parse(text) as { data?: { url?: unknown } }
    return typeof data?.url === 'string' ? data.url : undefined
  }
  const download = async ({ url, mimeType, size }: SourceFile, target: string): Promise<number> => {
    if (size !== undefined && size > mostBytes) throw new Problem(`it has ${size} bytes; the limit is ${mostBytes}`)
    const partial = `${target}.part`
    const there = (await stat(partial).catch(() => undefined))?.size ?? 0
    const headers: Record<string, string> = there > 0 ? { range: `bytes=${there}-` } : {}
    let answer = await ask(url, headers)
    if (answer.statusCode === 401 || answer.statusCode === 403) {
      await answer.body.dump()
      const signed = await signedAddress(url)
      if (signed === undefined) throw new Problem(`it answered ${answer.statusCode}`)
      answer = await ask(signed, headers)
    }
    if (answer.statusCode === 416) {
      await answer.body.dump()
      await rm(partial, { force: true })
      throw new Unfit('the part that was there does not fit')
    }
    if (answer.statusCode !== 200 && answer.statusCode !== 206) {
      await answer.body.dump()
      const error = `it answered ${answer.statusCode}`
      if (answer.statusCode < 500 && answer.statusCode !== 429) throw new Problem(error)
      throw new Busy(error, readRetryAfter(answer.headers))
    }
    const type = String(answer.headers['content-type'] ?? '')
    if (/^text\/html/i.test(type) && !/html/i.test(mimeType)) {
      await answer.body.dump()
      throw new Problem('it is a web page, not the file')
    }
    let bytes = answer.statusCode === 206 ? there : 0
    const counted = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        bytes += chunk.length
        done(bytes > mostBytes ? new Problem(`it has more than ${mostBytes} bytes`) : null, chunk)
      },
    })
    const flags = answer.statusCode === 206 ? 'a' : 'w'
    await pipeline(answer.body, counted, createWriteStream(partial, { flags, mode: 0o600 }))
    if (size !== undefined && bytes !== size) {
      await rm(partial, { force: true })
      throw new Unfit(`it has ${bytes} bytes; the message says ${size}`)
    }
    await rename(partial, target)
    return bytes
  }
  /** Hosts that were waited for in vain: until one of them answers, each of their files is asked for once. */
  const away = new Set<string>()
  return {
    async fetch(file) {
      const name = path.join('files', createHash('sha256').update(file.url).digest('hex').slice(0, 40))
      const target = path.join(folder, name)
      const there = await stat(target).catch(() => undefined)
      if (there !== undefined) return { file: name, size: there.size }
      await mkdir(path.dirname(target), { recursive: true, mode: 0o700 })
      const { host } = new URL(file.url)
      const started = clock.now()
      for (let attempt = 1; ; attempt++) {
        try {
          const size = await download(file, target)
          away.delete(host)
          return { file: name, size }
        } catch (error) {
          if (signal.aborted) throw new ImportFailure(exitCodes.interrupted, 'stopped')
          const { message, cause } = error as Error
          const isFinal = error instanceof Problem || error instanceof TargetRefused || cause instanceof TargetRefused
          if (isFinal) await rm(`${target}.part`, { force: true })
          if (isFinal || (error instanceof Unfit && attempt === attempts)) return { problem: message }
          if (error instanceof Unfit) continue
          const delay = (error as Partial<Busy>).retryAfter ?? Math.min(longestWait, firstWait * 2 ** (attempt - 1))
          if (away.has(host) || clock.now() + delay - started > patience) {
            away.add(host)
            return { problem: message }
          }
          await clock.sleep(delay, signal).catch(() => undefined)
        }
      }
    },
    close: () => dispatcher.close(),
  }
}

/** What no other attempt mends. */
class Problem extends Error {}

/** What came is not what was asked for, which another attempt may mend, at once. */
class Unfit extends Error {}

/** The host is there, and has no time. @param retryAfter milliseconds, where it says so */
class Busy extends Error {
  readonly retryAfter: number | undefined
  constructor(message: string, retryAfter: number | undefined) {
    super(message)
    this.retryAfter = retryAfter
  }
}

function rangeOf({ range }: Record<string, string>): Record<string, string> {
  return range === undefined ? {} : { range }
}

function portOf({ port, protocol }: URL): string {
  return port === '' ? (protocol === 'https:' ? '443' : '80') : port
}

/** The digest of a file's content, in hexadecimal. */
export async function digestOf(file: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer)
  return hash.digest('hex')
}
