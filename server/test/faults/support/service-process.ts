import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { mainArguments, mainScript } from '../../support/build.ts'

export interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** The service as an operator runs it: `node server/dist/main.js`. */
export interface ServiceProcess {
  readonly pid: number
  /** `http://127.0.0.1:<port>` once it listens. It rejects when the process ends before. */
  readonly ready: Promise<string>
  /** How it ended. */
  readonly exited: Promise<Exit>
  /** Ended by `kill` or `signal`, so that its end is no surprise. */
  readonly isExpectedToEnd: boolean
  readonly isRunning: boolean
  /** The last lines of both its outputs, but for requests. */
  output(): string
  /** The last of the lines that tell of requests. */
  requests(): string
  signal(signal: NodeJS.Signals): void
  /** SIGKILL, and waits until it is gone. */
  kill(): Promise<void>
}

/** All services of the tests have this key, so that clients outlive them. */
export const apiKey = 'fa017'.repeat(8)
const masterKey = '5a'.repeat(32)

const rememberedLines = 200
const setpriv = '/usr/bin/setpriv'

/**
 * The port is picked free. The environment of this process is kept out, an `.env` file beside the tests too.
 * @param script of another version of the service, if not that of today
 */
export function launchService(environment: Record<string, string>, script = mainScript): ServiceProcess {
  const env = {
    PATH: process.env.PATH,
    PORT: '0',
    LOG_LEVEL: 'warn',
    RATE_LIMITS: 'off',
    PARLEY_API_KEY: apiKey,
    PARLEY_MASTER_KEY: masterKey,
    ...environment,
  }
  // So that nothing stays when the test process itself is killed.
  const guard = existsSync(setpriv) ? [setpriv, '--pdeathsig=TERM', '--'] : []
  const [file = '', ...args] = [...guard, process.execPath, ...mainArguments.slice(0, -1), script]
  const child = spawn(file, args, { cwd: '/', env, stdio: ['ignore', 'pipe', 'pipe'] })
  const { pid } = child
  if (pid === undefined) throw new Error(`${file} cannot be run`)

  const lines: string[] = []
  /** Under load these would leave no room for the others. */
  const requests: string[] = []
  let expected = false
  const exited = once(child, 'close').then(([code, signal]) => ({ code, signal }) as Exit)
  const ready = new Promise<string>((resolve, reject) => {
    const remember = (line: string) => {
      const to = line.includes('"msg":"request"') ? requests : lines
      to.push(line)
      if (to.length > rememberedLines) to.shift()
    }
    createInterface({ input: child.stderr }).on('line', remember)
    createInterface({ input: child.stdout }).on('line', (line) => {
      remember(line)
      const url = line.startsWith('{') ? undefined : /(http:\/\/127\.0\.0\.1:\d+)\/v3/.exec(line)?.[1]
      if (url !== undefined) resolve(url)
    })
    exited.then(({ code, signal }) => {
      reject(new Error(`the service ended before it listened (${code ?? signal}):\n${lines.join('\n')}`))
    })
  })
  ready.catch(() => {})

  const signal = (name: NodeJS.Signals) => {
    expected = true
    child.kill(name)
  }
  return {
    pid,
    ready,
    exited,
    get isExpectedToEnd() {
      return expected
    },
    get isRunning() {
      return child.exitCode === null && child.signalCode === null
    },
    output: () => lines.join('\n'),
    requests: () => requests.join('\n'),
    signal,
    async kill() {
      signal('SIGKILL')
      await exited
    },
  }
}
