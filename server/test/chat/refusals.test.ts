import { expect, it } from 'vitest'
import { refusalError } from '../../src/chat/writing/refusals.ts'

it('permissions that changed too often while something was written are not told as a change of a message', () => {
  const { code, devMessage } = refusalError('STALE_PERMISSIONS', { sender: 'bob', kind: 'group', receiver: 'team' })
  expect([code, devMessage]).toEqual([
    'ERR_MISSION_FAILED',
    'The conversation or its permissions changed while this was written. Try again.',
  ])
})
