import { statusOf } from '../errors.ts'
import type { Signal } from '../platform.ts'
import type { Frame } from './connection.ts'
import type { Conversations } from './conversations.ts'
import { eachOf } from './each.ts'
import type { Events } from './events.ts'
import type { Feed } from './feed.ts'
import type { OpenMembers } from './members.ts'
import type { MessageAsker } from './message-asker.ts'
import type { Outbox } from './outbox.ts'
import { mayPass } from './port.ts'
import type { Presences } from './presence.ts'
import type { Screen, Screens } from './screens.ts'
import type { Session } from './session.ts'
import type { Typing } from './typing.ts'

/** Brings what is shown up to date after each login. */
export interface Sync {
  /** Counts, pins and clearings are in no feed, so the conversations are read again. */
  resync(signal: Signal): Promise<void>
  /** Frames that come while what was missed is fetched have to wait. */
  onFrame(frame: Frame): void
}

export interface SyncParts {
  readonly session: Session
  readonly screens: Screens
  readonly asker: MessageAsker
  readonly conversations: Conversations
  readonly presences: Presences
  readonly typing: Typing
  readonly outbox: Outbox
  readonly feed: Feed
  /** Lists of members that are open, by guid. */
  readonly openMembers: ReadonlyMap<string, OpenMembers>
  readonly handle: Events['handle']
}

/** Where more messages than this have changed, the list is read instead of each. */
const mostAsked = 10

export function createSync(parts: SyncParts): Sync {
  const { session, screens, asker, conversations, presences, typing, outbox, feed, openMembers, handle } = parts
  let waiting: Frame[] | undefined

  const read =
    (signal: Signal) =>
    async ({ timeline }: Screen) => {
      try {
        await timeline.reload(signal)
      } catch (error) {
        if (signal.aborted) throw error
        passable(error)
        timeline.shut(error)
      }
    }
  /** The user sees nothing of the conversation any more: it was cleared, or its group or other side was deleted. */
  const isOver = ({ key, timeline }: Screen) =>
    timeline.messages.length > 0 && conversations.summary(key).getSnapshot() === undefined

  /** What is on screen comes first. @param isGap what was missed is not known */
  const reload = async (signal: Signal, isGap: boolean) => {
    const asked = asker.due()
    const isStale = ({ timeline }: Screen) =>
      isGap || !timeline.progress().isLoaded || asked.filter((id) => timeline.find(id) !== undefined).length > mostAsked
    const stale = screens.all().filter(isStale)
    const whole = screens.all().filter((screen) => !stale.includes(screen))
    const dropped = asked.filter((id) => !whole.some(({ timeline }) => timeline.find(id) !== undefined))
    for (const id of dropped) asker.drop(id)
    try {
      await eachOf(stale, read(signal))
    } catch (error) {
      // Not all of it comes from the feed, which says it again.
      for (const id of dropped) asker.ask(id)
      throw error
    }
    await asker.hurry()
    await conversations.reload(signal).catch(passable)
    for (const { key } of screens.all()) conversations.learn(key)
    await conversations.hurry()
    await eachOf(whole.filter(isOver), read(signal))
    await eachOf(openMembers.values(), (list) => list.reload(signal).catch(passable))
  }

  return {
    onFrame(frame) {
      if (waiting === undefined) handle(frame, false)
      else waiting.push(frame)
    },
    async resync(signal) {
      waiting = []
      typing.clear()
      presences.forget()
      const failed = screens.all().filter(({ timeline }) => timeline.progress().failed !== undefined)
      await session.logIn(signal)
      if (signal.aborted) throw signal.reason
      outbox.start(session.uid as string)
      const missed = await feed.read(signal)
      for (const frame of missed ?? []) handle(frame, true)
      await reload(signal, missed === undefined)
      await presences.reload(signal).catch(passable)
      if (signal.aborted) throw signal.reason
      feed.keep()
      const frames = waiting
      waiting = undefined
      for (const frame of frames) handle(frame, true)
      outbox.wake()
      // Whether that works is said where it is shown.
      for (const { timeline } of failed) timeline.loads.loadAgain(signal).catch(() => {})
    },
  }
}

/** Whatever asking again may help against is no reason to go on without. */
function passable(error: unknown): void {
  if (mayPass(error) || statusOf(error) === 401) throw error
}
