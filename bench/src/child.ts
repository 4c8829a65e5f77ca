import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** A part of a bench in a process of its own, which is asked one thing at a time and answers each. */
export interface Child {
  readonly pid: number
  ask<Answer>(what: object): Promise<Answer>
  stop(): void
}

/** @param path of the module, from this folder */
export function startChild(path: string): Child {
  const child: ChildProcess = fork(fileURLToPath(new URL(path, import.meta.url)))
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`${path} ended (exit code ${code})`)
  })
  ended.catch(() => {})
  return {
    pid: child.pid as number,
    async ask<Answer>(what: object) {
      const answered = once(child, 'message')
      child.send(what)
      const [answer] = await Promise.race([answered, ended])
      return answer as Answer
    },
    stop: () => void child.kill(),
  }
}

/** In the child: answers what it is asked. */
export function answer<What>(work: (what: What) => Promise<object>): void {
  process.on('message', async (what) => {
    try {
      process.send?.(await work(what as What))
    } catch (error) {
      console.error(error)
      process.exit(1)
    }
  })
}
