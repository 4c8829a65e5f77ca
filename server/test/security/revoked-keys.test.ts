import { expect, it, vi } from 'vitest'
import { attackerWith } from '../support/attacker.ts'
import { dataOf } from '../support/chat.ts'
import { until } from '../support/until.ts'
import { createWorld } from '../support/world.ts'

/** Whoever knows that their key is about to be deleted asks without a pause: one look-up may be under way at that moment. */
it('A key that is deleted while it is looked up opens nothing afterwards', async () => {
  const world = await createWorld()
  const { database } = world.context
  const { query } = database
  for (let round = 0; round < 5; round++) {
    const { apiKey } = dataOf(await world.post('/apikeys', { name: 'leaked', scope: 'fullAccess' }))
    const thief = attackerWith(world, { apikey: apiKey })
    let letGo = () => {}
    const isDeleted = new Promise<void>((resolve) => {
      letGo = resolve
    })
    let isFound = false
    // What the database has found of the key comes late, as over a slow line.
    const slow = vi.spyOn(database, 'query').mockImplementation(async (statement, values) => {
      const rows = await query(statement, values)
      const isTheKey = 'text' in statement && /select scope\b.*\s+from api_keys/.test(statement.text)
      if (!isTheKey || isFound) return rows as never
      isFound = true
      await isDeleted
      return rows as never
    })
    const early = thief.get('/users')
    await until(() => isFound)
    dataOf(await world.delete(`/apikeys/${apiKey}`))
    letGo()
    await early
    slow.mockRestore()
    expect((await thief.get('/users')).status).toBe(401)
  }
})
