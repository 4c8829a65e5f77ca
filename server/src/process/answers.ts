import { readFileSync } from 'node:fs'

/** Asks a process again and again whether it is there. */
export interface AnswerWatch {
  /** It answered. */
  answered(): void
  stop(): void
}

export interface AnswerOptions {
  readonly ask: () => void
  /** It is held on purpose. */
  readonly isExcused: () => boolean
  readonly onSilent: () => void
  /** How long it may leave questions unanswered, in milliseconds. */
  readonly silentMs: number
}

/** So many questions in a row. They are counted, not the time: while this process or the machine stands still, it asks none. */
const questions = 12

export function watchAnswers({ ask, isExcused, onSilent, silentMs }: AnswerOptions): AnswerWatch {
  let unanswered = 0
  const asking = setInterval(() => {
    if (unanswered >= questions && !isExcused()) {
      clearInterval(asking)
      onSilent()
      return
    }
    unanswered++
    ask()
  }, silentMs / questions).unref()
  return {
    answered() {
      unanswered = 0
    },
    stop: () => clearInterval(asking),
  }
}

/** Whether a debugger of the system, such as gdb, holds a process. Only Linux tells. */
export function isTraced(pid: number): boolean {
  try {
    return !/^TracerPid:\s*0$/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}
