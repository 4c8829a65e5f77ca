import type { WebSocket } from 'ws'

/**
 * A text frame as it goes over the wire. What the service sends is not masked, so that one buffer serves any number of
 * sockets, and several frames can be one buffer.
 */
export function encodeFrame(frame: object): Buffer {
  return encodeText(JSON.stringify(frame))
}

/** The same of a frame that is JSON text already. */
export function encodeText(text: string): Buffer {
  const length = Buffer.byteLength(text)
  const head = length < 126 ? 2 : length < 65_536 ? 4 : 10
  const encoded = Buffer.allocUnsafe(head + length)
  encoded[0] = 0x81
  if (head === 2) encoded[1] = length
  else if (head === 4) {
    encoded[1] = 126
    encoded.writeUInt16BE(length, 2)
  } else {
    encoded[1] = 127
    encoded.writeBigUInt64BE(BigInt(length), 2)
  }
  encoded.write(text, head)
  return encoded
}

/** Text of a received frame. */
export function textOf(data: WebSocket.RawData): string {
  if (Array.isArray(data)) return Buffer.concat(data).toString()
  return Buffer.isBuffer(data) ? data.toString() : Buffer.from(data).toString()
}

/** A frame of a client; undefined for what is not one JSON object. */
export function readFrame(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}

const knownTypes = ['auth', 'typing_indicator', 'receipts', 'transient_message']

/** Of bounded variety, for the metrics. */
export function typeOf({ type, action }: Record<string, unknown>): string {
  if (action === 'ping') return 'ping'
  return typeof type === 'string' && knownTypes.includes(type) ? type : 'unknown'
}
