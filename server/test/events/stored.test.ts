import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { readStored, storedData, storedDataOf, storedDataSql } from '../../src/chat/events/stored.ts'
import { createWorld } from '../support/world.ts'

const place = { conversation: 7, kind: 'user', first: 'alice', second: 'bob' } as const

describe('an event in the log', () => {
  it('is read as it was written, without what only sockets are told', () => {
    const event = { trigger: 'message_read_receipt', place, messageId: 5, uid: 'bob', at: 9, device: 'phone' } as const
    const data = JSON.parse(storedDataOf(event))
    expect(readStored({ trigger: event.trigger, message: 5, data })).toEqual({
      trigger: 'message_read_receipt',
      messageId: 5,
      ...{ kind: 'user', first: 'alice', second: 'bob', uid: 'bob', at: 9 },
    })
  })

  it('keeps the same whoever writes it: the rules, or a statement of its own', async () => {
    const { database } = (await createWorld()).context
    const event = { trigger: 'message_read_receipt', place, messageId: 5, uid: 'bob', at: 9 } as const
    const { kind, first, second } = place
    const written = JSON.parse(storedDataOf(event))
    expect(JSON.parse(storedData('message_read_receipt', { kind, first, second, uid: 'bob', at: 9 }))).toEqual(written)
    const expressions = { kind: '1', first: `'alice'`, second: `'bob'`, uid: `'bob'`, at: '9' }
    const [row] = await database.run<{ data: object }>(
      sql`select ${sql.raw(storedDataSql('message_read_receipt', expressions))} as data`,
    )
    expect(row?.data).toEqual(written)
  })

  it('does not compile without a member that is kept', () => {
    // @ts-expect-error: who read it is missing
    expect(storedDataSql('message_read_receipt', { kind: '1', first: 'a', second: 'b', at: '9' })).not.toContain(
      "'uid'",
    )
    // @ts-expect-error: when it was read is missing
    storedData('message_read_receipt', { kind: 'user', first: 'a', second: 'b', uid: 'bob' })
  })
})
