/** A person of an export, in words that all exports share. Times in epoch seconds; ids are those of the old system. */
export interface Person {
  readonly id: string
  /** What their uid should look like: the name by which others mention them. */
  readonly handle: string
  readonly name: string
  readonly avatar?: string | undefined
  readonly createdAt?: number | undefined
  readonly deactivatedAt?: number | undefined
  readonly metadata?: Readonly<Record<string, unknown>>
  readonly tags?: readonly string[]
}

/** A channel, or a direct conversation of one or more than two. */
export interface Channel {
  readonly id: string
  readonly handle: string
  readonly name: string
  readonly isPrivate: boolean
  readonly owner?: string | undefined
  readonly createdAt?: number | undefined
  readonly metadata?: Readonly<Record<string, unknown>>
  readonly tags?: readonly string[]
}

/** Where something was said: a channel, or between two people. */
export type Place = { readonly channel: string } | { readonly between: readonly [string, string] }

export interface OldFile {
  readonly name: string
  readonly mimeType?: string | undefined
  readonly size?: number | undefined
  /** Undefined where there is none: the message then has the name as text. */
  readonly url: string | undefined
}

export interface OldMessage {
  /** Of the message, unique in its place. */
  readonly id: string
  readonly sender: string
  /** What is known of the sender, should the export not describe them. */
  readonly senderName?: string | undefined
  /** Epoch milliseconds; those of one second are told apart by it. */
  readonly at: number
  /** With mentions as the service has them, `<@uid:alice>`. */
  readonly text: string
  readonly files?: readonly OldFile[]
  readonly reactions?: ReadonlyArray<{ readonly name: string; readonly given: readonly Given[] }>
  /** The message that was answered, in the same place. */
  readonly parent?: string | undefined
  /** The message that it quotes, in the same place. */
  readonly quoted?: string | undefined
  /** Epoch seconds */
  readonly editedAt?: number | undefined
  /** Epoch seconds */
  readonly deletedAt?: number | undefined
  /** Who pinned it, and when, in epoch seconds; `by` is undefined where the export does not say who. */
  readonly pin?: { readonly by: string | undefined; readonly at: number } | undefined
  readonly saves?: readonly Given[]
}

/** What somebody did with a message; in epoch seconds, where the export says when. */
export interface Given {
  readonly by: string
  readonly at?: number | undefined
}

/** What an export is converted to. People and channels come before the messages that name them. */
export interface History {
  person(person: Person): void
  channel(channel: Channel): void
  member(channel: string, person: string, scope?: 'admin' | 'moderator' | 'participant'): void
  message(place: Place, message: OldMessage): Promise<void>
  /** The uid of a person; somebody whom the export does not describe gets one. */
  uidOf(person: string, name?: string): string
}
