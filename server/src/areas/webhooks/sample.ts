import type { App } from '../../chat/identity.ts'
import type { ShownEvent } from '../../events/show.ts'

/** What a sample event fires. */
export const sampleTrigger = { 1: 'after_message', 2: 'message_sent' } as const

/** A made-up event to try a webhook with: nobody sent this message. */
export function sampleEvent({ name }: Pick<App, 'name'>, version: 1 | 2): ShownEvent {
  const now = Math.floor(Date.now() / 1000)
  const user = (uid: string, entityName: string) => ({ uid, name: entityName, role: 'default', status: 'offline' })
  const conversationId = 'sample-alice_user_sample-bob'
  const message = {
    id: '1',
    conversationId,
    sender: 'sample-alice',
    receiverType: 'user',
    receiver: 'sample-bob',
    category: 'message',
    type: 'text',
    data: {
      text: `This is a test of a webhook of the app ${name}.`,
      entities: {
        sender: { entity: user('sample-alice', 'Sample Alice'), entityType: 'user' },
        receiver: { entity: { ...user('sample-bob', 'Sample Bob'), conversationId }, entityType: 'user' },
      },
    },
    sentAt: now,
    updatedAt: now,
  }
  return { trigger: sampleTrigger[version], data: version === 1 ? message : { message } }
}
