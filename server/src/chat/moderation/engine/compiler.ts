import { Worker } from 'node:worker_threads'
import { type Compiled, type CompileReply, type CompileTask, compileTask } from './compile-task.ts'

/** Characters of terms that are compiled at once: less time than a thread takes to start. */
const atOnce = 2000
/** A thread that has nothing to do for so long is ended. */
const idleMs = 30_000

interface Waiting {
  readonly task: CompileTask
  readonly resolve: (compiled: Compiled) => void
  readonly reject: (error: Error) => void
}

let thread: Worker | undefined
let lastNumber = 0
let idle: NodeJS.Timeout | undefined
const waiting = new Map<number, Waiting>()

/** Compiles terms, in another thread where they are many. Rejects when that thread ends before it has. */
export async function compileTerms(task: CompileTask): Promise<Compiled> {
  return task.terms.length <= atOnce ? compileTask(task) : await compileApart(task)
}

function compileApart(task: CompileTask): Promise<Compiled> {
  return new Promise((resolve, reject) => {
    lastNumber += 1
    waiting.set(lastNumber, { task, resolve, reject })
    clearTimeout(idle)
    const worker = thread ?? startThread()
    worker.ref()
    worker.postMessage({ number: lastNumber, task })
  })
}

function startThread(): Worker {
  // The same file as this one's neighbour, whether it is TypeScript or built.
  const file = new URL(`./compile-thread${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url)
  const worker = new Worker(file, { name: 'moderation' })
  thread = worker
  worker.on('message', ({ number, compiled }: CompileReply) => {
    waiting.get(number)?.resolve(compiled)
    waiting.delete(number)
    if (waiting.size === 0) rest(worker)
  })
  worker.on('error', (error) => fail(worker, error))
  worker.on('exit', () => fail(worker, new Error('The thread that compiles word lists has ended.')))
  return worker
}

/** A thread with nothing to do keeps no process from ending. */
function rest(worker: Worker): void {
  worker.unref()
  idle = setTimeout(() => {
    if (thread === worker && waiting.size === 0) {
      thread = undefined
      void worker.terminate()
    }
  }, idleMs).unref()
}

/** The next list starts another thread. */
function fail(worker: Worker, error: unknown): void {
  if (thread !== worker) return
  thread = undefined
  const lost = [...waiting.values()]
  waiting.clear()
  for (const { reject } of lost) reject(error instanceof Error ? error : new Error(String(error)))
}
