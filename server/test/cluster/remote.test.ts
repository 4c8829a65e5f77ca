import { EventEmitter } from 'node:events'
import type { Redis } from 'ioredis'
import { describe, expect, it, vi } from 'vitest'
import { createOutbox } from '../../src/events/remote/outbox.ts'
import { createPeers } from '../../src/events/remote/peers.ts'
import { createSeal } from '../../src/events/remote/seal.ts'
import { decodeEvents, decodePacket, encodeEvent, encodePacket, type Packet } from '../../src/events/remote/wire.ts'
import type { BusEvent } from '../../src/events/types.ts'
import { until } from '../support/until.ts'

const ended = (uid: string): BusEvent => ({ control: 'sessions_ended', uid })
const typing = (): BusEvent => ({
  ...{ signal: 'typing_indicator', kind: 'user', first: 'a', second: 'b' },
  ...{ uid: 'a', device: 'd', body: { action: 'started' } },
})

describe('a packet', () => {
  it('comes out as it went in, whatever it holds', () => {
    const body = [encodeEvent(7, ended('a b 中国 "\n')), encodeEvent(8, typing())].join(',')
    const packet = { node: 'n-1', kind: 'events', number: 12, body } as const
    expect(decodePacket(encodePacket(packet))).toEqual(packet)
    expect(decodeEvents(body)).toEqual([
      [7, ended('a b 中国 "\n')],
      [8, typing()],
    ])
    for (const kind of ['beat', 'bye'] as const) {
      expect(decodePacket(encodePacket({ ...packet, kind, body: '' }))).toEqual({ ...packet, kind, body: '' })
    }
  })

  it('that is none is passed over', () => {
    for (const text of ['', 'x', 'a b', 'a z1 {}', 'a eX []', 'a e1.5 []']) expect(decodePacket(text)).toBe(undefined)
  })
})

const seal = createSeal(Buffer.alloc(32, 1))

describe('a seal', () => {
  it('is opened by who has the key, where nothing was changed', () => {
    const sealed = seal.close('n e1 [7,{}] 中国')
    expect(createSeal(Buffer.alloc(32, 1)).open(sealed)).toBe('n e1 [7,{}] 中国')
    expect(createSeal(Buffer.alloc(32, 2)).open(sealed)).toBe(undefined)
    expect(seal.open(sealed.replace('e1', 'e2'))).toBe(undefined)
    expect(seal.open(`${sealed} `)).toBe(undefined)
  })

  it('is not opened where there is none', () => {
    const mac = 'A'.repeat(43)
    for (const text of ['', 'n e1 []', `${mac}= n e1 []`, `${mac} n e1 []`, `${'é'.repeat(44)} n e1 []`]) {
      expect(seal.open(text)).toBe(undefined)
    }
  })
})

describe('what is heard of others', () => {
  const packet = (kind: Packet['kind'], number: number, node = 'n') => ({ node, kind, number, body: '' })
  const setUp = () => {
    let now = 1_000_000
    const peers = createPeers(() => now)
    const pass = (ms: number) => {
      now += ms
    }
    return { peers, pass }
  }

  it('is taken once and in order, and a gap is noticed', () => {
    const { peers } = setUp()
    expect(peers.hear(packet('beat', 0))).toEqual({ isNew: true, hasMissed: false })
    expect(peers.hear(packet('events', 1))).toEqual({ isNew: true, hasMissed: false })
    // Sent again because Redis did not say that it had come.
    expect(peers.hear(packet('events', 1))).toEqual({ isNew: false, hasMissed: false })
    expect(peers.hear(packet('events', 3))).toEqual({ isNew: true, hasMissed: true })
    expect(peers.hear(packet('events', 2))).toEqual({ isNew: false, hasMissed: false })
    expect(peers.hear(packet('beat', 3)).hasMissed).toBe(false)
    expect(peers.hear(packet('beat', 4)).hasMissed).toBe(true)
    expect(peers.hear(packet('beat', 4)).hasMissed).toBe(false)
  })

  it('the first time over an open line has nothing before it; right after a cut it may have', () => {
    const { peers, pass } = setUp()
    expect(peers.hear(packet('events', 100, 'old')).hasMissed).toBe(false)
    peers.reopened(1_000_000)
    expect(peers.hear(packet('events', 101, 'old')).hasMissed).toBe(false)
    expect(peers.hear(packet('beat', 0, 'silent')).hasMissed).toBe(false)
    expect(peers.hear(packet('events', 5, 'talked')).hasMissed).toBe(true)
    pass(6_000)
    expect(peers.hear(packet('beat', 9, 'later')).hasMissed).toBe(false)
  })

  it('misses who was there before a cut and is not heard after it', () => {
    const { peers, pass } = setUp()
    peers.hear(packet('beat', 3, 'long gone'))
    pass(30_000)
    for (const node of ['back', 'gone']) peers.hear(packet('beat', 3, node))
    pass(10_000)
    peers.reopened(1_030_500)
    expect(peers.hear(packet('beat', 3, 'back')).hasMissed).toBe(false)
    expect(peers.hasLost(1_040_000)).toBe(false)
    pass(6_000)
    expect(peers.hasLost(1_040_000)).toBe(true)
    expect(peers.hasLost(1_040_000)).toBe(false)
    peers.reopened(1_046_000)
    pass(6_000)
    peers.hear(packet('beat', 3, 'back'))
    expect(peers.hasLost(1_046_000)).toBe(false)
  })

  it('misses who falls silent without a goodbye, once, while the line is open', () => {
    const { peers, pass } = setUp()
    const openSince = 1_000_000
    for (const node of ['killed', 'stopped', 'other']) peers.hear(packet('beat', 3, node))
    peers.hear(packet('bye', 3, 'stopped'))
    pass(19_000)
    peers.hear(packet('beat', 3, 'other'))
    expect(peers.hasLost(openSince)).toBe(false)
    pass(2_000)
    // While nobody is heard, and right after that, it says nothing that one is not.
    expect(peers.hasLost(undefined)).toBe(false)
    expect(peers.hasLost(openSince + 20_000)).toBe(false)
    expect(peers.hasLost(openSince)).toBe(true)
    expect(peers.hasLost(openSince)).toBe(false)
    // One that was there all the same, and is killed then.
    peers.hear(packet('beat', 3, 'killed'))
    peers.hear(packet('beat', 3, 'other'))
    pass(21_000)
    peers.hear(packet('beat', 3, 'other'))
    expect(peers.hasLost(openSince)).toBe(true)
  })

  it('tells who is there, who is silent, and who is dead', () => {
    const { peers, pass } = setUp()
    peers.hear(packet('beat', 0, 'a'))
    peers.hear(packet('beat', 0, 'b'))
    expect([peers.count(), peers.isOneSilent()]).toEqual([2, false])
    pass(5_000)
    peers.hear(packet('beat', 0, 'b'))
    expect([peers.count(), peers.isOneSilent()]).toEqual([1, true])
    pass(120_000)
    peers.hear(packet('beat', 0, 'b'))
    expect([peers.count(), peers.isOneSilent()]).toEqual([1, false])
    peers.hear(packet('bye', 0, 'b'))
    expect(peers.count()).toBe(0)
  })
})

describe('what is told', () => {
  /** Stands for a Redis that answers, hangs or is away. */
  class Line extends EventEmitter {
    status = 'ready'
    published: string[] = []
    refuses = false
    async publish(_channel: string, text: string): Promise<number> {
      if (this.refuses) throw new Error('away')
      this.published.push(text)
      return 1
    }
  }
  const setUp = (line = new Line()) => {
    const counts = { sent: 0, dropped: 0 }
    const outbox = createOutbox({
      ...{ redis: line as unknown as Redis, channel: 'c', node: 'n', seal },
      onSent(events) {
        counts.sent += events
      },
      onDropped(events) {
        counts.dropped += events
      },
    })
    return { line, outbox, counts }
  }
  const packets = ({ published }: Line) => published.map((text) => decodePacket(seal.open(text) ?? '') as Packet)
  const eventsOf = (line: Line) =>
    packets(line).flatMap(({ kind, body }) => (kind === 'events' ? decodeEvents(body) : []))

  it('in one turn goes out together, large ones in several packets', async () => {
    const { line, outbox, counts } = setUp()
    for (let i = 0; i < 100; i++) outbox.add(1, ended(`u${i}`))
    await until(() => counts.sent === 100)
    expect(line.published).toHaveLength(1)
    for (let i = 0; i < 10; i++) outbox.add(1, ended('x'.repeat(100_000)))
    await until(() => counts.sent === 110)
    expect(line.published.length).toBeGreaterThan(4)
    expect(packets(line).map(({ number }) => number)).toEqual(line.published.map((_, i) => i + 1))
    expect(eventsOf(line)).toHaveLength(110)
  })

  it('while Redis is away waits, and goes out in order; typing does not wait', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const { line, outbox, counts } = setUp()
      line.refuses = true
      outbox.add(1, ended('a'))
      await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
      outbox.add(1, typing())
      outbox.add(1, ended('b'))
      await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
      expect(line.published).toEqual([])
      outbox.beat()
      expect(line.published).toEqual([])
      line.refuses = false
      line.emit('ready')
      await vi.advanceTimersByTimeAsync(2_000)
      expect(counts.sent).toBe(2)
      expect(eventsOf(line)).toEqual([
        [1, ended('a')],
        [1, ended('b')],
      ])
      outbox.beat()
      expect(packets(line).at(-1)).toMatchObject({ kind: 'beat', number: 2 })
    } finally {
      vi.useRealTimers()
    }
  })

  it('is bounded: the oldest is dropped, and its number is missing', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const { line, outbox, counts } = setUp()
      line.refuses = true
      for (let i = 0; i < 40; i++) outbox.add(1, ended(`${i} `.padEnd(1_000_000, 'x')))
      await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
      expect(counts.dropped).toBeGreaterThanOrEqual(24)
      line.refuses = false
      line.emit('ready')
      await vi.advanceTimersByTimeAsync(2_000)
      expect(counts.sent + counts.dropped).toBe(40)
      expect(packets(line)[0]?.number).toBe(counts.dropped + 1)
      expect(packets(line).at(-1)?.number).toBe(40)
    } finally {
      vi.useRealTimers()
    }
  })
})
