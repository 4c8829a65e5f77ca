/** Where spans go, and which requests have any. The names are those of OpenTelemetry. */
export interface TracingSettings {
  /** The whole address that spans are posted to. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly isCompressed: boolean
  readonly timeoutMs: number
  readonly sampling: Sampling
  /** What every span says of where it comes from, besides the name and the version of the service. */
  readonly resource: Readonly<Record<string, string>>
  readonly serviceName: string
  /** For how long spans gather before they are sent. */
  readonly delayMs: number
  /** Spans that wait at most; beyond that they are dropped. */
  readonly maxWaiting: number
}

/** Which traces are sampled. */
export interface Sampling {
  /** Whether a trace that a caller has begun is sampled as the caller says. */
  readonly followsParent: boolean
  /** The share of the others, from 0 to 1. */
  readonly ratio: number
}

const samplers = ['always_on', 'always_off', 'traceidratio'].flatMap((name) => [name, `parentbased_${name}`])
/** Every collector takes JSON where it takes the other form. */
const protocol = 'http/json'

type Value = (name: string) => string | undefined

/** @returns undefined where no collector is named */
export function readTracing(value: Value, problems: string[]): TracingSettings | undefined {
  const [base, whole] = [value('OTEL_EXPORTER_OTLP_ENDPOINT'), value('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT')]
  const [disabled, spoken] = [value('OTEL_SDK_DISABLED'), value('OTEL_EXPORTER_OTLP_PROTOCOL')]
  const [headers, compression] = [value('OTEL_EXPORTER_OTLP_HEADERS'), value('OTEL_EXPORTER_OTLP_COMPRESSION')]
  const [sampler = 'parentbased_always_on', share] = [value('OTEL_TRACES_SAMPLER'), value('OTEL_TRACES_SAMPLER_ARG')]
  const [serviceName = 'parley', resource] = [value('OTEL_SERVICE_NAME'), value('OTEL_RESOURCE_ATTRIBUTES')]
  const numbers = {
    timeoutMs: value('OTEL_EXPORTER_OTLP_TIMEOUT'),
    delayMs: value('OTEL_BSP_SCHEDULE_DELAY'),
    maxWaiting: value('OTEL_BSP_MAX_QUEUE_SIZE'),
  }
  const address = whole ?? base
  if (address === undefined || disabled?.toLowerCase() === 'true') return undefined

  const name = whole === undefined ? 'OTEL_EXPORTER_OTLP_ENDPOINT' : 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'
  if (!isAddress(address)) problems.push(`${name} must be an address such as http://127.0.0.1:4318; it is "${address}"`)
  if (spoken !== undefined && spoken !== protocol) {
    problems.push(`OTEL_EXPORTER_OTLP_PROTOCOL must be ${protocol}, which is what is spoken; it is "${spoken}"`)
  }
  if (compression !== undefined && compression !== 'gzip' && compression !== 'none') {
    problems.push(`OTEL_EXPORTER_OTLP_COMPRESSION must be gzip or none; it is "${compression}"`)
  }
  if (!samplers.includes(sampler)) {
    problems.push(`OTEL_TRACES_SAMPLER must be one of ${samplers.join(', ')}; it is "${sampler}"`)
  }
  const positive = (setting: string, text: string | undefined, fallback: number) => {
    if (text === undefined) return fallback
    if (/^[1-9]\d{0,7}$/.test(text)) return Number(text)
    problems.push(`${setting} must be a number from 1 to 99999999; it is "${text}"`)
    return fallback
  }
  return {
    url: whole ?? `${address.replace(/\/+$/, '')}/v1/traces`,
    headers: readPairs('OTEL_EXPORTER_OTLP_HEADERS', headers, problems),
    isCompressed: compression === 'gzip',
    timeoutMs: positive('OTEL_EXPORTER_OTLP_TIMEOUT', numbers.timeoutMs, 10_000),
    sampling: {
      followsParent: sampler.startsWith('parentbased_'),
      ratio: sampler.endsWith('always_off') ? 0 : sampler.endsWith('always_on') ? 1 : readRatio(share, problems),
    },
    resource: readPairs('OTEL_RESOURCE_ATTRIBUTES', resource, problems),
    serviceName,
    delayMs: positive('OTEL_BSP_SCHEDULE_DELAY', numbers.delayMs, 5_000),
    maxWaiting: positive('OTEL_BSP_MAX_QUEUE_SIZE', numbers.maxWaiting, 2_048),
  }
}

function isAddress(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)
}

function readRatio(text: string | undefined, problems: string[]): number {
  if (text === undefined) return 1
  const ratio = Number(text)
  if (/^[\d.]+$/.test(text) && ratio >= 0 && ratio <= 1) return ratio
  problems.push(`OTEL_TRACES_SAMPLER_ARG must be a share from 0 to 1, such as 0.01; it is "${text}"`)
  return 1
}

/** Reads `name=value,other=value`, each percent-encoded where need be. They may be secrets, so what is wrong is not repeated. */
function readPairs(setting: string, text: string | undefined, problems: string[]): Record<string, string> {
  if (text === undefined) return {}
  try {
    const pairs = text.split(',').filter((pair) => pair.trim() !== '')
    return Object.fromEntries(
      pairs.map((pair) => {
        const [, name, value] = /^\s*([^\s=]+)\s*=\s*(.*?)\s*$/.exec(pair) ?? []
        if (name === undefined || value === undefined) throw new URIError()
        return [decodeURIComponent(name), decodeURIComponent(value)]
      }),
    )
  } catch {
    problems.push(`${setting} must be name=value, with commas between several`)
    return {}
  }
}
