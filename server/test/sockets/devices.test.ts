import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { createGroup, dataOf, say, sayInGroup } from '../support/chat.ts'
import { type Client, connect, tokenOf } from '../support/socket.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'

/** Alice with her phone, with which she acts, and a tab; bob with one device. */
async function devices() {
  const world = await createWorld()
  await createUsers(world, 'alice', 'bob')
  await createGroup(world, 'team', 'alice', { participants: ['bob'] })
  const token = await tokenOf(world, 'alice')
  const phone = await connect(world, 'alice', { deviceId: 'phone', token })
  const tab = await connect(world, 'alice', { deviceId: 'tab' })
  const bob = await connect(world, 'bob')
  const act = (method: string, path: string, body?: unknown) =>
    world.call(method, path, body, { token, headers: { resource: 'phone' } })
  return { world, phone, tab, bob, act }
}

/** What comes first on the phone is not what the phone did, but what bob does after it. */
async function knowsAlready(world: World, phone: Client, in_: 'bob' | 'team'): Promise<void> {
  if (in_ === 'bob') await say(world, 'bob', 'alice', 'next')
  else await sayInGroup(world, 'bob', 'team', 'next')
  await phone.takeText('next')
  expect(phone.frames.filter(({ sender }) => sender === 'alice')).toEqual([])
}

it.each(['bob', 'team'] as const)(
  'an edit, a reaction and a deletion are not told to the device that did them, but to the others (%s)',
  async (receiver) => {
    const { world, phone, tab, bob, act } = await devices()
    const receiverType = receiver === 'team' ? 'group' : 'user'
    const { id } = dataOf(await act('POST', '/messages', { receiver, receiverType, data: { text: 'frist' } }))
    for (const client of [tab, bob]) await client.takeText('frist')

    const isAction = (action: string) => (frame: { type: string; body: { data: { action?: string } } }) =>
      frame.type === 'message' && frame.body.data.action === action
    const edited = dataOf(await act('PUT', `/messages/${id}`, { data: { text: 'first' } }))
    for (const client of [tab, bob]) {
      expect(await client.take(isAction('edited'))).toMatchObject({ deviceId: 'phone', body: { id: edited.id } })
    }
    for (const [method, action] of [
      ['POST', 'message_reaction_added'],
      ['DELETE', 'message_reaction_removed'],
    ] as const) {
      dataOf(await act(method, `/messages/${id}/reactions/x`))
      for (const client of [tab, bob]) {
        expect(await client.takeType('reaction')).toMatchObject({ deviceId: 'phone', body: { action } })
      }
    }
    const deleted = dataOf(await act('DELETE', `/messages/${id}`, {}))
    for (const client of [tab, bob]) {
      expect(await client.take(isAction('deleted'))).toMatchObject({ deviceId: 'phone', body: { id: deleted.id } })
    }
    await knowsAlready(world, phone, receiver)
  },
)

it.each([
  ['one-to-one', 'bob', '/users/bob/conversation'],
  ['in a group', 'team', '/groups/team/conversation'],
] as const)(
  'marks, by request or by answering, are not told to the device that set them (%s)',
  async (_, where, path) => {
    const { world, phone, tab, bob, act } = await devices()
    const sayThere = (text: string) =>
      where === 'bob' ? say(world, 'bob', 'alice', text) : sayInGroup(world, 'bob', 'team', text)
    const { id: messageId } = await sayThere('one')
    for (const action of ['delivered', 'read']) {
      dataOf(await act('POST', `${path}/${action}`, { messageId }))
      for (const client of [tab, bob]) {
        expect(await client.take(({ type, body }) => type === 'receipts' && body.action === action)).toMatchObject({
          sender: 'alice',
          deviceId: 'phone',
          body: { messageId },
        })
      }
    }
    const { id: answered } = await sayThere('two')
    const receiverType = where === 'team' ? 'group' : 'user'
    dataOf(await act('POST', '/messages', { receiver: where, receiverType, data: { text: 'answer' } }))
    for (const client of [tab, bob]) {
      const receipt = await client.take(({ type, body }) => type === 'receipts' && body.action === 'read')
      expect(receipt).toMatchObject({ sender: 'alice', deviceId: 'phone', body: { messageId: answered } })
    }
    await knowsAlready(world, phone, where)
  },
)

it('the device is shown to nobody but sockets: but for who came online, what is kept of it all does not name it', async () => {
  const { world, tab, act } = await devices()
  dataOf(await world.get('/events'))
  const { id } = dataOf(await act('POST', '/messages', { receiver: 'bob', receiverType: 'user', data: { text: 'hi' } }))
  const answer = await say(world, 'bob', 'alice', 'ho')
  dataOf(await act('POST', `/messages/${answer.id}/reactions/x`))
  dataOf(await act('POST', '/users/bob/conversation/read', { messageId: answer.id }))
  dataOf(await act('PUT', `/messages/${id}`, { data: { text: 'hello' } }))
  dataOf(await act('DELETE', `/messages/${id}`, {}))
  await tab.take(({ type, body }) => type === 'message' && body.data.action === 'deleted')
  const kept = await world.context.database.run<{ trigger: string; data: object }>(sql`
    select trigger, data from events where app_id = ${world.app.appId}
    and trigger <> 'user_connection_status_changed'`)
  expect(kept.map(({ trigger }) => trigger)).toEqual(
    expect.arrayContaining([
      'message_sent',
      'message_reaction_added',
      'message_read_receipt',
      'message_edited',
      'message_deleted',
    ]),
  )
  expect(JSON.stringify(kept)).not.toContain('phone')
})
