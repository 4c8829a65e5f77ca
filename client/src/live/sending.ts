import type { Message } from '../contract.ts'
import type { Signal } from '../platform.ts'
import { createAsker } from './asker.ts'
import type { CreateCell } from './cell.ts'
import type { Backoff } from './closes.ts'
import type { Conversations } from './conversations.ts'
import { eachOf } from './each.ts'
import type { LiveEvent, LiveOptions, PeerKey, PendingMessage, StoredSend, View } from './interface.ts'
import type { MessageAsker } from './message-asker.ts'
import { createOutbox, type Outbox } from './outbox.ts'
import { receiverOf } from './peers.ts'
import type { Answered, Port } from './port.ts'
import type { Receipts } from './receipts.ts'
import type { Insist } from './retries.ts'
import type { Screens } from './screens.ts'
import type { Session } from './session.ts'
import type { Typing } from './typing.ts'

/** What the user sends, and what becomes of it. */
export interface Sending {
  readonly outbox: Outbox
  readonly pending: View<readonly PendingMessage[]>
  /** Rows of a list: what waits in the outbox may be among them. */
  confirm(key: PeerKey, rows: readonly Message[]): void
  /** Something was said of a message: it may be one whose answer has not come yet. */
  heard(key: PeerKey, id: string): void
}

export interface SendingParts {
  readonly port: Port
  readonly options: LiveOptions
  readonly backoff: Backoff
  readonly cell: CreateCell
  readonly insist: Insist
  readonly session: Session
  readonly screens: Screens
  readonly asker: MessageAsker
  readonly conversations: Conversations
  readonly receipts: Receipts
  readonly typing: Typing
  onError(error: unknown): void
  emit(event: LiveEvent): void
  /** The service has it. */
  receive(key: PeerKey, message: Message, isMissed: boolean): void
}

/** Of this many ids it is kept that they were heard of early. */
const mostEarly = 1000

export function createSending(parts: SendingParts): Sending {
  const { port, session, screens, asker, conversations } = parts
  /** Messages that frames say something of though they have not come: own ones whose answer is under way. */
  const early = new Set<string>()

  /** Conversations to which something was sent of which nobody knows whether it has arrived. */
  const unsure = createAsker(async (key) => {
    conversations.ask(key)
    await eachOf(screens.of(key), ({ timeline }) => parts.insist((signal) => timeline.reload(signal)))
  })
  const outbox = createOutbox({
    ...parts,
    post: (send, onProgress, signal) => post(port, send, onProgress, signal),
    onSent(key, message, attempts) {
      parts.typing.set(key, false)
      parts.receive(key, message, false)
      // It is as it was when it was stored: what was heard of it before the answer is missing.
      if (attempts === 1 && !early.has(message.id) && Number(message.id) > parts.receipts.last(key)) return
      asker.ask(message.id)
      conversations.ask(key)
    },
    onUnsure: unsure.ask,
    onFailed: (peer, muid, error) => parts.emit({ type: 'sendFailed', peer, muid, error }),
    onChange(key) {
      for (const { view } of screens.of(key)) view.changed()
      pending.changed()
    },
  })
  const pending = parts.cell(outbox.all)

  return {
    outbox,
    pending,
    confirm(key, rows) {
      for (const row of rows) {
        // Its answer may be lost, so the rest of what is shown hears of it here.
        if (row.sender !== session.uid || !outbox.confirm(key, row)) continue
        for (const { parentId, timeline } of screens.of(key)) if (parentId === row.parentId) timeline.put(row)
        // What was heard of it since it was listed is missing.
        asker.ask(row.id)
        if (row.parentId !== undefined) asker.ask(row.parentId)
        conversations.ask(key)
      }
    },
    heard(key, id) {
      if (outbox.of(key, undefined).length > 0 && early.size < mostEarly) early.add(id)
      else if (outbox.all().length === 0) early.clear()
    },
  }
}

/** Uploads the files of a message, and sends it. */
async function post(
  port: Port,
  { muid, peer, content }: StoredSend & Pick<PendingMessage, 'content'>,
  onProgress: (part: number) => void,
  signal: Signal,
): Promise<Message> {
  const { text, files, ...rest } = content
  const to = receiverOf(peer)
  const attachments =
    files &&
    (await port.upload(files, {
      ...to,
      parentMessageId: rest.parentId,
      signal,
      onProgress: (sent, total) => onProgress(total === 0 ? 1 : sent / total),
    }))
  const data = { ...content.data, ...(text !== undefined && { text }), ...(attachments && { attachments }) }
  const type = content.type ?? (files ? kindOf(files[0]?.type) : 'text')
  const body = { category: 'message', ...rest, ...to, type, data, muid }
  return (await port.call<Answered<Message>>('POST', '/messages', { body, signal })).data
}

function kindOf(mimeType = ''): string {
  const kind = mimeType.slice(0, mimeType.indexOf('/'))
  return ['image', 'video', 'audio'].includes(kind) ? kind : 'file'
}
