import { parentPort } from 'node:worker_threads'
import { buffersOf, type CompileReply, type CompileTask, compileTask } from './compile-task.ts'

/* Runs in a thread of its own: what a list is compiled to is handed over without a copy. */

parentPort?.on('message', ({ number, task }: { number: number; task: CompileTask }) => {
  const compiled = compileTask(task)
  const reply: CompileReply = { number, compiled }
  parentPort?.postMessage(reply, buffersOf(compiled))
})
