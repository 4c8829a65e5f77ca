import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { createGroup, refusal, sayInGroup } from '../support/chat.ts'
import { untilWaitedFor } from '../support/waiters.ts'
import { type Answer, createUsers, createWorld, type World } from '../support/world.ts'

const as = { as: 'alice' }
const deeds: Readonly<Record<string, (world: World, id: string) => Promise<Answer>>> = {
  saved_messages: (world, id) => world.post(`/messages/${id}/save`, undefined, as),
  interactions: (world, id) => world.call('PATCH', `/messages/${id}/interacted`, { interactions: ['ok'] }, as),
  moderation_flags: (world, id) => world.post(`/messages/${id}/flagged`, { remark: 'rude' }, as),
  person_exports: (world) => world.post('/me/export', {}, as),
}

describe('What somebody does while they are erased', () => {
  it.each(Object.entries(deeds))('leaves no row in %s that the next one with their uid has', async (table, deed) => {
    const world = await createWorld()
    const { appId } = world.app
    await createUsers(world, 'alice', 'bob')
    await createGroup(world, 'team', 'bob', { participants: ['alice'] })
    const form = { category: 'interactive', type: 'form', data: { interactiveData: { elementId: 'ok' } } }
    const { id } = await sayInGroup(world, 'bob', 'team', '', form)
    let answer: Promise<Answer> | undefined
    // What an erasure holds from its begin to its end.
    await world.context.database.transaction(async (tx) => {
      await tx.run(sql`select from users where app_id = ${appId} and uid = 'alice' for update`)
      await tx.run(sql`select from conversations where app_id = ${appId} and first = 'team' for no key update`)
      answer = deed(world, id)
      await Promise.race([answer, untilWaitedFor(tx)])
      for (const name of ['group_members', 'conversation_states', 'users']) {
        await tx.run(sql`delete from ${sql.table(name)} where app_id = ${appId} and uid = 'alice'`)
      }
    })
    expect(refusal((await answer) as Answer)).toBe('404 ERR_UID_NOT_FOUND')
    const left = sql`select from ${sql.table(table)} where app_id = ${appId} and uid = 'alice'`
    expect(await world.context.database.run(left)).toEqual([])
  })
})
