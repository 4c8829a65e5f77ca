import { execFileSync, fork } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { setPriority } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { ApnsEmulator, EmulatedSubscription, FcmEmulator, WebPushEmulator } from '@parley/server/emulators'

/** A push that was accepted; times are epoch milliseconds with fractions. */
export interface Arrival {
  /** Id of the message. */
  readonly tag: string
  readonly at: number
}

export interface Counted {
  readonly fcm: number
  readonly apns: number
  readonly web: number
  readonly firstAt: number
  readonly lastAt: number
}

/**
 * count: how many came so far; gather, forget: begin anew, remembering each or only how many; fcm down, fcm up: FCM answers 503
 * to all, or as usual; browsers: so many subscribe with the key of an app.
 */
export type EmulatorRequest =
  | 'count'
  | 'gather'
  | 'forget'
  | 'fcm down'
  | 'fcm up'
  | { readonly browsers: number; readonly key: string }

export interface Emulated {
  readonly fcm: Pick<FcmEmulator, 'endpoint' | 'tokenEndpoint' | 'credentials'>
  readonly apns: Pick<ApnsEmulator, 'endpoint' | 'ca' | 'credentials'>
  readonly web: Pick<WebPushEmulator, 'host'>
}

/** FCM, APNs and the push service of browsers, emulated in a process of their own. */
export interface Providers extends Emulated {
  readonly pid: number
  count(): Promise<Counted>
  /** Begins anew. @returns what was gathered until then */
  gather(): Promise<Arrival[]>
  forget(): Promise<void>
  /** From now on FCM answers 503 to all; or as usual again. */
  letFcmFail(fails: boolean): Promise<void>
  /** So many browsers subscribe. @param key of the app, in base64url */
  subscribe(browsers: number, key: string): Promise<readonly EmulatedSubscription[]>
  /** Waits for so many pushes. @param onProgress told now and then how many there are */
  until(pushes: number, onProgress?: (pushes: number) => void): Promise<Counted>
  stop(): void
}

const patienceMs = 120_000

/** As `nice` counts. */
const niceness = 5

/**
 * Real providers are other machines: what they need is not taken from the service, as far as the system allows that. On Linux they run
 * while nobody else wants a processor.
 */
function giveWay(pid: number): void {
  try {
    execFileSync('chrt', ['-a', '-i', '-p', '0', String(pid)], { stdio: 'ignore' })
  } catch {
    for (const thread of threadsOf(pid)) setPriority(thread, niceness)
  }
}

/** On Linux each thread has a priority of its own. */
function threadsOf(pid: number): number[] {
  return process.platform === 'linux' ? readdirSync(`/proc/${pid}/task`).map(Number) : [pid]
}

export async function startProviders(): Promise<Providers> {
  const child = fork(fileURLToPath(new URL('emulators.js', import.meta.url)), { serialization: 'advanced' })
  const [emulated] = (await once(child, 'message')) as [Emulated]
  giveWay(child.pid as number)
  const ask = async <Answer>(request: EmulatorRequest): Promise<Answer> => {
    child.send(request)
    const [answer] = (await once(child, 'message')) as [Answer]
    return answer
  }
  const count = () => ask<Counted>('count')
  return {
    ...emulated,
    pid: child.pid as number,
    count,
    gather: () => ask<Arrival[]>('gather'),
    async forget() {
      await ask('forget')
    },
    async letFcmFail(fails) {
      await ask(fails ? 'fcm down' : 'fcm up')
    },
    subscribe: (browsers, key) => ask({ browsers, key }),
    async until(pushes, onProgress = () => {}) {
      let [seen, seenAt] = [0, performance.now()]
      for (;;) {
        const counted = await count()
        const now = counted.fcm + counted.apns + counted.web
        if (now >= pushes) return counted
        if (now > seen) [seen, seenAt] = [now, performance.now()]
        if (performance.now() - seenAt > patienceMs) throw new Error(`${now} of ${pushes} pushes arrived, then no more`)
        onProgress(now)
        await delay(20)
      }
    },
    stop: () => void child.kill(),
  }
}
