import { statusOf } from '../errors.ts'
import { pause } from '../transport.ts'
import { cancel, later, type Timer } from './here.ts'
import type { PeerKey } from './interface.ts'
import { pathOf, peerOf, receiverOf } from './peers.ts'
import { mayPass, type Port, type PortRequest } from './port.ts'
import type { Insist } from './retries.ts'
import { createTurns } from './turns.ts'

/** What this client marks as delivered and read. A mark covers all before it, so of many only the last is sent. */
export interface Marks {
  delivered(key: PeerKey, messageId: number, sender: string): void
  read(key: PeerKey, messageId: number): void
  /** Marks as unread, after what was marked as read before it. */
  unread(key: PeerKey, work: () => Promise<unknown>): Promise<unknown>
  /** Sends what could not be sent as it was stopped. */
  start(): void
  /** Sends at once what was read and is not known to be there, without waiting for it. */
  stop(): void
}

export interface MarksParts {
  readonly port: Port
  /** Sends a frame, where there is a connection. */
  send(frame: object): void
  readonly insist: Insist
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
  /** What is sent about one conversation goes one after the other. */
  const turns = createTurns()
  /** Marks that the service has not answered yet. */
  const underWay = new Map<PeerKey, number>()
  let isStopped = false
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
  const sendRead = async (key: PeerKey, messageId: number, options: PortRequest) => {
    await port.call('POST', `${pathOf(key)}/conversation/read`, { body: { messageId }, ...options })
    onRead(key, messageId)
  }
  const isRefusal = (error: unknown) => statusOf(error) > 0 && !mayPass(error)
  const sendReads = async (key: PeerKey) => {
    await pause(readEveryMs)
    const messageId = reads.get(key)
    if (messageId !== undefined && !isStopped) {
      reads.delete(key)
      underWay.set(key, messageId)
      await insist(async (signal) => {
        try {
          await sendRead(key, messageId, { signal })
        } catch (error) {
          if (!isRefusal(error)) throw error
          onRefused(key, error)
        }
      })
      underWay.delete(key)
    }
  }
  const due = (key: PeerKey, messageId: number) => {
    const waiting = reads.get(key)
    reads.set(key, Math.max(messageId, waiting ?? 0))
    if (waiting === undefined) void turns.take(key, () => sendReads(key))
  }
  const sendLast = async (key: PeerKey, messageId: number) => {
    try {
      await sendRead(key, messageId, { isLast: true })
    } catch (error) {
      // Whoever is logged out by now may log in again.
      if (isRefusal(error) && statusOf(error) !== 401) onRefused(key, error)
      else due(key, messageId)
    }
  }

  return {
    delivered(key, messageId, sender) {
      if (messageId <= (deliveries.get(key)?.messageId ?? 0)) return
      deliveries.set(key, { messageId, sender })
      deliveryTimer ??= later(sendDeliveries, deliverEveryMs)
    },
    read: due,
    unread: turns.take,
    start() {
      isStopped = false
      for (const key of reads.keys()) void turns.take(key, () => sendReads(key))
    },
    stop() {
      isStopped = true
      cancel(deliveryTimer)
      deliveryTimer = undefined
      for (const [key, messageId] of underWay) due(key, messageId)
      const last = [...reads]
      underWay.clear()
      reads.clear()
      for (const [key, messageId] of last) void sendLast(key, messageId)
    },
  }
}
