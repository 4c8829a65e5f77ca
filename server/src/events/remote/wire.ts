import type { BusEvent } from '../types.ts'

/** One message on the channel that the processes share: `<node> <kind><number> <body>`. */
export interface Packet {
  /** The process that it came from. */
  readonly node: string
  /** `events`: a batch. `beat`: a sign of life. `bye`: the process stops. */
  readonly kind: 'events' | 'beat' | 'bye'
  /** Number of the batch, rising by one; of the last one before, in the other kinds. */
  readonly number: number
  readonly body: string
}

const letters = { events: 'e', beat: 'b', bye: 'x' } as const
const kinds = { e: 'events', b: 'beat', x: 'bye' } as const

export function encodePacket({ node, kind, number, body }: Packet): string {
  return `${node} ${letters[kind]}${number} ${body}`
}

/** The head of it alone: what comes from the process itself need not be read further. Undefined when it is none of ours. */
export function decodePacket(text: string): Packet | undefined {
  const first = text.indexOf(' ')
  const second = text.indexOf(' ', first + 1)
  if (first === -1 || second === -1) return undefined
  const kind = kinds[text[first + 1] as keyof typeof kinds]
  const number = Number(text.slice(first + 2, second))
  if (kind === undefined || !Number.isSafeInteger(number)) return undefined
  return { node: text.slice(0, first), kind, number, body: text.slice(second + 1) }
}

export type WireEvent = readonly [appId: number, event: BusEvent]

export function encodeEvent(appId: number, event: BusEvent): string {
  return JSON.stringify([appId, event])
}

/** @throws SyntaxError when the body is no batch */
export function decodeEvents(body: string): readonly WireEvent[] {
  return JSON.parse(`[${body}]`) as WireEvent[]
}
