import type { Span } from './lists.ts'

/** How far a move is; part of the checkpoint. */
export interface MoveState {
  /** Epoch seconds when the first run began. */
  readonly started: number
  /** Lists that are read to their end. */
  readonly done: string[]
  /** Users and groups whose own lists are read, in the order of their file. */
  people: number
  rooms: number
  /** Parts of the time; each has its file of messages. Empty before the first message is looked for. */
  readonly spans: Span[]
  /** Epoch seconds up to which changes were followed. */
  followed?: number
  /** Epoch seconds of the cut-over; from then on the target has data of its own. */
  cutOver?: number
  /** The name of the target that ids.ndjson is of, and how far it was followed. */
  target?: string
  /** Whether targets had no users, groups and messages before, by their names. */
  wasEmpty?: Record<string, boolean>
  /** The names of targets that messages were handed to: they may have some, whose files are in use. */
  handedTo?: string[]
  /** Of folders of versions that did not write down their target: that the first one was empty. */
  targetWasEmpty?: boolean
  /** The name of the target that uploads are of which such a version wrote down without their app. */
  adopted?: string
  /** Epoch seconds when people and groups were last looked for after the cut-over. */
  added?: number
  /** When those came whom that found and the next time will find again, by `user|group|member <id> <time>`. */
  met?: Record<string, number>
  /** Cursor of the events of the target that are written back. */
  events?: string
  /** What writing back makes the source tell, which is no news: how often, by `<guid> <uid>`. */
  echoes?: Record<string, number>
  /** Signs the muids of what is written back. */
  mark?: string
  /** Secret path at which webhooks of the source are taken. */
  hook?: string
  readonly counts: Record<string, number>
}

export const freshState = (now: number): MoveState => ({
  started: now,
  done: [],
  people: 0,
  rooms: 0,
  spans: [],
  counts: {},
})

export const sourceFiles = {
  roles: 'source/roles.ndjson',
  users: 'source/users.ndjson',
  groups: 'source/groups.ndjson',
  /** Of each group: members, bans, permissions of scopes. */
  rooms: 'source/rooms.ndjson',
  /** Of each user: friends, blocks, conversations, saved messages, auth tokens. */
  people: 'source/people.ndjson',
  app: 'source/app.ndjson',
  messages: (span: number) => `source/messages-${span}.ndjson`,
  files: 'source/files.ndjson',
} as const
