import type { Signal } from '../platform.ts'
import { cancel, later, type Timer } from './here.ts'
import type { PeerKey } from './interface.ts'
import { pathOf, peerOf, receiverOf } from './peers.ts'
import { type Port, statusOf } from './port.ts'

/** What this client marks as delivered and read. A mark covers all before it, so of many only the last is sent. */
export interface Marks {
  delivered(key: PeerKey, messageId: number, sender: string): void
  read(key: PeerKey, messageId: number): void
  stop(): void
}

export interface MarksParts {
  readonly port: Port
  /** Sends a frame, where there is a connection. */
  send(frame: object): void
  insist<T>(work: (signal: Signal) => Promise<T>): Promise<T | undefined>
  /** The service has it. */
  onRead(key: PeerKey, messageId: number): void
  onRefused(key: PeerKey, error: unknown): void
}

const deliverEveryMs = 1000
/** Frames in one turn: the service takes 30 a second of a client. */
const mostFrames = 20
const readEveryMs = 300

export function createMarks({ port, send, insist, onRead, onRefused }: MarksParts): Marks {
  const deliveries = new Map<PeerKey, { messageId: number; sender: string }>()
  const reads = new Map<PeerKey, number>()
  const reading = new Set<PeerKey>()
  let deliveryTimer: Timer | undefined

  /** One that is lost is made up for by the next, or by reading. */
  const sendDeliveries = () => {
    deliveryTimer = undefined
    for (const [key, { messageId, sender }] of [...deliveries].slice(0, mostFrames)) {
      deliveries.delete(key)
      const body = { action: 'delivered', messageId: String(messageId) }
      send({ type: 'receipts', ...receiverOf(peerOf(key)), messageSender: sender, body })
    }
    if (deliveries.size > 0) deliveryTimer = later(sendDeliveries, deliverEveryMs)
  }
  const sendReads = async (key: PeerKey) => {
    for (let mark = reads.get(key); mark !== undefined; mark = reads.get(key)) {
      reads.delete(key)
      const messageId = mark
      await insist(async (signal) => {
        try {
          await port.call('POST', `${pathOf(key)}/conversation/read`, { body: { messageId }, signal })
          onRead(key, messageId)
        } catch (error) {
          if (statusOf(error) < 400 || statusOf(error) >= 500 || statusOf(error) === 429) throw error
          onRefused(key, error)
        }
      })
    }
    reading.delete(key)
  }

  return {
    delivered(key, messageId, sender) {
      if (messageId <= (deliveries.get(key)?.messageId ?? 0)) return
      deliveries.set(key, { messageId, sender })
      deliveryTimer ??= later(sendDeliveries, deliverEveryMs)
    },
    read(key, messageId) {
      reads.set(key, Math.max(messageId, reads.get(key) ?? 0))
      if (reading.has(key)) return
      reading.add(key)
      later(() => void sendReads(key), readEveryMs)
    },
    stop() {
      cancel(deliveryTimer)
      deliveryTimer = undefined
    },
  }
}
