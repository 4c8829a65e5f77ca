import { fork, type Serializable } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** A server that does one thing only, in a process of its own as the service: what its kind can do on this machine. */
export interface BareServer {
  readonly pid: number
  readonly port: number
  tell(message: Serializable): void
  stop(): void
}

/**
 * Starts one of the modules of this folder, which reports its port once it listens.
 * @param first what the module wants to know before it listens, if anything
 */
export async function startBareServer(name: string, first?: Serializable): Promise<BareServer> {
  const child = fork(fileURLToPath(new URL(`${name}.js`, import.meta.url)), { serialization: 'advanced' })
  if (first !== undefined) child.send(first)
  const port = await new Promise<number>((resolve, reject) => {
    child.once('message', (message) => resolve((message as { port: number }).port))
    child.once('exit', (code) => reject(new Error(`the bare server ${name} ended (exit code ${code})`)))
  })
  return {
    pid: child.pid as number,
    port,
    tell: (message) => void child.send(message),
    stop: () => void child.kill(),
  }
}
