import type { CallAny, Face, Input } from './call.ts'
import type { Message } from './contract.ts'
import { createUpload, type Upload } from './files.ts'
import type { CallOptions, TransportOptions } from './transport.ts'

/** A message to several receivers at once. */
export interface ToMany extends Omit<Input<'POST /messages'>, 'receiver' | 'receiverType'> {
  readonly multipleReceivers: { readonly uids?: readonly string[]; readonly guids?: readonly string[] }
}

/** What became of a message for one receiver. */
export interface Sent {
  readonly success: boolean
  readonly data?: Message
  readonly error?: { readonly code: string; readonly message: string }
}

/** Messages in a conversation: the app is answered its id, a user the other side. */
export type Count =
  | { readonly conversationId: string; readonly count: number }
  | { readonly entityId: string; readonly entityType: 'user' | 'group'; readonly count: number }

/** Calls whose answer depends on what is asked for. */
export interface Extras {
  readonly messages: {
    /** The outcome for each receiver; one that fails does not stop the others. */
    sendToMany(
      message: ToMany,
      options?: CallOptions,
    ): Promise<{ uids?: Record<string, Sent>; guids?: Record<string, Sent> }>
    /** Counts the messages of each conversation; with `unread: true` those that the user has not read. */
    count(filters?: Input<'GET /messages'>, options?: CallOptions): Promise<Count[]>
    /** Uploads files, and answers what stands in `data.attachments` of the message they are sent with. */
    upload: Upload
  }
  readonly groups: {
    /** The acting user joins. @returns the action message that says so */
    join(group: { guid: string; password?: string }, options?: CallOptions): Promise<Message>
  }
}

interface Areas {
  readonly messages: object
  readonly groups: object
}

/** Adds calls that are no plain operation to the functions of a table. */
export function withExtras<const Table extends Areas>(
  face: Face<Table>,
  call: CallAny,
  { fetch }: TransportOptions,
): Face<Table> & Extras {
  const { messages, groups } = face as unknown as Areas
  const extras: Extras = {
    messages: {
      ...messages,
      sendToMany: (message, options) => call('POST /messages', message as never, options) as never,
      async count(filters, options) {
        // With a search, counts have a `meta`.
        const counts: unknown = await call('GET /messages', { ...filters, count: true }, options)
        return (Array.isArray(counts) ? counts : (counts as { data: Count[] }).data) as Count[]
      },
      upload: createUpload(call, fetch),
    },
    groups: { ...groups, join: (group, options) => call('POST /groups/{guid}/members', group, options) as never },
  }
  return { ...face, ...extras } as unknown as Face<Table> & Extras
}
