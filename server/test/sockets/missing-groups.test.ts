import { ApiError } from '@parley/contract'
import { expect, it } from 'vitest'
import { createMissingGroups } from '../../src/sockets/missing-groups.ts'

const hourMs = 3_600_000

/** Work that fails, and how often it was done. */
function failing(code: 'ERR_GUID_NOT_FOUND' | 'ERR_GROUP_NOT_JOINED') {
  const count = { done: 0 }
  const work = async () => {
    count.done++
    throw new ApiError(code)
  }
  return { count, work }
}

it('A group that is not there is asked for once in a moment, by each user', async () => {
  const missing = createMissingGroups(hourMs)
  const { count, work } = failing('ERR_GUID_NOT_FOUND')
  for (const guid of ['nowhere', 'Nowhere']) {
    await expect(missing.ask(1, 'alice', guid, work)).rejects.toMatchObject({ code: 'ERR_GUID_NOT_FOUND' })
  }
  expect(count.done).toBe(1)
  for (const [appId, uid, guid] of [
    [1, 'bob', 'nowhere'],
    [2, 'alice', 'nowhere'],
    [1, 'alice', 'elsewhere'],
  ] as const) {
    expect(await missing.ask(appId, uid, guid, async () => 'there')).toBe('there')
  }
})

it('Another refusal is asked for each time', async () => {
  const missing = createMissingGroups(hourMs)
  const { count, work } = failing('ERR_GROUP_NOT_JOINED')
  for (let i = 0; i < 2; i++) await expect(missing.ask(1, 'alice', 'team', work)).rejects.toThrow()
  expect(count.done).toBe(2)
})

it('What was not there is asked for again after a moment', async () => {
  const missing = createMissingGroups(1)
  const { work } = failing('ERR_GUID_NOT_FOUND')
  await expect(missing.ask(1, 'alice', 'team', work)).rejects.toThrow()
  await expect.poll(() => missing.ask(1, 'alice', 'team', async () => 'there').catch(() => 'away')).toBe('there')
})
