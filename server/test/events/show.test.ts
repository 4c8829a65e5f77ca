import { describe, expect, it } from 'vitest'
import { type EventRow, eventColumns } from '../../src/events/rows.ts'
import { showEvents } from '../../src/events/show.ts'
import type { ChatEvent } from '../../src/events/types.ts'
import { statement } from '../../src/store/statement.ts'
import { createGroup, dataOf, say, sayInGroup } from '../support/chat.ts'
import { checkDeclared, pullEvents } from '../support/events.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'

const epoch = expect.any(Number)
const user = (uid: string) => ({
  uid,
  name: uid.charAt(0).toUpperCase() + uid.slice(1),
  status: 'offline',
  role: 'default',
  createdAt: epoch,
})

const select = statement(`
  select ${eventColumns}
  from events e
  where e.app_id = $1
  and e.trigger = any($2::text[])
  order by e.id`)

/** The kept events of a world with these triggers, in the older envelope. */
async function showLegacy({ context, app }: World, ...triggers: string[]) {
  const rows = await context.database.query<EventRow>(select, [app.appId, triggers])
  const shown = await showEvents(context, app, rows, 1)
  for (const event of shown.values()) checkDeclared(event, 1)
  return rows.map(({ id }) => shown.get(id))
}

const connection = (status: 'online' | 'offline', extra: object = {}): ChatEvent => ({
  trigger: 'user_connection_status_changed',
  uid: 'alice',
  status,
  timestamp: 1_700_000_000_123,
  connection: {
    action: status === 'online' ? 'connected' : 'disconnected',
    deviceId: 'device-1',
    connectedAt: 1_700_000_000_000,
    ...extra,
  },
})

/** Keeps events as a rule would. */
function raise({ context, app }: World, ...events: ChatEvent[]): Promise<void> {
  return context.database.transaction((tx) => context.events.raise(tx, app.appId, events))
}

describe('presence', () => {
  it('is told with the connection that came or went', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice')
    const puller = await pullEvents(world)
    const known = {
      platform: 'WEB',
      userAgent: 'Browser/1',
      appInfo: { version: '4.0', origin: 'https://example.com' },
    }
    await raise(world, connection('online', known), connection('offline'))
    expect(await puller.told()).toEqual([
      {
        trigger: 'user_connection_status_changed',
        data: {
          timestamp: 1_700_000_000_123,
          user: user('alice'),
          status: 'online',
          currentConnection: { action: 'connected', ...known, connectedAt: 1_700_000_000_000 },
          userPresenceChanged: true,
        },
      },
      {
        trigger: 'user_connection_status_changed',
        data: {
          timestamp: 1_700_000_000_123,
          user: user('alice'),
          status: 'offline',
          currentConnection: { action: 'disconnected', connectedAt: 1_700_000_000_000 },
          userPresenceChanged: true,
        },
      },
    ])
  })
})

describe('the older envelope', () => {
  it('tells presence by device and session', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice')
    await pullEvents(world)
    await raise(world, connection('online', { sessionId: 'session-1', platform: 'WEB' }), connection('offline'))
    const online = {
      connected_at: 1_700_000_000_000,
      cometchat_device_id: 'device-1',
      session_id: 'session-1',
      platform: 'WEB',
    }
    const told = { uid: 'alice', status_updated: true, status_updated_at: 1_700_000_000_123 }
    const { platform: _, ...offline } = { ...online, session_id: 'device-1' }
    expect(await showLegacy(world, 'user_connection_status_changed')).toEqual([
      {
        platform: 'WEBSOCKET',
        trigger: 'after_connection_status_changed',
        data: {
          user: { ...told, status: 'online' },
          event: { type: 'connected', at: 1_700_000_000_123, event_for: online },
          connections: [online],
        },
      },
      {
        platform: 'WEBSOCKET',
        trigger: 'after_connection_status_changed',
        data: {
          user: { ...told, status: 'offline' },
          event: { type: 'disconnected', at: 1_700_000_000_123, event_for: offline },
          connections: [],
        },
      },
    ])
  })

  it('tells receipts one to one and in groups', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    await createGroup(world, 'team', 'alice', { participants: ['bob'] })
    const { id: direct } = await say(world, 'alice', 'bob', 'one')
    const { id: inGroup } = await sayInGroup(world, 'alice', 'team', 'two')
    await pullEvents(world)
    dataOf(await world.post('/users/alice/conversation/delivered', {}, { as: 'bob' }))
    dataOf(await world.post('/groups/team/conversation/read', {}, { as: 'bob' }))
    const told = { messageSender: 'alice', receiptSender: 'bob' }
    expect(await showLegacy(world, 'message_delivery_receipt', 'message_read_receipt')).toEqual([
      {
        platform: 'API',
        trigger: 'message_delivery_receipt',
        data: {
          ...told,
          messageId: direct,
          receiptType: 'delivered',
          deliveredAt: epoch,
          receiptReceiver: 'alice',
          receiverType: 'user',
        },
      },
      {
        platform: 'API',
        trigger: 'message_read_receipt',
        data: {
          ...told,
          messageId: inGroup,
          receiptType: 'read',
          readAt: epoch,
          receiptReceiver: 'team',
          receiverType: 'group',
        },
      },
    ])
  })

  it('tells a message as it is, and of one that was removed for good its position', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    const sent = await say(world, 'alice', 'bob', 'one')
    const removed = await say(world, 'alice', 'bob', 'two')
    await pullEvents(world)
    const place = { conversation: 0, kind: 'user', first: 'alice', second: 'bob' } as const
    for (const { id } of [sent, removed]) {
      await raise(world, { trigger: 'message_sent', place, messageId: Number(id) })
    }
    dataOf(await world.delete(`/messages/${removed.id}`, { permanent: true }))
    expect(await showLegacy(world, 'message_sent')).toEqual([
      { trigger: 'after_message', data: dataOf(await world.get(`/messages/${sent.id}`)) },
      { trigger: 'after_message', data: { id: removed.id, conversationId: 'alice_user_bob', sentAt: removed.sentAt } },
    ])
  })

  it('knows none of the other events', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    await pullEvents(world)
    dataOf(await world.post('/users/alice/blockedusers', { blockedUids: ['bob'] }))
    expect(await showLegacy(world, 'user_blocked')).toEqual([undefined])
  })
})
