import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'

const main = fileURLToPath(new URL('../../../server/dist/cli/main.js', import.meta.url))

/** What a command took. */
export interface Taken {
  readonly seconds: number
  /** Megabytes of memory that it had at most. */
  readonly memory: number
}

/**
 * Runs a command of Parley.
 * @param onSaid is told of what it says beside its result, and of its process
 * @throws Error where it does not succeed
 */
export async function runCommand(
  command: string,
  args: readonly string[],
  onSaid: (text: string, pid: number) => void = () => undefined,
): Promise<Taken> {
  const startedAt = performance.now()
  mkdirSync(tmpdir(), { recursive: true })
  const child = spawn(process.execPath, [main, command, ...args], { stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr.on('data', (chunk) => {
    said = `${said}${chunk}`.slice(-2000)
    onSaid(String(chunk), child.pid as number)
  })
  const peak = watchMemory(child)
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`${command} ended with ${code}:\n${said}`)
  return { seconds: (performance.now() - startedAt) / 1000, memory: peak() }
}

function watchMemory({ pid }: ChildProcess): () => number {
  let most = 0
  const timer = setInterval(() => {
    try {
      const [, kilobytes] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
      most = Math.max(most, Number(kilobytes ?? 0) / 1024)
    } catch {
      // It has ended, or there is no such file on this system: the figure stays as it is.
    }
  }, 200)
  return () => {
    clearInterval(timer)
    return most
  }
}
