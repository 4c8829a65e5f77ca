import type { BodyOf, Message, sendModeratedMessage } from '@parley/contract'
import type { App } from '../../../chat/identity.ts'
import { traits } from '../../../chat/messages/traits.ts'
import type { Context } from '../../../context.ts'
import { statement } from '../../../store/statement.ts'
import { send } from '../../messages/index.ts'
import { makeMissing } from './cast.ts'

/** Of a message that no rule was asked about, since the app has none: it was handed in to be judged, and nothing spoke against it. */
const markJudged = statement(`
  update messages
  set traits = traits | ${traits.moderated}
  where app_id = $1
  and id = $2
  and traits & ${traits.moderated} = 0`)

/**
 * Sends a message on behalf of its sender, after making whoever is missing.
 * @throws as `makeMissing`, and as a send on behalf of a user does
 */
export async function handIn(context: Context, app: App, body: BodyOf<typeof sendModeratedMessage>): Promise<Message> {
  const { sender, receiver, receiverType, muid, category, type, data, tags } = body
  await makeMissing(context, app, body)
  const { data: sent } = (
    await send(
      context,
      app,
      { kind: 'user', uid: sender.toLowerCase(), via: 'key' },
      {
        ...{ receiver, receiverType },
        ...(muid !== undefined && { muid }),
        ...(category !== undefined && { category }),
        ...(type !== undefined && { type }),
        ...(data !== undefined && { data }),
        ...(tags !== undefined && { tags }),
      },
    )
  ).toJSON()
  const message = sent as Message
  if (message.data.moderation === undefined) await context.database.query(markJudged, [app.appId, Number(message.id)])
  return asHandedIn(message)
}

/** In this answer the sender carries the id of the conversation, as in the public contract; elsewhere the receiver does. */
function asHandedIn(message: Message): Message {
  const { entities, moderation = { status: 'approved' }, ...said } = message.data
  const { sender, receiver } = entities as { sender: End; receiver: End }
  const { conversationId, ...other } = receiver.entity
  const ends = {
    sender: { ...sender, entity: { ...sender.entity, conversationId: conversationId ?? message.conversationId } },
    receiver: { ...receiver, entity: message.receiverType === 'user' ? other : receiver.entity },
  }
  return { ...message, data: { ...said, entities: ends, moderation } }
}

interface End {
  readonly entity: Readonly<Record<string, unknown>>
}
