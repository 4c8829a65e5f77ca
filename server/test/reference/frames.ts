import { furnishInOrder } from '../http/in-order.ts'
import { furnishChat } from '../http/samples.ts'
import { dataOf, say } from '../support/chat.ts'
import { addRules } from '../support/held.ts'
import { makePending, review } from '../support/review.ts'
import { authFrame, Client, connect, type Frame, tokenOf } from '../support/socket.ts'
import { pleasantly } from './pleasant.ts'

/** One frame of each kind, as two users send and receive them, with pleasant ids and times. */
export async function recordFrames(): Promise<Record<string, Frame>> {
  const began = Math.floor(Date.now() / 1000)
  const { world, ids } = await furnishInOrder(furnishChat)

  const bob = await new Client(`${world.url}/v3`).opened()
  const auth = authFrame(world, 'bob', await tokenOf(world, 'bob'), { body: { presenceSubscription: 'ALL_USERS' } })
  bob.send(auth)
  const authAnswer = await bob.takeType('auth')
  const ping = { action: 'ping', ack: 'true' }
  bob.send(ping)
  const pong = await bob.take((frame) => frame.action === 'pong')
  const alice = await connect(world, 'alice')
  const presence = await bob.take((frame) => frame.type === 'presence' && frame.sender === 'alice')

  const { id } = await say(world, 'bob', 'alice', 'Are you there?')
  const message = await alice.takeText('Are you there?')
  const toBob = { receiver: 'bob', receiverType: 'user' }
  const receipts = { type: 'receipts', ...toBob, body: { action: 'read', messageId: id } }
  alice.send(receipts)
  const receipt = await bob.take(({ type, sender }) => type === 'receipts' && sender === 'alice')
  const typing = { type: 'typing_indicator', ...toBob, body: { action: 'started' } }
  alice.send(typing)
  const typingIndicator = await bob.takeType('typing_indicator')
  const transient = { type: 'transient_message', ...toBob, body: { data: { live: 'hearts' } } }
  alice.send(transient)
  const transientMessage = await bob.takeType('transient_message')
  alice.send({ type: 'receipts', ...toBob, body: { action: 'seen', messageId: id } })
  const error = await alice.takeType('error')

  const asAlice = { as: 'alice' }
  dataOf(await world.post(`/messages/${id}/reactions/${encodeURIComponent('👍')}`, undefined, asAlice))
  const reaction = await bob.takeType('reaction')
  dataOf(await world.post(`/messages/${id}/pin`, undefined, asAlice))
  const messagePin = await bob.takeType('message_pin')
  dataOf(await world.post(`/messages/${id}/save`, undefined, asAlice))
  const messageSave = await alice.takeType('message_save')
  dataOf(await world.post('/users/bob/conversation/pin', undefined, asAlice))
  const conversationPin = await alice.takeType('conversation_pin')
  const poll = {
    ...{ receiver: 'alice', receiverType: 'user', category: 'interactive', type: 'form' },
    data: {
      interactiveData: { formFields: [{ elementId: 'yes' }, { elementId: 'no' }] },
      interactionGoal: { type: 'anyAction' },
    },
  }
  const asked = dataOf(await world.post('/messages', poll, { as: 'bob' }))
  dataOf(await world.call('PATCH', `/messages/${asked.id}/interacted`, { interactions: ['yes'] }, asAlice))
  const interaction = await bob.takeType('interaction_completed')

  const takeAway = addRules(world)
  const held = await say(world, 'alice', 'bob', 'Not a bad idea!')
  await makePending(world, held.id)
  dataOf(await review(world, 'blocked', held.id, { status: 'approved' }))
  const moderation = await alice.takeType('on_moderation_status_changed')
  takeAway()
  for (const client of [alice, bob]) client.close()

  const fromClients = { auth, ping, typing, receipts, transient }
  const stored = { message, receipt, reaction, messagePin, messageSave, conversationPin, interaction, moderation }
  const frames = { ...fromClients, authAnswer, pong, presence, typingIndicator, transientMessage, error, ...stored }
  return pleasantly(frames, world, ids, began)
}
