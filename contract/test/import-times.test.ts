import { checkImportMessage, readOptionalTime, takeListed } from '@parley/contract'
import { describe, expect, it } from 'vitest'

describe('readOptionalTime', () => {
  it.each([
    [undefined, null],
    [0, null],
    ['0', null],
    ['0000000000', null],
    [1, 1],
    ['1700000000', 1_700_000_000],
    ['x', null],
  ])('reads %j as %j', (value, expected) => {
    expect(readOptionalTime(value)).toBe(expected)
  })

  it('says that a message with deletedAt 0 was not deleted, so it needs its content', () => {
    const message = { muid: 'm', sender: 'a', receiver: 'b', receiverType: 'user', sentAt: 1 }
    const flaws = (record: object) => checkImportMessage(record, { now: 2 }).map(({ path }) => path)
    expect(flaws({ ...message, deletedAt: 0 })).toEqual(['data'])
    expect(flaws({ ...message, deletedAt: '1' })).toEqual([])
  })
})

describe('takeListed', () => {
  it('takes a reaction whose time nobody can read without that time', () => {
    const reactions = [
      { reaction: '👍', uid: 'alice', reactedAt: 1_700_000_000 },
      { reaction: '👍', uid: 'bob', reactedAt: null },
      { reaction: '👍', uid: 'carol', reactedAt: '2024-01-01' },
      { reaction: '👍', uid: 'dave' },
    ]
    const { record, ignored } = takeListed('messages', { id: '1', reactions })
    expect(record.reactions).toEqual({ '👍': [{ uid: 'alice', reactedAt: 1_700_000_000 }, 'bob', 'carol', 'dave'] })
    expect(ignored).toEqual([])
  })
})
