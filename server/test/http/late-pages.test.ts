import { expect, it } from 'vitest'
import { createGroup, dataOf, refusal } from '../support/chat.ts'
import { createUsers, createWorld } from '../support/world.ts'

it('Users read the first 10,000 rows of a list, the app any', async () => {
  const world = await createWorld()
  await createUsers(world, 'alice')
  await createGroup(world, 'team', 'alice')
  const { authToken: token } = dataOf(await world.post('/users/alice/auth_tokens', {}))
  const lists = [
    '/users',
    '/groups',
    '/groups/team/members',
    '/groups/team/bannedusers',
    '/conversations',
    '/users/alice/friends',
    '/users/alice/blockedusers',
  ]
  const late = ['page=101', 'page=11&perPage=1000', 'page=10001&perPage=1']
  const last = ['page=100', 'page=10&perPage=1000', 'page=10000&perPage=1']
  for (const list of lists) {
    for (const query of late) expect((await world.get(`${list}?${query}`)).status, `${list} ${query}`).toBe(200)
    if (list.startsWith('/users/')) continue
    for (const options of [{ as: 'alice' }, { token }]) {
      for (const query of last) expect((await world.get(`${list}?${query}`, options)).status, list).toBe(200)
      for (const query of late) {
        const answer = await world.get(`${list}?${query}`, options)
        expect(refusal(answer), `${list} ${query}`).toBe('400 ERR_BAD_REQUEST')
        expect(JSON.stringify(answer.body)).toContain('10000')
      }
    }
  }
  for (const list of ['/friends', '/blockedusers']) {
    expect(refusal(await world.get(`${list}?page=101`, { token })), list).toBe('400 ERR_BAD_REQUEST')
    expect((await world.get(`${list}?page=100`, { token })).status, list).toBe(200)
  }
})
