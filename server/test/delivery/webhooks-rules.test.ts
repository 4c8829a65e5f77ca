import { limits } from '@parley/contract'
import { describe, expect, it } from 'vitest'
import { deliveryId, parseDeliveryId } from '../../src/areas/webhooks/delivery-id.ts'
import { makeSecret } from '../../src/areas/webhooks/make-secret.ts'
import { createBreaker } from '../../src/delivery/outbound/breaker.ts'
import { createKeyedQueue } from '../../src/delivery/outbound/keyed-queue.ts'
import { sign } from '../../src/delivery/outbound/signature.ts'
import { nextStep } from '../../src/delivery/webhooks/results.ts'

const failure = { succeeded: false, status: 500, error: 'no', durationMs: 1 }
const rules = { retryOnFailure: true, delays: limits.webhooks.retryDelaysSeconds }

describe('what becomes of a delivery', () => {
  it('is that it is tried again after the delays of the contract and the decisions, and then failed', () => {
    const waits: Array<number | null> = []
    let step = 0
    for (;;) {
      const result = nextStep({ id: 1, step, dueAt: 1 }, failure, rules)
      waits.push(result.dueIn)
      if (result.status === 'failed') break
      step = result.step
    }
    const hour = 3_600_000
    expect(waits).toEqual([10_000, 30_000, 300_000, hour / 2, 2 * hour, 5 * hour, 10 * hour, 10 * hour, null])
  })

  it('is success, failure without retries, and failure for good at 410', () => {
    const outcome = (attempt: object, retryOnFailure = true) =>
      nextStep({ id: 1, step: 0, dueAt: 1 }, { ...failure, ...attempt }, { ...rules, retryOnFailure }).status
    expect(outcome({ succeeded: true, status: 200 })).toBe('delivered')
    expect(outcome({})).toBe('pending')
    expect(outcome({}, false)).toBe('failed')
    expect(outcome({ status: 410 })).toBe('failed')
  })

  it('heeds Retry-After where it asks for more, up to an hour', () => {
    const dueIn = (retryAfter: number) =>
      nextStep({ id: 1, step: 0, dueAt: 1 }, { ...failure, retryAfter }, rules).dueIn
    expect([dueIn(0), dueIn(5), dueIn(60), dueIn(999_999)]).toEqual([10_000, 10_000, 60_000, 3_600_000])
  })
})

describe('the breaker', () => {
  it('pauses after ten failures in a row, longer each time, up to a minute', () => {
    const pauses: number[] = []
    const breaker = createBreaker({ failures: 0, failingSince: null }, 10_000)
    for (let i = 1; i <= 16; i++) {
      breaker.failed()
      pauses.push(breaker.pauseMs / 1000)
    }
    expect(pauses).toEqual([...Array(9).fill(0), 5, 10, 20, 40, 60, 60, 60])
    expect(breaker.isProbing).toBe(true)
  })

  it('begins by probing where it failed before, and forgets failures with the first success', () => {
    const breaker = createBreaker({ failures: 12, failingSince: 5 }, 10_000)
    expect([breaker.isProbing, breaker.pauseMs]).toEqual([true, 0])
    breaker.succeeded()
    expect([breaker.isProbing, breaker.health]).toEqual([false, { failures: 0, failingSince: null }])
    breaker.failed()
    expect(breaker.pauseMs).toBe(0)
    expect(breaker.health).toEqual({ failures: 1, failingSince: expect.any(Number) })
  })

  it('keeps since when it has failed', () => {
    const breaker = createBreaker({ failures: 3, failingSince: 5 }, 10_000)
    breaker.failed()
    expect(breaker.health).toEqual({ failures: 4, failingSince: 5 })
  })
})

describe('lanes', () => {
  /** Work that ends when it is told to. */
  function work(width: number) {
    const begun: string[] = []
    const ends = new Map<string, () => void>()
    const queue = createKeyedQueue<string>(width, (items) => {
      begun.push(items.join('+'))
      return new Promise((resolve) => void ends.set(items[0], resolve))
    })
    const end = async (item: string) => {
      ends.get(item)?.()
      await Promise.resolve()
      await Promise.resolve()
    }
    return { queue, begun, end }
  }

  it('do what has one key in order, one after the other, beside what has others', async () => {
    const { queue, begun, end } = work(10)
    for (const item of ['a1', 'a2', 'b1', 'a3']) queue.add(item, item.charCodeAt(0))
    queue.add('x', undefined)
    queue.add('y', undefined)
    await Promise.resolve()
    expect(begun).toEqual(['a1', 'b1', 'x', 'y'])
    await end('b1')
    expect(begun).toEqual(['a1', 'b1', 'x', 'y'])
    await end('a1')
    await end('a2')
    expect(begun.slice(4)).toEqual(['a2', 'a3'])
    expect(queue.size).toBe(3)
    for (const item of ['a3', 'x', 'y']) await end(item)
    await queue.until(0)
    queue.add('a4', 'a'.charCodeAt(0))
    await Promise.resolve()
    expect(begun.at(-1)).toBe('a4')
  })

  it('do no more at once than they are wide, also when they become narrower', async () => {
    const { queue, begun, end } = work(2)
    for (const item of ['1', '2', '3', '4', '5']) queue.add(item, undefined)
    await Promise.resolve()
    expect(begun).toEqual(['1', '2'])
    queue.width = 1
    await end('1')
    expect(begun).toEqual(['1', '2'])
    await end('2')
    expect(begun).toEqual(['1', '2', '3'])
  })

  it('drop what waits when they are cleared, and say when the rest is done', async () => {
    const { queue, begun, end } = work(1)
    for (const item of ['a1', 'a2', 'a3']) queue.add(item, 1)
    queue.add('b1', 2)
    await Promise.resolve()
    queue.clear()
    expect(queue.size).toBe(1)
    const done = queue.until(0)
    await end('a1')
    await done
    queue.add('b2', 2)
    await Promise.resolve()
    expect(begun).toEqual(['a1', 'b2'])
  })

  it('do several together where they may, none of them of one key', async () => {
    const { queue, begun, end } = work(2)
    queue.batch = 3
    for (const item of ['a1', 'a2', 'b1', 'b2', 'c1', 'd1', 'e1', 'f1', 'g1']) queue.add(item, item.charCodeAt(0))
    await Promise.resolve()
    expect([begun, queue.size]).toEqual([['a1+b1+c1', 'd1+e1+f1'], 9])
    await end('a1')
    expect([begun.slice(2), queue.size]).toEqual([['g1+a2+b2'], 6])
    await end('d1')
    await end('g1')
    await queue.until(0)
  })
})

describe('ids and signatures', () => {
  it('of deliveries are read only by their own webhook', () => {
    expect(parseDeliveryId(7, deliveryId(7, 12))).toBe(12)
    for (const text of [deliveryId(8, 12), 'dlv_7_', 'dlv_7_-1', 'dlv_7_1x', 'dlv_7_1e3', '12', '', 'dlv_07_12 ']) {
      expect(parseDeliveryId(7, text)).toBeUndefined()
    }
  })

  it('are those of the Standard Webhooks convention', () => {
    // The example of the convention's own document.
    const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
    const signature = sign([secret], 'msg_p5jXN8AQM9LWM0D4loKWxJek', 1_614_265_330, '{"test": 2432232314}')
    expect(signature).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=')
    expect(makeSecret()).not.toBe(makeSecret())
    expect(Buffer.from(makeSecret().slice('whsec_'.length), 'base64')).toHaveLength(32)
  })
})
