import type { Database } from '../../store/database.ts'
import type { Hand } from '../outbound/hands.ts'
import type { Candidate } from './candidates.ts'
import type { DueNotification } from './due.ts'
import { leaveToOthers } from './flights.ts'
import type { Happened } from './happenings.ts'
import { makeReady, type Ready, type SendingHands } from './ready.ts'
import { type Rendered, type RenderOptions, renderNotifications } from './render.ts'
import { timeToLiveMs } from './time-to-live.ts'

/** Who sends a push at once. */
export interface Receiver {
  readonly holder: string
  /** Its place among all that is handed over of a page, from 1. */
  readonly place: number
}

/** What is planned of a page and sent at once, by the sender of this process. */
export interface HandingOver {
  /** @returns undefined where it has to wait: nobody here sends by its provider, or has room for it */
  receiverOf(candidate: Candidate, one: Happened): Receiver | undefined
  /** Reads what it says, and decides it once more by that. */
  prepare(): Promise<void>
  /** Hands it over, once it is written. @param ids by place; fewer: another has planned it meanwhile */
  finish(ids: readonly number[], day: number): Promise<void>
}

export interface HandingOverOptions extends RenderOptions {
  readonly database: Database
  readonly hands: SendingHands
}

interface Room {
  readonly hand: Hand<Ready>
  readonly provider: number
  left: number
  readonly due: DueNotification[]
}

/** @param at when it is planned, epoch milliseconds */
export function createHandingOver(options: HandingOverOptions, appId: number, at: number): HandingOver {
  const rooms = new Map<number, Room | undefined>()
  const all: DueNotification[] = []
  let rendered: ReadonlyMap<number, Rendered> = new Map()

  const roomOf = (provider: number) => {
    if (!rooms.has(provider)) {
      const hand = options.hands.find(provider)
      rooms.set(provider, hand && { hand, provider, left: hand.room, due: [] })
    }
    return rooms.get(provider)
  }
  return {
    receiverOf(candidate, one) {
      // What changes something that is shown has to look first for where that was sent to.
      if (one.trigger !== 'after_message') return undefined
      const room = roomOf(candidate.provider)
      if (room === undefined || room.left === 0) return undefined
      // Its token was not asked for: nobody sent yet when it was read.
      if (candidate.digest !== null && candidate.sealed === null) return undefined
      room.left--
      const place = all.length + 1
      const due = dueOf(candidate, one, place, at)
      all.push(due)
      room.due.push(due)
      return { holder: room.hand.holder, place }
    },
    async prepare() {
      rendered = await renderNotifications(options, { appId }, all)
    },
    async finish(ids, day) {
      if (ids.length === 0) return
      for (const room of rooms.values()) {
        if (room === undefined || room.due.length === 0) continue
        const { hand, provider, due } = room
        const flight = { first: Math.min(...due.map(({ id }) => ids[id - 1] as number)), day, left: due.length }
        const items = due.map((one) => makeReady(one, rendered.get(one.id), { id: ids[one.id - 1] as number, flight }))
        if (!hand.take(items)) await leaveToOthers(options.database, { appId, endpoint: provider }, hand.holder, flight)
      }
    },
  }
}

/** Built from the candidate instead of read back: nothing can have changed yet. @param id its place, until it has an id */
function dueOf(candidate: Candidate, one: Happened, id: number, at: number): DueNotification {
  const { recipient } = candidate
  return {
    id,
    uid: recipient.uid,
    provider: candidate.provider,
    digest: candidate.digest,
    sealed: candidate.sealed,
    platform: candidate.platform,
    trigger: one.trigger,
    eventId: one.event,
    event: 'message_sent',
    data: one.trace === null ? null : { trace: one.trace },
    conversation: one.conversation,
    message: one.message,
    reaction: one.reaction,
    kind: one.kind === 'group' ? 'group' : 'user',
    first: one.first,
    second: one.second,
    attempts: 0,
    mayHaveArrived: false,
    createdAt: at,
    expiresAt: at + timeToLiveMs.push,
    preferences: recipient.stored.preferences,
    timezone: recipient.stored.timezone,
    role: candidate.role,
    mutedUntil: recipient.mutedUntil ?? null,
    isMuted: recipient.mutedUntil !== undefined,
    followsThread: recipient.followsThread,
    isBlocked: recipient.isBlocked,
    hasRead: recipient.hasRead,
    hasCleared: candidate.hasCleared,
    isActive: true,
    takesPart: true,
    isRestricted: one.isRestricted,
    isTakenBack: false,
    isOfRemoved: false,
    sender: one.author ?? null,
    quotedSender: one.quoted ?? null,
    actedBy: null,
  }
}
