import { Registry } from 'prom-client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readConfig } from '../../src/config/index.ts'
import type { Log } from '../../src/log.ts'
import { countSpans, createTracing } from '../../src/tracing/tracing.ts'
import { dataOf } from '../support/chat.ts'
import { type Collector, openCollector } from '../support/collector.ts'
import { createOwnServices, type OwnServices } from '../support/own-services.ts'
import { findFreePort } from '../support/ports.ts'
import { soon } from '../support/until.ts'
import { createUsers, createWorld } from '../support/world.ts'

/** Traces as the service has them, with what they log. */
async function openTracing(settings: Record<string, string>) {
  const [lines, registry] = [[] as string[], new Registry()]
  const say = (_: object, text: string) => void lines.push(text)
  const log = { warn: say, info: (text: string) => void lines.push(text) } as unknown as Log
  const { tracing: configured } = readConfig(settings)
  const tracing = await createTracing(configured, { log, counted: countSpans(registry, configured) })
  if (tracing === undefined) throw new Error('there are no traces')
  const count = async (outcome: string) => {
    const metric = await registry.getSingleMetric('parley_trace_spans_total')?.get()
    return metric?.values.find(({ labels }) => labels.outcome === outcome)?.value ?? 0
  }
  return { tracing, lines, count }
}

const begin = (tracing: Awaited<ReturnType<typeof openTracing>>['tracing'], count: number) => {
  for (let i = 0; i < count; i++) tracing.arrive('work', undefined)?.end()
}

describe('a collector that is away', () => {
  let own: OwnServices
  let collector: Collector
  beforeAll(async () => {
    ;[own, collector] = await Promise.all([createOwnServices(), openCollector()])
  })
  afterAll(async () => {
    await own.close()
    await collector.close()
  })

  it('is waited for by nobody: messages are sent, and the service stops', async () => {
    const nobody = `http://127.0.0.1:${await findFreePort()}`
    for (const endpoint of [nobody, collector.settings.OTEL_EXPORTER_OTLP_ENDPOINT as string]) {
      // It takes what comes, and never answers.
      collector.behave({ delayMs: 3_600_000 })
      const service = await own.start({ ...collector.settings, OTEL_EXPORTER_OTLP_ENDPOINT: endpoint })
      const world = await createWorld(service)
      await createUsers(world, 'alice', 'bob')
      const message = { receiver: 'bob', receiverType: 'user', category: 'message', type: 'text', data: { text: 'hi' } }
      const sent = await Promise.all(
        Array.from({ length: 50 }, () => world.post('/messages', message, { as: 'alice' })),
      )
      expect(sent.map(dataOf)).toHaveLength(50)
      await service.parley.close()
    }
    expect(collector.received.length).toBeGreaterThan(0)
  })

  it('is said once, and that it is back once; what waits is bounded, the rest is dropped', async () => {
    const { tracing, lines, count } = await openTracing({ ...collector.settings, OTEL_BSP_MAX_QUEUE_SIZE: '100' })
    collector.behave({ status: 400 })
    begin(tracing, 1)
    await soon(async () => expect(await count('lost')).toBe(1))
    begin(tracing, 1)
    await soon(async () => expect(await count('lost')).toBe(2))
    expect(lines).toEqual(['the collector does not accept spans; they are dropped'])

    collector.behave({})
    begin(tracing, 1)
    await soon(async () => expect(await count('sent')).toBe(1))
    expect(lines).toEqual([lines[0], 'the collector accepts spans again'])

    const [requests, spans] = [collector.received.length, collector.spans.length]
    collector.behave({ delayMs: 3_600_000 })
    begin(tracing, 10_000)
    await soon(() => expect(collector.received.length).toBeGreaterThan(requests))
    begin(tracing, 10_000)
    await tracing.stop()
    // One portion under way, and as much as may wait, which is tried in the end.
    expect(collector.spans.length - spans).toBeLessThanOrEqual(200)
  })
})
