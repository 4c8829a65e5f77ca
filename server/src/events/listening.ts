import { eventTriggerIds } from '@parley/contract'
import { settingsTopic } from '../chat/app-settings.ts'
import type { Database } from '../store/database.ts'
import type { Invalidation } from '../store/invalidation.ts'
import { createMemory } from '../store/memory.ts'
import { statement } from '../store/statement.ts'
import type { EventTrigger } from './types.ts'

/** Says for whom events are kept besides those who pull them: the triggers that somebody waits for in an app. */
export type TriggerSource = (appId: number) => Promise<Iterable<string>>

/** Which events of an app are kept, and for whom; in memory, since every write asks. */
export interface Listening {
  /** The triggers whose events are kept for this app; empty where nobody listens. */
  of(appId: number): Promise<ReadonlySet<string>>
  /** As `of`, as far as it is known without asking the database. */
  known(appId: number): ReadonlySet<string>
  /** Whether users of an app follow what happens to them (`GET /me/events`). */
  isFollowed(appId: number): Promise<boolean>
  addSource(source: TriggerSource): void
  /** Forgets what is known of an app, in this process; others hear of it by `listenersTopic`. */
  forget(appId: number): void
}

/** Announced with the app's surrogate key when its webhooks change, or pulling its events begins or is prolonged. */
export const listenersTopic = 'webhooks'

/** What triggers of the older envelope are called here. `before_message` is no event: nothing has happened yet. */
export const legacyEvents: Readonly<Record<string, EventTrigger>> = {
  after_message: 'message_sent',
  user_connection_status_change: 'user_connection_status_changed',
}

const selectPulled = statement(`
  select events_pulled_until as "pulledUntil", events_followed_until as "followedUntil"
  from apps
  where app_id = $1`)

interface Known {
  /** For sources. */
  readonly waitedFor: ReadonlySet<string>
  /** And for users who follow what happens to them. */
  readonly withFollowed: ReadonlySet<string>
  /** Epoch seconds; all events are kept until then. */
  readonly pulledUntil: number
  /** Epoch seconds; what users are sent over sockets is kept until then. */
  readonly followedUntil: number
}

/** What users are sent over sockets. */
const followed: readonly EventTrigger[] = [
  'message_sent',
  'message_edited',
  'message_deleted',
  'message_delivery_receipt',
  'message_read_receipt',
  'message_delivered_to_all',
  'message_read_by_all',
  'message_reaction_added',
  'message_reaction_removed',
  'group_member_joined',
  'group_member_left',
  'group_member_added',
  'group_member_kicked',
  'group_member_banned',
  'group_member_unbanned',
  'group_member_scope_changed',
]

const everything: ReadonlySet<string> = new Set(eventTriggerIds)
const nothing: ReadonlySet<string> = new Set()
const maxApps = 10_000

export function createListening(database: Database, invalidation: Invalidation): Listening {
  const sources: TriggerSource[] = []
  const read = async (appId: number): Promise<Known> => {
    const [rows, ...triggers] = await Promise.all([
      database.query<{ pulledUntil: number | null; followedUntil: number | null }>(selectPulled, [appId]),
      ...sources.map((source) => source(appId)),
    ])
    const waitedFor = new Set(triggers.flatMap((ids) => [...ids].map((id) => legacyEvents[id] ?? id)))
    return {
      waitedFor: waitedFor.size === 0 ? nothing : waitedFor,
      withFollowed: new Set([...waitedFor, ...followed]),
      pulledUntil: rows[0]?.pulledUntil ?? 0,
      followedUntil: rows[0]?.followedUntil ?? 0,
    }
  }
  const memory = createMemory<number, Known>({ max: maxApps, read })
  // What sources wait for may depend on settings of the app.
  for (const topic of [listenersTopic, settingsTopic]) {
    invalidation.onChange(topic, (appId) => (appId === undefined ? memory.forgetAll() : memory.forget(Number(appId))))
  }
  const isOn = (until: number) => until > 0 && until * 1000 > Date.now()
  const triggersOf = ({ waitedFor, withFollowed, pulledUntil, followedUntil }: Known) => {
    if (isOn(pulledUntil)) return everything
    return isOn(followedUntil) ? withFollowed : waitedFor
  }

  return {
    of: async (appId) => triggersOf(await memory.recall(appId)),
    known(appId) {
      const known = memory.known(appId)
      return known === undefined ? nothing : triggersOf(known)
    },
    isFollowed: async (appId) => isOn((await memory.recall(appId)).followedUntil),
    addSource: (source) => void sources.push(source),
    forget: memory.forget,
  }
}
