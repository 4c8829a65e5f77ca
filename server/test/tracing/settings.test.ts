import { describe, expect, it } from 'vitest'
import { ConfigError, readConfig } from '../../src/config/index.ts'
import { isSampled, readParent } from '../../src/tracing/tracing.ts'

const collector = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318/' }
const tracingOf = (environment: Record<string, string>) => readConfig(environment).tracing

describe('the settings of traces', () => {
  it('are off without a collector, whatever else they say', () => {
    expect(tracingOf({ OTEL_TRACES_SAMPLER: 'nonsense', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' })).toBeUndefined()
    expect(tracingOf({ ...collector, OTEL_SDK_DISABLED: 'True' })).toBeUndefined()
  })

  it('are those of OpenTelemetry, with its defaults', () => {
    expect(tracingOf(collector)).toEqual({
      ...{ url: 'http://127.0.0.1:4318/v1/traces', headers: {}, isCompressed: false, timeoutMs: 10_000 },
      ...{ sampling: { followsParent: true, ratio: 1 }, resource: {}, serviceName: 'parley' },
      ...{ delayMs: 5_000, maxWaiting: 2_048 },
    })
    expect(
      tracingOf({
        ...collector,
        OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://spans.example.com/take',
        OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Basic%20YTpi, x-tenant = chat',
        OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
        OTEL_EXPORTER_OTLP_TIMEOUT: '2000',
        OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
        OTEL_TRACES_SAMPLER: 'traceidratio',
        OTEL_TRACES_SAMPLER_ARG: '0.01',
        OTEL_SERVICE_NAME: 'chat',
        OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=staging',
        OTEL_BSP_SCHEDULE_DELAY: '1000',
        OTEL_BSP_MAX_QUEUE_SIZE: '100',
      }),
    ).toEqual({
      ...{ url: 'https://spans.example.com/take', isCompressed: true, timeoutMs: 2_000 },
      headers: { authorization: 'Basic YTpi', 'x-tenant': 'chat' },
      sampling: { followsParent: false, ratio: 0.01 },
      ...{
        resource: { 'deployment.environment.name': 'staging' },
        serviceName: 'chat',
        delayMs: 1_000,
        maxWaiting: 100,
      },
    })
  })

  it('are refused with their names, and without what may be secret', () => {
    const read = () =>
      readConfig({
        OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318',
        OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
        OTEL_EXPORTER_OTLP_HEADERS: 'a-secret',
        OTEL_EXPORTER_OTLP_COMPRESSION: 'zstd',
        OTEL_TRACES_SAMPLER: 'jaeger_remote',
        OTEL_TRACES_SAMPLER_ARG: '1.5',
        OTEL_BSP_SCHEDULE_DELAY: 'soon',
      })
    expect(read).toThrow(ConfigError)
    const refused = { ...collector, OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '1.5' }
    expect(() => readConfig(refused)).toThrow('OTEL_TRACES_SAMPLER_ARG must be a share from 0 to 1')
    try {
      read()
    } catch (error) {
      const { problems } = error as ConfigError
      expect(problems.map((problem) => problem.split(' ')[0])).toEqual([
        ...['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_PROTOCOL', 'OTEL_EXPORTER_OTLP_COMPRESSION'],
        ...['OTEL_TRACES_SAMPLER', 'OTEL_EXPORTER_OTLP_HEADERS', 'OTEL_TRACES_SAMPLER_ARG', 'OTEL_BSP_SCHEDULE_DELAY'],
      ])
      expect(problems.join()).not.toContain('a-secret')
    }
  })
})

describe('whether a trace is told of', () => {
  const id = '4bf92f3577b34da6a3ce929d0e0e4736'
  const parentOf = (flags: string, traceId = id) => readParent(`00-${traceId}-00f067aa0ba902b7-${flags}`)

  it('says who has begun it, or chance, where the sampler goes by parents', () => {
    const sampling = { followsParent: true, ratio: 0 }
    expect(isSampled(sampling, parentOf('01'))).toBe(true)
    expect(isSampled({ followsParent: true, ratio: 1 }, parentOf('00'))).toBe(false)
    expect(isSampled(sampling, undefined)).toBe(false)
    expect(isSampled({ followsParent: true, ratio: 1 }, undefined)).toBe(true)
    const share = Array.from({ length: 10_000 }, () => isSampled({ followsParent: true, ratio: 0.2 }, undefined))
    expect(share.filter(Boolean).length / 10_000).toBeCloseTo(0.2, 1)
  })

  it('says its id, the same in every service, where the sampler does not', () => {
    const low = parentOf('00', `${'4'.repeat(18)}00000000000001`)
    const high = parentOf('01', `${'4'.repeat(18)}ffffffffffffff`)
    const sampling = { followsParent: false, ratio: 0.01 }
    expect([isSampled(sampling, low), isSampled(sampling, high)]).toEqual([true, false])
  })

  it('is not asked of what is no traceparent', () => {
    const valid = `00-${id}-00f067aa0ba902b7-01`
    expect(readParent(valid)).toEqual({ traceId: id, spanId: '00f067aa0ba902b7', isSampled: true })
    expect(readParent(`01-${id}-00f067aa0ba902b7-03-more`)?.isSampled).toBe(true)
    for (const header of [
      ...['', 'x', valid.slice(0, -1), `ff${valid.slice(2)}`, valid.toUpperCase(), `${valid},${valid}`],
      ...[`00-${'0'.repeat(32)}-00f067aa0ba902b7-01`, `00-${id}-${'0'.repeat(16)}-01`],
    ]) {
      expect(readParent(header), header).toBeUndefined()
    }
    expect(readParent([valid, valid])).toBeUndefined()
  })
})
