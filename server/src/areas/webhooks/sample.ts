import type { App } from '../../chat/identity.ts'
import { between } from '../../chat/messages/entities.ts'
import { type DraftView, renderMessage, viewOfNew } from '../../chat/messages/render.ts'
import type { ShownEvent } from '../../events/show.ts'

/** What a sample event fires. */
export const sampleTrigger = { 1: 'after_message', 2: 'message_sent' } as const

/**
 * A made-up event to try a webhook with: nobody sent this message.
 * @param at when it happened, in epoch seconds
 */
export function sampleEvent({ name }: Pick<App, 'name'>, version: 1 | 2, at: number): ShownEvent {
  const user = (uid: string, entityName: string) => ({ uid, name: entityName, role: 'default', status: 'offline' })
  const draft: DraftView = {
    sender: 'sample-alice',
    kind: 'user',
    receiver: 'sample-bob',
    category: 'message',
    type: 'text',
    data: { text: `This is a test of a webhook of the app ${name}.` },
    muid: null,
    parentId: null,
    quotedId: null,
    tags: null,
  }
  const ends = between(draft, user('sample-alice', 'Sample Alice'), user('sample-bob', 'Sample Bob'))
  const message = renderMessage(viewOfNew(draft, draft.data, 1, at), ends)
  return { trigger: sampleTrigger[version], data: version === 1 ? message : { message } }
}
