import { setTimeout as delay } from 'node:timers/promises'
import { type Cast, receiverIn, type Talk } from './cast.ts'
import { type Attempt, isAnswer, type Ledger, noteMark, noteSend } from './ledger.ts'
import { type Line, type Outcome, openLine } from './line.ts'
import type { Random } from './random.ts'

export interface CrowdOptions {
  readonly ledger: Ledger
  readonly cast: Cast
  readonly random: Random
  /** How many clients, each with a connection of its own. */
  readonly size: number
  /** How long each rests after a request at most: a load, but no storm. Without it, it does not rest. */
  readonly restMs?: number
  /** Where the service listens now. */
  readonly address: () => string
  /** Hears of every outcome, such as to measure it. */
  readonly onOutcome?: (outcome: Outcome, line: Line) => void
}

export interface Crowd {
  /** Nothing new is sent; resolves when what was under way is answered or cut. */
  stop(): Promise<void>
}

/** How long clients wait after a failure before they try again. */
const pauseMs = { low: 20, high: 100 }

let crowds = 0

/**
 * Clients that send without end, one request after the other on each line: mostly messages, some marks. A send that was
 * not answered is sent again with its muid, or given up; some are sent again although they were answered.
 */
export function startCrowd(options: CrowdOptions): Crowd {
  const crowd = ++crowds
  let stopped = false
  const lines = Array.from({ length: options.size }, async (_, number) => {
    const line = openLine(options.address)
    const uid = options.cast.uids[number % options.cast.uids.length] as string
    try {
      for (let turn = 0; !stopped; turn++) {
        const at = { line: crowd * 1000 + number, turn }
        await (options.random.chance(0.15) ? mark(options, line, uid) : send(options, line, uid, at, () => stopped))
        if (options.restMs !== undefined) await delay(options.random.between(0, options.restMs))
      }
    } catch (error) {
      options.ledger.faults.push(String(error))
    }
    await line.close()
  })
  return {
    async stop() {
      stopped = true
      await Promise.all(lines)
    },
  }
}

/** Sends what was not answered once more: each must now be answered, and is stored once all the same. */
export async function settleAttempts(options: CrowdOptions, attempts: readonly Attempt[]): Promise<void> {
  const { ledger } = options
  const remaining = attempts.values()
  await Promise.all(
    Array.from({ length: options.size }, async () => {
      const line = openLine(options.address)
      // The lines take turns at what remains.
      for (const attempt of remaining) {
        const outcome = await callSend(options, line, attempt)
        // Its place among the messages of the line that gave it up is unknown, so it counts as a line of its own.
        const settled = noteSend(ledger, attempt, { line: -1 - ledger.acknowledged.size, turn: 0 }, outcome)
        if (!settled) ledger.faults.push(`${attempt.muid} is not answered by a service at rest`)
      }
      await line.close()
    }),
  )
}

async function send(
  options: CrowdOptions,
  line: Line,
  uid: string,
  at: { line: number; turn: number },
  isStopped: () => boolean,
): Promise<void> {
  const { ledger, random } = options
  const talk = pickTalk(options, uid)
  const muid = `m-${at.line}-${at.turn}`
  const attempt = { muid, talkId: talk.id, sender: uid, text: `${uid} says ${muid} in ${talk.id}` }
  ledger.attempts.set(muid, attempt)
  for (;;) {
    const settled = noteSend(ledger, attempt, at, await callSend(options, line, attempt))
    if (settled && random.chance(0.02)) ledger.counts.repeats++
    else if (settled || isStopped() || random.chance(0.3)) return
    if (!settled) await delay(random.between(pauseMs.low, pauseMs.high))
  }
}

async function mark(options: CrowdOptions, line: Line, uid: string): Promise<void> {
  const { ledger, random } = options
  const talk = pickTalk(options, uid)
  const id = ledger.newest.get(talk.id)
  if (id === undefined) return
  const { receiver, receiverType } = receiverIn(talk, uid)
  const path = `/${receiverType}s/${receiver}/conversation`
  if (random.chance(0.2)) {
    // Marking unread moves no receipt: nothing to write down.
    const outcome = await line.call('DELETE', `${path}/read`, {}, { as: uid })
    options.onOutcome?.(outcome, line)
    isAnswer(ledger, `unread of ${uid} in ${talk.id}`, outcome)
    return
  }
  const kind = random.pick(['delivered', 'read'] as const)
  const outcome = await line.call('POST', `${path}/${kind}`, random.chance(0.5) ? { messageId: id } : {}, { as: uid })
  options.onOutcome?.(outcome, line)
  noteMark(ledger, { uid, talkId: talk.id, kind, id }, outcome)
}

async function callSend(options: CrowdOptions, line: Line, attempt: Attempt): Promise<Outcome> {
  const talk = options.cast.talks.find(({ id }) => id === attempt.talkId) as Talk
  const body = { ...receiverIn(talk, attempt.sender), muid: attempt.muid, data: { text: attempt.text } }
  const outcome = await line.call('POST', '/messages', body, { as: attempt.sender })
  options.onOutcome?.(outcome, line)
  return outcome
}

function pickTalk({ cast, random }: CrowdOptions, uid: string): Talk {
  return random.pick(cast.talksOf.get(uid) ?? [])
}
