import { parseArgs } from 'node:util'
import dotenv from 'dotenv'
import { type Config, readConfig } from '../config/index.ts'
import { get } from './probe.ts'

const help = `Usage: parley health [options]

Asks the service on this machine, at the HOST and PORT that it is configured with. For probes that run a command, such as the health
check of a container.

Options:
  --ready           ask whether it can serve, which it cannot while its database is away; without it: whether it is alive
  --timeout <s>     seconds to wait for the answer (default: 5)
  -h, --help        show this text

Exit codes: 0 it is, 1 it is not, or it did not answer, 2 wrong usage.
`

/** Runs `parley health`. @returns the exit code */
export async function healthCommand(args: string[]): Promise<number> {
  let path = '/health'
  let seconds = 0
  try {
    const { values } = parseArgs({
      args,
      options: {
        ready: { type: 'boolean' },
        timeout: { type: 'string', default: '5' },
        help: { type: 'boolean', short: 'h' },
      },
    })
    if (values.help === true) {
      process.stdout.write(help)
      return 0
    }
    if (values.ready === true) path = '/ready'
    seconds = Number(values.timeout)
    if (!(seconds > 0 && seconds <= 300)) throw new Error('--timeout must be a number of seconds, 300 at most')
  } catch (error) {
    process.stderr.write(`parley health: ${(error as Error).message}\n\n${help}`)
    return 2
  }
  try {
    dotenv.config({ quiet: true })
    const { status, text } = await get(addressOf(readConfig(process.env), path), seconds * 1000)
    ;(status === 200 ? process.stdout : process.stderr).write(`${text}\n`)
    return status === 200 ? 0 : 1
  } catch (error) {
    process.stderr.write(`parley health: ${(error as Error).message}\n`)
    return 1
  }
}

/** A service that listens on all addresses of the machine listens on its own, too. */
function addressOf({ host, port, tls }: Config, path: string): URL {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  const name = reachable.includes(':') ? `[${reachable}]` : reachable
  return new URL(`${tls === undefined ? 'http' : 'https'}://${name}:${port}${path}`)
}
