import { setTimeout as delay } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { deliver } from '../../src/delivery/outbound/deliver-round.ts'
import type { Lease } from '../../src/delivery/outbound/lease.ts'
import type { AnyTarget, DueItem, Outcome, Round } from '../../src/delivery/outbound/round.ts'
import { createSeats } from '../../src/delivery/outbound/seats.ts'

type OneResult = { readonly id: number }
type OneRound = Round<AnyTarget, AnyTarget, DueItem, OneResult>

const target = { enabled: true, width: 2 }
const done = (id: number): Outcome<OneResult> => ({ results: [{ id }], worked: true })

function anyLease(): Lease<AnyTarget> {
  return {
    ...{ holder: 'me', isHeld: true, health: { failures: 0, failingSince: null } },
    look: async () => ({ ...target, asked: 0 }),
    async writeHealth() {},
    release: async () => true,
    async interrupt() {},
    close() {},
  }
}

function run(round: OneRound, lease: Lease<AnyTarget>): Promise<void> {
  const options = { pace: { turn: () => undefined }, firstDelayMs: 1_000, room: 10, seats: createSeats(0) }
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
    anyLease(),
  )
  await expect(delivering).rejects.toThrow('the connection was cut')
  expect(late).toBe(0)
})
