import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { refusal, say } from '../support/chat.ts'
import { createUsers, createWorld } from '../support/world.ts'

/** Longer than a connection may take to open. */
const heldMs = 2_000
/** More than there are connections for transactions. */
const edits = 32

it('Changes that wait for a lock, more of them than there are connections, are carried out and not refused', async () => {
  const world = await createWorld()
  await createUsers(world, 'alice', 'bob')
  const { id } = await say(world, 'alice', 'bob', 'first')
  const waiting: Array<ReturnType<typeof world.put>> = []
  await world.context.database.transaction(async (tx) => {
    await tx.run(sql`select key from conversations where app_id = ${world.app.appId} for update`)
    for (let i = 0; i < edits; i++) {
      waiting.push(world.put(`/messages/${id}`, { data: { text: `edit ${i}` } }, { as: 'alice' }))
    }
    await tx.run(sql`select pg_sleep(${heldMs / 1000})`)
  })
  const answers = await Promise.all(waiting)
  expect(answers.filter(({ status }) => status !== 200).map(refusal)).toEqual([])
})
