import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { findProgram, type Need } from '../gate/needs.ts'
import { findFreePort } from '../support/ports.ts'

/** A Redis of one test file: nothing is kept, and it can be stopped and started again. */
export interface RedisServer {
  readonly url: string
  /** SIGKILL: whoever is connected is cut off. */
  stop(): Promise<void>
  start(): Promise<void>
  /** It hangs: connections stay open, nothing is answered. */
  freeze(): void
  thaw(): void
  /** Runs one command, as an operator would. */
  command(...words: string[]): Promise<unknown>
  close(): Promise<void>
}

const program = findProgram('redis-server', 'valkey-server')

export const redisServer: Need = {
  isMet: program !== undefined,
  otherwise: 'there is no redis-server on the PATH',
  inGate: true,
}

export async function startRedis(): Promise<RedisServer> {
  const port = await findFreePort()
  const folder = mkdtempSync(join(tmpdir(), 'parley-redis-'))
  let child: ChildProcess | undefined
  const url = `redis://127.0.0.1:${port}`
  const endAtExit = () => void child?.kill('SIGKILL')
  process.on('exit', endAtExit)

  const start = async () => {
    const options = ['--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', folder]
    child = spawn(program as string, ['--port', String(port), ...options], { stdio: 'ignore' })
    const client = new Redis(url, { retryStrategy: () => 20, maxRetriesPerRequest: null })
    client.on('error', () => {})
    await client.ping()
    client.disconnect()
  }
  const stop = async () => {
    const running = child
    child = undefined
    if (running === undefined) return
    const exit = once(running, 'exit')
    running.kill('SIGKILL')
    await exit
  }
  await start()
  return {
    url,
    stop,
    start,
    freeze: () => void child?.kill('SIGSTOP'),
    thaw: () => void child?.kill('SIGCONT'),
    async command(...words) {
      const client = new Redis(url)
      try {
        client.on('error', () => {})
        return await client.call(...(words as [string]))
      } finally {
        client.disconnect()
      }
    },
    async close() {
      await stop()
      process.off('exit', endAtExit)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
