import { existsSync, readFileSync } from 'node:fs'
import { WebSocket } from 'ws'
import type { ServiceProcess } from '../faults/support/service-process.ts'
import { until } from '../support/until.ts'

/** The worker processes of a service that runs now, from the system's own list. */
export function workersOf({ pid }: ServiceProcess): number[] {
  const file = `/proc/${pid}/task/${pid}/children`
  if (!existsSync(file)) return []
  return readFileSync(file, 'utf8').split(' ').filter(Boolean).map(Number).filter(isWorker)
}

function isWorker(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('main.js')
  } catch {
    return false
  }
}

export function isAlive(pid: number): boolean {
  return existsSync(`/proc/${pid}`)
}

/** Waits until the service says in its metrics that so many workers serve. */
export async function serving(url: string, workers: number): Promise<void> {
  await until(async () => {
    const text = await fetch(`${url}/metrics`)
      .then((answer) => answer.text())
      .catch(() => '')
    return text.includes(`parley_workers{state="ready"} ${workers}\n`) && text.includes('{state="starting"} 0')
  })
}

/** A client that connects again whenever its socket closes; it keeps the codes of the closes. */
export function openFlapping(url: string, authFrame: object) {
  const codes: number[] = []
  const texts = new Set<string>()
  let logins = 0
  let isStopped = false
  let ws: WebSocket
  const open = () => {
    ws = new WebSocket(url.replace(/^http/, 'ws'))
    ws.on('open', () => ws.send(JSON.stringify(authFrame)))
    ws.on('message', (data) => {
      const frame = JSON.parse(String(data))
      if (frame.type === 'auth' && frame.body.code === '200') logins++
      if (frame.type === 'message') texts.add(frame.body.data.text)
    })
    ws.on('error', () => {})
    ws.on('close', (code) => {
      codes.push(code)
      if (!isStopped) setTimeout(open, 20)
    })
  }
  open()
  return {
    codes,
    texts,
    logins: () => logins,
    isIn: () => ws.readyState === WebSocket.OPEN && logins > codes.length,
    stop() {
      isStopped = true
      ws.terminate()
    },
  }
}
