import { setTimeout as delay } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { mostUnwritten } from '../../src/delivery/outbound/attempts.ts'
import { deliver } from '../../src/delivery/outbound/deliver-round.ts'
import type { Hand } from '../../src/delivery/outbound/hands.ts'
import type { Lease } from '../../src/delivery/outbound/lease.ts'
import type { AnyTarget, DueItem, Outcome, Round } from '../../src/delivery/outbound/round.ts'
import { createSeats } from '../../src/delivery/outbound/seats.ts'
import { until } from '../support/until.ts'

type OneResult = { readonly id: number }
type OneRound = Round<AnyTarget, AnyTarget, DueItem, OneResult>

const target = { enabled: true, width: 2 }
const done = (id: number): Outcome<OneResult> => ({ results: [{ id }], worked: true })

/** What a round does to its lease is told in `events`. */
function leaseWith(
  events: string[],
  { failures = 0, onRelease = () => {} }: { failures?: number; onRelease?: () => void } = {},
): Lease<AnyTarget> {
  return {
    ...{ holder: 'me', isHeld: true },
    health: { failures, failingSince: failures === 0 ? null : Date.now() },
    look: async () => ({ ...target, asked: 0 }),
    async writeHealth() {},
    async release() {
      onRelease()
      events.push('released')
      return true
    },
    async interrupt() {
      events.push('interrupted')
    },
    close() {},
  }
}

/** @param resultsMs without it, nothing is written before a round waits for it */
function run(round: OneRound, lease: Lease<AnyTarget>, { resultsMs = 600_000, room = 10 } = {}): Promise<void> {
  const options = { pace: { turn: () => undefined }, firstDelayMs: 1_000, room, seats: createSeats(0), resultsMs }
  return deliver(options, round, lease, new AbortController().signal)
}

it('a round begins nothing new once it cannot write what became of attempts', async () => {
  let last = 0
  let hasFailed = false
  let late = 0
  const delivering = run(
    {
      open: (row) => row,
      read: async (_, { limit }) => Array.from({ length: limit }, () => ({ id: ++last })),
      async attempt(_, [{ id }]) {
        if (hasFailed) late++
        await delay(1)
        return done(id)
      },
      async write() {
        hasFailed = true
        throw new Error('the connection was cut')
      },
    },
    leaseWith([]),
    { resultsMs: 20 },
  )
  await expect(delivering).rejects.toThrow('the connection was cut')
  expect(late).toBe(0)
})

it.each([
  ['much', undefined, mostUnwritten],
  ['what its target can bear', 4, 4],
])('a round attempts nothing more while %s of what became of attempts is not written', async (_, unwritten, most) => {
  let last = 0
  let isWritten = (): void => {}
  const writing = new Promise<void>((resolve) => {
    isWritten = resolve
  })
  const attempted: number[] = []
  const delivering = run(
    {
      open: (row) => ({ ...row, unwritten }),
      read: async (_, { limit }) => Array.from({ length: Math.min(limit, 500 - last) }, () => ({ id: ++last })),
      async attempt(_, [{ id }]) {
        attempted.push(id)
        return done(id)
      },
      write: () => writing,
    },
    leaseWith([]),
    { resultsMs: 20 },
  )
  await until(() => attempted.length >= most)
  // Whoever kills it now has at most so many deliveries made again.
  await delay(300)
  expect(attempted.length).toBeLessThanOrEqual(most + target.width)
  isWritten()
  await delivering
  expect(new Set(attempted).size).toBe(500)
  expect(attempted).toHaveLength(500)
})

it('a round that has left something out ends, although its endpoint is well again', async () => {
  const events: string[] = []
  let failed = () => {}
  const failing = new Promise<void>((resolve) => {
    failed = resolve
  })
  await run(
    {
      open: (row) => row,
      read: async (_, { except }) => [{ id: 1 }, { id: 2 }, { id: 3 }].filter(({ id }) => !except.includes(id)),
      async attempt(_, [{ id }]) {
        events.push(`attempted ${id}`)
        if (id === 1) {
          failed()
          return { results: [{ id }], worked: false }
        }
        await failing
        // The third one has its turn before that.
        await new Promise(setImmediate)
        return done(id)
      },
      async write() {},
    },
    // One more, and it is to be left alone.
    leaseWith(events, { failures: 9 }),
  )
  expect(events).toEqual(['attempted 1', 'attempted 2', 'interrupted'])
})

it('an endpoint that fails many attempts at once is left alone for the first pause only', async () => {
  let failures = 0
  let pauseMs = 0
  let last = 0
  let fail = () => {}
  const failing = new Promise<void>((resolve) => {
    fail = resolve
  })
  await run(
    {
      open: (row) => ({ ...row, width: 10 }),
      read: async (_, { limit }) => Array.from({ length: limit }, () => ({ id: ++last })),
      async attempt(_, [{ id }]) {
        if (id <= 9) return { results: [{ id }], worked: false }
        // Ten are under way when the tenth one fails.
        if (id === 19) fail()
        await failing
        return { results: [{ id }], worked: false }
      },
      async write() {},
    },
    {
      ...leaseWith([]),
      async writeHealth(health) {
        failures = health.failures
      },
      async interrupt(ms) {
        pauseMs = ms
      },
    },
    { room: 30 },
  )
  expect({ failures, pauseMs }).toEqual({ failures: 10, pauseMs: 1_000 })
})

it('a lease is not given back while something is under way that was handed over at the last moment', async () => {
  const events: string[] = []
  const waiting = [{ id: 1 }]
  let hand: Hand<DueItem> | undefined
  await run(
    {
      async begin(given) {
        hand = given
        return () => {}
      },
      open: (row) => row,
      read: async () => waiting.splice(0),
      attempt: async (_, [{ id }]) => done(id),
      async write(results) {
        for (const { id } of results) events.push(`written ${id}`)
        if (results.some(({ id }) => id === 1)) hand?.take([{ id: 2 }])
      },
    },
    leaseWith(events, { onRelease: () => events.push(`taken: ${hand?.take([{ id: 3 }])}`) }),
  )
  expect(events).toEqual(['written 1', 'written 2', 'taken: false', 'released'])
})

it.each([
  ['the endpoint wants no more', { isLast: true }, ['ended', 'interrupted']],
  ['the endpoint is to be left alone', { putOffMs: 5_000 }, ['ended', 'interrupted for 5000 ms']],
])('what the last attempt brings while more is looked for counts: %s', async (_, outcome, expected) => {
  const events: string[] = []
  let isAttempted = false
  let answered = () => {}
  const answer = new Promise<void>((resolve) => {
    answered = resolve
  })
  const lease = leaseWith(events)
  await run(
    {
      open: (row) => row,
      async read(_, { except }) {
        if (!isAttempted) return [{ id: 1 }]
        // The answer comes while the database looks for more.
        if (except.length > 0) {
          answered()
          await new Promise(setImmediate)
        }
        return []
      },
      async attempt(_, [{ id }]) {
        isAttempted = true
        await answer
        return { ...done(id), ...outcome }
      },
      async write() {},
      async end() {
        events.push('ended')
      },
    },
    {
      ...lease,
      async interrupt(ms) {
        events.push(ms > 0 ? `interrupted for ${ms} ms` : 'interrupted')
      },
    },
    { resultsMs: 20 },
  )
  expect(events).toEqual(expected)
})
