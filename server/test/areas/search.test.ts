import { describe, expect, it } from 'vitest'
import { createGroup, dataOf, say, sayInGroup, texts } from '../support/chat.ts'
import { createUsers, createWorld } from '../support/world.ts'

describe('x', () => {
  it('finds', async () => {
    const world = await createWorld()
    await createUsers(world, 'alice', 'bob')
    await createGroup(world, 'team', 'alice', { participants: ['bob'] })
    await say(world, 'alice', 'bob', 'Hello World')
    await say(world, 'alice', 'bob', 'other')
    await sayInGroup(world, 'alice', 'team', '今天天气很好')
    for (const q of ['hello', 'WORLD', 'o', 'lo wo', '天', '天气', '很好', 'zz']) {
      console.log(
        q,
        texts(await world.get(`/messages?searchKey=${encodeURIComponent(q)}`)),
        texts(await world.get(`/messages?searchKey=${encodeURIComponent(q)}`, { as: 'bob' })),
        texts(await world.get(`/groups/team/messages?searchKey=${encodeURIComponent(q)}`, { as: 'bob' })),
      )
      console.log(dataOf(await world.get(`/messages?count=1&searchKey=${encodeURIComponent(q)}`)))
    }
    await new Promise((r) => setTimeout(r, 1500))
    console.log(
      await world.context.database.query({ name: 'x1', text: 'select * from search_entries' }),
      await world.context.database.query({
        name: 'x2',
        text: 'select *, (select last_value from message_ids) from search_progress',
      }),
    )
    expect(1).toBe(1)
  })
})
